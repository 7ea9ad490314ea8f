package dataset

import "errors"

// The library that reads Parquet believes every length that stands in a file's
// footer and in its page headers, and makes room for it before it reads on. A
// damaged file of some bytes could so ask for gigabytes, and that can't be
// caught. So these parts are walked over here first, in Thrift's compact
// protocol, which is all that they are written in.

var errThrift = errors.New("a length in it can't be true")

// thrift walks over one struct.
type thrift struct {
	b       []byte
	i       int
	depth   int
	structs int // that stand in lists
	// ints holds the whole numbers of the struct, by field, and of the structs
	// in it, by 100 * outer field + field; nil to keep none.
	ints map[int]int64
}

const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt16  = 4
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// errThriftShort says that the bytes end before the struct does.
var errThriftShort = errors.New("it ends too early")

func (t *thrift) byte() (byte, error) {
	if t.i >= len(t.b) {
		return 0, errThriftShort
	}
	t.i++
	return t.b[t.i-1], nil
}

func (t *thrift) varint() (uint64, error) {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		c, err := t.byte()
		if err != nil {
			return 0, err
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, nil
		}
	}
	return 0, errThrift
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func (t *thrift) skip(n uint64) error {
	if n > uint64(len(t.b)-t.i) {
		return errThriftShort
	}
	t.i += int(n)
	return nil
}

// walk passes over a struct; outer is the field that holds it, 0 at the top.
func (t *thrift) walk(outer int) error {
	if t.depth++; t.depth > 32 {
		return errThrift
	}
	for id := int64(0); ; {
		head, err := t.byte()
		if err != nil {
			return err
		}
		if head == 0 {
			t.depth--
			return nil
		}
		if delta := head >> 4; delta > 0 {
			id += int64(delta)
		} else {
			v, err := t.varint()
			if err != nil {
				return err
			}
			id = zigzag(v)
		}
		if err := t.field(outer, int(id), head&0x0f); err != nil {
			return err
		}
	}
}

func (t *thrift) field(outer, id int, kind byte) error {
	switch kind {
	case thriftTrue, thriftFalse:
		return nil // the value is in the head
	case thriftStruct:
		if id <= 0 || id >= 100 || outer > 0 {
			id = 100 // nobody asks for what is in there
		}
		return t.walk(id)
	}
	if kind >= thriftInt16 && kind <= thriftInt64 {
		v, err := t.varint()
		if t.ints != nil && outer < 100 && id > 0 && id < 100 {
			t.ints[100*outer+id] = zigzag(v)
		}
		return err
	}
	return t.value(kind)
}

// value passes over an item of a list or a map, or a field that holds one.
func (t *thrift) value(kind byte) error {
	switch {
	case kind == thriftTrue || kind == thriftFalse || kind == thriftByte:
		return t.skip(1)
	case kind >= thriftInt16 && kind <= thriftInt64:
		_, err := t.varint()
		return err
	case kind == thriftDouble:
		return t.skip(8)
	case kind == thriftBinary:
		n, err := t.varint()
		if err != nil {
			return err
		}
		return t.skip(n)
	case kind == thriftList || kind == thriftSet:
		return t.list()
	case kind == thriftMap:
		return t.pairs()
	case kind == thriftStruct:
		t.structs++
		return t.walk(100)
	}
	return errThrift
}

// list passes over a list. Each item takes at least a byte.
func (t *thrift) list() error {
	head, err := t.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = t.varint(); err != nil {
			return err
		}
	}
	if n > uint64(len(t.b)-t.i) {
		return errThriftShort
	}
	if t.depth++; t.depth > 32 {
		return errThrift
	}
	for ; n > 0; n-- {
		if err := t.value(head & 0x0f); err != nil {
			return err
		}
	}
	t.depth--
	return nil
}

func (t *thrift) pairs() error {
	n, err := t.varint()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := t.byte()
	if err != nil {
		return err
	}
	if n > uint64(len(t.b)-t.i) {
		return errThriftShort
	}
	for ; n > 0; n-- {
		if err := t.value(kinds >> 4); err != nil {
			return err
		}
		if err := t.value(kinds & 0x0f); err != nil {
			return err
		}
	}
	return nil
}
