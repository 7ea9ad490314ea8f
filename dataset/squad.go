package dataset

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ragjudge/ragjudge/eval"
)

// squadStream reads SQuAD 1.1 and 2.0: articles with paragraphs with
// questions. One article is in memory at a time.
//
// A question's paragraph is its reference context, its first answer the
// reference. All answers stay in the metadata, and with them whether it is
// impossible: such a question has no reference.
type squadStream struct {
	docStream
	pending []squadQuestion
	now     squadQuestion
}

// fitsSQuAD knows the rows of Hugging Face: answers are lists of texts and of
// where they start. With a response the row is a system's, whose context is
// what it was given.
func fitsSQuAD(n names) bool {
	return n["question"] && n["context"] && n["answers.text"] && n["answers.answerstart"] && !n.any("answer", "response", "output", "generatedanswer")
}

// readSQuADAnswers takes the first answer for the reference, and the different
// ones besides it.
func readSQuADAnswers(d *decoder, s *eval.Sample, v value, _ *contextsLater) (bool, *fault) {
	list := member(v, "text")
	if list.kind != kindArray || d.columns.settled[eval.FieldReference] {
		return false, nil
	}
	texts, f := d.texts(list)
	if f != nil || len(texts) == 0 {
		return f == nil, f
	}
	s.Reference = texts[0]
	for i, t := range texts {
		if !slices.Contains(texts[:i], t) && i > 0 {
			s.OtherReferences = append(s.OtherReferences, t)
		}
	}
	return true, nil
}

type squadQuestion struct {
	fault  *fault
	sample *eval.Sample
}

func newSquadStream(in *bufio.Reader, limit int, doc *document) *squadStream {
	return &squadStream{docStream: *newDocStream(in, limit, doc)}
}

func (s *squadStream) next() error {
	for len(s.pending) == 0 {
		if err := s.docStream.next(); err != nil {
			return err
		}
		s.article()
	}
	s.now, s.pending = s.pending[0], s.pending[1:]
	return nil
}

func (s *squadStream) sample(d *decoder) (*eval.Sample, *fault) {
	s.tell(d)
	if s.now.fault == nil {
		d.columns.squad()
	}
	return s.now.sample, s.now.fault
}

// squad notes, for the list of columns, what every question has.
func (c *columns) squad() {
	c.begin()
	c.adopt(shapeOf(SQuAD))
	for _, col := range []Column{
		{Name: "id", Field: eval.FieldID}, {Name: "question", Field: eval.FieldUserInput},
		{Name: "answers", Field: eval.FieldReference}, {Name: "context", Field: eval.FieldReferenceContexts},
	} {
		k := c.known[col.Name]
		if k == nil {
			k = &column{Column: col}
			c.known[col.Name] = k
			c.order = append(c.order, k)
		}
		k.Rows++
	}
}

// article is what is read of an article; encoding/json is enough here, since
// the framer has seen where it ends and the text was checked.
type article struct {
	Title      string
	Paragraphs []struct {
		Context *string
		Qas     []struct {
			ID           string
			Question     *string
			IsImpossible bool `json:"is_impossible"`
			Answers      []struct{ Text string }
		}
	}
}

func (s *squadStream) article() {
	raw := s.record().raw
	bad := func(f *fault) { s.pending = append(s.pending, squadQuestion{fault: f}) }
	if f := checkUTF8(raw); f != nil {
		bad(f)
		return
	}
	if _, f := parseValue(raw); f != nil {
		f.fatal = f.syntax
		bad(f)
		return
	}
	var a article
	if err := json.Unmarshal(raw, &a); err != nil {
		bad(faultf("is no article of SQuAD: %v", err))
		return
	}
	for n, p := range a.Paragraphs {
		for _, q := range p.Qas {
			if p.Context == nil || q.Question == nil {
				bad(faultf("paragraph %d of the article %s lacks its context or a question", n+1, quoted(a.Title)))
				continue
			}
			smp := &eval.Sample{ID: q.ID, UserInput: *q.Question, ReferenceContexts: []string{*p.Context}, Metadata: map[string]json.RawMessage{
				"title": appendQuoted(nil, a.Title),
			}}
			var texts []string
			for _, answer := range q.Answers {
				if !slices.Contains(texts, answer.Text) {
					texts = append(texts, answer.Text)
				}
			}
			if len(texts) > 0 && !q.IsImpossible {
				smp.Reference = texts[0]
			}
			if len(texts) > 1 {
				if !q.IsImpossible {
					smp.OtherReferences = texts[1:]
				}
				list := []byte{'['}
				for i, t := range texts {
					if i > 0 {
						list = append(list, ',')
					}
					list = appendQuoted(list, t)
				}
				smp.Metadata["answers"] = append(list, ']')
			}
			if q.IsImpossible {
				smp.Metadata["is_impossible"] = json.RawMessage(fmt.Sprint(q.IsImpossible))
			}
			s.pending = append(s.pending, squadQuestion{sample: smp})
		}
	}
}
