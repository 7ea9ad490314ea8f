package metrics

import (
	"fmt"
	"math"
	"slices"

	"github.com/ragjudge/ragjudge/ranking"
)

// RankingOptions are the settings of the metrics over ids. The zero value is
// the default of each.
type RankingOptions struct {
	// Convention says how cases are counted on which tools disagree;
	// ranking.RAG if empty.
	Convention ranking.Convention
	// Level is the lowest grade that is relevant; 0 is the default: everything
	// above 0 by ranking.RAG, 1 by ranking.TrecEval.
	Level float64
	// Match says by what a relevant chunk is known, MatchThreshold from which
	// share of a reference's word pairs on a chunk holds it; see
	// DefaultMatchThreshold, which stands for 0.
	Match          Match
	MatchThreshold float64
}

// The names of the options of the metrics over ids.
const (
	optConvention     = "convention"
	optRelevanceLevel = "relevance_level"
)

// rankingOptions are the options of every metric over ids.
var rankingOptions = []string{optConvention, optRelevanceLevel}

// matchingOptions are those of the metrics that can match by text as well.
var matchingOptions = append(slices.Clone(rankingOptions), optMatch, optMatchThreshold)

func isRankingOption(key string) bool { return slices.Contains(matchingOptions, key) }

// set takes one key of [metric.<name>].
func (o *RankingOptions) set(key string, value any) error {
	if key == optMatch || key == optMatchThreshold {
		return o.setMatch(key, value)
	}
	if key == optRelevanceLevel {
		switch v := value.(type) {
		case int64:
			o.Level = float64(v)
		case float64:
			o.Level = v
		default:
			return fmt.Errorf("want a number, got %v", value)
		}
		if !(o.Level > 0) || math.IsInf(o.Level, 0) {
			return fmt.Errorf("want a number above 0, got %v", value)
		}
		return nil
	}
	s, ok := value.(string)
	if !ok {
		return fmt.Errorf("want a text, got %v", value)
	}
	o.Convention = ranking.Convention(s)
	return nil
}

// check reports a value that is not allowed.
func (o RankingOptions) check(metric string) error {
	if !(o.Level >= 0) || math.IsInf(o.Level, 0) {
		return fmt.Errorf("set option %s of metric %s: want a number above 0, got %v", optRelevanceLevel, metric, o.Level)
	}
	if err := o.checkMatch(metric); err != nil {
		return err
	}
	return oneOf(metric, optConvention, o.Convention, ranking.RAG, ranking.TrecEval)
}

func (o RankingOptions) withDefaults() RankingOptions {
	if o.Convention == "" {
		o.Convention = ranking.RAG
	}
	if o.Level == 0 {
		o.Level = ranking.AboveZero
		if o.Convention == ranking.TrecEval {
			o.Level = 1
		}
	}
	if o.Match == "" {
		o.Match = MatchIDs
	}
	if o.MatchThreshold == 0 {
		o.MatchThreshold = DefaultMatchThreshold
	}
	return o
}

// choose returns the text for the convention.
func (o RankingOptions) choose(rag, trecEval string) string {
	if o.Convention == ranking.TrecEval {
		return trecEval
	}
	return rag
}
