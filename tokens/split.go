package tokens

// The reference splits text by a regular expression before it merges bytes.
// Go's regexp has no look-ahead, and backtracking engines are slow here, so each
// pattern is written out by hand. The alternatives of a pattern are tried in
// order and each is greedy; what backtracking may give back is told at each
// function. Every function looks at a character a bounded number of times per
// piece that it ends in, so that splitting is linear.

// splitCL100k is cl100k_base's pattern:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	|[^\r\n\p{L}\p{N}]?\p{L}+
//	|\p{N}{1,3}
//	| ?[^\s\p{L}\p{N}]+[\r\n]*
//	|\s*[\r\n]+
//	|\s+(?!\S)
//	|\s+
func splitCL100k(cl *classes, s string, i int) int {
	if n := contraction(s[i:]); n > 0 {
		return i + n
	}
	c, w := cl.at(s, i)
	if c&letter != 0 {
		return cl.span(s, i+w, letter)
	}
	if c&(newline|number) == 0 {
		if end := cl.span(s, i+w, letter); end > i+w {
			return end
		}
	}
	if c&number != 0 {
		return upTo3Numbers(cl, s, i)
	}
	if end := symbols(cl, s, i); end > i {
		for end < len(s) && (s[end] == '\r' || s[end] == '\n') {
			end++
		}
		return end
	}
	return blanks(cl, s, i)
}

// splitO200k is o200k_base's pattern:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|\p{N}{1,3}
//	| ?[^\s\p{L}\p{N}]+[\r\n/]*
//	|\s*[\r\n]+
//	|\s+(?!\S)
//	|\s+
func splitO200k(cl *classes, s string, i int) int {
	c, w := cl.at(s, i)
	if end := word(cl, s, i, c, w); end > i {
		return end + contraction(s[end:])
	}
	if c&number != 0 {
		return upTo3Numbers(cl, s, i)
	}
	if end := symbols(cl, s, i); end > i {
		for end < len(s) && (s[end] == '\r' || s[end] == '\n' || s[end] == '/') {
			end++
		}
		return end
	}
	return blanks(cl, s, i)
}

// word matches the first two alternatives of o200k_base without their
// contraction and returns the end, or i if there is no word. c and w are the
// class and width of the character at i.
//
// The optional first character may be a mark, which may also stand in the word
// itself: so each alternative is tried with it as the first character, then as
// part of the word. Any other first character can be no part of the word.
func word(cl *classes, s string, i int, c class, w int) int {
	start := i
	if c&(newline|letter|number) == 0 {
		start = i + w
	}
	end, ok := wordWithLower(cl, s, start)
	if !ok && start > i && c&(upper|lower) != 0 {
		// A mark followed by capitals, or by nothing: the mark is [upper]* and
		// [lower]+ by itself, so this always matches.
		end, ok = wordWithLower(cl, s, i)
	}
	if ok {
		return end
	}
	// No character of [lower] follows the capitals, or the first alternative had
	// matched: [lower]* is empty.
	if end > start {
		return end
	}
	return i
}

// wordWithLower matches [upper]*[lower]+ at s[i] and returns its end. Where
// nothing of [lower] follows the run of [upper], the run gives back
// characters up to its last one that is in both sets. Without any, there is no
// match, and end is the end of the run of [upper].
func wordWithLower(cl *classes, s string, i int) (end int, ok bool) {
	both := -1 // end of the last character of the run that is in both sets
	for i < len(s) {
		c, w := cl.at(s, i)
		if c&upper == 0 {
			break
		}
		i += w
		if c&lower != 0 {
			both = i
		}
	}
	if end = cl.span(s, i, lower); end > i {
		return end, true
	}
	if both >= 0 {
		return both, true
	}
	return i, false
}

// contraction returns the length of (?i:'s|'t|'re|'ve|'m|'ll|'d) at the start of
// s, or 0. Ignoring case, s is also U+017F, the long s.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(s) < 3 {
		return 0
	}
	switch a, b := s[1]|0x20, s[2]|0x20; {
	case a == 'r' && b == 'e', a == 'v' && b == 'e', a == 'l' && b == 'l':
		return 3
	case s[1] == 0xc5 && s[2] == 0xbf:
		return 3
	}
	return 0
}

// upTo3Numbers matches \p{N}{1,3} at s[i], which is a number.
func upTo3Numbers(cl *classes, s string, i int) int {
	for range 3 {
		if i == len(s) {
			break
		}
		c, w := cl.at(s, i)
		if c&number == 0 {
			break
		}
		i += w
	}
	return i
}

// symbols matches " ?[^\s\p{L}\p{N}]+" at s[i] and returns its end, or i.
func symbols(cl *classes, s string, i int) int {
	start := i
	if s[i] == ' ' {
		start++
	}
	end := start
	for end < len(s) {
		c, w := cl.at(s, end)
		if c&(space|letter|number) != 0 {
			break
		}
		end += w
	}
	if end == start {
		return i
	}
	return end
}

// blanks matches \s*[\r\n]+|\s+(?!\S)|\s+ at s[i], which is white space: up to
// the last line break of the run if it has one, else all of it where the text
// ends, else all but the last character, but at least one.
func blanks(cl *classes, s string, i int) int {
	lastBreak, last, end := 0, i, i
	for end < len(s) {
		c, w := cl.at(s, end)
		if c&space == 0 {
			break
		}
		last = end
		end += w
		if c&newline != 0 {
			lastBreak = end
		}
	}
	switch {
	case lastBreak > 0:
		return lastBreak
	case end == len(s) || last == i:
		return end
	default:
		return last
	}
}
