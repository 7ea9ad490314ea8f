package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/transform"
)

const bom = "\xef\xbb\xbf"

// charset is how a file's text is encoded.
type charset struct {
	// name is what Info tells: "utf-8", "utf-16le", "windows-1252".
	name string
	// unit is the size of a code unit of UTF-16 and UTF-32, 0 for others.
	unit  int
	order binary.ByteOrder
	// legacy is any other encoding; nil for the forms of Unicode.
	legacy encoding.Encoding
}

var (
	utf8Text = &charset{name: "utf-8"}
	utf16LE  = &charset{name: "utf-16le", unit: 2, order: binary.LittleEndian}
	utf16BE  = &charset{name: "utf-16be", unit: 2, order: binary.BigEndian}
	utf32LE  = &charset{name: "utf-32le", unit: 4, order: binary.LittleEndian}
	utf32BE  = &charset{name: "utf-32be", unit: 4, order: binary.BigEndian}
)

// marks are the byte order marks, the longer ones first.
var marks = []struct {
	mark string
	cs   *charset
}{
	{"\xff\xfe\x00\x00", utf32LE}, {"\x00\x00\xfe\xff", utf32BE},
	{bom, utf8Text}, {"\xff\xfe", utf16LE}, {"\xfe\xff", utf16BE},
}

// findCharset looks up an encoding by a name that the web, the IANA or Python
// knows it by; nil for "".
func findCharset(name string) (*charset, error) {
	norm := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
	switch norm {
	case "":
		return nil, nil
	case "utf-8", "utf8", "utf-8-sig":
		return utf8Text, nil
	case "utf-16le", "utf16le", "utf-16-le", "utf-16", "utf16", "unicode": // a mark, if there is one, says otherwise
		return utf16LE, nil
	case "utf-16be", "utf16be", "utf-16-be":
		return utf16BE, nil
	case "utf-32le", "utf-32-le", "utf-32", "utf32":
		return utf32LE, nil
	case "utf-32be", "utf-32-be":
		return utf32BE, nil
	}
	var unknown error
	for _, n := range []string{norm, strings.ReplaceAll(norm, "-", ""), strings.ReplaceAll(norm, "latin-", "latin"), strings.ReplaceAll(norm, "mac-", "")} {
		e, err := htmlindex.Get(n)
		if err != nil {
			e, err = ianaindex.IANA.Encoding(n)
		}
		if err == nil && e != nil {
			if known, err := htmlindex.Name(e); err == nil {
				n = known
			}
			if e == encoding.Replacement || n == "replacement" || n == "x-user-defined" {
				break
			}
			return &charset{name: n, legacy: e}, nil
		}
		if unknown == nil {
			unknown = err
		}
	}
	return nil, fmt.Errorf("the encoding %s is not known; names are such as utf-8, utf-16le, windows-1252, iso-8859-15, shift_jis or gb18030", quoted(name))
}

// detectCharset tells the encoding by a mark, by what was named, and by the
// NULs that UTF-16 and UTF-32 put between plain letters. skip is the length of
// the mark.
func detectCharset(head []byte, named *charset) (cs *charset, skip int) {
	for _, m := range marks {
		if hasWord(head, m.mark) {
			return m.cs, len(m.mark)
		}
	}
	if named != nil {
		return named, 0
	}
	if cs := byNULs(head); cs != nil {
		return cs, 0
	}
	return utf8Text, 0
}

// byNULs knows UTF-16 and UTF-32 without a mark by the places of their NULs:
// the brackets, quotes and delimiters of every format are plain ASCII.
func byNULs(head []byte) *charset {
	if len(head) < 4 {
		return nil
	}
	head = head[:min(len(head), 4096)&^3]
	var zero [4]int
	for i, b := range head {
		if b == 0 {
			zero[i&3]++
		}
	}
	n := len(head) / 4
	most := func(z int) bool { return z > 0 && z >= n*7/8 }
	switch {
	case most(zero[1]) && most(zero[2]) && most(zero[3]) && zero[0] <= n/8:
		return utf32LE
	case most(zero[0]) && most(zero[1]) && most(zero[2]) && zero[3] <= n/8:
		return utf32BE
	}
	low, high := zero[1]+zero[3], zero[0]+zero[2] // NULs in the second and in the first byte of a unit
	plainStart := func(text, null int) bool {     // two units that are ASCII
		return head[text] != 0 && head[null] == 0 && head[text+2] != 0 && head[null+2] == 0
	}
	switch {
	case low > 8*high && (plainStart(0, 1) || low > n/4):
		return utf16LE
	case high > 8*low && (plainStart(1, 0) || high > n/4):
		return utf16BE
	}
	return nil
}

