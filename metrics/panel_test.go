package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/metrics"
)

// script is a judge by a word: a letter for the verdict on each item (S
// supported, C contradicted, N not found; U useful, x not), a digit for a
// rating, "!" for a call that fails and "?" for a reply that can't be used.
type script string

var letters = map[byte]string{'S': judge.Supported, 'C': judge.Contradicted, 'N': judge.NotFound, 'U': judge.Useful, 'x': judge.NotUseful}

func (s script) err() error {
	switch s {
	case "!":
		return &llm.Error{Kind: llm.Transient, Code: "timeout"}
	case "?":
		return &judge.UnusableError{Code: judge.CodeRefusal, Message: "no", Reply: "I won't."}
	}
	return nil
}

func (s script) Claims(context.Context, judge.Ask) ([]string, error) {
	return nil, errors.New("only the first seat splits")
}

func (s script) Verdicts(_ context.Context, a judge.Ask) ([]judge.Verdict, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	var all []judge.Verdict
	for i, item := range a.Items {
		all = append(all, judge.Verdict{Item: item, Label: letters[s[i]], Reason: "said " + string(s)})
	}
	return all, nil
}

func (s script) Backing(context.Context, judge.Ask) ([]judge.Backing, error) {
	return nil, errors.New("a script has no table")
}

func (s script) Rate(context.Context, judge.Ask) (judge.Rating, error) {
	if err := s.err(); err != nil {
		return judge.Rating{}, err
	}
	return judge.Rating{Rating: int(s[0] - '0'), Reason: "said " + string(s)}, nil
}

// splitter is the first seat: it also splits, into as many claims as it has
// verdicts.
type splitter struct {
	script
	items int
}

func (s splitter) Claims(context.Context, judge.Ask) ([]string, error) {
	claims := make([]string, s.items)
	for i := range claims {
		claims[i] = fmt.Sprintf("claim %d", i+1)
	}
	return claims, nil
}

// panelOf makes a panel of scripts, separated by spaces.
func panelOf(vote metrics.Vote, words string) metrics.Panel {
	p := metrics.Panel{Vote: vote, MaxDisagreement: 0.25}
	items := 0
	for _, w := range strings.Fields(words) {
		items = max(items, len(w))
	}
	for i, w := range strings.Fields(words) {
		s := metrics.Seat{Name: string(rune('a' + i)), Judge: script(w)}
		if i == 0 {
			s.Judge = splitter{script(w), items}
		}
		p.Seats = append(p.Seats, s)
	}
	return p
}

