package tokens

import "strings"

// family is a model name, or the start of one, and its encoding.
type family struct {
	name string
	enc  *Encoding
}

// families lists the models whose encoding OpenAI has told (tiktoken's
// model.py) or whose tokeniser is published (gpt-oss: the ordinary tokens of
// o200k_harmony are those of o200k_base). A name stands for itself and for
// every name that goes on with a separator: "gpt-4" is gpt-4-turbo too, but not
// gpt-4o; therefore gpt-4.1 and gpt-4.5 must come before gpt-4.
var families = []family{
	{"gpt-5", o200kBase},
	{"gpt-4.5", o200kBase},
	{"gpt-4.1", o200kBase},
	{"gpt-4o", o200kBase},
	{"chatgpt-4o", o200kBase},
	{"gpt-oss", o200kBase},
	{"o1", o200kBase},
	{"o3", o200kBase},
	{"o4", o200kBase},
	{"gpt-4", cl100kBase},
	{"gpt-3.5", cl100kBase},
	{"gpt-35", cl100kBase}, // Azure's spelling
	{"text-embedding-3", cl100kBase},
	{"text-embedding-ada-002", cl100kBase},
}

// ForModel returns the encoding of a model and whether it is known to be the
// model's own. A provider's prefix ("openai/gpt-4.1-mini"), the mark of a
// fine-tuned model ("ft:gpt-4o-mini:...") and what follows the family's name
// (a size, a date) make no difference.
//
// For every other model the answer is o200k_base and false: a count that is
// right in kind but may be off, for English mostly by less than a fifth.
func ForModel(model string) (enc *Encoding, exact bool) {
	name := strings.ToLower(strings.TrimSpace(model))
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.TrimPrefix(name, "ft:")
	for _, f := range families {
		if rest, ok := strings.CutPrefix(name, f.name); ok && endsName(rest) {
			return f.enc, true
		}
	}
	return o200kBase, false
}

// endsName reports whether a family's name ends before rest.
func endsName(rest string) bool {
	return rest == "" || strings.IndexByte("-.:@_", rest[0]) >= 0
}
