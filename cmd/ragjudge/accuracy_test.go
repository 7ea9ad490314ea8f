package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

// claimsOf are distributions of the claims that a judge finds in a sentence.
var claimsOf = map[string]func(*rand.Rand) int{
	"one":    func(*rand.Rand) int { return 1 },
	"spread": func(r *rand.Rand) int { return 1 + r.IntN(3) },
	"skewed": func(r *rand.Rand) int {
		return []int{0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 4, 4, 4, 7}[r.IntN(20)]
	},
}

// promptSets are what a user may have changed about the prompts, in TOML.
var promptSets = map[string]string{
	"built in": "",
	"domain":   "[prompts]\ndomain = \"Answers of a help desk about contracts of insurance, given to customers by telephone.\"\n[prompts.rubric]\n\"faithfulness\" = \"" + strings.Repeat("A deadline that differs by a day is contradicted. ", 30) + "\"\n",
	"german":   "[prompts]\nlanguage = \"German\"\ndomain = \"Auskünfte eines Versicherers über laufende Verträge.\"\n",
}

var words = map[bool][]string{
	false: strings.Fields("the policy covers water damage in rented rooms when a pipe bursts and tenants report it within nine days because insurers pay only what was lost before repairs began under terms agreed last spring by both parties who signed form seven at branch offices near Leeds"),
	true:  strings.Fields("die Versicherung übernimmt Wasserschäden in Mieträumen wenn ein Rohr bricht und Mieter den Schaden binnen neun Tagen melden weil Versicherer nur zahlen was vor Beginn der Instandsetzungsmaßnahmen verloren ging gemäß Bedingungen vom Frühjahr über Gebäudehaftpflicht"),
}

func sentence(r *rand.Rand, german bool, least, most int) string {
	list := words[german]
	n := least + r.IntN(most-least+1)
	out := make([]string, n)
	for i := range out {
		out[i] = list[r.IntN(len(list))]
	}
	return strings.ToUpper(out[0][:1]) + out[0][1:] + " " + strings.Join(out[1:], " ") + "."
}

func prose(r *rand.Rand, german bool, least, most int) string {
	n := least + r.IntN(most-least+1)
	out := make([]string, n)
	for i := range out {
		out[i] = sentence(r, german, 6, 16)
	}
	return strings.Join(out, " ")
}

// talkative is a judge whose claims and reasons vary by chance, whose replies are
// now and then of no use, and whose usage is what the tokenizer counts. It is the
// same to the same request.
type talkative struct {
	claims  func(*rand.Rand) int
	german  bool
	counter cost.Counter
}

var sentenceEnd = regexp.MustCompile(`[.!?]\s+`)

func (j *talkative) Complete(_ context.Context, req *llm.Request) (*llm.Response, error) {
	h := fnv.New64a()
	fmt.Fprint(h, req.Key())
	r := rand.New(rand.NewPCG(h.Sum64(), 7))
	var v any
	var data judge.Fenced
	for _, m := range req.Messages {
		if f := judge.ParseFenced(m.Content); f.Nonce != "" && m.Role != llm.Assistant {
			data = f
		}
	}
	switch req.Schema.Name {
	case judge.SchemaClaims:
		claims := []string{}
		for i, s := range sentenceEnd.Split(data.Fields[judge.TagText], -1) {
			for k := range j.claims(r) {
				part := strings.Fields(s)
				part = part[:max(len(part)*2/3, 1)]
				claims = append(claims, fmt.Sprintf("%s (%d.%d)", strings.Join(part, " "), i, k))
			}
		}
		v = map[string]any{"claims": claims}
	case judge.SchemaVerdicts:
		var all []map[string]any
		labels := judge.Labels(req.Schema)
		for _, it := range data.Items {
			all = append(all, map[string]any{"id": it.N, "reason": sentence(r, j.german, 6, 40), "verdict": labels[r.IntN(len(labels))]})
		}
		v = map[string]any{"verdicts": all}
	default:
		v = map[string]any{"reason": sentence(r, j.german, 10, 40), "rating": 1 + r.IntN(5)}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	content := string(b)
	if r.IntN(60) == 0 {
		content = "I would rather say it in my own words. " + prose(r, j.german, 1, 4)
	}
	return &llm.Response{Content: content, FinishReason: llm.FinishStop, Model: req.Model,
		Usage: llm.Usage{PromptTokens: j.counter.CountRequest(req).Total, CompletionTokens: cost.CountText(req.Model, content)}}, nil
}

// judgedRow is a sample with what is planned for it, what it takes, and what it
// tells as a part of a probe.
type judgedRow struct {
	calls    []cost.Call
	bill     float64
	measured map[string]*cost.Measured
}

const accuracyModel = "gpt-4.1-mini"

// judgeRows plans and judges a pool of samples once.
func judgeRows(t *testing.T, prompt string, claims func(*rand.Rand) int, n int) []judgedRow {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "c.toml")
	text := "metrics = [\"faithfulness\", \"answer_relevance\", \"context_recall\"]\n[judge]\nprovider = \"openai\"\nmodel = \"" + accuracyModel + "\"\n" + promptSets[prompt]
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(file, config.Options{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	s, err := newSession(cfg)
	if err != nil {
		t.Fatal(err)
	}
	price, err := newPrices(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlanner(cfg, price, &learnt{}, nil, n)
	if err != nil {
		t.Fatal(err)
	}
	german := prompt == "german"
	rng := rand.New(rand.NewPCG(11, 13))
	var rows []judgedRow
	for i := range n {
		var row judgedRow
		sample := &eval.Sample{Row: i + 1, ID: fmt.Sprint(i), UserInput: sentence(rng, german, 5, 14), Response: prose(rng, german, 1, 7), Reference: prose(rng, german, 1, 3)}
		for range 3 {
			sample.RetrievedContexts = append(sample.RetrievedContexts, prose(rng, german, 4, 12))
		}
		planned := map[llm.Key]bool{}
		scoreAll(t, s, llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			resp, err := judge.Lexical{}.Complete(ctx, req)
			if err == nil && !planned[req.Key()] {
				planned[req.Key()] = true
				row.calls = append(row.calls, p.call(req, resp))
			}
			return resp, err
		}), nil, sample)
		m := newMeasurer(1, 1)
		fake := &talkative{claims: claims, german: german}
		paid := m.attempts(llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			resp, err := fake.Complete(ctx, req)
			if err == nil {
				usd, _ := price.Cost(req.Model, resp.Usage)
				row.bill += usd
			}
			return resp, err
		}))
		scoreAll(t, s, m.calls(&llm.Cached{Next: paid}), m, sample)
		row.measured = m.kinds
		rows = append(rows, row)
	}
	return rows
}