// TestVerdictPanels: every vote over verdicts, with ties and missing seats,
// worked by hand.
func TestVerdictPanels(t *testing.T) {
	const third, none = 1.0 / 3, -1
	for _, c := range []struct {
		vote   metrics.Vote
		seats  string
		status eval.Status
		value  float64
		shown  string // verdicts in the detail; "/" is a split
		low    float64
		high   float64
		reason string
		flags  string
	}{
		{"majority", "SSS SSN SNN", eval.Scored, 2 * third, "SSN", none, none, "", "judges_disagree"},
		{"majority", "SSSS SSSS SSSN", eval.Scored, 1, "SSSS", none, none, "", ""},
		{"majority", "SS SN", eval.Unscored, none, "S/", 0.5, 1, "tie: the seats have no majority on 1 of 2 items; the score lies between 0.5 and 1", "judges_disagree"},
		{"majority", "SS SS NN NN", eval.Unscored, none, "//", 0, 1, "tie: ", "judges_disagree"},
		{"majority", "SN SC !", eval.Scored, 0.5, "SN", none, none, "", "seats_missing"},
		{"majority", "SC SC SN", eval.Scored, 0.5, "SC", none, none, "", ""},
		{"majority", "SS SN !", eval.Failed, none, "S/", 0.5, 1, "transient: timeout (judge c, trial 0)", "judges_disagree"},
		{"majority", "SS SN ?", eval.Unscored, none, "S/", 0.5, 1, "refusal: no (judge c, trial 0)", "judges_disagree"},
		{"majority", "SS ? !", eval.Failed, none, "//", 0, 1, "transient: timeout (judge c, trial 0)", ""},
		{"majority", "? SS ?", eval.Unscored, none, "//", 0, 1, "refusal: no (judge a, trial 0)", ""},
		{"majority", "SS SS ! !", eval.Failed, none, "//", 0, 1, "transient: timeout (judge c, trial 0)", ""},
		{"majority", "SS SS SS ! !", eval.Scored, 1, "SS", none, none, "", "seats_missing"},
		{"mean", "SSSS SSSN", eval.Scored, 0.875, "SSS/", none, none, "", ""},
		{"mean", "SS SN NN", eval.Scored, 0.5, "SN", none, none, "", "judges_disagree"},
		{"median", "SSSS SNNN NNNN", eval.Scored, 0.25, "SNNN", none, none, "", "judges_disagree"},
		{"median", "SS SN NN NN", eval.Scored, 0.25, "/N", none, none, "", "judges_disagree"},
		{"mean", "SS SS !", eval.Failed, none, "SS", none, none, "transient: timeout (judge c, trial 0)", ""},
		{"median", "SS ? SS", eval.Unscored, none, "SS", none, none, "refusal: no (judge b, trial 0)", ""},
		{"mean", "? SS !", eval.Failed, none, "//", none, none, "transient: timeout (judge c, trial 0)", ""},
	} {
		t.Run(string(c.vote)+" "+c.seats, func(t *testing.T) {
			got := scored(t, made(t, "faithfulness", metrics.Options{Panel: panelOf(c.vote, c.seats)}), fullSample())
			if got.Status != c.status || c.value != none && math.Abs(*got.Value-c.value) > 1e-12 {
				t.Fatalf("%s %v (%s), want %s %v", got.Status, shown(got.Value), got.Reason, c.status, c.value)
			}
			if !strings.HasPrefix(got.Reason, c.reason) || (c.reason == "") != (got.Reason == "") {
				t.Errorf("reason %q, want %q", got.Reason, c.reason)
			}
			if flags := strings.Join(got.Flags, " "); flags != c.flags {
				t.Errorf("flags %q, want %q", flags, c.flags)
			}
			d := decoded[metrics.ClaimsDetail](t, got.Detail)
			for i, v := range d.Claims {
				want := letters[c.shown[i]]
				if c.shown[i] == '/' {
					want = metrics.VerdictSplit
				}
				if v.Label != want || v.Item != fmt.Sprintf("claim %d", i+1) {
					t.Errorf("verdict %d is %+v, want %s", i+1, v, want)
				}
			}
			if len(d.Claims) != len(c.shown) || (d.Bounds != nil) != (c.low != none) || d.Bounds != nil && *d.Bounds != (metrics.Bounds{Low: c.low, High: c.high}) {
				t.Errorf("detail %s, want bounds %v to %v", got.Detail, c.low, c.high)
			}
		})
	}
}

// TestPanelKeepsEverySeat: what each seat said, with its reasons, is in the
// score, and how far they are apart.
func TestPanelKeepsEverySeat(t *testing.T) {
	p := panelOf("majority", "SSS SCN SSS ?")
	p.Seats[2].Name, p.Seats[2].Trial = "a", 1
	got := scored(t, made(t, "faithfulness", metrics.Options{Panel: p}), fullSample())
	third, one := 1.0/3, 1.0
	apart := one - third
	said := func(s string) []string { return []string{"said " + s, "said " + s, "said " + s} }
	all := []string{judge.Supported, judge.Supported, judge.Supported}
	want := &eval.Panel{
		Vote: "majority", Positive: []string{judge.Supported}, Spread: &apart, Agreement: &third,
		Seats: []eval.Seat{
			{Judge: "a", Status: eval.Scored, Value: &one, Labels: all, Reasons: said("SSS")},
			{Judge: "b", Status: eval.Scored, Value: &third, Labels: []string{judge.Supported, judge.Contradicted, judge.NotFound}, Reasons: said("SCN")},
			{Judge: "a", Trial: 1, Status: eval.Scored, Value: &one, Labels: all, Reasons: said("SSS")},
			{Judge: "d", Status: eval.Unscored, Reason: "refusal: no", Reply: "I won't."},
		},
	}
	if d := cmp.Diff(want, got.Panel); d != "" {
		t.Errorf("the panel differs (-want +got):\n%s", d)
	}
	// 2 of 4 seats are no majority, and the one that is missing could make one.
	if got.Status != eval.Unscored || !strings.HasPrefix(got.Reason, "refusal: no (judge d") {
		t.Errorf("%s, %q", got.Status, got.Reason)
	}
}

