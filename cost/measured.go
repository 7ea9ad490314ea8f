package cost

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/ragjudge/ragjudge/llm"
)

// KindOf names what a request has in common with all others that ask the same of
// the same judge: endpoint, model, the unchanging instructions, the schema and
// the further members. What is measured of some calls of a kind holds for the
// others. A request for embeddings is of one kind for each model.
func KindOf(req *llm.Request) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q", req.Endpoint, req.Model, req.Extra)
	switch {
	case len(req.Embed) > 0:
		fmt.Fprint(h, " embed")
	case len(req.Messages) > 0 && req.Messages[0].Role == llm.System:
		fmt.Fprintf(h, " %q", req.Messages[0].Content)
	default:
		fmt.Fprintf(h, " %q %q", req.Tag.Metric, req.Tag.Step)
	}
	if req.Schema != nil {
		fmt.Fprintf(h, " %q %q", req.Schema.Name, req.Schema.JSON)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Amounts is what the calls of one kind take for one sample, or for several.
type Amounts struct {
	Calls  float64 `json:"calls"`
	Input  float64 `json:"input"`
	Output float64 `json:"output"` // with hidden reasoning
	// Items is the numbered items asked about.
	Items float64 `json:"items"`
	// Cached is the part of Input that came from the provider's prompt cache,
	// Reasoning the part of Output that is hidden. Of plans both are 0.
	Cached    float64 `json:"cached,omitempty"`
	Reasoning float64 `json:"reasoning,omitempty"`
}

func (a *Amounts) add(b Amounts, times float64) {
	a.Calls += b.Calls * times
	a.Input += b.Input * times
	a.Output += b.Output * times
	a.Items += b.Items * times
	a.Cached += b.Cached * times
	a.Reasoning += b.Reasoning * times
}

// moments are the sums by which the scatter about a ratio is known: of the
// squares of what was planned and of what it took, and of their products.
type moments struct {
	PlannedPlanned float64 `json:"pp"`
	PlannedActual  float64 `json:"pa"`
	ActualActual   float64 `json:"aa"`
}

func (m *moments) add(planned, actual float64) {
	m.PlannedPlanned += planned * planned
	m.PlannedActual += planned * actual
	m.ActualActual += actual * actual
}

// Measured is what samples that were really judged tell of one kind of call: what
// a dry run plans for them, and what they took, whether paid now or by the run
// that filled the cache. The ratio of the two is carried over to other samples (a
// ratio estimate; Cochran, Sampling Techniques, chapter 6), and so takes in the
// number of claims that the judge finds, the length of its replies, hidden
// reasoning, calls that don't take place, and those that are made again. The zero
// value has no sample. It is not safe for concurrent use.
type Measured struct {
	Samples float64 `json:"samples"`
	Planned Amounts `json:"planned"`
	Actual  Amounts `json:"actual"`
	// Counted is the input tokens of the actual calls as they are counted here.
	Counted float64 `json:"counted"`

	Calls  moments `json:"m_calls"`
	Input  moments `json:"m_input"`
	Output moments `json:"m_output"`
}

// Add takes in one sample.
func (m *Measured) Add(planned, actual Amounts, counted float64) {
	m.Samples++
	m.Planned.add(planned, 1)
	m.Actual.add(actual, 1)
	m.Counted += counted
	m.Calls.add(planned.Calls, actual.Calls)
	m.Input.add(planned.Input, actual.Input)
	m.Output.add(planned.Output, actual.Output)
}

// keptSamples is how many samples are remembered at full weight: older ones fade.
const keptSamples = 2000

// Merge takes in what another one has measured. The older samples lose weight
// where there are many, so that a judge or data that change are followed.
func (m *Measured) Merge(n *Measured) {
	if m.Samples+n.Samples > keptSamples && m.Samples > 0 {
		m.fade(max(keptSamples-n.Samples, keptSamples/2) / m.Samples)
	}
	m.Samples += n.Samples
	m.Planned.add(n.Planned, 1)
	m.Actual.add(n.Actual, 1)
	m.Counted += n.Counted
	for _, p := range []struct{ to, from *moments }{{&m.Calls, &n.Calls}, {&m.Input, &n.Input}, {&m.Output, &n.Output}} {
		p.to.PlannedPlanned += p.from.PlannedPlanned
		p.to.PlannedActual += p.from.PlannedActual
		p.to.ActualActual += p.from.ActualActual
	}
}

func (m *Measured) fade(by float64) {
	if by >= 1 {
		return
	}
	var faded Measured
	faded.Samples = m.Samples * by
	faded.Planned.add(m.Planned, by)
	faded.Actual.add(m.Actual, by)
	faded.Counted = m.Counted * by
	for _, p := range []struct{ to, from *moments }{{&faded.Calls, &m.Calls}, {&faded.Input, &m.Input}, {&faded.Output, &m.Output}} {
		*p.to = moments{p.from.PlannedPlanned * by, p.from.PlannedActual * by, p.from.ActualActual * by}
	}
	*m = faded
}

// leastSamples is how many measured samples a ratio needs.
const leastSamples = 3

// Usable reports whether a ratio can be made: it takes three samples, for which
// at least one call was planned.
func (m *Measured) Usable() bool {
	return m != nil && m.Samples >= leastSamples && m.Planned.Calls > 0 && m.Planned.Input > 0
}

// ratio returns what a planned amount is to be multiplied by. The range is wide
// enough for the total of so many further samples 99 times in 100 where amounts
// scatter evenly, and 95 times where a few take most; drift is for what can't be
// told from those measured, as a share.
func (m *Measured) ratio(sums moments, planned, actual, further, drift float64) factor {
	n := m.Samples
	if planned <= 0 {
		return factor{0, 0, 0}
	}
	r := actual / planned
	if actual <= 0 { // it never came in n samples: at most in 3 of n, 19 times in 20
		return factor{0, 0, 3 / n}
	}
	scatter := max(sums.ActualActual-2*r*sums.PlannedActual+r*r*sums.PlannedPlanned, 0) / max(n-1, 1)
	spread := math.Sqrt(scatter*(1/n+1/max(further, 1))) / (actual / n)
	half := math.Hypot(studentT99(n-1)*spread, drift)
	return factor{max(r*(1-half), 0), r, r * (1 + half)}
}

// studentT99 is close to the two-sided 99 % point of Student's t: within 2 % from
// 4 degrees of freedom on, and below it for fewer.
func studentT99(df float64) float64 { return 2.576 * (1 + 3.1/max(df, 1)) }

// factors are the ratios for calls, input and output. For calls whose items are
// known the number of items is no longer open: what a plan misses is only the
// vocabulary and the length of a reply for each item.
func (m *Measured) factors(known bool, further, drift float64) (calls, input, output factor) {
	calls = m.ratio(m.Calls, m.Planned.Calls, m.Actual.Calls, further, drift)
	input = m.ratio(m.Input, m.Planned.Input, m.Actual.Input, further, drift)
	output = m.ratio(m.Output, m.Planned.Output, m.Actual.Output, further, drift)
	if !known || m.Planned.Items <= 0 || m.Actual.Items <= 0 || m.Counted <= 0 {
		return calls, input, output
	}
	items := m.Actual.Items / m.Planned.Items
	attempts := max(calls.expected, 1)
	calls = factor{1, attempts, max(calls.high, attempts)}
	input = input.scaled(m.Actual.Input / m.Counted * attempts / input.expected)
	output = output.scaled(1 / items)
	return calls, input, output
}

func (f factor) scaled(by float64) factor {
	if math.IsNaN(by) || math.IsInf(by, 0) {
		return f
	}
	return factor{f.low * by, f.expected * by, f.high * by}
}

// share returns part over whole, from 0 to 1; 0 for no whole.
func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(max(part/whole, 0), 1)
}

