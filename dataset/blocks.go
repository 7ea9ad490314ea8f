package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/ragjudge/ragjudge/eval"
)

// blockSize is how much of a file is read and decoded at a time.
const blockSize = 128 << 10

// jsonBlocks reads JSONL. One goroutine cuts the file into blocks of whole
// lines, others decode them, and next hands the records out in order, with the
// warnings and columns that each brings: nobody sees that it was not done line
// by line. At most a few blocks are held.
type jsonBlocks struct {
	cutter cutter
	dec    *decoder // the reader's, which is told what the blocks found

	order   chan *block // in the order of the file
	work    chan *block // the same, for whoever is free
	free    chan *block
	quit    chan struct{}
	wg      sync.WaitGroup
	running bool

	cur *block
	at  int
	err error
	rec record
}

// block is a stretch of whole lines with what was made of it.
type block struct {
	text  []byte
	line  int   // of its first byte
	long  bool  // it stands for one line that is longer than a record may be
	err   error // what ended the reading behind it
	items []item
	cols  []column // in order of appearance, Rows counting those of the block
	ready chan struct{}
}

// item is one line that is not blank.
type item struct {
	rec    record
	sample *eval.Sample
	fault  *fault
	warned []warnKind
}

func newJSONBlocks(in *bufio.Reader, limit int, dec *decoder) *jsonBlocks {
	return &jsonBlocks{cutter: cutter{in: in, max: limit, line: 1}, dec: dec}
}

// start begins to read ahead.
func (j *jsonBlocks) start() {
	workers := min(runtime.GOMAXPROCS(0), 8)
	ahead := workers + 1
	j.order, j.work = make(chan *block, ahead), make(chan *block, ahead)
	j.free, j.quit = make(chan *block, ahead+workers+1), make(chan struct{})
	j.running = true
	j.wg.Add(workers + 1)
	go j.cut()
	for range workers {
		go j.decode(j.dec.fork())
	}
}

// stop ends the goroutines and waits for them.
func (j *jsonBlocks) stop() {
	if !j.running {
		return
	}
	j.running = false
	close(j.quit)
	j.wg.Wait()
	j.cur, j.err = nil, errors.New("the reading was stopped")
}

// cut reads blocks until the file ends.
func (j *jsonBlocks) cut() {
	defer j.wg.Done()
	defer close(j.order)
	defer close(j.work)
	for {
		b := j.empty()
		last := j.cutter.next(b)
		select {
		case j.order <- b:
		case <-j.quit:
			return
		}
		select {
		case j.work <- b:
		case <-j.quit:
			return
		}
		if last {
			return
		}
	}
}

func (j *jsonBlocks) empty() *block {
	select {
	case b := <-j.free:
		b.text, b.items, b.cols = b.text[:0], b.items[:0], nil
		b.long, b.err, b.ready = false, nil, make(chan struct{})
		return b
	default:
		return &block{ready: make(chan struct{})}
	}
}

// cutter cuts a file behind line ends.
type cutter struct {
	in   *bufio.Reader
	max  int
	line int    // of the next byte
	rest []byte // begun lines, behind the last block
	err  error
}

// next fills a block and reports whether it is the last.
func (c *cutter) next(b *block) (last bool) {
	b.line = c.line
	b.text = append(b.text[:0], c.rest...)
	c.rest = c.rest[:0]
	for c.err == nil {
		seen := len(b.text)
		c.fill(b)
		if end := bytes.LastIndexByte(b.text[seen:], '\n'); end >= 0 {
			end += seen + 1
			c.rest = append(c.rest, b.text[end:]...)
			b.text = b.text[:end]
			c.line += bytes.Count(b.text, []byte{'\n'})
			return false
		}
		if len(b.text) > c.max+len("\r\n") {
			c.passOver(b)
			return false
		}
	}
	b.err = c.err
	if c.err != io.EOF {
		b.text = b.text[:0] // the line's end is not known
	}
	return true
}

// fill reads on, by a block, or by as much as there is already: a line of many
// megabytes must not be copied once for each of its blocks.
func (c *cutter) fill(b *block) {
	n := len(b.text)
	want := max(blockSize, n)
	if cap(b.text)-n < want {
		b.text = append(make([]byte, 0, n+want), b.text...)
	}
	got := 0
	for got < want && c.err == nil {
		var k int
		k, c.err = c.in.Read(b.text[n+got : n+want])
		got += k
	}
	b.text = b.text[:n+got]
}

