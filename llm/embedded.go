package llm

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"regexp"
	"strings"
)

// embedded finds an object or a list inside a message, as JSON or as Python
// prints it, and returns what stands before it.
func embedded(s string) (before string, v any, ok bool) {
	// The first bracket that begins something: "[GoogleGenerativeAI Error]: ..."
	// is a message, and so is "`inputs` must have [1, 4095] tokens".
	for from, tries := 0, 0; tries < 4; tries++ {
		at := strings.IndexAny(s[from:], "{[")
		if at < 0 {
			return s, nil, false
		}
		at += from
		for _, text := range []string{s[at:], unpython(s[at:])} {
			if decodeNumber([]byte(text), &v) == nil && isObjects(v) {
				return strings.TrimSuffix(strings.TrimSpace(s[:at]), "b'"), v, true
			}
		}
		from = at + 1
	}
	return s, nil, false
}

// isObjects reports an object with something in it, or a list of such.
func isObjects(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0 && isObjects(v[0])
	}
	return false
}

// unpython turns a Python literal into JSON as far as error messages need it:
// quotes, True, False and None. What is no such literal comes out as no JSON.
func unpython(s string) string {
	s = s[:min(len(s), maxFacts)]
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '\'' && c != '"' {
			if word, json := pythonWord(s[i:]); word != "" && (i == 0 || !wordByte(s[i-1])) {
				b.WriteString(json)
				i += len(word) - 1
				continue
			}
			b.WriteByte(c)
			continue
		}
		end := i + 1
		for end < len(s) && s[end] != c {
			if s[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(s) {
			return b.String()
		}
		b.WriteByte('"')
		for j := i + 1; j < end; j++ {
			switch {
			case s[j] == '"':
				b.WriteString(`\"`)
			case s[j] == '\\' && s[j+1] == '\'':
				b.WriteByte('\'')
				j++
			case s[j] == '\\' && s[j+1] == 'x': // \xNN is no escape of JSON
				b.WriteString(`\\x`)
				j++
			case s[j] == '\\':
				b.WriteString(s[j : j+2])
				j++
			case s[j] < ' ':
				b.WriteByte(' ')
			default:
				b.WriteByte(s[j])
			}
		}
		b.WriteByte('"')
		i = end
	}
	return b.String()
}

func pythonWord(s string) (word, json string) {
	for _, w := range [][2]string{{"None", "null"}, {"True", "true"}, {"False", "false"}} {
		if strings.HasPrefix(s, w[0]) {
			return w[0], w[1]
		}
	}
	return "", ""
}

var (
	pageTitle = regexp.MustCompile(`(?is)<(?:title|h1)[^>]*>(.*?)</(?:title|h1)>`)
	pageTag   = regexp.MustCompile(`(?s)<[^>]*>`)
)

// page takes a page's title for its message; the rest is prose of any kind.
func (w *factWalk) page(body []byte) {
	body = body[:min(len(body), maxFacts)]
	w.text.Write(body)
	said := pageTag.ReplaceAll(body, []byte(" "))
	if m := pageTitle.FindSubmatch(body); m != nil {
		if title := strings.TrimSpace(string(pageTag.ReplaceAll(m[1], nil))); title != "" {
			w.told = append(w.told, title)
			return
		}
	}
	if text := strings.TrimSpace(string(said)); text != "" {
		w.told = append(w.told, text[:min(len(text), maxMessage)])
	}
}

// xml walks an error in XML, each element as if it were a member.
func (w *factWalk) xml(body []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(body[:min(len(body), maxFacts)]))
	d.Strict = false
	var path []string
	seen := false
	for {
		token, err := d.Token()
		if err != nil {
			return seen
		}
		switch t := token.(type) {
		case xml.StartElement:
			path = append(path, t.Name.Local)
		case xml.EndElement:
			path = path[:max(len(path)-1, 0)]
		case xml.CharData:
			if s := strings.TrimSpace(string(t)); s != "" && len(path) > 0 {
				seen = true
				w.f.isError = w.f.isError || strings.EqualFold(path[0], "error")
				w.said(strings.ToLower(path[len(path)-1]), s, 0)
			}
		}
	}
}

// isStream reports a body of server-sent events.
func isStream(h http.Header, body []byte) bool {
	for _, prefix := range []string{"data:", "event:", "id:", ": ", ":\n", "retry:"} {
		if bytes.HasPrefix(body, []byte(prefix)) {
			return true
		}
	}
	return strings.HasPrefix(h.Get("Content-Type"), "text/event-stream") && !bytes.HasPrefix(body, []byte("{"))
}

// streamEvents are the data of server-sent events, without the [DONE] at the
// end.
func streamEvents(body []byte) (events [][]byte) {
	var data []byte
	flush := func() {
		if data = bytes.TrimSpace(data); len(data) > 0 && string(data) != "[DONE]" {
			events = append(events, data)
		}
		data = nil
	}
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, "\r\n")
		rest, ok := bytes.CutPrefix(line, []byte("data:"))
		switch {
		case len(line) == 0:
			flush()
		case ok && json.Valid(rest): // servers that leave the blank lines out
			flush()
			data = rest
			flush()
		case ok:
			data = append(append(data, rest...), '\n')
		}
	}
	flush()
	return events
}
