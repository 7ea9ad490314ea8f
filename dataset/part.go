package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/maphash"
	"io"
	"os"
	"strings"
)

// part is one file of a dataset: how it is written, and where its reading
// stands.
type part struct {
	path string
	file *os.File // nil while it is closed
	temp string   // to be removed on close
	copy bool     // file is a copy of something that can't be read twice

	packing []Compression // from the outside
	charset *charset
	format  Format
	delim   byte
	eol     byte      // of CSV: '\n', or '\r' on its own
	sepLine bool      // a line "sep=;" goes before the header
	multi   bool      // JSONL whose objects go over several lines
	empty   bool      // it holds nothing
	doc     *document // JSON that is one object around the records
	beir    bool      // a copy of what a BEIR dataset holds
	gaps    int       // of its queries, texts that its corpus does not have
	trec    bool      // a copy of what a TREC run and its judgements hold
	columns *columns  // as they were met in this pass

	doubtful bool // the encoding that was named for it seems not to be its own

	undo    []func() // frees decoders of this pass
	read    int64
	print   fingerprint
	scanned *scanned
	first   int // the row before its first one, in this pass
	rows    int // in this pass, bad ones included
}

// scanned is what a scan found the file to be.
type scanned struct {
	size int64
	sum  string // SHA-256
	fast uint64
}

// open opens what the path names, or a copy of it where that can't be read
// twice.
func (p *part) open(opt *Options) error {
	if p.file != nil {
		return nil
	}
	if opt.Qrels != "" {
		return p.spoolTREC(opt)
	}
	if p.path == Stdin {
		if opt.Stdin == nil {
			return p.fault(faultf("there is no standard input to read"))
		}
		return p.spool(opt.Stdin, opt)
	}
	if b, f := findBEIR(p.path); f != nil {
		return p.fault(f)
	} else if b != nil {
		return p.spoolBEIR(b, opt)
	}
	f, err := os.Open(p.path)
	if err != nil {
		return p.fault(openFault(err))
	}
	st, err := f.Stat()
	switch {
	case err != nil:
	case st.IsDir():
		f.Close()
		return p.fault(faultf("is a folder").withHint("name a file in it, or several: " + strings.TrimSuffix(p.path, "/") + "/*.jsonl"))
	case st.Mode()&os.ModeDevice != 0 && !harmlessDevice(p.path):
		f.Close()
		return p.fault(faultf("is a device, not a file"))
	case !st.Mode().IsRegular():
		err := p.spool(f, opt)
		f.Close()
		return err
	case isYAML(p.path):
		return errors.Join(p.spoolYAML(f, opt), f.Close())
	}
	p.file = f
	return nil
}

// harmlessDevice names the devices that end: reading /dev/zero would not.
func harmlessDevice(path string) bool {
	return path == os.DevNull || path == "/dev/stdin" || path == "/dev/tty" || strings.HasPrefix(path, "/dev/fd/")
}

func openFault(err error) *fault {
	f := faultf("can't be opened: %v", pathReason(err))
	f.err = err
	return f
}