func scoreAll(t *testing.T, s *session, client llm.Client, m *measurer, sample *eval.Sample) {
	t.Helper()
	panel, err := s.panel(client)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := s.metrics(panel)
	if err != nil {
		t.Fatal(err)
	}
	if list, err = m.wrap(s, list); err != nil {
		t.Fatal(err)
	}
	for _, metric := range list {
		if _, err := metric.Score(t.Context(), sample); err != nil {
			t.Fatal(err)
		}
	}
}

// estimated is the estimate for rows, by what others have told.
func estimated(t *testing.T, rows, told []judgedRow, drift float64) *cost.FloatRange {
	t.Helper()
	kinds := map[string]*cost.Measured{}
	for _, r := range told {
		for kind, m := range r.measured {
			if kinds[kind] == nil {
				kinds[kind] = new(cost.Measured)
			}
			kinds[kind].Merge(m)
		}
	}
	price, ok := cost.Embedded().Lookup(accuracyModel)
	if !ok {
		t.Fatal("no price")
	}
	e := cost.NewEstimator(cost.Options{Model: accuracyModel, Price: &price, OwnEncoding: true, MaxAttempts: 6, Samples: len(rows),
		Measured: func(kind string) (*cost.Measured, float64) { return kinds[kind], drift }})
	for _, r := range rows {
		for _, c := range r.calls {
			e.Add(c)
		}
	}
	return e.Estimate().Total.CostUSD
}

func bill(rows []judgedRow) (sum float64) {
	for _, r := range rows {
		sum += r.bill
	}
	return sum
}

// For three sets of prompts and three distributions of claims, the bill of a set
// of 250 samples lies within the estimate's range in 95 of 100 repeats,
// with nothing known, after earlier runs, and after a probe of 50; and after the
// probe the expected bill is right within 5 %.
func TestEstimatesAreRight(t *testing.T) {
	const pool, set, probe, past, repeats = 380, 250, 50, 120, 60
	for _, prompt := range slices.Sorted(maps.Keys(promptSets)) {
		for _, claims := range slices.Sorted(maps.Keys(claimsOf)) {
			t.Run(prompt+"/"+claims, func(t *testing.T) {
				t.Parallel()
				rows := judgeRows(t, prompt, claimsOf[claims], pool)
				rng := rand.New(rand.NewPCG(17, 19))
				var cold, warm, probed, close, worst = 0, 0, 0, 0, 0.0
				for range repeats {
					rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
					all, others := rows[:set], rows[set:set+past]
					within := func(r *cost.FloatRange, before, want float64) int {
						if r.Low+before <= want && want <= r.High+before {
							return 1
						}
						return 0
					}
					want := bill(all)
					cold += within(estimated(t, all, nil, 0), 0, want)
					warm += within(estimated(t, all, others, pastDrift), 0, want)
					spent := bill(all[:probe])
					r := estimated(t, all[probe:], all[:probe], probeDrift)
					probed += within(r, spent, want)
					off := math.Abs(r.Expected+spent-want) / want
					worst = max(worst, off)
					if off <= 0.05 {
						close++
					}
				}
				t.Logf("of %d: within the range %d with nothing known, %d after earlier runs, %d after a probe; expected within 5 %%: %d (worst %.1f %%)", repeats, cold, warm, probed, close, 100*worst)
				if least := repeats * 95 / 100; cold < least || warm < least || probed < least || close < least {
					t.Errorf("fewer than %d of %d are right", least, repeats)
				}
			})
		}
	}
}