// TestContraryVerdictsAreFlagged: two judges may come to one value by contrary
// verdicts; that is no agreement.
func TestContraryVerdictsAreFlagged(t *testing.T) {
	got := scored(t, made(t, "faithfulness", metrics.Options{Panel: panelOf("mean", "SN NS")}), fullSample())
	wantScore(t, got, 0.5)
	if *got.Panel.Spread != 0 || *got.Panel.Agreement != 0 || !slices.Equal(got.Flags, []string{eval.FlagJudgesDisagree}) {
		t.Errorf("spread %v, agreement %v, flags %v", *got.Panel.Spread, *got.Panel.Agreement, got.Flags)
	}
}

func TestRatingPanels(t *testing.T) {
	for _, c := range []struct {
		vote   metrics.Vote
		seats  string
		status eval.Status
		value  float64
		detail string
		reason string
		flags  string
	}{
		{"majority", "4 5 4", eval.Scored, 0.75, `{"rating":4,"reason":"said 4"}`, "", ""},
		{"majority", "1 5 5", eval.Scored, 1, `{"rating":5,"reason":"said 5"}`, "", "judges_disagree"},
		{"majority", "4 5", eval.Unscored, 0, `{"bounds":{"low":0.75,"high":1}}`, "tie: the seats have no majority for a rating; the score lies between 0.75 and 1", ""},
		{"majority", "1 2 3", eval.Unscored, 0, `{"bounds":{"low":0,"high":0.5}}`, "tie: ", "judges_disagree"},
		{"majority", "4 4 !", eval.Scored, 0.75, `{"rating":4,"reason":"said 4"}`, "", "seats_missing"},
		{"majority", "4 5 !", eval.Failed, 0, "", "transient: timeout (judge c, trial 0)", ""},
		{"majority", "4 5 ?", eval.Unscored, 0, "", "refusal: no (judge c, trial 0)", ""},
		{"majority", "1 2 3 4 !", eval.Unscored, 0, `{"bounds":{"low":0,"high":0.75}}`, "tie: ", "judges_disagree"}, // the missing one could decide nothing
		{"majority", "4 4 ! ?", eval.Failed, 0, "", "transient: timeout (judge c, trial 0)", ""},
		{"mean", "4 5", eval.Scored, 0.875, `{"rating":4.5}`, "", ""},
		{"median", "1 5 4", eval.Scored, 0.75, `{"rating":4}`, "", "judges_disagree"},
		{"median", "1 2 4 5", eval.Scored, 0.5, `{"rating":3}`, "", "judges_disagree"},
		{"mean", "4 ?", eval.Unscored, 0, "", "refusal: no (judge b, trial 0)", ""},
		{"median", "! 4 ?", eval.Failed, 0, "", "transient: timeout (judge a, trial 0)", ""},
	} {
		t.Run(string(c.vote)+" "+c.seats, func(t *testing.T) {
			got := scored(t, made(t, "answer_relevance", metrics.Options{Panel: panelOf(c.vote, c.seats)}), fullSample())
			if got.Status != c.status || got.Value != nil && math.Abs(*got.Value-c.value) > 1e-12 {
				t.Fatalf("%s %v (%s), want %s %v", got.Status, shown(got.Value), got.Reason, c.status, c.value)
			}
			if string(got.Detail) != c.detail || !strings.HasPrefix(got.Reason, c.reason) || strings.Join(got.Flags, " ") != c.flags {
				t.Errorf("detail %s, reason %q, flags %q", got.Detail, got.Reason, got.Flags)
			}
			if len(got.Panel.Seats) != len(strings.Fields(c.seats)) || got.Panel.Positive != nil {
				t.Errorf("panel %+v", got.Panel)
			}
		})
	}
	got := scored(t, made(t, "answer_relevance", metrics.Options{Panel: panelOf("mean", "5 5 4")}), fullSample())
	if a := *got.Panel.Agreement; math.Abs(a-1.0/3) > 1e-12 || *got.Panel.Spread != 0.25 {
		t.Errorf("agreement %v, spread %v; 1 of 3 pairs is equal", a, *got.Panel.Spread)
	}
}