// pathReason is an error of opening without the path, which is told anyway.
func pathReason(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (p *part) spool(in io.Reader, opt *Options) error {
	return p.keep(opt, func(f io.Writer) error {
		if _, err := io.Copy(f, in); err != nil {
			return fmt.Errorf("keep a copy of %s: %w", p.path, err)
		}
		return nil
	})
}

// spoolBEIR keeps the samples that are made of the files of a BEIR dataset.
func (p *part) spoolBEIR(b *beir, opt *Options) error {
	p.beir = true
	err := p.keep(opt, func(f io.Writer) error { return b.write(f, opt.MaxRecord) })
	p.gaps = b.gaps
	return err
}

// keep makes the file that write fills, and that is gone after close.
func (p *part) keep(opt *Options, write func(io.Writer) error) error {
	f, err := os.CreateTemp(opt.TempDir, "ragjudge-input-*")
	if err != nil {
		return fmt.Errorf("keep a copy of %s: %w", p.path, err)
	}
	p.file, p.temp, p.copy = f, f.Name(), true
	if os.Remove(p.temp) == nil {
		// The open file lives on without a name, and is gone even after a
		// kill -9. Systems that don't allow this remove it in close.
		p.temp = ""
	}
	if err := write(f); err != nil {
		return errors.Join(err, p.close())
	}
	return nil
}

// release ends a pass: it frees decoders, and, where the file can be opened
// again, its descriptor if keep is false.
func (p *part) release(keep bool) error {
	for _, f := range p.undo {
		f()
	}
	p.undo = nil
	p.print.stop()
	if keep || p.copy || p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}

// close closes the file and removes what was kept of standard input.
func (p *part) close() error {
	p.copy = false
	err := p.release(false)
	if p.temp != "" {
		err = errors.Join(err, os.Remove(p.temp))
		p.temp = ""
	}
	return err
}

// fault is a LineError about the file as a whole.
func (p *part) fault(f *fault) *LineError {
	return &LineError{File: p.path, Reason: f.reason, Hint: f.hint, Err: f.err, fatal: true}
}

// start goes back to the file's first byte. While scanning, all that is read
// is hashed twice: with SHA-256, which names the content, and with a fast hash,
// by which later passes see whether it is still the same.
func (p *part) start(opt *Options, scanning bool) error {
	if err := p.open(opt); err != nil {
		return err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("rewind %s: %w", p.path, err)
	}
	p.read, p.rows = 0, 0
	p.print.start(scanning, scanning || p.scanned != nil)
	return nil
}

// text is the file's content from where it stands, unpacked and in UTF-8,
// without a byte order mark.
func (p *part) text() (*bufio.Reader, error) {
	in := bufio.NewReaderSize(&rawFile{p}, blockSize)
	for _, how := range p.packing {
		u := unpack(how, in)
		p.undo = append(p.undo, u.close)
		in = bufio.NewReaderSize(u, blockSize)
	}
	head, err := in.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	_, skip := detectCharset(head, p.charset)
	_, _ = in.Discard(skip)
	if p.charset == utf8Text {
		return in, nil
	}
	return bufio.NewReaderSize(p.charset.toUTF8(in), blockSize), nil
}

// same looks, at the end of a pass after a scan, whether the file is still
// what was scanned, and whether it grew behind that.
func (p *part) same() (same, grew bool) {
	if p.scanned == nil {
		return true, false
	}
	if p.read != p.scanned.size || p.print.fast.Sum64() != p.scanned.fast {
		return false, false
	}
	st, err := p.file.Stat()
	return true, err == nil && st.Size() > p.scanned.size
}

// rawFile reads the file's bytes as they are stored, counting and hashing
// them, and no further than what was scanned.
type rawFile struct{ p *part }

func (r *rawFile) Read(b []byte) (int, error) {
	p := r.p
	if p.scanned != nil {
		left := p.scanned.size - p.read
		if left <= 0 {
			return 0, io.EOF
		}
		b = b[:min(int64(len(b)), left)]
	}
	n, err := p.file.Read(b)
	p.read += int64(n)
	p.print.write(b[:n])
	if err != nil && err != io.EOF {
		err = &fileFault{err}
	}
	return n, err
}

// drain reads what is left, so that the whole file is hashed.
func (p *part) drain() error {
	_, err := io.Copy(io.Discard, &rawFile{p})
	return err
}

// fingerprint hashes a file while it is read.
type fingerprint struct {
	hashing bool
	fast    maphash.Hash
	slow    *background // nil unless scanning
}

var fastSeed = maphash.MakeSeed()

func (f *fingerprint) start(slow, fast bool) {
	f.stop()
	f.hashing = fast
	f.fast.SetSeed(fastSeed)
	f.fast.Reset()
	f.slow = nil
	if slow {
		f.slow = newBackground(sha256.New())
	}
}

func (f *fingerprint) write(b []byte) {
	if !f.hashing {
		return
	}
	_, _ = f.fast.Write(b) // a hash takes everything
	if f.slow != nil {
		f.slow.write(b)
	}
}

// sum ends the hashing.
func (f *fingerprint) sum() (slow string, fast uint64) {
	return hex.EncodeToString(f.slow.sum()), f.fast.Sum64()
}

func (f *fingerprint) stop() {
	if f.slow != nil {
		f.slow.sum()
	}
}

// background hashes in a goroutine of its own, beside the decoding.
type background struct {
	hash hash.Hash
	in   chan []byte
	free chan []byte
	done chan struct{}
	end  bool
}

func newBackground(h hash.Hash) *background {
	const ahead = 4 // blocks that may wait
	b := &background{hash: h, in: make(chan []byte, ahead), free: make(chan []byte, ahead+2), done: make(chan struct{})}
	go func() {
		defer close(b.done)
		for block := range b.in {
			b.hash.Write(block)
			select {
			case b.free <- block:
			default:
			}
		}
	}()
	return b
}

func (b *background) write(p []byte) {
	if len(p) == 0 || b.end {
		return
	}
	var block []byte
	select {
	case block = <-b.free:
	default:
	}
	b.in <- append(block[:0], p...)
}

// sum waits for what was written; further writes do nothing.
func (b *background) sum() []byte {
	if !b.end {
		b.end = true
		close(b.in)
		<-b.done
	}
	return b.hash.Sum(nil)
}
