package judge

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// The names under which the parts of a verdict may stand, in keyName's
// spelling: the one asked for first, then what models write instead.
var (
	listNames    = []string{"verdicts", "verdict", "results", "items", "answers", "statements", "claims", "judgements", "judgments", "labels"}
	verdictNames = []string{
		"verdict", "label", "judgement", "judgment", "decision",
		"urteil", "veredicto", "verdetto", "veredito", "oordeel", "werdykt", "вердикт", "判定", "裁定", "판정", "karar", "الحكم", "निर्णय",
	}
	idNames     = []string{"id", "itemid", "claimid", "statementid", "chunkid", "contextid", "passageid", "number", "index", "n"}
	reasonNames = []string{"reason", "reasoning", "explanation", "rationale", "justification"}
	// itemNames hold the item itself, or its number.
	itemNames = []string{"item", "claim", "statement", "chunk", "context", "passage"}
)

// names are the keys of one form of verdict.
type names struct {
	// verdict holds what is said, id the item's number, item the item itself.
	verdict, id, item []string
}

// labelKeys are those of a verdict that is a label.
var labelKeys = names{verdict: verdictNames, id: idNames, item: itemNames}

// verdicts is what a reply says about the items.
type verdicts struct {
	// by holds the usable verdicts by their item's number.
	by map[int]Verdict
	// bad holds what was said about an item where it is none of the labels.
	bad map[int]string
	// extra counts the verdicts on numbers that were not asked for.
	extra int
}

// said is one verdict as the reply has it.
type said struct {
	id     int
	hasID  bool
	values []value
	// others are the values under further names of a verdict.
	others []value
	reason string
	// about is the item that the verdict repeats, "" for none.
	about string
	// bare reports a verdict that is a value in a list.
	bare bool
}

// decodeVerdicts takes the verdicts out of a reply. Some items may be missing;
// a reply without any usable verdict is a problem.
//
// A verdict belongs to the item whose number it carries. Only where no verdict
// of the reply carries a number, and there are as many as items, does the order
// decide.
func decodeVerdicts(content string, labels []string, items []Item, data source) (verdicts, *problem) {
	return newLabeler(labels).decode(content, items, data)
}

// decode is decodeVerdicts for verdicts of any form.
func (l labeler) decode(content string, items []Item, data source) (verdicts, *problem) {
	l.ask(items)
	r, p := read(content)
	if p != nil {
		return verdicts{}, p
	}
	answers, p := l.names.answers(r, data)
	if p != nil {
		return verdicts{}, p
	}
	if len(answers) == 0 {
		return verdicts{}, problemf(CodeUndecodable, "the reply holds no JSON with verdicts")
	}
	var final verdicts
	seen := verdicts{by: map[int]Verdict{}}
	for _, answer := range answers {
		if final, p = l.collect(answer, items); p != nil {
			return verdicts{}, p
		}
		if id := disagree(seen, final); id > 0 {
			return verdicts{}, problemf(CodeAmbiguous, "the reply holds several answers that contradict each other about item %d", id)
		}
		maps.Copy(seen.by, final.by)
	}
	// The last answer counts. What only an earlier one said is no verdict: it may
	// have been a draft, or quoted from the data.
	if len(final.by) > 0 {
		return final, nil
	}
	for _, it := range items {
		if word, ok := final.bad[it.N]; ok {
			return verdicts{}, problemf(CodeOutOfScale, "the verdict on item %d is %swhich is none of %s", it.N, strings.Replace(plainWord(word), `" `, `", `, 1), l.allowed()).at(word)
		}
	}
	return verdicts{}, problemf(CodeUndecodable, "the reply holds no verdict on the items that were asked about")
}

// disagree returns the lowest number about which two answers differ, or 0.
func disagree(a, b verdicts) int {
	lowest := 0
	for id, v := range a.by {
		if w, ok := b.by[id]; ok && w.Label != v.Label && (lowest == 0 || id < lowest) {
			lowest = id
		}
	}
	return lowest
}

// answers returns the answers of a reply: each a list of verdicts. Single
// verdicts that follow each other with no word between them, as in JSON lines,
// are one answer.
func (k names) answers(r reply, data source) ([][]said, *problem) {
	var answers [][]said
	single := false // the last answer is made of single verdicts
	for _, f := range r.values {
		list, one, p := k.saidIn(f.value.unwrap(listNames, k.verdict), r.alone())
		if list != nil && p == nil {
			p = r.quoted(f, data)
		}
		switch {
		case p != nil:
			return nil, p
		case list == nil:
			single = false
		case one && single && !f.prose:
			answers[len(answers)-1] = append(answers[len(answers)-1], list...)
		default:
			answers = append(answers, list)
			single = one
		}
	}
	return answers, nil
}

