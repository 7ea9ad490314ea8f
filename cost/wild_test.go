package cost_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/llm"
)

// wildElsewhere are the collected cases about cost that are not about prices or
// estimates, with the test that has each.
var wildElsewhere = map[string]string{
	"D003": "TestCountRequest",
	"D009": "TestOverride and TestOverrideWarnings: there is one currency, and a slip of the unit is warned of",
	"D013": "llm.TestUsageDialects",
	"D015": "the script costs",
	"D017": "llm.TestBudgetNeverOvershoots",
	"D019": "llm.TestBudgetNeverOvershoots and the script budget",
	"D021": "llm.TestRetryBound and the script caps",
}

// TestWildCosts: every collected case of costs that other tools got wrong has a
// place, so that a new one is not passed over.
func TestWildCosts(t *testing.T) {
	f, err := os.Open("../../shared/cases/wild.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the collected cases are not there: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		var c struct {
			ID, Category string
			Input        struct {
				Rows            int
				PromptTokens    int                `json:"prompt_tokens"`
				VisibleOutput   int                `json:"visible_output"`
				ReasoningOutput int                `json:"reasoning_output"`
				PricePerM       map[string]float64 `json:"price_per_M"`
				Text, Model     string
				Usage           *struct {
					PromptTokens     int `json:"prompt_tokens"`
					CompletionTokens int `json:"completion_tokens"`
					Details          struct {
						Cached int `json:"cached_tokens"`
					} `json:"prompt_tokens_details"`
				}
			}
			Expect struct {
				TrueUSD   float64 `json:"true_usd"`
				MinTokens int     `json:"estimate_min_tokens"`
				CostUSD   float64 `json:"cost_usd"`
				Reason    string
			}
		}
		err := json.Unmarshal(lines.Bytes(), &c)
		if c.Category != "d_cost" {
			continue // those of other categories have forms of their own
		}
		if n++; err != nil && wildElsewhere[c.ID] == "" {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		in := c.Input
		o := cost.Override{Input: ptr(in.PricePerM["in"]), Output: ptr(in.PricePerM["out"]), Cached: ptr(in.PricePerM["cached_in"])}
		switch {
		case wildElsewhere[c.ID] != "":
		case in.ReasoningOutput > 0:
			const model = "gpt-5-mini"
			p, err := o.Price(model)
			if err != nil {
				t.Fatal(err)
			}
			opt := cost.Options{Model: model, Price: &p, Encoding: "o200k_base", OwnEncoding: true, Reasoning: cost.Reasons(model)}
			var calls []cost.Call
			for range in.Rows {
				calls = append(calls, cost.Call{Metric: "m", Step: "rubric", Input: in.PromptTokens, Output: in.VisibleOutput, OutputCap: 8192})
			}
			if r := estimate(opt, calls).Total.CostUSD; r.Low > c.Expect.TrueUSD || r.High < c.Expect.TrueUSD {
				t.Errorf("%s: %v is outside of %+v", c.ID, c.Expect.TrueUSD, *r)
			}
		case c.Expect.MinTokens > 0:
			if got := cost.CountText("gpt-4o", in.Text); got < c.Expect.MinTokens {
				t.Errorf("%s: %d tokens, want %d or more", c.ID, got, c.Expect.MinTokens)
			}
		case c.Expect.Reason == "no_price":
			book := cost.Book{Table: cost.Embedded()}
			if usd, known := book.Cost(in.Model, llm.Usage{PromptTokens: 1000, CompletionTokens: 1000}); known {
				t.Errorf("%s: %q costs $%v", c.ID, in.Model, usd)
			}
		case in.Usage != nil && c.Expect.CostUSD > 0:
			p, err := o.Price("judge")
			if err != nil {
				t.Fatal(err)
			}
			u := llm.Usage{PromptTokens: in.Usage.PromptTokens, CompletionTokens: in.Usage.CompletionTokens, CachedTokens: in.Usage.Details.Cached}
			if got := p.Cost(u); !near(got, c.Expect.CostUSD) {
				t.Errorf("%s: $%v, want $%v", c.ID, got, c.Expect.CostUSD)
			}
		default:
			t.Errorf("%s has no place here", c.ID)
		}
	}
	if err := lines.Err(); err != nil || n == 0 {
		t.Errorf("%d cases, %v", n, err)
	}
}
