package cost

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/tokens"
)

// assumptions returns what the figures stand on, one sentence each.
func (e *Estimator) assumptions() []string {
	var out, thinking, prices []string
	paid := false
	for _, j := range e.judges {
		who := ""
		if j.Name != "" {
			who = "Judge " + j.Name + ": "
		}
		out = append(out, who+j.inputSentence())
		if j.Reasoning {
			thinking = append(thinking, fmt.Sprintf("%sThe judge reasons before it answers: %s hidden tokens a call, charged as output, within max_tokens.", who, reasoningTokens))
		}
		prices = append(prices, who+j.priceSentence(e.opt.PriceDate))
		paid = paid || j.Price != nil && !j.Price.Free()
	}
	if metrics := e.splitting(); len(metrics) > 0 {
		out = append(out, fmt.Sprintf("How many claims the judge finds is not known before it is asked: %s (low, expected, high) for each sentence is reckoned with, in the calls of %s.",
			claimsFactor, strings.Join(metrics, ", ")))
	}
	out = append(out, e.measuredSentences()...)
	if e.allMeasured() {
		out = append(append(out, prices...), e.timeSentences()...)
		return append(out, e.opt.Notes...)
	}
	out = append(out, fmt.Sprintf("Replies are taken to be %s times as long as the offline judge's for the same items, and never longer than max_tokens.", replyFactor))
	out = append(append(append(out, thinking...), e.attemptsSentence()), prices...)
	if paid {
		out = append(out, "No discount of the provider's prompt cache is taken off, but where it was measured.")
	}
	return append(append(out, e.timeSentences()...), e.opt.Notes...)
}

// measuredSentences say which steps stand on measurements.
func (e *Estimator) measuredSentences() []string {
	steps := map[string]float64{} // with the least number of samples
	for k, s := range e.steps {
		if !s.measured {
			continue
		}
		name, n := k.metric+"/"+k.step, e.known[k.kind].m.Samples
		if before, ok := steps[name]; !ok || n < before {
			steps[name] = n
		}
	}
	if len(steps) == 0 {
		return nil
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		list = append(list, fmt.Sprintf("%s (%d samples)", name, int(steps[name])))
	}
	return []string{"Calls, tokens and repeats are what was measured with this judge and these prompts, in proportion to what is planned, for " + strings.Join(list, ", ") +
		"; the range is as wide as the scatter of the samples makes it, 99 times in 100, and wider for measurements of earlier runs."}
}

// allMeasured reports that no step stands on the priors.
func (e *Estimator) allMeasured() bool {
	for _, s := range e.steps {
		if !s.measured && s.planned() > 0 {
			return false
		}
	}
	return len(e.steps) > 0
}

// String shows a factor as its three values.
func (f factor) String() string { return fmt.Sprintf("%v / %v / %v", f.low, f.expected, f.high) }

func (j *JudgeOptions) inputSentence() string {
	if j.OwnEncoding && j.Ratio > 0 {
		return fmt.Sprintf("Input tokens are counted with the judge's own vocabulary (%s) and taken %.3f times, as the server told them in earlier calls.", j.Encoding, j.Ratio)
	}
	if j.OwnEncoding {
		return fmt.Sprintf("Input tokens are counted with the judge's own vocabulary (%s), with the form of messages as documented; a schema's tokens are an estimate.", j.Encoding)
	}
	if j.Ratio > 0 {
		return fmt.Sprintf("The judge's vocabulary is not built in: tokens are counted with %s and taken %.3f times, as the server told them in earlier calls.", j.Encoding, j.Ratio)
	}
	family := tokens.Foreign(j.Model).Family
	if family == "" {
		return fmt.Sprintf("The judge's vocabulary is not built in, and its family not known: tokens are counted with %s and taken %s times.", j.Encoding, foreign(j.Model))
	}
	return fmt.Sprintf("The judge's vocabulary is not built in: tokens are counted with %s and taken %s times, as was measured for %s.", j.Encoding, foreign(j.Model), family)
}

func (e *Estimator) attemptsSentence() string {
	if e.opt.MaxAttempts == 1 {
		return "Every call is made once."
	}
	return fmt.Sprintf("Repeated attempts that are charged for make %s attempts a call.", paidAttempts)
}

func (j *JudgeOptions) priceSentence(date string) string {
	p := j.Price
	switch {
	case p == nil:
		return fmt.Sprintf("No price is known for %q, so the cost is unknown; set its price in the configuration.", j.Model)
	case p.own():
		return "The price is the one set in the configuration: " + p.String() + "."
	case p.Note != "":
		return fmt.Sprintf("The price is the list price of %s: %s, %s.", date, p, p.Note)
	default:
		return fmt.Sprintf("The price is the list price of %s: %s.", date, p)
	}
}

func (e *Estimator) timeSentences() []string {
	slots := max(e.opt.Concurrency, 1)
	var out []string
	if e.opt.Latency > 0 {
		out = append(out, fmt.Sprintf("%d calls run at the same time and take %v each.", slots, e.opt.Latency))
	} else {
		out = append(out, fmt.Sprintf("%d calls run at the same time; a reply starts after %s s and comes at %s tokens a second.", slots, firstTokenSeconds, tokensPerSecond))
	}
	r, t := e.opt.RequestsPerMinute, e.opt.TokensPerMinute
	switch {
	case r > 0 && t > 0:
		out = append(out, fmt.Sprintf("The limits are %s requests and %s tokens a minute.", grouped(int64(r)), grouped(int64(t))))
	case r > 0:
		out = append(out, fmt.Sprintf("The limit is %s requests a minute; the provider's limit of tokens is not known.", grouped(int64(r))))
	case t > 0:
		out = append(out, fmt.Sprintf("The limit is %s tokens a minute; the provider's limit of requests is not known.", grouped(int64(t))))
	default:
		out = append(out, "The provider's limits are not known; they may make it longer.")
	}
	return out
}
