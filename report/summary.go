package report

import (
	"time"

	"github.com/ragjudge/ragjudge/eval"
)

// Schema is the version of the form of summary.json.
const Schema = 1

// FileName is the name of the summary in a run directory.
const FileName = "summary.json"

// OfflineNote marks every output whose judge was the offline lexical one.
const OfflineNote = "made with the offline lexical judge, which compares words and understands nothing: good for trying out a pipeline, not for judging a system"

// Summary is what a run says about all its samples: the content of
// summary.json. [Summarizer.Summary] fills RowsDone and everything that is made
// of results (Intervals, Metrics, Categories, Worst, Lacking); the caller fills
// the rest.
type Summary struct {
	// Schema is the version of this form; [JSON] writes [Schema].
	Schema int `json:"schema"`
	// Complete reports that every row of the dataset has its result. No gate
	// passes on a run that is not complete.
	Complete bool `json:"complete"`
	// Rows is the number of rows in the dataset; nil where it isn't known
	// because the run stopped before the dataset's end.
	Rows *int `json:"rows"`
	// RowsDone is the number of rows with a result, whatever its statuses.
	RowsDone int `json:"rows_done"`
	// Dataset names what was scored.
	Dataset Dataset `json:"dataset"`
	// Judge says who judged; nil if no metric asks a judge.
	Judge *Judge `json:"judge"`
	// Panel says who judged where there were several judges or trials; nil
	// otherwise. Judge then stands for all of them.
	Panel *Panel `json:"panel,omitempty"`
	// Metrics holds one entry a metric, in the configured order. In JSON it is
	// an object keyed by metric name.
	Metrics Metrics `json:"metrics"`
	// Intervals says how the intervals were made.
	Intervals Intervals `json:"intervals"`
	// Categories holds the same figures per category, ordered by name; the
	// rows without a category and the rows beyond [MaxCategories] come last.
	// Empty if no row has a category.
	Categories []Category `json:"categories"`
	// Worst lists the samples with the lowest values.
	Worst Worst `json:"worst"`
	// Lacking lists samples with a failed or unscored score.
	Lacking Lacking `json:"lacking"`
	// Gates holds the results of [Evaluate].
	Gates []GateResult `json:"gates"`
	// Usage counts the calls of all executions that made this run.
	Usage
	// Costs says where the money went; nil if not known.
	Costs *Costs `json:"costs,omitempty"`
	// LastExecution tells of the latest execution alone; nil if not known.
	LastExecution *Execution `json:"last_execution"`
}

// Dataset names what was scored.
type Dataset struct {
	// Name is its path or name, as configured.
	Name string `json:"name"`
	// Hash identifies its content, such as "sha256:...".
	Hash string `json:"hash,omitempty"`
}

// ProviderPanel is the provider of a Judge that stands for a panel.
const ProviderPanel = "panel"

// Panel says which judges gave verdicts, and how one score was made of them.
type Panel struct {
	// Vote is "majority", "mean" or "median".
	Vote string `json:"vote"`
	// Trials is how often each judge was asked for the same.
	Trials int `json:"trials"`
	// MaxDisagreement is the bound of the flag judges_disagree.
	MaxDisagreement float64 `json:"max_disagreement"`
	// Judges holds each judge, with its own usage.
	Judges []Judge `json:"judges"`
}

// The flags of a Judge.
const (
	// FlagMixedModels: the model that answered changed within the run.
	FlagMixedModels = "mixed_served_models"
	// FlagMixedFingerprints: the server's system_fingerprint did, under one name.
	FlagMixedFingerprints = "mixed_fingerprints"
	// FlagUnverified: the endpoint's certificate was not checked (judge.insecure),
	// so that anybody in between may have written the replies.
	FlagUnverified = "unverified_endpoint"
)

// Judge says which model judged.
type Judge struct {
	// Name is the judge's name in a panel.
	Name     string `json:"name,omitempty"`
	Provider string `json:"provider"`
	// Model is the model as requested.
	Model string `json:"model"`
	// Served lists the models that answered, as the server named them.
	Served []string `json:"served,omitempty"`
	// Fingerprints lists the system_fingerprints of the servers that answered.
	Fingerprints []string `json:"fingerprints,omitempty"`
	// Flags are stable codes for what a reader of the scores ought to know of the
	// judge: [FlagMixedModels], [FlagMixedFingerprints], [FlagUnverified].
	Flags []string `json:"flags,omitempty"`
	// Usage is what this judge of a panel took, in all executions that ended in
	// good order.
	Usage *Usage `json:"usage,omitempty"`
	// Offline marks the deterministic lexical judge, which is no model.
	Offline bool `json:"offline"`
	// Note is shown above the figures. An offline judge without one is given
	// [OfflineNote] in every rendering.
	Note string `json:"note,omitempty"`
}

