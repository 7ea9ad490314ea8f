package cost

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// EstimateSchema is the version of the form of an estimate as JSON.
const EstimateSchema = 1

// Range is a number as low, expected and high; Low <= Expected <= High.
type Range struct {
	Low      int64 `json:"low"`
	Expected int64 `json:"expected"`
	High     int64 `json:"high"`
}

// FloatRange is a Range of dollars or seconds.
type FloatRange struct {
	Low      float64 `json:"low"`
	Expected float64 `json:"expected"`
	High     float64 `json:"high"`
}

// Line is an estimate for one step, one metric, or all.
type Line struct {
	// Calls is the calls that are charged for, with repeated attempts, without
	// hits and repeats.
	Calls Range `json:"calls"`
	// InputTokens and OutputTokens are theirs; output includes hidden reasoning.
	InputTokens  Range `json:"input_tokens"`
	OutputTokens Range `json:"output_tokens"`
	// CachedPrefixTokens is the part of InputTokens that is read from the
	// provider's prompt cache: none (low), as much as was measured (expected), and
	// all that the provider's rules allow (high). PrefixSavingUSD is what the high
	// number would save; CostUSD has taken off no more than what was measured, and
	// at its high end nothing.
	CachedPrefixTokens Range    `json:"cached_prefix_tokens"`
	PrefixSavingUSD    *float64 `json:"prefix_saving_usd"`
	// ReasoningTokens is the hidden part of OutputTokens.
	ReasoningTokens Range `json:"reasoning_tokens"`
	// EmbeddingTokens is the input of embeddings, which is no part of InputTokens.
	EmbeddingTokens Range `json:"embedding_tokens"`
	// CostUSD is the money at list price; null if no price is known.
	CostUSD *FloatRange `json:"cost_usd"`
	// LiveUSD and BatchUSD are the money for live calls, and through the provider's
	// Batch API; null where a price for it is not known. CostUSD is one of them.
	LiveUSD  *FloatRange `json:"live_usd"`
	BatchUSD *FloatRange `json:"batch_usd"`
	// DurationSeconds is the time under the limits, as if this line were alone.
	DurationSeconds FloatRange `json:"duration_seconds"`
	// Planned is the calls that were planned; CacheHits of them the cache
	// answers, and Repeats are identical to another one.
	Planned   int64 `json:"planned"`
	CacheHits int64 `json:"cache_hits"`
	Repeats   int64 `json:"repeats"`
	// SavedUSD is what the cache hits would cost if their replies came anew;
	// null if no price is known.
	SavedUSD *float64 `json:"saved_usd"`
}

// StepLine is the estimate for one step of a metric.
type StepLine struct {
	Step string `json:"step"`
	Line
}

// MetricLine is the estimate for one metric, with its steps by name.
type MetricLine struct {
	Metric string `json:"metric"`
	Line
	Steps []StepLine `json:"steps"`
}

// Estimate is what a run is expected to take.
type Estimate struct {
	Schema int    `json:"schema"`
	Model  string `json:"model"`
	// Price shows the price per million tokens; empty if it is not known.
	Price string `json:"price,omitempty"`
	// PriceTable is the date of the price table; empty if the price is not from
	// it.
	PriceTable string `json:"price_table,omitempty"`
	// Metrics are the metrics by name, Total all together. The duration of all
	// is no sum: the limits hold for all calls together.
	Metrics []MetricLine `json:"metrics"`
	Total   Line         `json:"total"`
	// Assumptions are what the figures stand on, as sentences.
	Assumptions []string `json:"assumptions"`
	// Judges is the total by judge, for a panel of several seats. Their calls go
	// side by side, so that the duration of all is that of the slowest.
	Judges []JudgeLine `json:"judges,omitempty"`
	// Backend is "live" or "batch".
	Backend string `json:"backend"`
	// Sample says that the figures are made of some rows; absent for all.
	Sample *Sampled `json:"sample,omitempty"`
	// Probe is what was spent to measure; absent if nothing was.
	Probe *Probe `json:"probe,omitempty"`
	// Models compares the same set on other models; absent if none was asked for.
	Models []ModelLine `json:"models,omitempty"`
}

// Probe is samples that were really judged for an estimate. Their replies are in
// the cache, and are taken off.
type Probe struct {
	Samples int `json:"samples"`
	// Calls were paid; those that the cache answered are not.
	Calls int64 `json:"calls"`
	// CostUSD is null where it is not known.
	CostUSD *float64 `json:"cost_usd"`
}

// ModelLine is the total on one model.
type ModelLine struct {
	Model string `json:"model"`
	// Price is as in Estimate.
	Price string `json:"price,omitempty"`
	Line
}

// JudgeLine is the estimate for one judge of a panel, over all its trials.
type JudgeLine struct {
	Judge string `json:"judge"`
	Model string `json:"model"`
	// Price is as in Estimate.
	Price string `json:"price,omitempty"`
	Line
}

