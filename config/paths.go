package config

import (
	"errors"
	"fmt"
	"strings"
)

// paths is one file, or a list of files, each perhaps a pattern; "-" is
// standard input. The environment names one, since any character may stand in
// a file's name; a flag is given again for each.
type paths struct{ p *[]string }

func (p paths) fromTOML(v any) error {
	var out []string
	switch v := v.(type) {
	case string:
		if v != "" {
			out = append(out, v)
		}
	case []any:
		for i, item := range v {
			s, ok := item.(string)
			switch {
			case !ok:
				return fmt.Errorf("must be a list of texts, but item %d is %s", i+1, typeName(item))
			case strings.TrimSpace(s) == "":
				return fmt.Errorf("item %d is empty", i+1)
			}
			out = append(out, s)
		}
	default:
		return wrongType("a text, or a list of texts such as [\"a.jsonl\", \"b.csv\"]", v)
	}
	return p.put(out)
}

func (p paths) fromText(s string) error { return p.put([]string{s}) }

// add is fromText for what is given again.
func (p paths) add(s string) error { return p.put(append((*p.p)[:len(*p.p):len(*p.p)], s)) }

func (p paths) put(list []string) error {
	stdin := 0
	for _, s := range list {
		var one string
		if err := (path{p: &one, stdin: true}).fromText(s); err != nil {
			return err
		}
		if s == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return errors.New("standard input, \"-\", is named twice")
	}
	*p.p = list
	return nil
}

// resolved is a text for one file, as most configurations have it, and a list
// for several.
func (p paths) resolved() any {
	list := make([]string, len(*p.p))
	for i, s := range *p.p {
		list[i] = maskText(s)
	}
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return list
}
