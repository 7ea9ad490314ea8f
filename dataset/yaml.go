package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	// maxYAML bounds a YAML file, which is read as a whole: people write them by
	// hand.
	maxYAML = 64 << 20
	// yamlNodes bounds what aliases make of it: every value that is written out
	// takes two bytes or more, so this leaves room for many.
	yamlNodes = 100_000
	// maxYAMLDepth bounds how deep it nests.
	maxYAMLDepth = 200
)

// isYAML reports a path that ends as YAML's do: what it holds can look like
// anything.
func isYAML(path string) bool {
	ending := strings.ToLower(filepath.Ext(path))
	return ending == ".yaml" || ending == ".yml"
}

// spoolYAML keeps the JSON of a YAML file, which is read like any other JSON
// then. Objects in lists keep the number of their line.
func (p *part) spoolYAML(in io.Reader, opt *Options) error {
	data, err := io.ReadAll(io.LimitReader(in, maxYAML+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", p.path, err)
	}
	if len(data) > maxYAML {
		return p.fault(faultf("is YAML of more than %d bytes", maxYAML).withHint(asText))
	}
	w := &yamlWriter{line: 1, most: yamlNodes + len(data)}
	if f := w.documents(data); f != nil {
		return p.fault(f)
	}
	return p.keep(opt, func(f io.Writer) error {
		if _, err := f.Write(w.out); err != nil {
			return fmt.Errorf("keep a copy of %s: %w", p.path, err)
		}
		return nil
	})
}

// yamlWriter writes YAML as JSON.
type yamlWriter struct {
	out   []byte
	line  int // of out, from 1
	nodes int
	most  int // nodes
}

// documents writes every document of the file, one after another.
func (w *yamlWriter) documents(data []byte) *fault {
	if !utf8.Valid(data) {
		return faultf("is YAML that is not UTF-8").withHint("save it as UTF-8")
	}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	for n := 0; ; n++ {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			f := faultf("is no YAML that can be read: %s", strings.TrimPrefix(err.Error(), "yaml: "))
			f.err = err
			return f
		}
		if n > 0 {
			w.text("\n")
		}
		if f := w.node(&doc, 0); f != nil {
			return f
		}
	}
}

func (w *yamlWriter) text(s string) {
	w.out = append(w.out, s...)
	w.line += strings.Count(s, "\n")
}

// onLine goes down to a line, if it is not below it already.
func (w *yamlWriter) onLine(line int) {
	if line > w.line {
		w.text(strings.Repeat("\n", line-w.line))
	}
}

func (w *yamlWriter) node(n *yaml.Node, depth int) *fault {
	if w.nodes++; w.nodes > w.most || depth > maxYAMLDepth {
		return faultf("is YAML whose aliases or nesting make it too large, at line %d", n.Line).withHint(asText)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return w.node(n.Content[0], depth+1)
	case yaml.AliasNode:
		return w.node(n.Alias, depth+1)
	case yaml.SequenceNode:
		return w.list(n, depth)
	case yaml.MappingNode:
		return w.object(n, depth)
	}
	w.scalar(n)
	return nil
}

func (w *yamlWriter) list(n *yaml.Node, depth int) *fault {
	w.text("[")
	for i, item := range n.Content {
		if i > 0 {
			w.text(",")
		}
		if item.Kind == yaml.MappingNode {
			w.onLine(item.Line)
		}
		if f := w.node(item, depth+1); f != nil {
			return f
		}
	}
	w.text("]")
	return nil
}

func (w *yamlWriter) object(n *yaml.Node, depth int) *fault {
	w.text("{")
	first := true
	member := func(key, value *yaml.Node) *fault {
		if key.Kind != yaml.ScalarNode {
			return faultf("has a key at line %d that is no text", key.Line)
		}
		if !first {
			w.text(",")
		}
		first = false
		w.string(key.Value)
		w.text(":")
		return w.node(value, depth+1)
	}
	own := make([]string, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		own = append(own, n.Content[i].Value)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag != "!!merge" {
			if f := member(key, value); f != nil {
				return f
			}
			continue
		}
		// What is merged in gives way to what stands there itself.
		for _, from := range merged(value) {
			for j := 0; j+1 < len(from.Content); j += 2 {
				if name := from.Content[j].Value; !slices.Contains(own, name) && from.Content[j].Tag != "!!merge" {
					own = append(own, name)
					if f := member(from.Content[j], from.Content[j+1]); f != nil {
						return f
					}
				}
			}
		}
	}
	w.text("}")
	return nil
}

// merged are the objects that a merge key names.
func merged(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		return []*yaml.Node{n}
	case yaml.SequenceNode:
		var all []*yaml.Node
		for _, item := range n.Content {
			if item.Kind == yaml.AliasNode {
				item = item.Alias
			}
			if item.Kind == yaml.MappingNode {
				all = append(all, item)
			}
		}
		return all
	}
	return nil
}

// scalar writes numbers as they are spelt, if JSON spells them so, and
// everything that JSON has no kind for as text.
func (w *yamlWriter) scalar(n *yaml.Node) {
	switch n.ShortTag() {
	case "!!null":
		w.text("null")
		return
	case "!!bool":
		w.text(strings.ToLower(n.Value))
		return
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			w.text(n.Value)
			return
		}
	}
	w.string(n.Value)
}

func (w *yamlWriter) string(s string) {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string
	}
	w.out = append(w.out, b...)
}
