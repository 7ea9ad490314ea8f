package metrics

import (
	"context"
	"fmt"
	"slices"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

// The templates of the table. Every metric over it asks with these and with
// nothing that others don't have, so that each question is one call.
const (
	promptBacking = "claims/backing"
	promptMatch   = "claims/match"
)

// The questions about a sample's claims, as eval.Info.Asks names them.
const (
	askResponseClaims  = "claims of the response"
	askReferenceClaims = "claims of the reference"
	askResponseChunks  = "claims of the response against each chunk"
	askReferenceChunks = "claims of the reference against each chunk"
	askResponseMatch   = "claims of the response against the reference"
	askReferenceMatch  = "claims of the reference against the response"
)

// parts are the parts of the table that a metric needs.
type parts uint

const (
	responseChunks  parts = 1 << iota // the response's claims against each chunk
	referenceChunks                   // the reference's claims against each chunk
	responseMatch                     // the response's claims against the reference
	referenceMatch                    // the reference's claims against the response

	responseSide  = responseChunks | responseMatch
	referenceSide = referenceChunks | referenceMatch
)

// asks names the questions behind the parts.
func (p parts) asks() []string {
	var asks []string
	for _, q := range []struct {
		of  parts
		ask string
	}{
		{responseSide, askResponseClaims}, {referenceSide, askReferenceClaims},
		{responseChunks, askResponseChunks}, {referenceChunks, askReferenceChunks},
		{responseMatch, askResponseMatch}, {referenceMatch, askReferenceMatch},
	} {
		if p&q.of != 0 {
			asks = append(asks, q.ask)
		}
	}
	return asks
}

// tableLabels are the verdicts on one cell of the table.
func tableLabels() []string { return []string{judge.Entailed, judge.Contradicted, judge.NotEntailed} }

// claimTable is what a sample's claims are held against. Its cells stand in one
// row, so that several judges can vote on each: the parts in their order, each
// claim by claim, within a claim chunk by chunk.
type claimTable struct {
	parts               parts
	sample              *eval.Sample
	metric              string
	response, reference []string // the claims
	// silent is why the response says nothing that claims of the reference could
	// be in, so that nobody is asked; empty where it does.
	silent string
}

// part is where one part of the table stands in the row.
type part struct {
	of     parts
	claims []string
	// width is the number of cells for each claim.
	width int
	// first is the place of its first cell.
	first int
}

// layout lists the parts that there are, in their order.
func (t *claimTable) layout() []part {
	var all []part
	next := 0
	for _, p := range []part{
		{of: responseChunks, claims: t.response, width: len(t.sample.RetrievedContexts)},
		{of: referenceChunks, claims: t.reference, width: len(t.sample.RetrievedContexts)},
		{of: responseMatch, claims: t.response, width: 1},
		{of: referenceMatch, claims: t.reference, width: 1},
	} {
		if t.parts&p.of == 0 {
			continue
		}
		p.first = next
		next += p.width * len(p.claims)
		all = append(all, p)
	}
	return all
}

// cells names every cell.
func (t *claimTable) cells() []string {
	cells := []string{}
	for _, p := range t.layout() {
		for _, claim := range p.claims {
			for range p.width {
				cells = append(cells, claim)
			}
		}
	}
	return cells
}

// ask fills in the row with the verdicts of one judge: one call for each part.
func (t *claimTable) ask(ctx context.Context, j Judge) ([]judge.Verdict, error) {
	layout := t.layout()
	rows, errs := make([][]judge.Verdict, len(layout)), make([]error, len(layout))
	together(len(layout), func(i int) {
		if p := layout[i]; p.of&(responseChunks|referenceChunks) != 0 {
			rows[i], errs[i] = t.backing(ctx, j, p)
		} else {
			rows[i], errs[i] = t.match(ctx, j, p)
		}
	})
	if err := worstOf(errs); err != nil {
		return nil, err
	}
	return slices.Concat(rows...), nil
}

// backing asks which chunks entail each claim.
func (t *claimTable) backing(ctx context.Context, j Judge, p part) ([]judge.Verdict, error) {
	got, err := j.Backing(ctx, judge.Ask{
		Metric: t.metric, Prompt: promptBacking, UserInput: t.sample.UserInput, Contexts: t.sample.RetrievedContexts, Items: p.claims,
	})
	if err != nil {
		return nil, err
	}
	if len(got) != len(p.claims) {
		return nil, fmt.Errorf("score: the judge spoke of %d claims out of %d, against its contract", len(got), len(p.claims))
	}
	row := make([]judge.Verdict, 0, len(p.claims)*p.width)
	for i, b := range got {
		for n := range p.width {
			cell := judge.Verdict{Item: p.claims[i], Label: judge.NotEntailed}
			if slices.Contains(b.Chunks, n+1) {
				cell.Label = judge.Entailed
			}
			if n == 0 {
				cell.Reason = b.Reason // once for the whole line
			}
			row = append(row, cell)
		}
	}
	return row, nil
}

// match asks which claims of one side are in the text of the other.
func (t *claimTable) match(ctx context.Context, j Judge, p part) ([]judge.Verdict, error) {
	text := t.sample.Reference
	if p.of == referenceMatch {
		text = t.sample.Response
	}
	row := make([]judge.Verdict, len(p.claims))
	if p.of == referenceMatch && t.silent != "" {
		for i, claim := range p.claims {
			row[i] = judge.Verdict{Item: claim, Label: judge.NotEntailed}
		}
		return row, nil
	}
	got, err := j.Verdicts(ctx, judge.Ask{
		Metric: t.metric, Prompt: promptMatch, UserInput: t.sample.UserInput, Text: text, Items: p.claims, Labels: judge.FaithfulnessLabels(),
	})
	if err == nil {
		err = complete(got, p.claims)
	}
	if err != nil {
		return nil, err
	}
	for i, v := range got {
		row[i] = v
		switch v.Label {
		case judge.Supported:
			row[i].Label = judge.Entailed
		case judge.NotFound:
			row[i].Label = judge.NotEntailed
		}
	}
	return row, nil
}

// ClaimTableDetail is the detail of the metrics over the table of claims and
// chunks: the part of it that the metric uses.
type ClaimTableDetail struct {
	// Response and Reference are the claims of either side, in the order of the
	// text; nil where the metric doesn't use them.
	Response  []ClaimRow `json:"response,omitzero"`
	Reference []ClaimRow `json:"reference,omitzero"`
	// Chunks is the number of chunks that they were held against.
	Chunks int `json:"chunks,omitempty"`
	// Bounds are those of the score where several judges left it open.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// ClaimRow is what was said of one claim.
type ClaimRow struct {
	Claim string `json:"claim"`
	// Chunks are the numbers of the chunks that entail it, by rank from 1; nil
	// where that was not asked.
	Chunks []int `json:"chunks,omitzero"`
	// Split are the chunks on which several judges have no majority.
	Split []int `json:"split,omitempty"`
	// ChunksReason is the judge's own reason for Chunks.
	ChunksReason string `json:"chunks_reason,omitempty"`
	// Match is "entailed", "contradicted" or "not_entailed": what the other side's
	// text says of it; VerdictSplit where several judges have no majority, and
	// empty where that was not asked.
	Match string `json:"match,omitempty"`
	// MatchReason is the judge's own reason for Match, Said as in judge.Verdict.
	MatchReason string `json:"match_reason,omitempty"`
	Said        string `json:"said,omitempty"`
}

// detail shows the verdicts.
func (t *claimTable) detail(row []judge.Verdict, b *Bounds) any {
	d := ClaimTableDetail{Bounds: b}
	for _, p := range t.layout() {
		side := &d.Response
		if p.of&referenceSide != 0 {
			side = &d.Reference
		}
		if *side == nil {
			*side = make([]ClaimRow, len(p.claims))
		}
		for i, claim := range p.claims {
			r := &(*side)[i]
			r.Claim = claim
			cells := row[p.first+i*p.width : p.first+(i+1)*p.width]
			if p.of&(responseMatch|referenceMatch) != 0 {
				r.Match, r.MatchReason, r.Said = cells[0].Label, cells[0].Reason, cells[0].Said
				continue
			}
			d.Chunks, r.Chunks = p.width, []int{}
			for n, c := range cells {
				switch c.Label {
				case judge.Entailed:
					r.Chunks = append(r.Chunks, n+1)
				case VerdictSplit:
					r.Split = append(r.Split, n+1)
				}
			}
			if len(cells) > 0 {
				r.ChunksReason = cells[0].Reason
			}
		}
	}
	return d
}
