package cache

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// line is an entry in an export: one JSON object a line.
type line struct {
	Schema int    `json:"schema"`
	Key    string `json:"key"`
	PutAt  int64  `json:"put_at"`
	Value  []byte `json:"value"`
}

// exportSchema is the version of the form of a line.
const exportSchema = 1

// Export writes every intact entry as one JSON line: schema, key in
// hexadecimal, put time in Unix milliseconds, value in base64. It returns how
// many it wrote. Damaged entries are left out and counted in Stats.
func (d *Disk) Export(ctx context.Context, w io.Writer) (int64, error) {
	var n int64
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	err := d.scan(ctx, func(rows []stored) error {
		for _, r := range rows {
			e, ok := r.entry()
			if !ok {
				d.corrupt.Add(1)
				continue
			}
			if err := enc.Encode(line{exportSchema, hex.EncodeToString(e.key[:]), e.putAt, e.value}); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return n, fmt.Errorf("export the cache %s: %w", d.path, err)
	}
	return n, nil
}

// Import adds the entries of an export with their own put times, and returns
// how many were new or newer than what was there. At a line that is not such an
// entry it stops with an error that names the line; the entries before it are
// in the cache.
func (d *Disk) Import(ctx context.Context, r io.Reader) (int64, error) {
	var added int64
	in := bufio.NewReaderSize(r, 1<<16)
	for number := 1; ; {
		batch, readErr := readBatch(in, &number)
		if len(batch) > 0 {
			if err := d.do(ctx, func(c *conns) error { return c.importAll(batch, &added) }); err != nil {
				return added, fmt.Errorf("import into the cache %s: %w", d.path, err)
			}
		}
		if errors.Is(readErr, io.EOF) {
			return added, nil
		}
		if readErr != nil {
			return added, fmt.Errorf("import into the cache %s: %w", d.path, readErr)
		}
	}
}

func (c *conns) importAll(batch []*entry, added *int64) error {
	var n int64
	err := c.transact(func() error {
		for _, e := range batch {
			ok, err := c.insertNew(e)
			if err != nil {
				return err
			}
			if ok {
				n++
			}
		}
		return nil
	})
	if err == nil {
		*added += n
	}
	return err
}

// readBatch reads up to a group of entries. The error is io.EOF at the end of
// the input; the entries read before an error are returned with it.
func readBatch(in *bufio.Reader, number *int) (batch []*entry, err error) {
	size := 0
	for len(batch) < maxBatch && size < maxBatchBytes {
		text, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			e, parseErr := parseLine(text)
			if parseErr != nil {
				return batch, fmt.Errorf("line %d: %w", *number, parseErr)
			}
			batch = append(batch, e)
			size += len(e.value)
		}
		if err != nil {
			return batch, err
		}
		*number++
	}
	return batch, nil
}

// parseLine decodes one line of an export.
func parseLine(text []byte) (*entry, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var l line
	if err := dec.Decode(&l); err != nil {
		return nil, fmt.Errorf("not an exported entry: %w", err)
	}
	if dec.More() {
		return nil, errors.New("not an exported entry: more than one JSON value")
	}
	if l.Schema != exportSchema {
		return nil, fmt.Errorf("the entry has schema %d, and this ragjudge knows %d", l.Schema, exportSchema)
	}
	key, err := hex.DecodeString(l.Key)
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("the key %.80q is not 64 hexadecimal digits", l.Key)
	}
	if len(l.Value) > MaxValue {
		return nil, fmt.Errorf("the value has %d bytes, more than the %d allowed", len(l.Value), MaxValue)
	}
	return newEntry([32]byte(key), l.PutAt, l.Value), nil
}
