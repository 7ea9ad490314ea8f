package llm

import (
	"regexp"
	"strconv"
)

// A request may be refused for what it could take: servers add the most tokens
// that a reply may have to the prompt, and hold the sum against the model's
// context or against what is left of the tokens a minute. Then a shorter bound
// is all that is needed, and the refusal says how short.

// minReply is the shortest bound that is worth a call, in tokens, unless
// shorter replies were asked for in the first place.
const minReply = 256

var (
	thousands   = regexp.MustCompile(`(\d)[,_](\d{3})\b`)
	limitThen   = regexp.MustCompile(`limit:? ?(\d+)[^\d].{0,80}?requested:? ?(\d+)`)
	sumAbove    = regexp.MustCompile(`(\d+) \+ (\d+) > (\d+)`)
	contextSize = regexp.MustCompile(`(?:maximum|max|model'?s?|available|endpoint'?s maximum) context (?:length|window|size|limit)[^\d]{0,30}(\d+)|tokens. must be <= (\d+)|context length (?:is )?(?:only )?(\d+)`)
	promptSize  = regexp.MustCompile("(\\d+) (?:tokens? )?(?:(?:in|of|from) (?:the |your )?(?:input |text |chat )?(?:messages|prompt|input)|text input)|(\\d+) (?:input|prompt|`inputs`) tokens?|passed (\\d+) input|given: (\\d+) .inputs")
	wanted      = regexp.MustCompile(`request(?:ed)?:? (?:about )?(?:a total of )?(\d+)`)
	// ceilings are the ways to say how many tokens a reply may have at most.
	ceilings = regexp.MustCompile("(?:at most|up to|less than or equal to|less than|not exceed|cannot exceed|<=|>|limit of|limit is|maximum (?:allowed )?(?:value )?(?:of|is)|max(?:imum)?:|exceeds? (?:the )?(?:maximum|limit)[a-z ]*) ?[`'\"(]?(\\d+)|between \\d+ and (\\d+)|\\[ ?\\d+ ?, ?(\\d+) ?\\]")
)

// plainNumbers takes the commas out of 12,000.
func plainNumbers(s string) string {
	for thousands.MatchString(s) {
		s = thousands.ReplaceAllString(s, "$1$2")
	}
	return s
}

// number is the first group of the first match that holds one.
func number(re *regexp.Regexp, s string) (int, bool) {
	m := re.FindStringSubmatch(s)
	for i := 1; i < len(m); i++ {
		if n, err := strconv.Atoi(m[i]); err == nil {
			return n, true
		}
	}
	return 0, false
}

// limitAndRequested reads "Limit 12000, Requested 13096".
func (f facts) limitAndRequested() (limit, requested int, ok bool) {
	m := limitThen.FindStringSubmatch(plainNumbers(f.text))
	if m == nil {
		return 0, 0, false
	}
	limit, err1 := strconv.Atoi(m[1])
	requested, err2 := strconv.Atoi(m[2])
	return limit, requested, err1 == nil && err2 == nil
}

// room is how many tokens a reply may have for the request to be taken, as the
// refusal tells it; asked is how many it was sent with. It reports false where
// no shorter reply helps, or too short a one.
func (f facts) room(asked int) (int, bool) {
	text := plainNumbers(f.text)
	room := asked
	if limit, requested, ok := f.limitAndRequested(); ok {
		room = asked - (requested - limit)
	} else if m := sumAbove.FindStringSubmatch(text); m != nil {
		prompt, err1 := strconv.Atoi(m[1])
		size, err2 := strconv.Atoi(m[3])
		if err1 != nil || err2 != nil {
			return 0, false
		}
		room = size - prompt
	} else if size, ok := number(contextSize, text); ok {
		if prompt, ok := number(promptSize, text); ok {
			room = size - prompt
		} else if total, ok := number(wanted, text); ok {
			room = asked - (total - size)
		}
	}
	return room, room < asked && room >= leastReply(asked)
}

// leastReply is the shortest bound that is worth a call that was to have asked.
func leastReply(asked int) int { return max(min(minReply, asked/2), 1) }

// ceiling is the most tokens that a reply of this model may have, as the
// refusal tells it, or half of what was asked for where it doesn't.
func (f facts) ceiling(asked int) (int, bool) {
	n, ok := number(ceilings, plainNumbers(f.text))
	if !ok || n >= asked {
		if f.says("greater than", "at least", ">=", "positive", "minimum") {
			return 0, false // it is too short
		}
		n = asked / 2
	}
	return n, n >= leastReply(asked) && n < asked
}

// aboveCeiling reports that a reply of this model can't be as long as asked.
func (f facts) aboveCeiling() bool {
	switch {
	case f.status < 400 || f.status == 401 || f.status == 403 || f.status == 429 || f.html || !f.outOfRange() || f.overflow():
		return false
	case f.about(maxTokensWords...), f.names("max_new_tokens", "max_output_tokens"):
		return true
	}
	return f.says("maximum tokens you requested") || (f.says("completion tokens", "output tokens") && f.says("at most", "maximum", "exceed"))
}