// passOver reads to the end of a line that is too long.
func (c *cutter) passOver(b *block) {
	b.text, b.long = nil, true
	for {
		_, err := c.in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			continue
		}
		c.line++
		c.err = err
		return
	}
}

// decode decodes blocks, with a decoder of its own.
func (j *jsonBlocks) decode(d *decoder) {
	defer j.wg.Done()
	for b := range j.work {
		select {
		case <-j.quit:
			return
		default:
		}
		b.decode(d, j.cutter.max)
		b.cols = d.columns.counted()
		close(b.ready)
	}
}

func (b *block) decode(d *decoder, limit int) {
	if b.long {
		b.items = append(b.items, item{rec: record{line: b.line}, fault: tooLong(limit)})
		return
	}
	var cur *item
	d.warn = func(k warnKind) { cur.warned = append(cur.warned, k) }
	line := b.line
	for text := b.text; len(text) > 0; line++ {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		raw := trimEnd(text[:n])
		text = text[n:]
		raw = bytes.TrimPrefix(raw, []byte(bom)) // files that were joined each bring their own
		if len(raw) == 0 || raw[0] <= ' ' && len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		b.items = append(b.items, item{rec: record{raw: raw, line: line}})
		cur = &b.items[len(b.items)-1]
		if len(raw) > limit {
			cur.fault = tooLong(limit)
			continue
		}
		cur.sample, cur.fault = d.json(raw)
		if f := cur.fault; f != nil && f.open && f.hint == "" {
			f.hint = "the line was cut off, or the object goes on in the next line; in JSONL every line holds a whole object"
		}
	}
}

// trimEnd takes the line end off.
func trimEnd(line []byte) []byte {
	n := len(line)
	for n > 0 && (line[n-1] == '\n' || line[n-1] == '\r') {
		n--
	}
	return line[:n]
}

func (j *jsonBlocks) next() error {
	for {
		if j.err != nil {
			return j.err
		}
		if j.cur != nil && j.at+1 < len(j.cur.items) {
			j.at++
			j.rec = j.cur.items[j.at].rec
			return nil
		}
		if j.cur != nil {
			if j.err = j.cur.err; j.err != nil {
				continue
			}
			j.recycle(j.cur)
		}
		j.cur, j.at = j.nextBlock(), -1
	}
}

// nextBlock is the next block, decoded. Until the shape of the records is
// settled, which they all share, blocks are decoded one by one.
func (j *jsonBlocks) nextBlock() *block {
	if !j.running && j.dec.columns.shape == nil {
		b := &block{}
		j.cutter.next(b)
		b.decode(&decoder{columns: j.dec.columns, charset: j.dec.charset}, j.cutter.max)
		return b
	}
	if !j.running {
		j.start()
	}
	b := <-j.order
	<-b.ready
	j.dec.columns.merge(b.cols)
	return b
}

// recycle gives a block back for further lines.
func (j *jsonBlocks) recycle(b *block) {
	clear(b.items)
	if j.running && cap(b.text) <= 8*blockSize { // one that held a huge line is not kept
		select {
		case j.free <- b:
		default:
		}
	}
}

func (j *jsonBlocks) record() record { return j.rec }

func (j *jsonBlocks) sample(d *decoder) (*eval.Sample, *fault) {
	it := &j.cur.items[j.at]
	for _, k := range it.warned {
		d.warn(k)
	}
	s := it.sample
	it.sample = nil
	return s, it.fault
}

// fork makes a decoder for another goroutine.
func (d *decoder) fork() *decoder {
	return &decoder{columns: d.columns.fork(), charset: d.charset}
}

// fork makes columns of the same mapping and shape that count for themselves.
func (c *columns) fork() *columns {
	f := *c
	f.row, f.order = 0, nil
	f.known, f.fields, f.folds = make(map[string]*column), make(map[eval.Field]*column), make(map[string]*column)
	return &f
}

// counted returns what was counted since the last call.
func (c *columns) counted() []column {
	var out []column
	for _, k := range c.order {
		if k.Rows > 0 {
			out = append(out, *k)
			k.Rows = 0
		}
	}
	return out
}

// merge adds what a fork has counted.
func (c *columns) merge(counted []column) {
	c.prune()
	for _, add := range counted {
		k := c.known[add.Name]
		if k == nil {
			k = &add
			k.lastRow = 0
			c.known[k.Name] = k
			c.order = append(c.order, k)
			continue
		}
		k.Rows += add.Rows
		k.opened = k.opened || add.opened
	}
}