// TestChunkPanels: context_precision decides chunk by chunk, in one call or in
// one for each, and its bounds know that a further useful chunk can lower it.
func TestChunkPanels(t *testing.T) {
	for _, perChunk := range []bool{false, true} {
		s, _ := precisionSample([]int{0, 0, 0, 0})
		score := func(words string) eval.Score {
			p := panelOf("majority", words)
			if perChunk {
				for i, seat := range p.Seats {
					p.Seats[i].Judge = byChunk{seat.Judge, s.RetrievedContexts}
				}
			}
			return scored(t, made(t, "context_precision", metrics.Options{Panel: p, PerChunk: perChunk}), s)
		}
		wantScore(t, score("UxxU UxxU xxxx"), 0.75)
		got := score("UxxU Uxxx")
		d := decoded[metrics.ChunksDetail](t, got.Detail)
		if got.Status != eval.Unscored || d.Bounds == nil || *d.Bounds != (metrics.Bounds{Low: 0.75, High: 1}) || d.Chunks[3].Verdict != metrics.VerdictSplit || d.Against != "reference" {
			t.Errorf("%s, detail %s", got.Status, got.Detail)
		}
	}
}

// byChunk gives the verdict of a script that is meant for all chunks to one.
type byChunk struct {
	metrics.Judge
	chunks []string
}

func (b byChunk) Verdicts(ctx context.Context, a judge.Ask) ([]judge.Verdict, error) {
	all := a
	all.Items = b.chunks
	got, err := b.Judge.Verdicts(ctx, all)
	if err != nil {
		return nil, err
	}
	i := slices.Index(b.chunks, a.Items[0])
	return got[i : i+1], nil
}

// TestPanelFatal: an error that ends the run does so whichever seat has it, and
// is told with that judge's name. Of several the first by seat counts, whichever
// comes first in time.
func TestPanelFatal(t *testing.T) {
	fatal := &llm.Error{Kind: llm.Fatal, Code: "invalid_api_key"}
	for seat := range 3 {
		synctest.Test(t, func(t *testing.T) {
			p := panelOf("majority", "SS SS SS")
			for i := seat; i < 3; i++ {
				p.Seats[i].Judge = judgeFunc(func(context.Context, judge.Ask) ([]judge.Verdict, error) {
					time.Sleep(time.Duration(3-i) * time.Second)
					return nil, fatal
				})
			}
			_, err := made(t, "faithfulness", metrics.Options{Panel: p}).Score(t.Context(), fullSample())
			if name := string(rune('a' + seat)); !errors.Is(err, fatal) || !strings.HasPrefix(err.Error(), "judge "+name+": ") {
				t.Errorf("error %v, want that of judge %s", err, name)
			}
		})
	}
	p := panelOf("majority", "SS SS SS")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Seats[1].Judge = script("!")
	if _, err := made(t, "faithfulness", metrics.Options{Panel: p}).Score(ctx, fullSample()); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that is broken off: %v", err)
	}
}