// Estimate returns the estimate over the calls that were added so far.
func (e *Estimator) Estimate() *Estimate {
	e.mu.Lock()
	defer e.mu.Unlock()
	est := &Estimate{Schema: EstimateSchema, Metrics: []MetricLine{}, Assumptions: e.assumptions(), Backend: "live", Sample: e.opt.Sampled}
	if e.opt.Batch {
		est.Backend = "batch"
	}
	var models, prices []string
	for _, j := range e.judges {
		models = append(models, j.Model)
		if j.Price == nil {
			continue
		}
		prices = append(prices, j.Price.String())
		if !j.Price.own() {
			est.PriceTable = e.opt.PriceDate
		}
	}
	est.Model = strings.Join(models, ", ")
	if len(prices) == len(models) {
		est.Price = strings.Join(prices, "; ")
	}
	keys := slices.SortedFunc(maps.Keys(e.steps), func(a, b stepKey) int {
		return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.step, b.step), cmp.Compare(a.judge, b.judge), cmp.Compare(a.trial, b.trial))
	})
	all, byJudge := newTally(), map[string]*tally{}
	var metric, step *tally
	for i, k := range keys {
		one := e.tally(k)
		if i == 0 || keys[i-1].metric != k.metric {
			metric, step = newTally(), nil
			est.Metrics = append(est.Metrics, MetricLine{Metric: k.metric})
		}
		m := &est.Metrics[len(est.Metrics)-1]
		if step == nil || keys[i-1].step != k.step {
			step = newTally()
			m.Steps = append(m.Steps, StepLine{Step: k.step})
		}
		if byJudge[k.judge] == nil {
			byJudge[k.judge] = newTally()
		}
		for _, t := range []*tally{step, metric, all, byJudge[k.judge]} {
			t.add(one)
		}
		m.Steps[len(m.Steps)-1].Line = step.line(e)
		m.Line = metric.line(e)
	}
	est.Total = all.line(e)
	for _, j := range e.opt.Judges {
		line := JudgeLine{Judge: j.Name, Model: j.Model}
		t := byJudge[j.Name]
		if t == nil { // it is asked nothing: no metric is judged, or all is settled
			t = newTally()
			t.by[j.Name] = [3]sum{}
		}
		if line.Line = t.line(e); j.Price != nil {
			line.Price = j.Price.String()
		}
		est.Judges = append(est.Judges, line)
	}
	return est
}

// tally is the sums that make a Line.
type tally struct {
	levels                        [3]sum
	by                            map[string][3]sum // by judge
	planned, hits, repeats, saved int64
}

func newTally() *tally { return &tally{by: map[string][3]sum{}} }

// tally is that of one step of a seat.
func (e *Estimator) tally(k stepKey) *tally {
	s := e.steps[k]
	levels := e.total(k, s)
	t := &tally{levels, map[string][3]sum{k.judge: levels}, s.hits + s.repeats + s.planned(), s.hits, s.repeats, s.saved}
	e.scale(t)
	return t
}

func (t *tally) add(u *tally) {
	for level := range t.levels {
		t.levels[level].add(u.levels[level])
	}
	for judge, levels := range u.by {
		sums := t.by[judge]
		for level := range sums {
			sums[level].add(levels[level])
		}
		t.by[judge] = sums
	}
	t.planned += u.planned
	t.hits += u.hits
	t.repeats += u.repeats
	t.saved += u.saved
}

// priced reports that the price of every judge in the tally is known.
func (t *tally) priced(e *Estimator) bool {
	for judge := range t.by {
		if e.judge(judge).Price == nil {
			return false
		}
	}
	return len(t.by) > 0 || e.judges[0].Price != nil
}

// batchPriced reports that every judge in the tally has a price for batches.
func (t *tally) batchPriced(e *Estimator) bool {
	for judge := range t.by {
		if p := e.judge(judge).Price; p == nil || p.Batch == nil && !p.Free() {
			return false
		}
	}
	return len(t.by) > 0
}

// seconds is the time under the limits. Each judge has limits of its own, so
// that the slowest decides.
func (t *tally) seconds(e *Estimator, level int) float64 {
	slowest := 0.0
	for _, levels := range t.by {
		slowest = max(slowest, e.seconds(levels[level], level))
	}
	return slowest
}

