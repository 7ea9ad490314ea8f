package llm

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"sync"
	"unicode/utf8"
)

// keyVersion is part of every key; it changes when the meaning of a stored
// reply does.
const keyVersion = "ragjudge/1\n"

// Key returns the content address of the request: the SHA-256 of a version
// line and of the request's JSON with fields in fixed order and no escaping
// of <, > and &. It panics if Schema.JSON or Extra is not JSON, a fault in the
// code.
func (r *Request) Key() Key {
	buf := keyBuffers.Get().(*[]byte)
	b := r.appendJSON(append((*buf)[:0], keyVersion...))
	b = append(b, '\n')
	key := Key(sha256.Sum256(b))
	if cap(b) <= maxKeyBuffer {
		*buf = b
		keyBuffers.Put(buf)
	}
	return key
}

// keyBuffers are kept since a key is made of each request, also of one that the
// cache answers; a buffer for an uncommonly long request is not kept.
var keyBuffers = sync.Pool{New: func() any { return new([]byte) }}

const maxKeyBuffer = 1 << 20

// appendJSON appends what encoding/json makes of a Request without escaping for
// HTML, byte for byte, without its reflection: TestKeyIsThatOfTheEncoder and
// FuzzKey hold them against each other. A new field of Request must be added
// here; the test fails if it is not.
func (r *Request) appendJSON(b []byte) []byte {
	b = appendString(append(b, `{"endpoint":`...), r.Endpoint)
	b = appendString(append(b, `,"model":`...), r.Model)
	b = appendMessages(append(b, `,"messages":`...), r.Messages)
	if len(r.Embed) > 0 {
		b = append(b, `,"embed":[`...)
		for i, text := range r.Embed {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, text)
		}
		b = append(b, ']')
	}
	if r.Temperature != nil {
		b = appendFloat(append(b, `,"temperature":`...), *r.Temperature)
	}
	if r.MaxTokens != 0 {
		b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(r.MaxTokens), 10)
	}
	if r.Seed != nil {
		b = strconv.AppendInt(append(b, `,"seed":`...), int64(*r.Seed), 10)
	}
	if r.Schema != nil {
		b = appendString(append(b, `,"schema":{"name":`...), r.Schema.Name)
		b = append(appendRaw(append(b, `,"json":`...), r.Schema.JSON), '}')
	}
	if len(r.Extra) > 0 {
		b = appendRaw(append(b, `,"extra":`...), r.Extra)
	}
	if r.TopLogprobs != 0 {
		b = strconv.AppendInt(append(b, `,"top_logprobs":`...), int64(r.TopLogprobs), 10)
	}
	if r.Trial != 0 {
		b = strconv.AppendInt(append(b, `,"trial":`...), int64(r.Trial), 10)
	}
	return append(b, '}')
}

// appendMessages appends the chat as JSON.
func appendMessages(b []byte, list []Message) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"role":`...), string(list[i].Role))
		b = append(appendString(append(b, `,"content":`...), list[i].Content), '}')
	}
	return append(b, ']')
}

const hexDigits = "0123456789abcdef"

// plainByte says which bytes of ASCII stand in a JSON string as they are.
var plainByte = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return t
}()

// appendString appends a JSON string. Bytes that are no UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		for i+8 <= len(s) && plainWord(word(s, i)) {
			i += 8
		}
		if i == len(s) {
			break
		}
		if c := s[i]; c < utf8.RuneSelf {
			if plainByte[c] {
				i++
				continue
			}
			b = appendEscaped(append(b, s[from:i]...), c)
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[from:i]...), `\ufffd`...)
			from = i + size
		case r == '\u2028' || r == '\u2029': // line ends in JavaScript
			b = append(append(b, s[from:i]...), `\u202`...)
			b = append(b, hexDigits[r&0xf])
			from = i + size
		}
		i += size
	}
	return append(append(b, s[from:]...), '"')
}

// word is eight bytes of s; the compiler makes one load of it.
func word(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

const (
	eachByte = 0x0101010101010101
	topBits  = 0x80 * eachByte
)

// plainWord reports that none of eight bytes needs an escape: none is below a
// blank, a quote, a backslash or above ASCII. It may take a plain byte for one
// that needs it where another of the eight does, never the other way round.
func plainWord(w uint64) bool {
	quote, slash := w^('"'*eachByte), w^('\\'*eachByte)
	below := (w - ' '*eachByte) | (quote - eachByte) | (slash - eachByte)
	return (below|w)&topBits == 0
}

func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '\\', '"':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}

// appendFloat appends a number as encoding/json writes it.
func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		panic(fmt.Sprintf("llm: the request can't be encoded: its temperature is %v", f))
	}
	if f == 0 && !math.Signbit(f) {
		return append(b, '0')
	}
	text, err := json.Marshal(f)
	if err != nil {
		panic(fmt.Sprintf("llm: the request can't be encoded: %v", err))
	}
	return append(b, text...)
}

// compacted holds the one spelling of the few schemas that a run has: checking
// and compacting one takes as long as the rest of a key.
var compacted sync.Map // of string, to string

// maxCompacted bounds what is kept, in entries.
const maxCompacted = 1000

var compactedCount struct {
	sync.Mutex
	n int
}

func appendRaw(b []byte, raw json.RawMessage) []byte {
	if raw == nil {
		return append(b, "null"...)
	}
	if have, ok := compacted.Load(string(raw)); ok {
		return append(b, have.(string)...)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		panic(fmt.Sprintf("llm: the request can't be encoded: %v", err))
	}
	compactedCount.Lock()
	defer compactedCount.Unlock()
	if compactedCount.n < maxCompacted {
		compactedCount.n++
		compacted.Store(string(raw), out.String())
	}
	return append(b, out.Bytes()...)
}
