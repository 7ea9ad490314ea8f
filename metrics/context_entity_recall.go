package metrics

import (
	"context"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/text"
)

var contextEntityRecallFamily = Family{
	Name: "context_entity_recall", CutOff: NoCutOff, Judged: true, Options: []string{optCompat}, Compats: []Compat{CompatRagas},
	Aliases: []string{"contextentitiesrecall", "contextentityrecallscore"},
	build: func(_ int, opt Options) eval.Metric {
		m := contextEntityRecall{panel: opt.panel(), compat: opt.Compat, info: eval.Info{
			Name: "context_entity_recall", Version: 1, Judged: true, Note: compatNote(opt.Compat),
			Needs:   []eval.Field{eval.FieldReference, eval.FieldRetrievedContexts},
			Calls:   "2: the entities of the reference, the entities of the chunks",
			Asks:    []string{"entities of the reference", "entities of the chunks"},
			Formula: "entities of the reference that are entities of the chunks / entities of the reference",
			Doc:     "How many of the names, dates, numbers and terms of the reference answer were retrieved. It suits data in which an answer stands or falls with them, and says nothing of how they hang together. Two entities are the same if their words are, whatever the case and the marks. A reference without entities is undefined. Where nothing was retrieved it is 0.",
		}}
		if opt.Compat == CompatRagas {
			m.info.Formula = "different entities of the reference that the chunks have to the letter / (different entities of the reference + 1e-8)"
		}
		return m
	},
}

// EntitiesDetail is the detail of context_entity_recall.
type EntitiesDetail struct {
	// Entities are those of the reference, in the order of the text, each
	// "retrieved" or "missing"; with several judges by the majority.
	Entities []judge.Verdict `json:"entities"`
	// Bounds are those of the score where several judges left it open.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// The verdicts on an entity.
const (
	entityRetrieved = "retrieved"
	entityMissing   = "missing"
)

type contextEntityRecall struct {
	info   eval.Info
	panel  Panel
	compat Compat
}

// Info describes the metric.
func (m contextEntityRecall) Info() eval.Info { return m.info }

// Score asks the first seat for the entities of the reference, as for a split
// into claims, and every seat for those of the chunks.
func (m contextEntityRecall) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	score, err := m.score(ctx, s)
	return score.Of(m.info), err
}

func (m contextEntityRecall) score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.info.Needs); f != "" {
		return eval.SkippedFor(f), nil
	}
	if noContexts(s) {
		return eval.Value(0).Because(reasonNoContexts), nil
	}
	reference, err := m.panel.claims(ctx, m.ask(s.Reference))
	if err != nil {
		return unjudged(ctx, err, nil)
	}
	same, epsilon := entityKey, 0.0
	if m.compat == CompatRagas {
		same, epsilon = func(e string) string { return e }, 1e-8
	}
	entities := distinct(reference, same)
	if len(entities) == 0 {
		if m.compat == CompatRagas {
			return eval.Value(0).Because(reasonNoEntities), nil
		}
		return eval.Without(eval.Undefined, "%s: the reference names none", reasonNoEntities), nil
	}
	labels := []string{entityRetrieved, entityMissing}
	formula := shareFormula(labels, func(v []judge.Verdict, b *Bounds) any { return EntitiesDetail{Entities: v, Bounds: b} })
	value, n := formula.value, float64(len(entities))
	formula.value = func(found []bool) float64 { return value(found) * n / (n + epsilon) }
	chunks := m.ask(strings.Join(s.RetrievedContexts, "\n\n"))
	return m.panel.verdicts(ctx, entities, nil, formula, func(ctx context.Context, j Judge) ([]judge.Verdict, error) {
		list, err := j.Claims(ctx, chunks)
		if err != nil {
			return nil, err
		}
		have := map[string]bool{}
		for _, e := range list {
			have[same(e)] = true
		}
		verdicts := make([]judge.Verdict, len(entities))
		for i, e := range entities {
			verdicts[i] = judge.Verdict{Item: e, Label: entityMissing}
			if have[same(e)] {
				verdicts[i].Label = entityRetrieved
			}
		}
		return verdicts, nil
	})
}

// reasonNoEntities: the reference names no entity.
const reasonNoEntities = "no_entities"

func (m contextEntityRecall) ask(text string) judge.Ask {
	return judge.Ask{Metric: m.info.Name, Prompt: "context_entity_recall/entities", Text: text, List: judge.ListEntities}
}

// distinct leaves the first of those that are the same.
func distinct(entities []string, same func(string) string) []string {
	var all []string
	seen := map[string]bool{}
	for _, e := range entities {
		if key := same(e); !seen[key] {
			seen[key] = true
			all = append(all, e)
		}
	}
	return all
}

// entityKey is what two spellings of one entity have in common.
func entityKey(e string) string {
	if key := strings.Join(text.Words(e), " "); key != "" {
		return key
	}
	return strings.TrimSpace(e)
}
