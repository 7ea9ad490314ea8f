package dataset

import (
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// The shapes: how the records of other tools hold the fields, over and above
// the aliases. They are recognised by the names in the first record (or by
// the outline of a document); naming one in Options.Format settles it.
const (
	// Plain is no tool's shape: the canonical names and their aliases alone.
	Plain Format = "plain"
	// DeepEval has both retrieval_context and context, which is the ideal one.
	DeepEval Format = "deepeval"
	// Promptfoo has the fields under vars, and the response under response.output.
	Promptfoo Format = "promptfoo"
	// TruLens is an export of records, or a table of expected responses.
	TruLens Format = "trulens"
	// Phoenix has OpenInference's attributes.
	Phoenix Format = "phoenix"
	// LangSmith has inputs, outputs and reference_outputs; outputs are the system's.
	LangSmith Format = "langsmith"
	// LangSmithExamples is a dataset of LangSmith: outputs are the reference.
	LangSmithExamples Format = "langsmith-examples"
	// Langfuse is an export of traces, observations or dataset items.
	Langfuse Format = "langfuse"
	// RagasTestset is what Ragas 0.1 generated: contexts are the ideal ones.
	RagasTestset Format = "ragas-testset"
	// BEIR is a folder of corpus, queries and qrels.
	BEIR Format = "beir"
	// SQuAD is a document of articles with paragraphs and questions, or a row
	// for each question, as Hugging Face has it.
	SQuAD Format = "squad"
)

// shape is one tool's way to lay out a record.
type shape struct {
	format Format
	title  string
	// fits says whether the names of a record are this tool's, and no other's.
	fits func(names) bool
	// fields lists paths, in normal form, and what they feed. A path that feeds
	// FieldMetadata takes an alias back.
	fields map[string]eval.Field
	// special lists paths with a reading of their own.
	special map[string]reading
}

// reading puts a value into the sample; it reports false where it found
// nothing, and the value then stays in the metadata alone.
type reading func(d *decoder, s *eval.Sample, v value, later *contextsLater) (bool, *fault)

// shapes is the explicit list, in the order in which they are shown.
var shapes = []*shape{
	{format: Plain, title: "plain: canonical names and their aliases", fits: never},
	{format: DeepEval, title: "DeepEval (context is the ideal context)", fits: fitsDeepEval, fields: map[string]eval.Field{
		"retrievalcontext": eval.FieldRetrievedContexts, "context": eval.FieldReferenceContexts,
	}},
	promptfooShape,
	truLensShape,
	{format: Phoenix, title: "Phoenix spans", fits: fitsPhoenix, fields: map[string]eval.Field{
		"context.spanid": eval.FieldID, "context": eval.FieldMetadata,
		"attributes.input.value": eval.FieldUserInput, "attributes.output.value": eval.FieldResponse,
		"attributes.retrieval.documents": eval.FieldRetrievedContexts, "retrieval.documents": eval.FieldRetrievedContexts,
		"input.value": eval.FieldUserInput, "output.value": eval.FieldResponse, "reference": eval.FieldRetrievedContexts,
	}},
	{format: LangSmith, title: "LangSmith runs (outputs are the system's)", fits: fitsLangSmithRuns, fields: join(
		inputs("inputs"), outputs("outputs"), references("referenceoutputs"), references("reference"),
		map[string]eval.Field{"runid": eval.FieldID, "reference": eval.FieldMetadata, "referenceoutputs": eval.FieldMetadata},
	), special: chats("inputs", "outputs")},
	{format: LangSmithExamples, title: "LangSmith examples (outputs are the reference)", fits: fitsLangSmithExamples, fields: join(
		inputs("inputs"), references("outputs"),
	), special: chats("inputs", "")},
	{format: Langfuse, title: "Langfuse", fits: fitsLangfuse, fields: join(
		inputs("input"), outputs("output"), references("expectedoutput"), map[string]eval.Field{
			"input": eval.FieldUserInput, "output": eval.FieldResponse, "expectedoutput": eval.FieldReference,
		},
	), special: chats("input", "output")},
	{format: RagasTestset, title: "a test set of Ragas 0.1 (contexts are the ideal ones)", fits: fitsRagasTestset, fields: map[string]eval.Field{
		"contexts": eval.FieldReferenceContexts,
	}},
	{format: BEIR, title: "BEIR: queries, judgements and corpus", fits: fitsBEIR, fields: map[string]eval.Field{"text": eval.FieldUserInput}},
	{format: SQuAD, title: "SQuAD", fits: fitsSQuAD, fields: map[string]eval.Field{
		"context": eval.FieldReferenceContexts,
	}, special: map[string]reading{"answers": readSQuADAnswers}},
}

// ShapeFormats are the words of Options.Format that name a tool's shape rather
// than how the file is written.
func ShapeFormats() []Format {
	list := make([]Format, len(shapes))
	for i, s := range shapes {
		list[i] = s.format
	}
	return list
}

// ShapeTitle says for people whose records a shape stands for.
func ShapeTitle(f Format) string {
	if s := shapeOf(f); s != nil {
		return s.title
	}
	return string(f)
}

func shapeOf(f Format) *shape {
	i := slices.IndexFunc(shapes, func(s *shape) bool { return s.format == f })
	if i < 0 {
		return nil
	}
	return shapes[i]
}

// names are the paths of a record's members in normal form, two levels deep
// and deeper where a flat name has dots.
type names map[string]bool

func (n names) add(name string) {
	n[normal(name)] = true
	if strings.HasPrefix(name, "__") { // promptfoo's mark, which the normal form has lost
		n[strings.ToLower(name)] = true
	}
}

func (n names) any(list ...string) bool {
	return slices.ContainsFunc(list, func(name string) bool { return n[name] })
}

// under reports whether a member stands inside the object, be it nested or
// spelt with a dot.
func (n names) under(object string) bool {
	for name := range n {
		if strings.HasPrefix(name, object+".") {
			return true
		}
	}
	return false
}

// holds reports whether there is such an object, or a cell that may be one.
func (n names) holds(object string) bool { return n[object] || n.under(object) }

func never(names) bool { return false }

func fitsDeepEval(n names) bool {
	return n["retrievalcontext"] && n["context"] ||
		n["input"] && n.any("expectedoutput", "actualoutput") &&
			n.any("toolscalled", "expectedtools", "additionalmetadata", "customcolumnkeyvalues", "metricsdata", "sourcefile")
}

func fitsPhoenix(n names) bool {
	return n.any("context.spanid", "attributes.input.value", "attributes.output.value", "attributes.retrieval.documents",
		"retrieval.documents", "attributes.openinference.span.kind") || n.under("attributes") && n["spankind"]
}

func fitsLangSmithRuns(n names) bool {
	return n.holds("inputs") && (n.any("runtype", "referenceoutputs", "parentrunid", "dottedorder", "referenceexampleid", "feedbackstats", "executiontime") ||
		n.under("referenceoutputs") || n.under("reference") || n.under("feedback") || retrieves(n, "outputs"))
}

func fitsLangSmithExamples(n names) bool {
	return n.holds("inputs") && n.any("datasetid", "sourcerunid") && !fitsLangSmithRuns(n)
}

// retrieves reports whether the object holds contexts, which only the outputs
// of a system do.
func retrieves(n names, object string) bool {
	for path, f := range under(object, eval.FieldRetrievedContexts) {
		if n[path] && f == eval.FieldRetrievedContexts {
			return true
		}
	}
	return n[object+".sourcedocuments"]
}

func fitsLangfuse(n names) bool {
	if !n.any("input", "output", "expectedoutput") && !n.under("input") {
		return false
	}
	if n.under("input") && asks(n, "input") && (n.holds("expectedoutput") || retrieves(n, "output")) {
		return true
	}
	return n.any("datasetname", "sourcetraceid", "traceid", "observations", "sessionid", "htmlpath", "projectid", "parentobservationid") &&
		!n.any("actualoutput", "recordid")
}

// asks reports whether the object holds a question.
func asks(n names, object string) bool {
	for path := range under(object, eval.FieldUserInput) {
		if n[path] {
			return true
		}
	}
	return false
}

func fitsRagasTestset(n names) bool {
	return n.any("evolutiontype", "episodedone") && n["contexts"] && !n.any("answer", "response", "referencecontexts")
}

func fitsBEIR(n names) bool {
	if !n["id"] || !n["text"] || n["title"] {
		return false
	}
	for name := range n {
		if _, known := byName[name]; known && name != "id" && name != "metadata" {
			return false
		}
	}
	return true
}

// under lists the paths of a field's aliases inside an object.
func under(object string, field eval.Field, further ...string) map[string]eval.Field {
	m := make(map[string]eval.Field)
	for name, f := range byName {
		if f == field {
			m[object+"."+name] = field
		}
	}
	for _, name := range further {
		m[object+"."+name] = field
	}
	return m
}

func inputs(object string) map[string]eval.Field {
	return join(
		under(object, eval.FieldUserInput), under(object, eval.FieldRetrievedContexts, "sourcedocuments"),
		under(object, eval.FieldReference), under(object, eval.FieldReferenceContexts), under(object, eval.FieldCategory),
		under(object, eval.FieldReferenceContextIDs), under(object, eval.FieldRetrievedContextIDs))
}

func outputs(object string) map[string]eval.Field {
	return join(
		under(object, eval.FieldResponse, "text", "result", "content", "generation"), under(object, eval.FieldRetrievedContexts, "sourcedocuments"),
		under(object, eval.FieldRetrievedContextIDs))
}

// references reads an object that says what is right, whatever its members are
// called there.
func references(object string) map[string]eval.Field {
	m := under(object, eval.FieldReference)
	for path := range under(object, eval.FieldResponse, "text", "result", "content") {
		m[path] = eval.FieldReference
	}
	for path := range join(under(object, eval.FieldRetrievedContexts), under(object, eval.FieldReferenceContexts)) {
		m[path] = eval.FieldReferenceContexts
	}
	for path := range join(under(object, eval.FieldRetrievedContextIDs), under(object, eval.FieldReferenceContextIDs)) {
		m[path] = eval.FieldReferenceContextIDs
	}
	return m
}

func join(parts ...map[string]eval.Field) map[string]eval.Field {
	all := make(map[string]eval.Field)
	for _, p := range parts {
		for k, v := range p {
			all[k] = v
		}
	}
	return all
}

// guess names the shape of a record with these names. Two that fit are an
// error that tells both readings; none is the plain one.
func guess(n names) (*shape, *fault) {
	var fit []*shape
	for _, s := range shapes {
		if s.fits(n) {
			fit = append(fit, s)
		}
	}
	switch {
	case len(fit) > 1:
		f := faultf("the record could be that of %s or of %s", fit[0].title, fit[1].title).
			withHint("say which is meant: dataset.format = " + quoted(string(fit[0].format)) + " or " + quoted(string(fit[1].format)) +
				"; \"plain\" reads by the canonical names alone")
		f.fatal = true
		return nil, f
	case len(fit) == 1:
		return fit[0], nil
	case n.holds("inputs") && n.holds("outputs"):
		f := faultf("outputs may be what the system answered (a run of LangSmith) or the reference (an example of its dataset), and nothing tells which").
			withHint("say which is meant: dataset.format = \"langsmith\" or \"langsmith-examples\"")
		f.fatal = true
		return nil, f
	case n["turns"] && n.any("scenario", "expectedoutcome"):
		f := faultf("the record is a conversation of several turns; a sample is one question with one answer").
			withHint("write a record for each turn that is to be scored")
		f.fatal = true
		return nil, f
	case n["documentposition"] && n["documentscore"]:
		f := faultf("the file has one row for each retrieved document, where a row is to be one question").
			withHint("of Phoenix, export get_qa_with_reference or the spans instead of get_retrieved_documents")
		f.fatal = true
		return nil, f
	case n["id"] && n["text"] && n["title"] && !n.any("question", "query"):
		f := faultf("looks like the corpus of a BEIR dataset, which holds no questions").
			withHint("name the folder with corpus.jsonl, queries.jsonl and qrels")
		f.fatal = true
		return nil, f
	}
	return shapes[0], nil
}
