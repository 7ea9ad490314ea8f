package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compression is how a file is packed.
type Compression string

// The ways of packing that are undone, whatever the file's ending says.
const (
	Gzip Compression = "gzip"
	Zstd Compression = "zstd"
)

// maxPackings is how often one file may be packed. A shard that was compressed
// by two programs has two; hundreds are an attack.
const maxPackings = 4

// maxWindow bounds the memory that a zstd stream may ask for: what the zstd
// program itself grants without being told to.
const maxWindow = 128 << 20

// packedAs tells how a stream is packed by its first bytes; "" if it is not.
func packedAs(head []byte) Compression {
	switch {
	case hasWord(head, "\x1f\x8b\x08"):
		return Gzip
	case hasWord(head, "\x28\xb5\x2f\xfd"):
		return Zstd
	case len(head) >= 4 && head[0]&0xf0 == 0x50 && hasWord(head[1:], "\x2a\x4d\x18"):
		return Zstd // it begins with a frame to be skipped
	}
	return ""
}

// unpackError is an error of a packed stream: not of the disk, but of what
// stands on it.
type unpackError struct {
	how Compression
	err error
}

func (e *unpackError) Error() string {
	if errors.Is(e.err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("the %s stream is cut off", e.how)
	}
	return fmt.Sprintf("the %s stream is damaged (%v)", e.how, e.err)
}

func (e *unpackError) Unwrap() error { return e.err }

// unpacked reads a packed stream. Streams one after another, as "cat a.gz b.gz"
// makes them, are one. close frees what the decoder holds.
type unpacked struct {
	how   Compression
	in    io.Reader
	err   error
	close func()
}

// unpack puts the decoder over in.
func unpack(how Compression, in *bufio.Reader) *unpacked {
	u := &unpacked{how: how, close: func() {}}
	switch how {
	case Gzip:
		z, err := gzip.NewReader(in)
		u.in, u.err = z, u.fault(err)
	case Zstd:
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err == nil {
			u.in, u.close = z, z.Close
		}
		u.err = u.fault(err)
	}
	return u
}

// fault tells errors of the stream from its end, and from those of the file.
func (u *unpacked) fault(err error) error {
	var inner *unpackError
	switch {
	case err == nil, err == io.EOF && u.in != nil, errors.As(err, &inner):
		return err
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		err = fmt.Errorf("it needs a window of more than %d MiB", maxWindow>>20)
	}
	var broken *fileFault
	if errors.As(err, &broken) {
		return err
	}
	return &unpackError{how: u.how, err: err}
}

func (u *unpacked) Read(b []byte) (int, error) {
	if u.err != nil {
		return 0, u.err
	}
	n, err := u.in.Read(b)
	u.err = u.fault(err)
	return n, u.err
}

// fileFault is an error of reading the file itself, so that a decoder above it
// doesn't take the blame.
type fileFault struct{ err error }

func (e *fileFault) Error() string { return e.err.Error() }
func (e *fileFault) Unwrap() error { return e.err }
