package dataset

// Warning is something odd that was accepted. Each kind is told once by a
// reader, and counted.
type Warning struct {
	// Kind is a stable word: "no_contexts", "nul_character", "lone_surrogate",
	// "partial_context_ids", "identical_rows", "answer_looks_like_error",
	// "printed_null", "float_id", "several_ids", "joined_contexts",
	// "beside_records", "several_references", "file_grew", "empty_file", "encoding_doubtful",
	// "printed_structure", "replacement_character", "corpus_gap", "nothing_to_score".
	Kind string
	// Message says it for people, without the count.
	Message string
	// Count is how many records it concerns so far (for characters: how many
	// texts).
	Count int
	// File is the file in which it was first met.
	File string
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
	warnPrintedNull
	warnFloatID
	warnSeveralIDs
	warnJoined
	warnBeside
	warnReferences
	warnGrew
	warnEmptyFile
	warnEncoding
	warnPrinted
	warnReplaced
	warnCorpusGap
	warnBare
	numWarnings
)

var warningTexts = [numWarnings]Warning{
	warnNoContexts:  {Kind: "no_contexts", Message: "a record says that nothing was retrieved"},
	warnNUL:         {Kind: "nul_character", Message: "a text holds a NUL character; it is passed on"},
	warnSurrogate:   {Kind: "lone_surrogate", Message: "a text holds half of a surrogate pair, which UTF-8 can't hold; it became U+FFFD"},
	warnPartialIDs:  {Kind: "partial_context_ids", Message: "some contexts of a record have an id and others none; these ids are not used"},
	warnIdentical:   {Kind: "identical_rows", Message: "a record without an id has the same content as an earlier one; its id got a number"},
	warnLikeError:   {Kind: "answer_looks_like_error", Message: "a response looks like an API error or a stack trace, not like an answer"},
	warnPrintedNull: {Kind: "printed_null", Message: "a text is nothing but nan, None or null, as programs print a missing value; it is taken as text"},
	warnFloatID:     {Kind: "float_id", Message: "an id is written like 1.0, as pandas writes whole numbers in a column with gaps; it is kept so, and is not the id 1"},
	warnSeveralIDs:  {Kind: "several_ids", Message: "a context has several members that may be its id, such as doc_id and chunk_id; none is used"},
	warnJoined:      {Kind: "joined_contexts", Message: "a text of contexts holds |, with which DeepEval joins lists in CSV and JSONL; it is taken as one context: export JSON instead"},
	warnBeside:      {Kind: "beside_records", Message: "the document holds members beside its records; they are left out"},
	warnReferences:  {Kind: "several_references", Message: "a record has several references: metrics over texts take the best, judged ones look at the first"},
	warnGrew:        {Kind: "file_grew", Message: "the file grew since it was scanned; what was appended is left out"},
	warnEmptyFile:   {Kind: "empty_file", Message: "a file is empty: it adds no samples"},
	warnEncoding:    {Kind: "encoding_doubtful", Message: "a file reads well as UTF-8, but another encoding was named for it; if its accents come out wrong, take the encoding away"},
	warnPrinted:     {Kind: "printed_structure", Message: "a context looks like a list or an object that a program printed; it is taken as one text: if it holds several contexts, or text and metadata, write a JSON list"},
	warnReplaced:    {Kind: "replacement_character", Message: "a text holds U+FFFD, which programs put where they could not read a character: it was damaged before, and is judged so"},
	warnCorpusGap:   {Kind: "corpus_gap", Message: "the corpus lacks a document that a query's judgements or the run name; the query has the ids, and none of the texts"},
	warnBare:        {Kind: "nothing_to_score", Message: "a record has no question, no answer, no contexts and no reference; if its columns are named otherwise, as those of one file of several may be, name them: dataset.columns, --column"},
}

// warnings counts the warnings of one pass and tells each kind once.
type warnings struct {
	seen [numWarnings]Warning
	tell func(Warning)
	told [numWarnings]bool // in this or an earlier pass
}

func (w *warnings) add(k warnKind, file string, row, line int) {
	if w.seen[k].Count == 0 {
		w.seen[k] = warningTexts[k]
		w.seen[k].File, w.seen[k].Row, w.seen[k].Line = file, row, line
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
