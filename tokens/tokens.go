// Package tokens counts tokens as OpenAI's models do, exactly and without a
// network.
//
// The two vocabularies in use, o200k_base and cl100k_base, are embedded (1.2 MB
// together) and unpacked once, when first needed. Texts are split and merged
// as the reference does (tiktoken 1.0.22 for JavaScript, which is OpenAI's
// Rust code); golden files hold the agreement. The text of special tokens
// (<|endoftext|>) is counted as ordinary text, because that is what it is in
// the content of a message.
//
// Counting takes time in proportion to the text, at worst n log n, whatever the
// text: a run of one letter is no worse than prose. Everything here is safe for
// concurrent use.
package tokens

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Encoding is one way of cutting text into tokens: a vocabulary and the rule
// that splits text before its pieces are encoded.
type Encoding struct {
	name  string
	split splitter
	vocab func() *vocabulary
}

// splitter returns the end of the piece that starts at s[i]; s is valid UTF-8
// and i < len(s). The end is greater than i.
type splitter func(cl *classes, s string, i int) int

var (
	o200kBase  = &Encoding{"o200k_base", splitO200k, sync.OnceValue(func() *vocabulary { return mustLoad(o200kData) })}
	cl100kBase = &Encoding{"cl100k_base", splitCL100k, sync.OnceValue(func() *vocabulary { return mustLoad(cl100kData) })}
)

// O200kBase returns the encoding of gpt-4o and every later model of OpenAI.
func O200kBase() *Encoding { return o200kBase }

// CL100kBase returns the encoding of gpt-4, gpt-3.5-turbo and the text-embedding
// models.
func CL100kBase() *Encoding { return cl100kBase }

// Name returns the name that OpenAI gave the encoding: "o200k_base".
func (e *Encoding) Name() string { return e.name }

// Count returns the number of tokens of the text. Each byte that is not valid
// UTF-8 counts as U+FFFD, as which encoding/json sends it.
func (e *Encoding) Count(text string) int {
	n := 0
	v, cl := e.vocab(), loadClasses()
	text = validUTF8(text)
	for i := 0; i < len(text); {
		end := e.split(cl, text, i)
		n += v.count(text[i:end])
		i = end
	}
	return n
}

// Encode returns the ids of the text's tokens: Count of them.
func (e *Encoding) Encode(text string) []int {
	var ids []int
	v, cl := e.vocab(), loadClasses()
	text = validUTF8(text)
	for i := 0; i < len(text); {
		end := e.split(cl, text, i)
		ids = v.encode(ids, text[i:end])
		i = end
	}
	return ids
}

// Decode returns the bytes of the tokens with the given ids, and false if an id
// is not in the vocabulary (special tokens are not). A single token need not be
// valid UTF-8.
func (e *Encoding) Decode(ids []int) (string, bool) {
	v := e.vocab()
	var b strings.Builder
	for _, id := range ids {
		if id < 0 || id >= v.Len() {
			return "", false
		}
		b.Write(v.Token(id))
	}
	return b.String(), true
}

// validUTF8 replaces each invalid byte by U+FFFD, byte for byte, unlike
// strings.ToValidUTF8, which makes a run of them one.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
