package judge

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var ratingNames = []string{"rating", "score"}

// decodeClaims takes the claims out of a reply. There may be none. A claim that
// stands there twice, to the letter, is one claim.
func decodeClaims(content string, data source) ([]string, *problem) {
	return claimsList.decode(content, 0, data)
}

// decode takes the texts of a list out of a reply: count of them or none, where
// count is not 0.
func (k list) decode(content string, count int, data source) ([]string, *problem) {
	texts, p := k.decodeAll(content, data)
	if p == nil && count > 0 && len(texts) > 0 && len(texts) != count {
		return nil, problemf(CodeUndecodable, "the reply holds %d different %s instead of %d", len(texts), k.name, count)
	}
	return texts, p
}

func (k list) decodeAll(content string, data source) ([]string, *problem) {
	r, p := read(content)
	if p != nil {
		return nil, p
	}
	var claims []string
	for _, f := range r.values {
		v := f.value.unwrap(k.lists)
		// A bare list under some name may be anything, and an empty one of
		// anything is no text without claims.
		list, p := k.in(v, r.alone() && same(v, f.value))
		if list != nil && p == nil {
			p = r.quoted(f, data)
		}
		switch {
		case p != nil:
			return nil, p
		case list == nil:
		case claims != nil && !slices.Equal(claims, list):
			return nil, problemf(CodeAmbiguous, "the reply holds several lists of %s, and they differ", k.name)
		default:
			claims = list
		}
	}
	if claims == nil {
		return nil, problemf(CodeUndecodable, "the reply holds no JSON with %s", k.name)
	}
	return claims, nil
}

// in returns the texts in a value, nil if it holds none.
func (k list) in(v value, alone bool) ([]string, *problem) {
	switch fields := v.fields(k.lists); {
	case v.kind == arrayKind && len(v.list) == 1 && len(v.list[0].fields(k.lists)) > 0:
		return k.in(v.list[0], alone)
	case v.kind == arrayKind && alone:
		return k.texts(v)
	case v.kind != objectKind:
		return nil, nil
	case len(fields) > 0:
		for _, other := range fields[1:] {
			if !same(fields[0], other) {
				return nil, problemf(CodeAmbiguous, "the reply holds the list of %s twice, and they differ", k.name)
			}
		}
		return k.texts(fields[0].inner())
	case alone && len(v.keys) > 0 && !slices.ContainsFunc(v.keys, isNoNumber):
		return k.texts(v)
	}
	return nil, nil
}

// texts reads a list of texts, or an object with a text under each number.
func (k list) texts(v value) ([]string, *problem) {
	if v.kind != arrayKind && (v.kind != objectKind || len(v.keys) == 0 || slices.ContainsFunc(v.keys, isNoNumber)) {
		return nil, problemf(CodeUndecodable, "the %s of the reply are no list", k.name)
	}
	claims := []string{}
	seen := map[string]bool{}
	for i, item := range v.list {
		text, ok := k.textOf(item)
		if !ok {
			return nil, problemf(CodeUndecodable, "%s %d of the reply is no text", k.one[0], i+1)
		}
		if !seen[text] {
			seen[text] = true
			claims = append(claims, text)
		}
	}
	return claims, nil
}

// textOf returns one text of a list: a string, or an object with one.
func (k list) textOf(v value) (string, bool) {
	if v.kind == objectKind {
		fields := v.fields(k.one)
		if len(fields) == 0 || slices.ContainsFunc(fields, func(f value) bool { return !same(f, fields[0]) }) {
			return "", false
		}
		v = fields[0]
	}
	text := strings.TrimSpace(v.text)
	hasWord := strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) })
	return text, v.kind == stringKind && hasWord
}

// decodeRating takes the rating out of a reply.
func decodeRating(content string, lo, hi int, data source) (Rating, *problem) {
	r, p := read(content)
	if p != nil {
		return Rating{}, p
	}
	var rating *Rating
	for _, f := range r.values {
		v := f.value
		if v.kind == arrayKind && len(v.list) == 1 {
			v = v.list[0]
		}
		v = v.unwrap(ratingNames)
		if p := otherRating(v, lo, hi); p != nil {
			return Rating{}, p
		}
		for _, field := range v.fields(ratingNames) {
			n, p := ratingOf(field, lo, hi)
			if p == nil {
				p = r.quoted(f, data)
			}
			if p != nil {
				return Rating{}, p
			}
			if rating != nil && rating.Rating != n {
				return Rating{}, problemf(CodeAmbiguous, "the reply holds two different ratings, %d and %d", rating.Rating, n)
			}
			rating = &Rating{Rating: n, Reason: reasonOf(v)}
		}
	}
	if rating == nil {
		return Rating{}, problemf(CodeUndecodable, "the reply holds no JSON with a rating")
	}
	return *rating, nil
}

func reasonOf(v value) string {
	for _, f := range v.fields(reasonNames) {
		if f.kind == stringKind {
			return strings.TrimSpace(f.text)
		}
	}
	return ""
}

// otherRating reports a rating that stands under a second name and is another
// one. What is no rating on the scale may be anything, such as a share.
func otherRating(v value, lo, hi int) *problem {
	first, seen := 0, false
	for _, name := range ratingNames {
		for _, f := range v.fields([]string{name}) {
			n, p := ratingOf(f, lo, hi)
			switch {
			case p != nil:
			case seen && n != first:
				return problemf(CodeAmbiguous, "the reply holds two different ratings, %d and %d", first, n)
			default:
				first, seen = n, true
			}
		}
	}
	return nil
}

// whole matches a whole number, also one with nothing but zeros behind the
// point. It is matched as text: 3.9999999999999999999 is 4 as a float64.
var whole = regexp.MustCompile(`^[+-]?[0-9]{1,9}(\.0*)?$`)

// ratingOf reads a rating. "4/5" and "four" are none: the judge is asked for the
// number that was meant, since a share of another scale looks the same.
func ratingOf(v value, lo, hi int) (int, *problem) {
	text := v.text
	if v.kind == stringKind {
		text = strings.Trim(norm.NFKC.String(text), " \t\r\n*`\"'")
	}
	if v.kind != numberKind && v.kind != stringKind {
		return 0, problemf(CodeUndecodable, "the rating of the reply is no number")
	}
	n, ok := wholeNumber(text)
	if !ok || n < lo || n > hi {
		return 0, problemf(CodeOutOfScale, "the rating %sis no whole number from %d to %d", plainWord(text), lo, hi).at(text)
	}
	return n, nil
}

func wholeNumber(text string) (int, bool) {
	if !whole.MatchString(text) {
		return 0, false
	}
	text, _, _ = strings.Cut(text, ".")
	n, err := strconv.Atoi(text)
	return n, err == nil
}
