package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/metrics"
	"github.com/ragjudge/ragjudge/ranking"
	"github.com/ragjudge/ragjudge/trec"
)

// retrieval is what the flags of "ragjudge retrieval" say.
type retrieval struct {
	measures   []string
	perQuery   bool
	complete   bool
	level      float64
	depth      int
	convention string
	gain       string
	format     string
}

func (a *app) retrievalCommand() *cobra.Command {
	var r retrieval
	c := &cobra.Command{
		Use:   "retrieval RUN QRELS",
		Short: "Evaluate a TREC run against judgements, with trec_eval's numbers or by the convention of RAG",
		Long: `Evaluate a TREC run (query, Q0, document, rank, score, name) against judgements
(query, iteration, document, grade). The output is trec_eval's: measure, query or
"all", value. Every figure equals trec_eval 9.0.8; what that passes over in
silence, such as a score that is no number, is an error with file and line.

RUN or QRELS may be "-", standard input, and may be compressed with gzip or zstd.

Measures (-m, several times or parted by commas):
  official, set, all_trec     the sets of trec_eval (G, ndcg_rel and Rndcg are not known here)
  rag                         the default of --convention rag
  P.5,10  ndcg_cut.10  map    a measure in trec_eval's spelling, with its cut-offs
  precision@5  ndcg@10  mrr   the same by the names of "ragjudge metrics"

--convention rag differs where tools do: precision divides by what was returned,
not by k; the average precision at k divides by what could stand within k; where
nothing is relevant, recall is 1; a repeated document counts once, at its first
rank. docs/retrieval.md has a table.`,
		Example: `  ragjudge retrieval bm25.run qrels.txt
  ragjudge retrieval -q -m ndcg_cut.10 -m recall.100 bm25.run.gz qrels.txt
  ragjudge retrieval --convention rag --format markdown bm25.run qrels.txt`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var level *float64
			if cmd.Flags().Changed("relevance-level") {
				level = &r.level
			}
			return a.evaluateRun(cmd.Context(), args[0], args[1], r, level)
		},
	}
	f := c.Flags()
	f.StringArrayVarP(&r.measures, "measures", "m", nil, "what to compute (default official; rag with --convention rag)")
	f.BoolVarP(&r.perQuery, "per-query", "q", false, "show each query too")
	f.BoolVarP(&r.complete, "complete", "c", false, "count a query without documents as 0, instead of leaving it out")
	f.Float64VarP(&r.level, "relevance-level", "l", 0, "the lowest grade that is relevant (default 1; above 0 with --convention rag)")
	f.IntVarP(&r.depth, "depth", "M", 0, "look at so many documents of each query; 0 is all")
	f.StringVar(&r.convention, "convention", string(ranking.TrecEval), "trec_eval or rag")
	f.StringVar(&r.gain, "gain", "linear", "the gain of nDCG: linear (the grade) or exponential (2^grade - 1)")
	f.StringVarP(&r.format, "format", "f", "text", strings.Join(trec.Formats, ", "))
	return c
}

// options checks the flags, and tells everything that is wrong with them.
func (a *app) options(r retrieval, level *float64) (trec.Options, error) {
	opt := trec.Options{Convention: ranking.Convention(r.convention), Level: level, Depth: r.depth, Complete: r.complete, Exponential: r.gain == "exponential"}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, usagef(format, args...)) }
	if opt.Convention != ranking.TrecEval && opt.Convention != ranking.RAG {
		bad("--convention %q: there are trec_eval and rag", r.convention)
	}
	if r.gain != "linear" && r.gain != "exponential" {
		bad("--gain %q: there are linear and exponential", r.gain)
	}
	if !slices.Contains(trec.Formats, r.format) {
		bad("--format %q: there are %s", r.format, strings.Join(trec.Formats, ", "))
	}
	if level != nil && !(*level >= 0 && *level <= 1e9) {
		bad("--relevance-level %v: it must be 0 or more", *level)
	}
	if r.depth < 0 {
		bad("--depth %d: it must be 0 or more", r.depth)
	}
	names := r.measures
	if len(names) == 0 {
		names = []string{"official"}
		if opt.Convention == ranking.RAG {
			names = []string{"rag"}
		}
	}
	var missing []string
	var err error
	opt.Measures, missing, err = trec.Choose(spelt(names)...)
	if err != nil {
		errs = append(errs, usageError(err))
	}
	if len(missing) > 0 {
		a.log.Warn("left out, since ragjudge does not know them", "measures", strings.Join(missing, ", "))
	}
	return opt, errors.Join(errs...)
}

// spelt puts other spellings of our metrics ("ndcg_at_10", "NDCG@10") into the
// one that package trec knows, where it does not know the given one.
func spelt(names []string) []string {
	out := slices.Clone(names)
	for i, name := range names {
		if _, _, err := trec.Choose(name); err == nil {
			continue
		}
		parts := strings.Split(name, ",")
		for k, part := range parts {
			if canonical, err := metrics.Canonical(part); err == nil {
				parts[k] = canonical
			}
		}
		out[i] = strings.Join(parts, ",")
	}
	return out
}

func (a *app) evaluateRun(ctx context.Context, runPath, qrelsPath string, r retrieval, level *float64) (err error) {
	opt, err := a.options(r, level)
	if err != nil {
		return usageError(err)
	}
	if runPath == trec.Stdin && qrelsPath == trec.Stdin {
		return usagef("only one of RUN and QRELS can be standard input")
	}
	qrels, err := a.readQrels(qrelsPath, opt.Convention)
	if err != nil {
		return retrievalError(err)
	}
	in, err := trec.Open(runPath, a.in)
	if err != nil {
		return retrievalError(err)
	}
	defer closed(in, &err)
	result, err := trec.Evaluate(ctx, in, qrels, opt)
	if ctx.Err() != nil {
		return &exitError{code: exitInterrupted, err: errors.New("interrupted")}
	}
	if err != nil {
		return retrievalError(err)
	}
	for _, w := range result.Warnings {
		a.log.Warn(w)
	}
	return result.Write(a.out, r.format, trec.About{Run: runPath, Qrels: qrelsPath, Options: opt}, r.perQuery)
}

func (a *app) readQrels(path string, c ranking.Convention) (q *trec.Qrels, err error) {
	in, err := trec.Open(path, a.in)
	if err != nil {
		return nil, err
	}
	defer closed(in, &err)
	return trec.ReadQrels(in, c)
}

// closed closes what was only read, and tells if that fails where nothing else did.
func closed(c io.Closer, err *error) {
	if cerr := c.Close(); *err == nil {
		*err = cerr
	}
}

// retrievalError gives what is wrong with a file its exit code and its hint.
func retrievalError(err error) error {
	var e *trec.Error
	if errors.As(err, &e) {
		return &exitError{code: exitUsage, err: err, hint: e.Hint}
	}
	return err
}
