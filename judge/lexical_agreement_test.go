package judge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

// labelled is a statement with its evidence and what a person said.
type labelled struct {
	claim     string
	contexts  []string
	supported bool
}

// openShared opens a file of the recorded data beside the repository, or skips.
func openShared(tb testing.TB, path string) *os.File {
	tb.Helper()
	f, err := os.Open("../../shared/data/" + path)
	if errors.Is(err, fs.ErrNotExist) {
		tb.Skipf("the recorded data are not there: %v", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

func lines(tb testing.TB, f *os.File) []string {
	tb.Helper()
	var all []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		all = append(all, s.Text())
	}
	if err := s.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

// begin reads BEGIN: a response is one statement, its knowledge one context.
func begin(tb testing.TB) []labelled {
	var all []labelled
	for _, line := range lines(tb, openShared(tb, "begin/begin_dev_wow.tsv"))[1:] {
		c := strings.Split(strings.TrimRight(line, "\r"), "\t")
		all = append(all, labelled{c[4], []string{c[2]}, c[5] == "Fully attributable"})
	}
	return all
}

var numberedCitation = regexp.MustCompile(`\[\d+\]`)

// expertQA reads ExpertQA's claims that have evidence with a text behind its
// address; "Complete" is supported, "Partial", "Incomplete" and "Missing" not.
func expertQA(tb testing.TB) []labelled {
	var all []labelled
	for _, line := range lines(tb, openShared(tb, "expertqa/rand_test.first60.jsonl")) {
		var row struct {
			Answers map[string]struct {
				Claims []struct {
					Claim    string   `json:"claim_string"`
					Evidence []string `json:"evidence"`
					Support  string   `json:"support"`
				} `json:"claims"`
			} `json:"answers"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			tb.Fatal(err)
		}
		for _, answer := range row.Answers {
			for _, c := range answer.Claims {
				var contexts []string
				for _, e := range c.Evidence {
					if _, text, ok := strings.Cut(e, "\n\n"); ok && strings.TrimSpace(text) != "" {
						contexts = append(contexts, text)
					}
				}
				if len(contexts) > 0 && slices.Contains([]string{"Complete", "Partial", "Incomplete", "Missing"}, c.Support) {
					all = append(all, labelled{numberedCitation.ReplaceAllString(c.Claim, ""), contexts, c.Support == "Complete"})
				}
			}
		}
	}
	return all
}

// agreement is how far the lexical judge and people agree: the share of equal
// verdicts, and Cohen's kappa, which takes off what chance would give.
func agreement(tb testing.TB, data []labelled) (accuracy, kappa float64) {
	tb.Helper()
	same, said, meant := 0, 0, 0
	for _, d := range data {
		v, err := lexicalJudge().Verdicts(tb.Context(), judge.Ask{
			Prompt: "faithfulness/verdict", Labels: judge.FaithfulnessLabels(), Contexts: d.contexts, Items: []string{d.claim},
		})
		if err != nil {
			tb.Fatal(err)
		}
		supported := v[0].Label == judge.Supported
		if supported {
			said++
		}
		if d.supported {
			meant++
		}
		if supported == d.supported {
			same++
		}
	}
	n := float64(len(data))
	p, q := float64(said)/n, float64(meant)/n
	chance := p*q + (1-p)*(1-q)
	accuracy = float64(same) / n
	return accuracy, (accuracy - chance) / (1 - chance)
}

// TestLexicalAgreement holds the agreement with human labels that was measured
// when the thresholds were chosen, as a floor. The thresholds were chosen on
// these very data, so that the figures flatter; on ExpertQA, where evidence is
// long and claims are paraphrases, they are hardly better than chance. That is
// what a judge without understanding can do, and a real one must beat.
func TestLexicalAgreement(t *testing.T) {
	for _, c := range []struct {
		name            string
		read            func(testing.TB) []labelled
		n               int
		accuracy, kappa float64
	}{
		{"BEGIN", begin, 430, 0.81, 0.62},
		{"ExpertQA", expertQA, 208, 0.48, 0.09},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := c.read(t)
			accuracy, kappa := agreement(t, data)
			t.Logf("%d statements: accuracy %.3f, kappa %.3f", len(data), accuracy, kappa)
			if len(data) != c.n {
				t.Errorf("read %d statements, want %d", len(data), c.n)
			}
			if accuracy < c.accuracy || kappa < c.kappa {
				t.Errorf("accuracy %.3f, kappa %.3f: below the floor of %.2f and %.2f", accuracy, kappa, c.accuracy, c.kappa)
			}
		})
	}
}

// BenchmarkLexical answers the requests of four judged metrics over recorded
// samples: three chunks of about 1 KB each.
func BenchmarkLexical(b *testing.B) {
	var requests []*llm.Request
	record := llm.ClientFunc(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
		requests = append(requests, r)
		return judge.Lexical{}.Complete(ctx, r)
	})
	j := judge.New(judge.Config{Client: record})
	for _, line := range lines(b, openShared(b, "azure_rag/baseline.eval_results.jsonl"))[:50] {
		var row struct{ Question, Truth, Answer, Context string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			b.Fatal(err)
		}
		ask := judge.Ask{UserInput: row.Question, Response: row.Answer, Reference: row.Truth, Contexts: strings.Split(row.Context, "\n\n")}
		verdicts := func(prompt string, items, labels []string) {
			a := ask
			a.Prompt, a.Items, a.Labels = prompt, items, labels
			if _, err := j.Verdicts(b.Context(), a); err != nil {
				b.Fatal(err)
			}
		}
		split := func(text string) []string {
			claims, err := j.Claims(b.Context(), judge.Ask{Prompt: "claims/split", Text: text})
			if err != nil {
				b.Fatal(err)
			}
			return claims
		}
		verdicts("faithfulness/verdict", split(row.Answer), judge.FaithfulnessLabels())
		verdicts("context_recall/verdict", split(row.Truth), judge.RecallLabels())
		verdicts("context_precision/verdict", ask.Contexts, judge.PrecisionLabels())
	}
	i := 0
	for b.Loop() {
		if _, err := (judge.Lexical{}).Complete(b.Context(), requests[i%len(requests)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
