package trec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Stdin is the path that means standard input.
const Stdin = "-"

// maxWindow bounds the memory that a compressed file can ask for. It is the
// largest window that zstd's own program makes unless it is told to.
const maxWindow = 128 << 20

// Input is a file that can be read more than once.
type Input struct {
	path string
	file *os.File
	temp string
	size int64 // of the file; 0 if it is not known
}

// Open opens a file; Stdin reads in, which is copied to a temporary file
// (mode 0600, gone after Close), since a run may have to be read twice. Files
// compressed with gzip or zstd are known by their content. What is no file is
// an *Error.
func Open(path string, in io.Reader) (*Input, error) {
	p := &Input{path: path}
	if path == Stdin {
		if in == nil {
			return nil, &Error{File: path, Reason: "there is no standard input to read"}
		}
		return p, p.spool(in)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{File: path, Reason: fmt.Sprintf("can't be opened: %v", pathReason(err)), Err: err}
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(&Error{File: path, Reason: fmt.Sprintf("can't be read: %v", pathReason(err)), Err: err}, f.Close())
	}
	if st.IsDir() {
		return nil, errors.Join(&Error{File: path, Reason: "is a folder", Hint: "name a file in it"}, f.Close())
	}
	if !st.Mode().IsRegular() {
		return p, errors.Join(p.spool(f), f.Close())
	}
	p.file, p.size = f, st.Size()
	return p, nil
}

// pathReason is an error of the system without the path, which is told anyway.
func pathReason(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (p *Input) spool(in io.Reader) error {
	f, err := os.CreateTemp("", "ragjudge-trec-*")
	if err != nil {
		return fmt.Errorf("keep a copy of %s: %w", p.path, err)
	}
	p.file, p.temp = f, f.Name()
	if os.Remove(p.temp) == nil {
		p.temp = "" // the open file lives on without a name
	}
	if _, err := io.Copy(f, in); err != nil {
		return errors.Join(fmt.Errorf("keep a copy of %s: %w", p.path, err), p.Close())
	}
	return nil
}

// Path is the path as it was given.
func (p *Input) Path() string { return p.path }

// Close closes the file and removes what was kept of standard input.
func (p *Input) Close() error {
	if p == nil || p.file == nil {
		return nil
	}
	err := p.file.Close()
	if p.temp != "" {
		err = errors.Join(err, os.Remove(p.temp))
	}
	p.file, p.temp = nil, ""
	return err
}

// content starts over with the first byte of the content, and returns a
// function that gives back what reading it takes.
func (p *Input) content() (io.Reader, func(), error) {
	nothing := func() {}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return nil, nothing, fmt.Errorf("read %s: %w", p.path, err)
	}
	head := make([]byte, 4)
	n, err := io.ReadFull(p.file, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, nothing, p.unreadable(err)
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return nil, nothing, fmt.Errorf("read %s: %w", p.path, err)
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(bufio.NewReaderSize(p.file, 256<<10))
		if err != nil {
			return nil, nothing, p.unreadable(err)
		}
		return z, func() { _ = z.Close() }, nil
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(p.file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nothing, p.unreadable(err)
		}
		return z, z.Close, nil
	}
	return p.file, nothing, nil
}

// unreadable is an error of reading the content, such as a damaged archive.
func (p *Input) unreadable(err error) error {
	return &Error{File: p.path, Reason: fmt.Sprintf("can't be read: %v", pathReason(err)), Err: err}
}
