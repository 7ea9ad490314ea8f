package dataset

// Warning is something odd that was accepted. Each kind is told once by a
// reader, and counted.
type Warning struct {
	// Kind is a stable word: "no_contexts", "nul_character", "lone_surrogate",
	// "partial_context_ids", "identical_rows", "answer_looks_like_error",
	// "file_grew".
	Kind string
	// Message says it for people, without the count.
	Message string
	// Count is how many records it concerns so far (for characters: how many
	// texts).
	Count int
	// Row and Line are where it was first met; 0 for the file as a whole.
	Row, Line int
}

type warnKind int

const (
	warnNoContexts warnKind = iota
	warnNUL
	warnSurrogate
	warnPartialIDs
	warnIdentical
	warnLikeError
	warnGrew
	numWarnings
)

var warningTexts = [numWarnings]Warning{
	warnNoContexts: {Kind: "no_contexts", Message: "a record says that nothing was retrieved"},
	warnNUL:        {Kind: "nul_character", Message: "a text holds a NUL character; it is passed on"},
	warnSurrogate:  {Kind: "lone_surrogate", Message: "a text holds half of a surrogate pair, which UTF-8 can't hold; it became U+FFFD"},
	warnPartialIDs: {Kind: "partial_context_ids", Message: "some contexts of a record have an id and others none; these ids are not used"},
	warnIdentical:  {Kind: "identical_rows", Message: "a record without an id has the same content as an earlier one; its id got a number"},
	warnLikeError:  {Kind: "answer_looks_like_error", Message: "a response looks like an API error or a stack trace, not like an answer"},
	warnGrew:       {Kind: "file_grew", Message: "the file grew since it was scanned; what was appended is left out"},
}

// warnings counts the warnings of one pass and tells each kind once.
type warnings struct {
	seen [numWarnings]Warning
	tell func(Warning)
	told [numWarnings]bool // in this or an earlier pass
}

func (w *warnings) add(k warnKind, row, line int) {
	if w.seen[k].Count == 0 {
		w.seen[k] = warningTexts[k]
		w.seen[k].Row, w.seen[k].Line = row, line
	}
	w.seen[k].Count++
	if !w.told[k] && w.tell != nil {
		w.told[k] = true
		w.tell(w.seen[k])
	}
}

func (w *warnings) list() []Warning {
	var out []Warning
	for _, s := range w.seen {
		if s.Count > 0 {
			out = append(out, s)
		}
	}
	return out
}