// toUTF8 reads in as UTF-8.
func (c *charset) toUTF8(in *bufio.Reader) io.Reader {
	switch {
	case c.unit > 0:
		return &wideText{in: in, unit: c.unit, order: c.order}
	case c.legacy != nil:
		return transform.NewReader(in, c.legacy.NewDecoder())
	}
	return in
}

// wideText turns UTF-16 and UTF-32 into UTF-8. What is no character becomes
// bytes that are not UTF-8 either, so that the record that holds them is
// refused with its place, where the decoders of x/text would put U+FFFD.
type wideText struct {
	in    *bufio.Reader
	unit  int
	order binary.ByteOrder
	out   []byte // ready, not read yet
	buf   []byte
}

func (w *wideText) Read(p []byte) (int, error) {
	for len(w.out) == 0 {
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.out)
	w.out = w.out[n:]
	return n, nil
}

// fill turns what is buffered, but for a unit or a pair that goes on after it.
func (w *wideText) fill() error {
	_, err := w.in.Peek(2 * w.unit) // at least a pair, if there is one
	b, _ := w.in.Peek(w.in.Buffered())
	if len(b) == 0 {
		return err
	}
	last := err != nil // nothing will follow these bytes
	w.out, w.buf = nil, w.buf[:0]
	i := 0
	for ; i+w.unit <= len(b); i += w.unit {
		r := w.at(b[i:])
		if w.unit == 2 && utf16.IsSurrogate(r) {
			if i+4 > len(b) && !last {
				break
			}
			r2 := rune(0)
			if i+4 <= len(b) {
				r2 = w.at(b[i+2:])
			}
			if pair := utf16.DecodeRune(r, r2); pair != utf8.RuneError {
				r = pair
				i += 2
			}
		}
		if !utf8.ValidRune(r) {
			w.buf = append(w.buf, 0xff)
			continue
		}
		w.buf = utf8.AppendRune(w.buf, r)
	}
	if i < len(b) && last && i+w.unit > len(b) {
		w.buf = append(w.buf, 0xff) // the file ends inside a unit
		i = len(b)
	}
	_, _ = w.in.Discard(i)
	w.out = w.buf
	return nil
}

func (w *wideText) at(b []byte) rune {
	if w.unit == 2 {
		return rune(w.order.Uint16(b))
	}
	return rune(w.order.Uint32(b) & 0x7fffffff) // no rune is negative
}

// checkText finds the first byte of a record that is no text in the file's
// encoding.
func (c *charset) checkText(b []byte) *fault {
	switch {
	case c == nil:
	case c.legacy != nil:
		// None of these encodings has U+FFFD: the decoder has put it there.
		if off := bytes.Index(b, []byte("\uFFFD")); off >= 0 {
			return faultf("holds bytes that are no text in %s", c.name).at(off).
				withHint("name the encoding that the file has: --encoding, or dataset.encoding")
		}
	case c.unit > 0:
		if !utf8.Valid(b) {
			f := checkUTF8(b)
			f.reason = fmt.Sprintf("holds half of a surrogate pair or half of a character, which is no %s", strings.ToUpper(c.name))
			f.hint = "the file is damaged, or has another encoding: name it with --encoding, or dataset.encoding"
			return f
		}
		return nil
	default:
		if f := checkShifts(b); f != nil {
			return f
		}
	}
	return checkUTF8(b)
}

// checkShifts finds the escapes by which the encodings of ISO 2022 go over to
// two bytes a character. Such text is valid UTF-8, and gibberish.
func checkShifts(b []byte) *fault {
	for i := 0; ; i++ {
		n := bytes.IndexByte(b[i:], 0x1b)
		if n < 0 {
			return nil
		}
		if i += n; i+2 < len(b) && b[i+1] == '$' && strings.IndexByte("@AB()", b[i+2]) >= 0 {
			return faultf("holds an escape of ISO-2022, which is no UTF-8 text").at(i).
				withHint("name the encoding: --encoding iso-2022-jp, or dataset.encoding; Korean and Chinese of this kind must be converted, such as by iconv")
		}
	}
}

// looksUTF8 reports whether text that is said to have another encoding holds
// non-ASCII characters and all of them are UTF-8, which no other text is by
// chance.
func looksUTF8(head []byte) bool {
	for n := 0; n < utf8.UTFMax && len(head) > 0; n++ { // a character may be cut by the end
		if utf8.Valid(head) {
			return len(head) > utf8.RuneCount(head)
		}
		head = head[:len(head)-1]
	}
	return false
}
