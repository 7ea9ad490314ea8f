package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/llm"
)

// preflightLines is the length of the preflight's prompt: some 6,000 tokens,
// which is above the windows of 2,048 and 4,096 to which local servers cut
// prompts where nobody told them otherwise.
const preflightLines = 400

// preflightMetric attributes the call in the costs of a run.
const preflightMetric = "preflight"

// preflightReply is what the preflight asks for.
const preflightReply = `{"ready": true}`

var preflightSchema = &llm.Schema{Name: "preflight", JSON: json.RawMessage(
	`{"type":"object","properties":{"ready":{"type":"boolean"}},"required":["ready"],"additionalProperties":false}`)}

// newPreflight makes the first call for each model one that finds out whether
// the endpoint can be used: address, key, model, and whether it reads a long
// prompt whole. Where that was found out within a day, no call is made.
func newPreflight(known *learnt, log *slog.Logger, next llm.Client) *llm.Preflight {
	return &llm.Preflight{
		Next: next,
		Probe: func(first *llm.Request) *llm.Request {
			if first.Endpoint == lexicalEndpoint || known.passed(first.Endpoint, first.Model) {
				return nil
			}
			return preflightRequest(first)
		},
		Done: func(probe *llm.Request, resp *llm.Response, err error) {
			switch e := llm.AsError(err); {
			case e != nil && e.Kind.StopsRun(): // it ends the run, and is told there
			case e != nil && e.Code == llm.CodePromptTruncated: // the chain has told it
			case e != nil:
				log.Warn("the preflight call failed; the samples are tried all the same", "model", probe.Model, "error", e, "hint", e.Hint)
			default:
				log.Debug("preflight passed", "model", probe.Model, "served", resp.Model, "input_tokens", resp.Usage.PromptTokens)
				known.keep(probe.Endpoint, probe.Model, learntPreflight, true)
			}
		},
	}
}

// preflightRequest is a call like the first one, with a prompt of its own. Its
// reply has no meaning: what counts is that there is one, and how many tokens
// the server says that it read.
func preflightRequest(first *llm.Request) *llm.Request {
	var b strings.Builder
	b.WriteString("Check that you receive this message whole. It has many lines, none of which asks for anything.\n\n")
	for i := range preflightLines {
		fmt.Fprintf(&b, "Line %d: the reading room opens at nine and closes at seven.\n", i+1)
	}
	b.WriteString("\nAnswer with this JSON object and nothing else: " + preflightReply)
	req := *first
	req.Messages = []llm.Message{
		{Role: llm.System, Content: "You are asked for a sign of life before work begins. Reply in JSON."},
		{Role: llm.User, Content: b.String()},
	}
	req.Schema, req.Trial, req.Check = preflightSchema, 0, nil
	req.Tag.Metric, req.Tag.Step = preflightMetric, "probe"
	var counter cost.Counter
	req.PromptTokens = counter.CountRequest(&req).Total
	return &req
}
