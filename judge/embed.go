package judge

import (
	"context"
	"errors"
	"fmt"

	"github.com/ragjudge/ragjudge/llm"
)

// Embedder asks a model for vectors of texts. It is safe for concurrent use. Its
// fields are set before the first call.
type Embedder struct {
	// Client answers the requests; it is the whole chain.
	Client llm.Client
	// Endpoint and Model are part of every request; see llm.Request.
	Endpoint, Model string
	// Name attributes the calls, as the name of a Judge does; it has no influence
	// on them.
	Name string
}

// StepEmbed is the step under which calls for embeddings are counted.
const StepEmbed = "embed"

// Embed gives each text a vector, all of one length, in order, by one call; no
// text gives none, without a call. The same texts in the same order are the same
// request. Metric is who asks; it has no influence on the call. The error is an
// *UnusableError if what came are no vectors of the texts, and the client's own
// error otherwise.
func (e *Embedder) Embed(ctx context.Context, metric string, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	resp, err := e.Client.Complete(ctx, &llm.Request{
		Endpoint: e.Endpoint, Model: e.Model, Embed: texts,
		Tag: llm.Tag{Metric: metric, Step: StepEmbed, Judge: e.Name},
		Check: func(r *llm.Response) error {
			_, err := llm.DecodeVectors(r.Content, len(texts))
			return err
		},
	})
	switch {
	case err != nil:
		return nil, err
	case resp == nil:
		return nil, errors.New("ask for embeddings: the client gave neither a reply nor an error")
	}
	vectors, err := llm.DecodeVectors(resp.Content, len(texts))
	if err != nil {
		return nil, &UnusableError{Code: CodeUndecodable, Message: fmt.Sprint(err), Reply: cutText(resp.Content, maxKept)}
	}
	return vectors, nil
}