// Vocabulary is how many input tokens a server told for texts that were counted
// here: how its vocabulary, and what it puts about messages and schemas, differs
// from what is reckoned with.
type Vocabulary struct {
	Calls   float64 `json:"calls"`
	Counted float64 `json:"counted"`
	Told    float64 `json:"told"`
}

// Add takes in one call.
func (v *Vocabulary) Add(counted, told int) {
	v.Calls++
	v.Counted += float64(counted)
	v.Told += float64(told)
}

// Merge takes in another one, before which the older one fades as in
// Measured.Merge.
func (v *Vocabulary) Merge(w Vocabulary) {
	if by := keptSamples / (v.Calls + w.Calls); by < 1 {
		v.Calls, v.Counted, v.Told = v.Calls*by, v.Counted*by, v.Told*by
	}
	v.Calls, v.Counted, v.Told = v.Calls+w.Calls, v.Counted+w.Counted, v.Told+w.Told
}

// leastCalls is how many calls Ratio needs.
const leastCalls = 10

// Ratio returns told over counted tokens; false for less than ten calls, or if it
// is no ratio that a vocabulary can have (above 20, below a twentieth).
func (v Vocabulary) Ratio() (float64, bool) {
	if v.Calls < leastCalls || v.Counted <= 0 {
		return 0, false
	}
	r := v.Told / v.Counted
	return r, r > 0.05 && r < 20
}