// saidIn returns the verdicts in a value, nil if it holds none, and whether it
// is one single verdict.
func (k names) saidIn(v value, alone bool) (list []said, one bool, p *problem) {
	switch {
	case v.kind == arrayKind && len(v.list) == 1 && holdsList(v.list[0]):
		return k.saidIn(v.list[0], alone)
	case v.kind == arrayKind:
		list, p = k.saidInList(v, alone)
		return list, false, p
	case v.kind != objectKind:
		return nil, false, nil
	case holdsList(v):
		list, p = k.saidUnder(v)
		return list, false, p
	case len(v.fields(k.verdict)) > 0:
		s, p := k.saidBy(v)
		return []said{s}, true, p
	case len(v.keys) > 0 && !slices.ContainsFunc(v.keys, isNoNumber):
		list, p = k.saidInMap(v)
		return list, false, p
	}
	return nil, false, nil
}

// holdsList reports an object with a list or map of verdicts in it.
func holdsList(v value) bool {
	return slices.ContainsFunc(v.fields(listNames), func(w value) bool {
		k := w.inner().kind
		return k == arrayKind || k == objectKind
	})
}

// saidUnder returns the verdicts in the list, or the map, of an object.
func (k names) saidUnder(v value) ([]said, *problem) {
	lists := v.fields(listNames)
	for _, other := range lists[1:] {
		if !same(lists[0], other) {
			return nil, problemf(CodeAmbiguous, "the reply holds the list of verdicts twice, and they differ")
		}
	}
	list := lists[0].inner()
	switch {
	case list.kind == arrayKind:
		// A list of words counts only under the name that was asked for.
		return k.saidInList(list, len(v.fields(listNames[:2])) > 0)
	case len(list.fields(k.verdict)) > 0:
		s, p := k.saidBy(list)
		return []said{s}, p
	case !slices.ContainsFunc(list.keys, isNoNumber):
		return k.saidInMap(list)
	}
	return nil, problemf(CodeUndecodable, "the verdicts of the reply are not numbered")
}

// saidInList reads a list of objects or, if words may stand there, of words.
func (k names) saidInList(v value, words bool) ([]said, *problem) {
	list := []said{}
	objects := 0
	for _, item := range v.list {
		if item.kind == objectKind {
			objects++
			s, p := k.saidBy(item)
			if p != nil {
				return nil, p
			}
			list = append(list, s)
			continue
		}
		list = append(list, said{values: []value{item}, bare: true})
	}
	lists := slices.ContainsFunc(v.list, func(w value) bool { return w.kind == arrayKind })
	switch {
	case objects == 0 && !words:
		return nil, nil
	case objects > 0 && objects < len(v.list) || lists:
		return nil, problemf(CodeUndecodable, "the list of verdicts mixes objects with something else")
	case objects > 0 && !words && !slices.ContainsFunc(list, func(s said) bool { return len(s.values) > 0 }):
		return nil, nil // a list of other things
	}
	return list, nil
}

// saidInMap reads an object whose keys are the items' numbers.
func (k names) saidInMap(v value) ([]said, *problem) {
	var list []said
	for i, key := range v.keys {
		id, _ := number(key)
		s := said{values: []value{v.list[i]}}
		if v.list[i].kind == objectKind {
			var p *problem
			if s, p = k.saidBy(v.list[i]); p != nil {
				return nil, p
			}
			if s.hasID && s.id != id {
				return nil, problemf(CodeAmbiguous, "the verdict under the number %d says that it is number %d", id, s.id)
			}
		}
		s.id, s.hasID = id, true
		list = append(list, s)
	}
	return list, nil
}

// saidBy reads one object.
func (k names) saidBy(v value) (said, *problem) {
	s := said{values: v.fields(k.verdict)}
	for i, key := range v.keys {
		if len(key) < maxKey && slices.Contains(k.verdict[1:], keyName(key)) {
			s.others = append(s.others, v.list[i])
		}
	}
	for i, f := range v.fields(k.id) {
		id, ok := number(f.text)
		if !ok || f.kind != numberKind && f.kind != stringKind {
			return s, problemf(CodeUndecodable, "a verdict has an id which is no number of an item").at(f.text)
		}
		if i > 0 && id != s.id {
			return s, problemf(CodeAmbiguous, "a verdict has two ids, %d and %d", s.id, id)
		}
		s.id, s.hasID = id, true
	}
	for _, f := range v.fields(k.item) {
		if (f.kind == stringKind || f.kind == numberKind) && s.about == "" {
			s.about = f.text
		}
	}
	for _, f := range v.fields(reasonNames) {
		if f.kind == stringKind && s.reason == "" {
			s.reason = strings.TrimSpace(f.text)
		}
	}
	return s, nil
}

// numbered matches the number of an item, also with the word or sign before it
// and the mark behind it that models like to add: "item 1", "#1", "1.", "(1)".
var numbered = regexp.MustCompile(`(?i)^[\s#(\[*"'\x60]*(?:no\.?|nr\.?|item|id|claim|statement|chunk|context|passage|verdict|c)?[\s_#:-]*([0-9]{1,9})(?:\.0*)?[\s.):\]*"'\x60]*$`)

