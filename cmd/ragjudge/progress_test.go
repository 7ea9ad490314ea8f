package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Without a terminal there is a line every so often, and nothing else.
func TestPlainProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := startProgress(&b, "auto", 100, func() spending {
			return spending{calls: 50, hits: 10, limited: 2, costUSD: 0.5, priced: true}
		})
		for range 25 {
			p.Row()
		}
		time.Sleep(plainEvery + time.Second)
		p.Stop()
		want := "25 of 100 rows, 0.8 rows/s, 1m30s left, 50 calls, 10 cache hits, $0.5000 of about $2.0000, 2 times rate-limited\n"
		if b.String() != want {
			t.Errorf("got  %swant %s", b.String(), want)
		}
	})
}

func TestProgressWithoutAPrice(t *testing.T) {
	p := startProgress(&bytes.Buffer{}, "none", 10, func() spending { return spending{calls: 1} })
	defer p.Stop()
	if got := p.status(); !strings.Contains(got, "cost not known") || strings.Contains(got, "$") {
		t.Errorf("%q", got)
	}
}

func TestBarOnATerminal(t *testing.T) {
	var b bytes.Buffer
	p := startProgress(&b, "bar", 2, func() spending { return spending{priced: true} })
	p.Row()
	p.Row()
	if _, err := p.Write([]byte("a log line\n")); err != nil {
		t.Error(err)
	}
	p.Stop()
	if !strings.Contains(b.String(), "a log line") || !strings.Contains(b.String(), "2/2 rows") {
		t.Errorf("%q", b.String())
	}
}
