package dataset

import (
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// promptfooShape reads tests and results. The variables of a test hold the
// fields; what the assertions expect is the reference where none is given.
var promptfooShape = &shape{format: Promptfoo, title: "promptfoo", fits: fitsPromptfoo, fields: join(
	inputs("vars"), under("vars", eval.FieldResponse), outputs("response.output"), map[string]eval.Field{
		"response.output": eval.FieldResponse, "response": eval.FieldMetadata, "prompt": eval.FieldMetadata,
	},
), special: map[string]reading{
	"assert": readAsserts, "testcase.assert": readAsserts, "expected": readExpected, "expected1": readExpected,
}}

func fitsPromptfoo(n names) bool {
	return n.under("vars") || n.any("__expected", "__expected1")
}

// expecting are the assertions of promptfoo whose value is a right answer.
var expecting = []string{"equals", "similar", "factuality", "model-graded-factuality", "context-recall"}

// readAsserts takes the reference from a list of assertions, if those that hold
// a right answer agree.
func readAsserts(d *decoder, s *eval.Sample, v value, later *contextsLater) (bool, *fault) {
	if v.kind != kindArray {
		return false, nil
	}
	var found string
	for _, item := range v.items() {
		if item.kind != kindObject {
			continue
		}
		kind, text := "", ""
		for key, m := range item.members() {
			switch name, _ := key.text(); {
			case name == "type" && m.kind == kindString:
				kind, _ = m.text()
			case name == "value" && m.kind == kindString:
				text = d.textOf(m)
			}
		}
		if !expects(kind) || text == "" || text == found {
			continue
		}
		if found != "" {
			return false, nil
		}
		found = text
	}
	if found == "" {
		return false, nil
	}
	later.expected = found
	return true, nil
}

func expects(kind string) bool {
	for _, e := range expecting {
		if kind == e {
			return true
		}
	}
	return false
}

// readExpected reads a cell of the column __expected: a text, or the name of
// an assertion with its text.
func readExpected(d *decoder, s *eval.Sample, v value, later *contextsLater) (bool, *fault) {
	if v.kind != kindString && v.kind != kindCell {
		return false, nil
	}
	text := d.textOf(v)
	head, rest, named := strings.Cut(text, ":")
	kind, _, _ := strings.Cut(head, "(")
	if named && !strings.ContainsAny(kind, " \t\n") && kind == strings.ToLower(kind) {
		if !expects(kind) {
			return false, nil
		}
		text = strings.TrimSpace(rest)
	}
	if strings.TrimSpace(text) == "" || later.expected != "" && later.expected != text {
		return false, nil
	}
	later.expected = text
	return true, nil
}

// truLensShape reads exported records. What was retrieved stands in the calls
// of record_json.
var truLensShape = &shape{format: TruLens, title: "TruLens records", fits: fitsTruLens, fields: map[string]eval.Field{
	"recordid": eval.FieldID, "maininput": eval.FieldUserInput, "mainoutput": eval.FieldResponse,
	"expectedresponse": eval.FieldReference, "expectedchunks": eval.FieldReferenceContexts,
}, special: map[string]reading{"recordjson": readTruLensCalls, "calls": readTruLensCalls}}

func fitsTruLens(n names) bool {
	return n["recordid"] && n.any("appid", "appname", "appversion", "recordjson", "maininput", "appjson") ||
		n.any("expectedresponse", "expectedchunks") && n["query"]
}

// retrieverMethods are the methods whose results are the retrieved contexts.
var retrieverMethods = map[string]bool{
	"retrieve": true, "aretrieve": true, "_retrieve": true, "get_relevant_documents": true, "_get_relevant_documents": true,
	"aget_relevant_documents": true, "similarity_search": true,
}

func readTruLensCalls(d *decoder, s *eval.Sample, v value, later *contextsLater) (bool, *fault) {
	u, f := d.unwrap(v)
	if f != nil {
		return false, nil // a cut or foreign text stays in the metadata
	}
	if u.kind == kindObject {
		u = member(u, "calls")
	}
	if u.kind != kindArray {
		return false, nil
	}
	var found *contexts
	for _, call := range u.items() {
		if call.kind != kindObject || !retrieverMethods[lastMethod(member(call, "stack"))] {
			continue
		}
		rets := member(call, "rets")
		if rets.kind == kindNull {
			continue
		}
		c, f := d.contexts(rets)
		if f != nil {
			return false, f
		}
		if found != nil && strings.Join(found.texts, "\x00") != strings.Join(c.texts, "\x00") {
			return false, faultf("has several retrieval calls with different results, and nothing tells which the answer is made of").
				withHint("write the contexts into a column of their own, or leave them out: [dataset.columns] retrieved_contexts = \"\"")
		}
		found = &c
	}
	if found == nil || later.given || d.columns.settled[eval.FieldRetrievedContexts] {
		return false, nil
	}
	later.given, later.column, later.contexts = true, "record_json", *found
	return true, nil
}

// lastMethod is the name of the method that a stack of calls ends in.
func lastMethod(stack value) (name string) {
	if stack.kind != kindArray {
		return ""
	}
	for _, frame := range stack.items() {
		if m := member(frame, "method"); m.kind == kindObject {
			if n := member(m, "name"); n.kind == kindString {
				name, _ = n.text()
			}
		}
	}
	return name
}

// member is a member of an object, or null.
func member(v value, name string) (found value) {
	if v.kind != kindObject {
		return value{}
	}
	for key, m := range v.members() {
		if n, _ := key.text(); n == name {
			found = m
		}
	}
	return found
}

// chats lists the paths at which a list of messages may stand instead of a text.
func chats(in, out string) map[string]reading {
	m := map[string]reading{in: readQuestion, in + ".messages": readQuestion}
	if out != "" {
		m[out], m[out+".messages"] = readAnswer, readAnswer
	}
	return m
}

// readQuestion takes the question from messages that hold one.
func readQuestion(d *decoder, s *eval.Sample, v value, later *contextsLater) (bool, *fault) {
	texts, ok := d.messages(v, "user", "human")
	if !ok || s.UserInput != "" || d.columns.settled[eval.FieldUserInput] {
		return false, nil
	}
	if len(texts) > 1 {
		return false, faultf("is a conversation with %d questions, where a sample is one", len(texts)).
			withHint("write the question itself into a column, or a record for each turn")
	}
	s.UserInput = strings.Join(texts, "")
	return s.UserInput != "", nil
}

// readAnswer takes the answer from the last message of the assistant.
func readAnswer(d *decoder, s *eval.Sample, v value, later *contextsLater) (bool, *fault) {
	texts, ok := d.messages(v, "assistant", "ai")
	if !ok || len(texts) == 0 || s.Response != "" || d.columns.settled[eval.FieldResponse] {
		return false, nil
	}
	s.Response = texts[len(texts)-1]
	return true, nil
}

// messages gives the texts of the messages of a role; ok is false if v is no
// list of messages.
func (d *decoder) messages(v value, roles ...string) (texts []string, ok bool) {
	u, f := d.unwrap(v)
	if f != nil || u.kind != kindArray {
		return nil, false
	}
	for _, m := range u.items() {
		role, content := member(m, "role"), member(m, "content")
		if role.kind == kindNull {
			role = member(m, "type") // LangChain's name for it
		}
		if role.kind != kindString {
			return nil, false
		}
		who, _ := role.text()
		for _, r := range roles {
			if who == r && content.kind == kindString {
				texts = append(texts, d.textOf(content))
			}
		}
	}
	return texts, true
}