func (t *tally) line(e *Estimator) Line {
	pick := func(of func(sum) int64) Range {
		return Range{of(t.levels[low]), of(t.levels[expected]), of(t.levels[high])}
	}
	l := Line{
		Calls:           pick(func(s sum) int64 { return s.calls }),
		InputTokens:     pick(func(s sum) int64 { return s.input }),
		OutputTokens:    pick(func(s sum) int64 { return s.output }),
		ReasoningTokens: pick(func(s sum) int64 { return s.reasoning }).ordered(),
		EmbeddingTokens: pick(func(s sum) int64 { return s.embedded }),
		DurationSeconds: FloatRange{t.seconds(e, low), t.seconds(e, expected), t.seconds(e, high)},
		Planned:         t.planned, CacheHits: t.hits, Repeats: t.repeats,
	}
	cached := t.levels[expected].cached
	l.CachedPrefixTokens = Range{0, cached, max(t.levels[expected].prefix, cached)}
	if t.priced(e) {
		money := func(of func(sum) int64) *FloatRange {
			return &FloatRange{dollars(of(t.levels[low])), dollars(of(t.levels[expected])), dollars(of(t.levels[high]))}
		}
		l.CostUSD = money(func(s sum) int64 { return s.money })
		other := money(func(s sum) int64 { return s.other })
		if l.LiveUSD = l.CostUSD; e.opt.Batch {
			l.LiveUSD = other
		}
		if t.batchPriced(e) {
			if l.BatchUSD = other; e.opt.Batch {
				l.BatchUSD = l.CostUSD
			}
		}
		prefix := dollars(t.levels[expected].prefixMoney)
		l.PrefixSavingUSD = &prefix
		saved := dollars(t.saved)
		l.SavedUSD = &saved
	}
	return l
}

// dollars rounds money to the millionth of a dollar, so that JSON shows no noise.
func dollars(units int64) float64 {
	return float64((units+moneyUnit/2e6)/(moneyUnit/1e6)) / 1e6
}

// JSON returns the estimate as indented JSON, ending in a line break.
func (e *Estimate) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("encode estimate: %w", err)
	}
	return b.Bytes(), nil
}

// Text writes the estimate for people: a table, and the assumptions below it.
func (e *Estimate) Text(w io.Writer) error {
	var b bytes.Buffer
	word := "judge"
	if len(e.Judges) > 1 {
		word = "judges"
	}
	fmt.Fprintf(&b, "Estimate for %s %s (%s)\n\n", word, cmp.Or(e.Model, "?"), e.priceText())
	var table bytes.Buffer
	tw := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "metric\t\tcalls\tinput tokens\toutput tokens\tcost\tduration\tcache hits\t")
	for _, m := range e.Metrics {
		writeLine(tw, m.Metric, &m.Line)
	}
	if len(e.Metrics) != 1 {
		writeLine(tw, "all", &e.Total)
	}
	for i := range e.Judges {
		writeLine(tw, "judge "+e.Judges[i].Judge, &e.Judges[i].Line)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(table.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	fmt.Fprintf(&b, "\nPlanned calls: %s; answered by the cache: %s; identical to another: %s.\n",
		grouped(e.Total.Planned), grouped(e.Total.CacheHits), grouped(e.Total.Repeats))
	if s := e.Total.SavedUSD; s != nil && e.Total.CacheHits > 0 {
		fmt.Fprintf(&b, "Replies from the cache save %s.\n", money(*s))
	}
	if err := e.details(&b); err != nil {
		return err
	}
	fmt.Fprintln(&b, "\nAssumptions:")
	for _, a := range e.Assumptions {
		fmt.Fprintf(&b, "- %s\n", a)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (e *Estimate) priceText() string {
	switch {
	case e.Price == "":
		return "price unknown"
	case e.PriceTable == "":
		return e.Price
	default:
		return e.Price + ", list prices of " + e.PriceTable
	}
}

// writeLine writes three rows of a table: low, expected and high.
func writeLine(w io.Writer, name string, l *Line) {
	costs := [3]string{"unknown", "unknown", "unknown"}
	if c := l.CostUSD; c != nil {
		costs = [3]string{money(c.Low), money(c.Expected), money(c.High)}
	}
	hits := grouped(l.CacheHits)
	for i, r := range []struct {
		level           string
		calls, in, out  int64
		seconds         float64
		first, lastCell string
	}{
		{"low", l.Calls.Low, l.InputTokens.Low, l.OutputTokens.Low, l.DurationSeconds.Low, name, hits},
		{"expected", l.Calls.Expected, l.InputTokens.Expected, l.OutputTokens.Expected, l.DurationSeconds.Expected, "", ""},
		{"high", l.Calls.High, l.InputTokens.High, l.OutputTokens.High, l.DurationSeconds.High, "", ""},
	} {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.first, r.level, grouped(r.calls), grouped(r.in), grouped(r.out), costs[i], duration(r.seconds), r.lastCell)
	}
}

// money shows dollars with two decimals from a dollar on, with four below.
func money(usd float64) string {
	if usd >= 1 {
		whole, cents, _ := strings.Cut(strconv.FormatFloat(usd, 'f', 2, 64), ".")
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil {
			return "$" + whole + "." + cents
		}
		return "$" + grouped(n) + "." + cents
	}
	if usd > 0 && usd < 0.0001 {
		return "<$0.0001"
	}
	return fmt.Sprintf("$%.4f", usd)
}

// duration shows whole seconds, or tenths below ten.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// grouped shows a number with commas between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
