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
	// CostUSD is the money at list price; null if no price is known.
	CostUSD *FloatRange `json:"cost_usd"`
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
}

// Estimate returns the estimate over the calls that were added so far.
func (e *Estimator) Estimate() *Estimate {
	e.mu.Lock()
	defer e.mu.Unlock()
	est := &Estimate{Schema: EstimateSchema, Model: e.opt.Model, Metrics: []MetricLine{}, Assumptions: e.assumptions()}
	if e.opt.Price != nil {
		est.Price = e.opt.Price.String()
		if !e.opt.Price.own() {
			est.PriceTable = e.opt.PriceDate
		}
	}
	keys := slices.SortedFunc(maps.Keys(e.steps), func(a, b stepKey) int {
		return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.step, b.step))
	})
	var all, metric tally
	for i, k := range keys {
		step := newTally(e, k.metric, e.steps[k])
		if i == 0 || keys[i-1].metric != k.metric {
			metric = tally{}
			est.Metrics = append(est.Metrics, MetricLine{Metric: k.metric})
		}
		metric.add(step)
		all.add(step)
		m := &est.Metrics[len(est.Metrics)-1]
		m.Steps = append(m.Steps, StepLine{k.step, step.line(e)})
		m.Line = metric.line(e)
	}
	est.Total = all.line(e)
	return est
}

// tally is the sums that make a Line.
type tally struct {
	levels                        [3]sum
	planned, hits, repeats, saved int64
}

func newTally(e *Estimator, metric string, s *stepSum) tally {
	return tally{e.total(metric, s), s.hits + s.repeats + s.planned(), s.hits, s.repeats, s.saved}
}

func (t *tally) add(u tally) {
	for level := range t.levels {
		t.levels[level].add(u.levels[level])
	}
	t.planned += u.planned
	t.hits += u.hits
	t.repeats += u.repeats
	t.saved += u.saved
}

func (t *tally) line(e *Estimator) Line {
	pick := func(of func(sum) int64) Range {
		return Range{of(t.levels[low]), of(t.levels[expected]), of(t.levels[high])}
	}
	l := Line{
		Calls:           pick(func(s sum) int64 { return s.calls }),
		InputTokens:     pick(func(s sum) int64 { return s.input }),
		OutputTokens:    pick(func(s sum) int64 { return s.output }),
		DurationSeconds: FloatRange{e.seconds(t.levels[low], low), e.seconds(t.levels[expected], expected), e.seconds(t.levels[high], high)},
		Planned:         t.planned, CacheHits: t.hits, Repeats: t.repeats,
	}
	if e.opt.Price != nil {
		l.CostUSD = &FloatRange{dollars(t.levels[low].money), dollars(t.levels[expected].money), dollars(t.levels[high].money)}
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
	fmt.Fprintf(&b, "Estimate for judge %s (%s)\n\n", cmp.Or(e.Model, "?"), e.priceText())
	var table bytes.Buffer
	tw := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "metric\t\tcalls\tinput tokens\toutput tokens\tcost\tduration\tcache hits\t")
	for _, m := range e.Metrics {
		writeLine(tw, m.Metric, &m.Line)
	}
	if len(e.Metrics) != 1 {
		writeLine(tw, "all", &e.Total)
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
