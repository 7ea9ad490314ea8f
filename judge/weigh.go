package judge

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/ragjudge/ragjudge/llm"
)

// ratingPlace finds where a rating of one digit stands in a reply.
var ratingPlace = regexp.MustCompile(`(?i)(?:rating|score)["'*` + "`" + `]*\s*[:=]\s*["'*` + "`" + `]*([0-9])`)

// digitsOf are the levels of a scale as they are written; nil where one has
// more than one digit: what a server calls a token of it can't be told then.
func digitsOf(lo, hi int) []string {
	if lo < 0 || hi > 9 {
		return nil
	}
	var digits []string
	for n := lo; n <= hi; n++ {
		digits = append(digits, strconv.Itoa(n))
	}
	return digits
}

// weighed is the mean of the levels of the scale, each weighed by the probability
// that the model gave it in the place of the rating (G-Eval: Liu et al., 2023).
// All tokens that stand for one level count, and none that stands for no level
// of the scale. Nil where the reply doesn't tell.
func weighed(r *llm.Response, rating, lo, hi int) *float64 {
	if r == nil || r.Logprobs == nil {
		return nil
	}
	at := -1
	for _, m := range ratingPlace.FindAllStringSubmatchIndex(r.Content, -1) {
		if r.Content[m[2]:m[3]] == strconv.Itoa(rating) {
			at = m[2] // the last one counts, as for whoever reads on
		}
	}
	for _, t := range r.Logprobs.Tokens {
		if at < t.Offset || at >= t.Offset+len(t.Token) {
			continue
		}
		mass, sum, found := 0.0, 0.0, false
		seen := map[string]bool{}
		for _, alt := range t.Top {
			n, ok := levelOf(alt.Token)
			if !ok || n < lo || n > hi || seen[alt.Token] {
				continue
			}
			seen[alt.Token] = true
			p := math.Exp(alt.Logprob)
			mass, sum, found = mass+p, sum+p*float64(n), found || n == rating
		}
		if !found || mass <= 0 {
			return nil
		}
		v := min(max(sum/mass, float64(lo)), float64(hi))
		return &v
	}
	return nil
}

// levelOf is the level that a token stands for: one digit, with nothing beside
// it that is part of a number or a word.
func levelOf(token string) (int, bool) {
	digit := strings.Trim(token, " \t\r\n\"'`*:}")
	if len(digit) != 1 || digit[0] < '0' || digit[0] > '9' {
		return 0, false
	}
	return int(digit[0] - '0'), true
}
