package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/llm/llmtest"
)

// panelOption sets what a script says of one model of a provider, so that judges
// can disagree on purpose:
//
//	says.MODEL=WORD,N   its verdicts are all positive (yes), all negative (no) or
//	                    positive for the first item alone (first); it rates with N
//	fails.MODEL=N       its first N calls are answered with 503
//	denies=MODEL        its calls are answered with 401
//	drifts=N            after N replies every model is served by a later version
func panelOption(ts *testscript.TestScript, opt *llmtest.Options, key, value string) bool {
	what, model, _ := strings.Cut(key, ".")
	switch what {
	case "says":
		word, rating, _ := strings.Cut(value, ",")
		others := opt.Answer
		opt.Answer = func(req *llm.Request) string {
			if req.Model != model {
				return others(req)
			}
			return says(req, word, rating)
		}
	case "fails":
		n := number(ts, value)
		var seen atomic.Int64
		addFault(opt, func(_ int, r *llmtest.Request) llmtest.Fault {
			if r.Model == model && seen.Add(1) <= n {
				return llmtest.Status(503)
			}
			return llmtest.Fault{}
		})
	case "denies":
		addFault(opt, func(_ int, r *llmtest.Request) llmtest.Fault {
			if r.Model == value {
				return llmtest.Unauthorized()
			}
			return llmtest.Fault{}
		})
	case "drifts":
		n := number(ts, value)
		var seen atomic.Int64
		opt.Served = func(model string) string {
			if seen.Add(1) > n {
				return model + "-2026-09-12"
			}
			return model + "-2026-05-01"
		}
	default:
		return false
	}
	return true
}

func number(ts *testscript.TestScript, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	ts.Check(err)
	return n
}

func addFault(opt *llmtest.Options, f llmtest.FaultFunc) {
	if opt.Fault != nil {
		f = llmtest.FirstOf(f, opt.Fault)
	}
	opt.Fault = f
}

// says is the reply of a judge with an opinion. Texts are split as ever.
func says(req *llm.Request, word, rating string) string {
	reply := judge.LexicalAnswer(req)
	switch {
	case strings.HasPrefix(reply, `{"rating"`), strings.Contains(reply, `"rating":`):
		return fmt.Sprintf(`{"reason":"%s says so","rating":%s}`, req.Model, rating)
	case !strings.HasPrefix(reply, `{"verdicts"`):
		return reply
	}
	negative := strings.NewReplacer(`"verdict":"supported"`, `"verdict":"not_found"`, `"verdict":"useful"`, `"verdict":"not_useful"`,
		`"verdict":"attributable"`, `"verdict":"not_attributable"`)
	yes := llmtest.DefaultAnswer(req) // the first label for each item
	switch word {
	case "yes":
		return yes
	case "no":
		return negative.Replace(yes)
	}
	first, rest, _ := strings.Cut(yes, "}")
	return first + "}" + negative.Replace(rest)
}
