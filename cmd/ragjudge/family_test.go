package main

import "github.com/rogpeppe/go-internal/testscript"

// familyCmds are the commands of scripts about metrics over embeddings.
var familyCmds = map[string]func(*testscript.TestScript, bool, []string){"embedded": embedded}

// embedded counts the requests for embeddings, which "calls" doesn't.
func embedded(ts *testscript.TestScript, neg bool, args []string) {
	count(ts, neg, args, providerOf(ts).Others()["/v1/embeddings"])
}