// TestPanelPanics: a seat that panics does so in the metric's goroutine, where
// a run turns it into a failed score.
func TestPanelPanics(t *testing.T) {
	defer func() {
		if p := recover(); p != "a fault" {
			t.Errorf("recovered %v", p)
		}
	}()
	p := panelOf("majority", "S S S")
	p.Seats[2].Judge = judgeFunc(func(context.Context, judge.Ask) ([]judge.Verdict, error) { panic("a fault") })
	_, err := made(t, "faithfulness", metrics.Options{Panel: p}).Score(t.Context(), fullSample())
	t.Errorf("no panic, error %v", err)
}

// TestOneSeatIsOneJudge: a panel of one seat gives the bytes that the judge
// alone gives.
func TestOneSeatIsOneJudge(t *testing.T) {
	for _, name := range []string{"faithfulness", "context_recall", "context_precision", "answer_relevance"} {
		for _, err := range []error{nil, script("!").err(), script("?").err()} {
			j := &fakeJudge{claims: []string{"a", "b"}, labels: map[string]string{"a": judge.Supported}, rating: 3, err: err}
			alone := scored(t, made(t, name, metrics.Options{Judge: j}), fullSample())
			seat := scored(t, made(t, name, metrics.Options{Panel: metrics.Panel{Seats: []metrics.Seat{{Name: "x", Judge: j}}, Vote: "mean"}}), fullSample())
			a, _ := eval.MarshalJSON(alone)
			b, _ := eval.MarshalJSON(seat)
			if string(a) != string(b) || alone.Panel != nil {
				t.Errorf("%s: %s\nalone: %s", name, b, a)
			}
		}
	}
}

// TestPanelProperties: the order of the seats changes nothing but their order,
// and identical seats say what one of them says.
func TestPanelProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		items := rapid.IntRange(1, 4).Draw(rt, "items")
		metric := rapid.SampledFrom([]string{"faithfulness", "answer_relevance"}).Draw(rt, "metric")
		letter := rapid.SampledFrom([]string{"S", "S", "C", "N"})
		word := func() string {
			switch k := rapid.IntRange(0, 9).Draw(rt, "kind"); {
			case k == 0:
				return "!"
			case k == 1:
				return "?"
			case metric == "answer_relevance":
				return fmt.Sprint(rapid.IntRange(1, 5).Draw(rt, "rating"))
			}
			w := ""
			for range items {
				w += letter.Draw(rt, "verdict")
			}
			return w
		}
		words := make([]string, rapid.IntRange(2, 6).Draw(rt, "seats"))
		for i := range words {
			words[i] = word()
		}
		vote := rapid.SampledFrom(metrics.Votes).Draw(rt, "vote")
		score := func(words []string) eval.Score {
			p := panelOf(vote, strings.Join(words, " "))
			p.Seats[0].Judge = splitter{script(words[0]), items}
			return scored(t, made(t, metric, metrics.Options{Panel: p}), fullSample())
		}
		one, other := score(words), score(rapid.Permutation(words).Draw(rt, "order"))
		// Whose reason is told depends on the order, what it says doesn't.
		if d := cmp.Diff([]any{one.Status, one.Value, one.Flags, one.Panel.Spread, one.Panel.Agreement},
			[]any{other.Status, other.Value, other.Flags, other.Panel.Spread, other.Panel.Agreement}); d != "" {
			rt.Fatalf("the order matters: %s", d)
		}
		same := slices.Repeat(words[:1], len(words))
		alone := script(words[0])
		single := scored(t, made(t, metric, metrics.Options{Judge: splitter{alone, items}}), fullSample())
		if all := score(same); all.Status != single.Status || (all.Value != nil && math.Abs(*all.Value-*single.Value) > 1e-12) || len(all.Flags) > 0 {
			rt.Fatalf("%v of %d identical seats %q: %s %v %v, one alone: %s %v", vote, len(words), words[0], all.Status, shown(all.Value), all.Flags, single.Status, shown(single.Value))
		}
	})
}
