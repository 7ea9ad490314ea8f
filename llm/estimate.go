package llm

const (
	// bytesPerToken turns a text's length into tokens where nobody counted
	// them: about right for English, and corrected by what the server says.
	bytesPerToken = 4
	// outputAllowance is the expected length of a reply before the first was
	// seen, in tokens.
	outputAllowance = 256
	// maxTags bounds the memory for averages.
	maxTags = 256
)

// estimator foretells how many tokens a call will take, and learns from what
// earlier ones took. Its errors cancel out over many calls, which is what a
// limiter needs; it is no upper bound.
//
// It is not safe for concurrent use.
type estimator struct {
	counted, guessed mean // actual input against PromptTokens, or length / 4
	output           map[Tag]*mean
}

// mean is an exponentially weighted mean of v / w, weighted by w, that starts
// as a plain one. The mean of the ratios themselves would be off in sum.
type mean struct {
	v, w float64
	n    int
}

func (m *mean) add(v, w float64) {
	m.n++
	share := max(1/float64(m.n), 0.02)
	m.v += (v - m.v) * share
	m.w += (w - m.w) * share
}

func (m *mean) or(start float64) float64 {
	if m == nil || m.w <= 0 {
		return start
	}
	return m.v / m.w
}

// input returns the input tokens of a request as told or guessed, and the mean
// by which that is corrected.
func (e *estimator) input(req *Request) (float64, *mean) {
	if req.PromptTokens > 0 {
		return float64(req.PromptTokens), &e.counted
	}
	return float64(textBytes(req)) / bytesPerToken, &e.guessed
}

// tokens returns the expected input and output tokens together.
func (e *estimator) tokens(req *Request) float64 {
	in, ratio := e.input(req)
	allowance := float64(outputAllowance)
	if len(req.Embed) > 0 {
		allowance = 0 // a vector is no text
	}
	if req.MaxTokens > 0 {
		allowance = min(allowance, float64(req.MaxTokens))
	}
	return in*ratio.or(1) + e.output[req.Tag].or(allowance)
}

// learn takes in what a call really took.
func (e *estimator) learn(req *Request, u Usage) {
	if in, ratio := e.input(req); in > 0 && u.PromptTokens > 0 {
		ratio.add(float64(u.PromptTokens), in)
	}
	out := e.output[req.Tag]
	if out == nil {
		if len(e.output) >= maxTags {
			return
		}
		if e.output == nil {
			e.output = map[Tag]*mean{}
		}
		out = new(mean)
		e.output[req.Tag] = out
	}
	out.add(float64(u.CompletionTokens), 1)
}

// textBytes returns the length of everything in a request that is input.
func textBytes(req *Request) int {
	n := 0
	for i := range req.Messages {
		n += len(req.Messages[i].Content)
	}
	for _, text := range req.Embed {
		n += len(text)
	}
	if req.Schema != nil {
		n += len(req.Schema.JSON)
	}
	return n
}

// known reports whether the server told what a reply took.
func (u Usage) known() bool { return u.Unknown == 0 && u.total() > 0 }

func (u Usage) total() int { return u.PromptTokens + u.CompletionTokens }
