package eval

// FlagJudgesDisagree marks a score on which the seats of a panel are further
// apart than the run allows.
const FlagJudgesDisagree = "judges_disagree"

// FlagSeatsMissing marks a score that a majority decided though some seats gave
// no usable verdict.
const FlagSeatsMissing = "seats_missing"

// Panel is what several seats said about one sample. A seat is one judge in one
// trial. A score that one judge gave at once has none.
type Panel struct {
	// Vote is how the seats became one score: "majority", "mean" or "median".
	Vote string `json:"vote"`
	// Positive are the labels that count for the score, for verdicts; two
	// verdicts agree if both or neither are among them.
	Positive []string `json:"positive,omitempty"`
	// Seats holds every seat that was asked: judge by judge in configured
	// order, each by trial.
	Seats []Seat `json:"seats"`
	// Spread is the highest less the lowest value of the seats; nil with fewer
	// than two values.
	Spread *float64 `json:"spread"`
	// Agreement is the share of items on which all seats with verdicts agree;
	// for ratings the share of pairs of seats with equal ratings. Nil with fewer
	// than two such seats.
	Agreement *float64 `json:"agreement"`
}

// Seat is what one judge said in one trial.
type Seat struct {
	// Judge is the judge's name in the configuration.
	Judge string `json:"judge"`
	// Trial numbers the repeats of a call, from 0.
	Trial int `json:"trial"`
	// Status and Value are what the sample would have got from this seat alone.
	Status Status   `json:"status"`
	Value  *float64 `json:"value"`
	// Reason is why there is no value, or the judge's own reason for a rating.
	Reason string `json:"reason,omitempty"`
	// Labels and Reasons are the verdict on each item, and the judge's own reason
	// for it ("" for none), in the order of the items.
	Labels  []string `json:"labels,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	// Rating is the judge's rating, for a metric that asks for one.
	Rating *int `json:"rating,omitempty"`
	// Reply is the reply that could not be used, cut to a readable length.
	Reply string `json:"reply,omitempty"`
}
