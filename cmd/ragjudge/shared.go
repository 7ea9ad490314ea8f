package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// sharedNote says which questions several metrics of a run ask, so that each is
// one call for all of them; empty where none is shared.
func sharedNote(infos []eval.Info) string {
	var asks []string
	by := map[string][]string{}
	for _, info := range infos {
		for _, ask := range info.Asks {
			if by[ask] == nil {
				asks = append(asks, ask)
			}
			by[ask] = append(by[ask], info.Name)
		}
	}
	asks = slices.DeleteFunc(asks, func(ask string) bool { return len(by[ask]) < 2 })
	if len(asks) == 0 {
		return ""
	}
	for i, ask := range asks {
		asks[i] = fmt.Sprintf("%s (%s)", ask, strings.Join(by[ask], ", "))
	}
	return "Asked once for several metrics, and counted for the one that asks first: " + strings.Join(asks, "; ") + "."
}