func number(s string) (int, bool) {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 && s[0] != '+' {
		return n, true
	}
	if len(s) > maxKey || strings.HasPrefix(strings.TrimSpace(s), "-") || strings.HasPrefix(strings.TrimSpace(s), ".") {
		return 0, false
	}
	m := numbered.FindStringSubmatch(norm.NFKC.String(s))
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

func isNoNumber(key string) bool {
	_, ok := number(key)
	return !ok
}

// collect gives each verdict of an answer to its item.
func (l labeler) collect(answer []said, items []Item) (verdicts, *problem) {
	v := verdicts{by: map[int]Verdict{}, bad: map[int]string{}}
	answer, p := l.byText(answer, items)
	if p != nil {
		return v, p
	}
	withID := 0
	for _, s := range answer {
		if s.hasID {
			withID++
		}
	}
	if withID == 0 && len(answer) != len(items) || withID > 0 && withID < len(answer) {
		return v, problemf(CodeUndecodable, "the reply has %d verdicts, %d of them with an id, for %d items", len(answer), withID, len(items))
	}
	for i, s := range answer {
		id := s.id
		if withID == 0 {
			id = items[i].N
		}
		if id < 1 {
			return v, problemf(CodeUndecodable, "a verdict has the id %d; the numbers of the items start at 1", id)
		}
		text, ok := l.asked[id]
		if !ok {
			v.extra++
			continue
		}
		if p := l.add(&v, id, text, s); p != nil {
			return v, p
		}
	}
	return v, nil
}

// byText gives a verdict that repeats its item the item's number, so that a
// list in another order is not taken for one in the order of the items. A
// verdict that carries the number of one item and the text of another could be
// on either.
func (l labeler) byText(answer []said, items []Item) ([]said, *problem) {
	if !slices.ContainsFunc(answer, func(s said) bool { return s.about != "" }) {
		return answer, nil
	}
	numbers := map[string]int{}
	for _, it := range items {
		key := echo(it.Text)
		if _, twice := numbers[key]; twice {
			numbers[key] = 0
			continue
		}
		numbers[key] = it.N
	}
	answer = slices.Clone(answer)
	for i, s := range answer {
		id, repeats := numbers[echo(s.about)]
		switch {
		case s.about == "" || repeats && id == 0:
			continue
		case repeats && s.hasID && s.id != id:
			return nil, problemf(CodeAmbiguous, "a verdict has the id %d and the text of item %d", s.id, id)
		case !repeats && !s.hasID:
			id, repeats = number(s.about)
		}
		if repeats {
			answer[i].id, answer[i].hasID = id, true
		}
	}
	return answer, nil
}

// echo is the spelling in which an item and its repetition are compared.
func echo(text string) string { return strings.ToLower(withoutSpace(text)) }

// add writes what was said about one item.
func (l labeler) add(v *verdicts, id int, item string, s said) *problem {
	if p := l.otherVerdict(id, s); p != nil {
		return p
	}
	if s.bare && l.chunks > 0 {
		return problemf(CodeUndecodable, "the list of the reply holds numbers, and doesn't say of which items they are")
	}
	for _, val := range s.values {
		label, word, undecided, ok := l.read(val)
		if n, isNumber := number(word); s.bare && !ok && isNumber && n > 1 {
			return problemf(CodeUndecodable, "the list of the reply holds numbers that are no verdicts")
		}
		before, seen := v.by[id]
		bad, wasBad := v.bad[id]
		switch {
		case !ok && !seen && (!wasBad || bad == word):
			v.bad[id] = word
		case !ok || wasBad || seen && before.Label != label:
			return problemf(CodeAmbiguous, "item %d has two different verdicts", id)
		case !seen:
			v.by[id] = Verdict{Item: item, Label: label, Reason: s.reason}
			if undecided {
				v.by[id] = Verdict{Item: item, Label: label, Reason: s.reason, Said: word}
			}
		}
	}
	return nil
}

// otherVerdict reports a verdict that stands under a second name and is another
// one.
func (l labeler) otherVerdict(id int, s said) *problem {
	if len(s.others) == 0 {
		return nil
	}
	first := ""
	for _, val := range append(slices.Clone(s.values), s.others...) {
		label, _, _, ok := l.read(val)
		switch {
		case !ok:
		case first == "":
			first = label
		case first != label:
			return problemf(CodeAmbiguous, "item %d has two different verdicts", id)
		}
	}
	return nil
}

// wordOf returns the word that a verdict's value says. Null and lists say
// nothing.
func wordOf(v value) (string, bool) {
	switch v.kind {
	case stringKind, boolKind, numberKind:
		return v.text, true
	case nullKind:
		return "null", false
	}
	return fmt.Sprintf("%d values", len(v.list)), false
}

// cutText shortens a text to n bytes, at a character's end.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}
