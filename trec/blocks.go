package trec

import (
	"bytes"
	"io"
)

// blockSize is how much of a file is read at a time.
const blockSize = 4 << 20

// maxLine is the longest line, in bytes: far above any id, and a bound for what
// a file without line ends can take.
const maxLine = 1 << 20

const bom = "\ufeff"

// blocks cuts a file into blocks of whole lines, such that lines of one query
// that follow each other stand in one block.
type blocks struct {
	in    io.Reader
	size  int    // how much to read at a time
	whole bool   // lines may be parted by query or not
	carry []byte // what belongs to the next block
	read  bool   // something was read
	bom   bool   // the file began with a byte order mark
	end   error  // what ended the reading
}

// next reads the next block into buf, or into a larger one, and returns it. At
// the end it returns io.EOF. A fault is that of the line after the block.
func (b *blocks) next(buf []byte) ([]byte, *fault, error) {
	buf = append(buf[:0], b.carry...)
	b.carry = b.carry[:0]
	for b.end == nil {
		buf = b.fill(buf)
		if b.end != nil {
			break
		}
		tail := len(buf) - 1 - bytes.LastIndexByte(buf, '\n')
		cut := len(buf) - tail
		if tail > maxLine {
			return buf[:cut], tooLong(bytes.Count(buf, []byte{'\n'}) + 1), nil
		}
		if b.whole {
			cut = lastQuery(buf[:cut])
		}
		if cut > 0 {
			b.carry = append(b.carry, buf[cut:]...)
			return buf[:cut], nil, nil
		}
	}
	if b.end != io.EOF {
		return nil, nil, b.end
	}
	if len(buf) == 0 {
		return nil, nil, io.EOF
	}
	return buf, nil, nil
}

// fill reads at least as much again as there is, and at least one block.
func (b *blocks) fill(buf []byte) []byte {
	have, want := len(buf), max(b.size, len(buf))
	if cap(buf)-have < want {
		larger := make([]byte, have, have+want)
		copy(larger, buf)
		buf = larger
	}
	// Not io.ReadFull: it makes a proper end, and that of a cut archive, one error.
	n := 0
	for n < want && b.end == nil {
		var k int
		k, b.end = b.in.Read(buf[have+n : have+want])
		n += k
	}
	buf = buf[:have+n]
	if !b.read && n > 0 {
		b.read = true
		if bytes.HasPrefix(buf, []byte(bom)) {
			b.bom = true
			buf = append(buf[:0], buf[len(bom):]...)
		}
	}
	return buf
}

// lastQuery returns where the lines of the last query of a block of whole lines
// begin.
func lastQuery(b []byte) int {
	start := len(b)
	var last []byte
	for start > 0 {
		line := 1 + bytes.LastIndexByte(b[:start-1], '\n')
		query := firstColumn(b[line:start])
		switch {
		case len(query) == 0: // a blank line belongs to either
		case last == nil:
			last = query
		case !bytes.Equal(query, last):
			return start
		}
		start = line
	}
	return 0
}

func firstColumn(line []byte) []byte {
	i := 0
	for i < len(line) && blank[line[i]] {
		i++
	}
	start := i
	for i < len(line) && !blank[line[i]] && line[i] != '\n' {
		i++
	}
	return line[start:i]
}

// nextLine cuts the first line off.
func nextLine(b []byte) (line, rest []byte) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i], b[i+1:]
	}
	return b, nil
}

func tooLong(line int) *fault {
	return faultf(line, "is longer than %d bytes", maxLine).
		withHint("a run has six short columns and judgements have four: is this another kind of file?")
}

// untilNUL cuts a block before the line with a byte that no text has, and
// returns the fault of that line.
func untilNUL(block []byte) ([]byte, *fault) {
	i := bytes.IndexByte(block, 0)
	if i < 0 {
		return block, nil
	}
	block = block[:1+bytes.LastIndexByte(block[:i], '\n')]
	return block, faultf(1+bytes.Count(block, []byte{'\n'}), "holds a NUL byte").withHint("save the file as UTF-8 text")
}
