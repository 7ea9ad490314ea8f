package main

import (
	"slices"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/tokens"
)

// planEmbedder tells an estimate who gives vectors, where that is paid for.
func planEmbedder(cfg *config.Config, opt *cost.Options, price *prices) {
	j := embedderOf(cfg)
	if j == nil || j.Provider == config.Lexical {
		return
	}
	if len(opt.Judges) == 0 { // the judge that is alone stands first, and calls without a name are its own
		opt.Judges = append(opt.Judges, cost.JudgeOptions{Model: opt.Model, Price: opt.Price, Encoding: opt.Encoding,
			OwnEncoding: opt.OwnEncoding, Reasoning: opt.Reasoning, Ratio: opt.Ratio, PrefixMinimum: opt.PrefixMinimum})
	}
	enc, own := tokens.ForModel(j.Model)
	one := cost.JudgeOptions{Name: embeddingsName, Model: j.Model, Encoding: enc.Name(), OwnEncoding: own}
	if i := slices.Index(price.models, j.Model); i >= 0 {
		if found, ok := price.books[i].Lookup(j.Model); ok {
			one.Price = &found
		}
	}
	opt.Judges = append(opt.Judges, one)
}

// offlineVectors reports a request for vectors to the offline judge beside one
// that is paid: no call, and in no estimate.
func offlineVectors(req *llm.Request, opt cost.Options) bool {
	return len(req.Embed) > 0 && req.Endpoint == lexicalEndpoint && opt.Model != judge.LexicalModel
}