// Usage counts calls, what they took and what they cost.
type Usage struct {
	// Calls is the number of paid calls to the judge.
	Calls int64 `json:"calls"`
	// CacheHits is the number of requests answered without a call.
	CacheHits int64  `json:"cache_hits"`
	Tokens    Tokens `json:"tokens"`
	// CostUSD is the cost in US dollars; nil if it is not known, which is never
	// the same as 0.
	CostUSD *float64 `json:"cost_usd"`
	// SavedUSD is what the hits would have cost; nil where there are none, or it is
	// not known. It was not spent, and is no part of CostUSD.
	SavedUSD *float64 `json:"saved_usd,omitempty"`
	// CostReason says why the cost is not known.
	CostReason string `json:"cost_reason,omitempty"`
}

// Tokens counts tokens as the server told them. Prompt includes Cached, and
// Completion includes Reasoning.
type Tokens struct {
	Prompt     int64 `json:"prompt"`
	Completion int64 `json:"completion"`
	Cached     int64 `json:"cached"`
	Reasoning  int64 `json:"reasoning"`
	// CacheWrite is the part of Prompt that was written to the provider's prompt
	// cache, where it tells.
	CacheWrite int64 `json:"cache_write,omitempty"`
	// Unknown counts the paid calls whose tokens the server did not tell; they
	// are missing from the other counts.
	Unknown int64 `json:"unknown"`
}

// Execution is one start of the program on a run: a run that was interrupted
// and resumed has several.
type Execution struct {
	Usage
	// Expected is what it was expected to take; nil if nobody could say.
	Expected *Expected `json:"expected,omitempty"`
	// RowsScored is the number of rows that this execution scored.
	RowsScored int `json:"rows_scored"`
	// RowsReused is the number of rows whose result an earlier execution left.
	RowsReused int       `json:"rows_reused"`
	Started    time.Time `json:"started"`
	Finished   time.Time `json:"finished"`
	// Exit says how it ended: "done", "interrupted", "stopped" or another
	// word of the caller's.
	Exit string `json:"exit"`
	// ExitReason explains an Exit other than "done".
	ExitReason string `json:"exit_reason,omitempty"`
}

// Intervals says how the 95 % intervals were made; see the package comment.
type Intervals struct {
	Level                float64 `json:"level"`
	Resamples            int     `json:"resamples"`
	Seed                 uint64  `json:"seed"`
	BootstrapMax         int     `json:"bootstrap_max"`
	CategoryBootstrapMax int     `json:"category_bootstrap_max"`
}

// Interval is a range from Lo to Hi; in JSON [lo, hi].
type Interval struct{ Lo, Hi float64 }

// Metrics is a list of metrics that reads as an object in JSON, keyed by metric
// name and in the order of the list.
type Metrics []Metric

// Get returns the metric of that name, or nil.
func (m Metrics) Get(name string) *Metric {
	for i := range m {
		if m[i].Metric == name {
			return &m[i]
		}
	}
	return nil
}

// Metric sums up one metric over all samples or over those of a category.
type Metric struct {
	// Metric is the canonical name; in JSON it is the key.
	Metric string `json:"-"`
	// Version is the version of the metric that made every score.
	Version int `json:"version"`
	// Judged reports whether the metric asks the judge.
	Judged bool `json:"judged"`
	// LowerIsBetter reports that a low value is a good one.
	LowerIsBetter bool `json:"lower_is_better,omitempty"`
	// Mean of the scored values; nil if there is none.
	Mean *float64 `json:"mean"`
	// CI95 is the 95 % interval of the mean; nil if there is none.
	CI95 *Interval `json:"ci95"`
	// Method names how CI95 was made: [MethodBootstrap] and so on.
	Method string `json:"ci95_method"`
	// SD is the sample standard deviation; nil for fewer than two values.
	SD *float64 `json:"sd"`
	// Min and Max bound the scored values; nil if there is none.
	Min *float64 `json:"min"`
	Max *float64 `json:"max"`
	// Rows is the number of samples, the sum of the five counts below.
	Rows      int `json:"rows"`
	Scored    int `json:"scored"`
	Undefined int `json:"undefined"`
	Skipped   int `json:"skipped"`
	Unscored  int `json:"unscored"`
	Failed    int `json:"failed"`
	// Coverage is Scored / Rows; nil if there are no rows.
	Coverage *float64 `json:"coverage"`
	// WorstCase is the mean if every failed and unscored sample had got 0, or 1
	// where lower is better: what went wrong can't have made the mean worse than
	// this. Nil if there is nothing to divide by, or if a value lies beyond that
	// end, so that it isn't the worst.
	WorstCase *float64 `json:"worst_case_mean"`
	// Rating is the mean raw rating, for a metric whose judge gives one.
	Rating *Rating `json:"rating,omitempty"`
	// Reasons holds the most frequent reasons per status.
	Reasons Reasons `json:"reasons,omitzero"`
	// Flags counts the flags of the scores, most frequent first.
	Flags []Count `json:"flags,omitempty"`
	// Agreement says how far several judges or trials agree; nil for one judge
	// asked once, and within a category.
	Agreement *Agreement `json:"agreement,omitempty"`
	// Note is the metric's own warning, shown wherever its figures are.
	Note string `json:"note,omitempty"`
}

