package metrics_test

import (
	"context"
	"errors"

	"github.com/ragjudge/ragjudge/judge"
)

// noTable is the part of a Judge that a fake without a table of claims and
// chunks doesn't play.
type noTable struct{}

func (noTable) Backing(context.Context, judge.Ask) ([]judge.Backing, error) {
	return nil, errors.New("this judge is not asked which chunks entail a claim")
}

// vectors are an Embedder's answers, by text.
type vectors map[string][]float32

func (v vectors) Embed(_ context.Context, _ string, texts []string) ([][]float32, error) {
	var all [][]float32
	for _, t := range texts {
		one, ok := v[t]
		if !ok {
			return nil, errors.New("no vector is laid down for " + t)
		}
		all = append(all, one)
	}
	return all, nil
}
