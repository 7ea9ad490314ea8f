package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/llm"
)

// batchJournal is the file of a run in which the batches of one model are noted.
func batchJournal(dir string, key connKey) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", key.endpoint, key.model))
	return filepath.Join(dir, "batches-"+hex.EncodeToString(sum[:4])+".jsonl")
}

// forgetBatches takes away what is left of the journals of a run that is
// complete: batches whose answers came from the cache after all. Nobody will ask
// for them again.
func forgetBatches(dir string, log *slog.Logger) {
	left, err := filepath.Glob(filepath.Join(dir, "batches-*.jsonl"))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	if err != nil {
		log.Warn("journals of batches that have ended stay in the run directory", "error", err)
	}
}

// inBatches puts the Batch API in the place of live calls.
func (c *conn) inBatches(cfg *config.Config, dir string, log *slog.Logger) (err error) {
	b := cfg.Batch
	conf := llm.BatchConfig{
		Backend: c.backend, Journal: batchJournal(dir, c.connKey), MaxRequests: b.MaxRequests, MaxBytes: b.MaxBytes, MaxTokens: b.MaxTokens,
		Quiet: b.Quiet, Poll: b.Poll, OnProgress: batchProgress(c.model, log), Log: log,
		Live: c.limiter.Wrap(c.backend), ExpiredLive: b.Expired == config.Live,
	}
	if c.batch, err = llm.NewBatch(conf); err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	return nil
}

// workers is how many samples are judged at the same time.
func workers(cfg *config.Config) int {
	if cfg.Run.Backend == config.InBatches && !offline(cfg) {
		return cfg.Batch.Samples
	}
	return cfg.Limits.Concurrency
}

// batchTold is how often it is told that batches go on, where none has changed
// its state.
const batchTold = 10 * time.Minute

// batchProgress logs how batches stand: when one has changed its state, and
// every now and then. It is called under a lock, one call at a time.
func batchProgress(model string, log *slog.Logger) func(llm.BatchProgress) {
	var last string
	var told time.Time
	var pace batchPace
	return func(p llm.BatchProgress) {
		left := pace.left(p.Done, p.Requests, time.Now())
		var states []string
		for _, s := range slices.Sorted(maps.Keys(p.Open)) {
			states = append(states, fmt.Sprintf("%d %s", p.Open[s], s))
		}
		now := strings.Join(states, ", ")
		if now == "" || now == last && time.Since(told) < batchTold {
			return
		}
		last, told = now, time.Now()
		log.Info("batches", "model", model, "open", now, "requests", p.Requests, "answered", p.Done, "waiting", p.Waiting, "time_left", left)
	}
}

// batchPace foretells when open batches will have ended.
type batchPace struct {
	requests int // of the open batches, when they were last changed
	since    time.Time
	from     int // done at that time
}

// left is the time that the open batches will take at the pace since they were
// last joined by another, in words: a provider promises a day and nothing else.
func (b *batchPace) left(done, requests int, now time.Time) string {
	if requests != b.requests || done < b.from {
		*b = batchPace{requests: requests, since: now, from: done}
	}
	if done <= b.from || !now.After(b.since) {
		return "not known; at most 24h by the provider's promise"
	}
	each := now.Sub(b.since) / time.Duration(done-b.from)
	return (each * time.Duration(requests-done)).Round(time.Second).String()
}