// Rating is the mean of the judge's raw ratings, on the judge's scale.
type Rating struct {
	Mean float64 `json:"mean"`
	// N is the number of scored samples whose detail holds a rating.
	N int `json:"n"`
}

// Reasons holds, per status, the [TopReasons] most frequent reasons, by the
// code before the colon; ties are ordered by code. A missing field is counted
// by its name: "missing_field: reference".
type Reasons struct {
	// Scored counts values that were decided without the formula.
	Scored    []Count `json:"scored,omitempty"`
	Undefined []Count `json:"undefined,omitempty"`
	Skipped   []Count `json:"skipped,omitempty"`
	Unscored  []Count `json:"unscored,omitempty"`
	Failed    []Count `json:"failed,omitempty"`
}

// IsZero reports whether there is no reason at all.
func (r Reasons) IsZero() bool {
	return len(r.Scored)+len(r.Undefined)+len(r.Skipped)+len(r.Unscored)+len(r.Failed) == 0
}

// Of returns the reasons of a status.
func (r Reasons) Of(st eval.Status) []Count {
	switch st {
	case eval.Scored:
		return r.Scored
	case eval.Undefined:
		return r.Undefined
	case eval.Skipped:
		return r.Skipped
	case eval.Unscored:
		return r.Unscored
	case eval.Failed:
		return r.Failed
	}
	return nil
}

// Count is a code and how often it came.
type Count struct {
	Code string `json:"code"`
	N    int    `json:"n"`
}

// Category sums up the samples of one category.
type Category struct {
	// Category is its name; empty for the samples without one.
	Category string `json:"category"`
	// Other marks the entry that holds every category beyond the first
	// [MaxCategories] of the dataset, and those with overlong names.
	Other   bool    `json:"other,omitempty"`
	Rows    int     `json:"rows"`
	Metrics Metrics `json:"metrics"`
}

// Worst lists the samples with the lowest values.
type Worst struct {
	// By lists the metrics whose scored values are averaged, per sample, to
	// rank it (1 - value, where lower is better): the judged metrics, or all metrics if none is judged. A sample
	// that has a score in none of them is not ranked.
	By []string `json:"by"`
	// Ranked is the number of samples that could be ranked.
	Ranked int `json:"ranked"`
	// Samples is ordered from the lowest mean up; ties by row.
	Samples []SampleLine `json:"samples"`
}

// Lacking lists the first samples, in input order, with a score that is failed
// or unscored.
type Lacking struct {
	// Total is the number of such samples; Samples may hold fewer.
	Total   int          `json:"total"`
	Samples []SampleLine `json:"samples"`
}

// SampleLine is one sample in a listing.
type SampleLine struct {
	Row      int    `json:"row"`
	ID       string `json:"id"`
	Category string `json:"category"`
	// Mean is the mean of the ranking metrics; nil if none is scored.
	Mean *float64 `json:"mean"`
	// Scores holds every metric, in the configured order; in the list of the
	// lacking only the failed and unscored ones.
	Scores []ScoreLine `json:"scores"`
}

// ScoreLine is one score in a listing.
type ScoreLine struct {
	Metric string      `json:"metric"`
	Status eval.Status `json:"status"`
	Value  *float64    `json:"value"`
	// Reason is the score's reason or, if it has none, the judge's where the
	// detail holds one by the name of "reason"; cut to [MaxReason] bytes.
	Reason string `json:"reason,omitempty"`
}
