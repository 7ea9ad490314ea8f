package metrics_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/metrics"
)

// made makes a metric.
func made(t testing.TB, name string, opt metrics.Options) eval.Metric {
	t.Helper()
	m, err := metrics.New(name, opt)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// scored scores one sample and checks what holds for every score.
func scored(t testing.TB, m eval.Metric, s *eval.Sample) eval.Score {
	t.Helper()
	got, err := m.Score(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Check(); err != nil {
		t.Fatal(err)
	}
	if info := m.Info(); got.Metric != info.Name || got.Version != info.Version {
		t.Fatalf("the score is of %s version %d, the metric is %s version %d", got.Metric, got.Version, info.Name, info.Version)
	}
	if got.Status != eval.Scored && got.Reason == "" {
		t.Fatalf("%s without a reason: %+v", got.Status, got)
	}
	if got.Value != nil && (*got.Value < 0 || *got.Value > 1) {
		t.Fatalf("%s gave %v, which is not within 0..1", got.Metric, *got.Value)
	}
	return got
}

// wantScore checks a scored value.
func wantScore(t testing.TB, s eval.Score, want float64) {
	t.Helper()
	if s.Value == nil || math.Abs(*s.Value-want) > 1e-12 {
		t.Errorf("%s: got %s %v (%s), want %v", s.Metric, s.Status, shown(s.Value), s.Reason, want)
	}
}

func shown(v *float64) any {
	if v == nil {
		return "no value"
	}
	return *v
}

// readFixture reads a file of the recorded data beside the repository, or skips.
func readFixture(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../shared/" + path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the recorded data are not there: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decoded[T any](t testing.TB, b []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
