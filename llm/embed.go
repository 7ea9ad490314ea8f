package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/sashabaranov/go-openai"
)

// EncodeVectors writes vectors as the content of the reply to Request.Embed: a
// JSON array of arrays, each number as short as it can be and still be read back
// as the same float32. So a cache keeps them like any other reply.
func EncodeVectors(vectors [][]float32) string {
	b := []byte{'['}
	for i, v := range vectors {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		for k, x := range v {
			if k > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
		}
		b = append(b, ']')
	}
	return string(append(b, ']'))
}

// DecodeVectors reads what EncodeVectors wrote. It is an error if there are not n
// vectors, if they are empty or differ in length, or if a number is not finite.
func DecodeVectors(content string, n int) ([][]float32, error) {
	var vectors [][]float32
	if err := json.Unmarshal([]byte(content), &vectors); err != nil {
		return nil, fmt.Errorf("read the vectors of an embedding: %w", err)
	}
	return vectors, checkVectors(vectors, n)
}

func checkVectors(vectors [][]float32, n int) error {
	if len(vectors) != n {
		return fmt.Errorf("read the vectors of an embedding: there are %d for %d texts", len(vectors), n)
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return fmt.Errorf("read the vectors of an embedding: number %d has the length %d, the first %d", i+1, len(v), len(vectors[0]))
		}
		for _, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return fmt.Errorf("read the vectors of an embedding: number %d holds %v", i+1, x)
			}
		}
	}
	return nil
}

// embed sends one request for embeddings, through go-openai. Nothing is to be
// learnt about its form: there is only one.
func (o *OpenAI) embed(ctx context.Context, req *Request) (*Response, error) {
	x := &exchange{plain: true}
	call, cancel := withDeadline(ctx, o.cfg.Timeout)
	defer cancel()
	got, err := o.client.CreateEmbeddings(context.WithValue(call, exchangeKey{}, x),
		openai.EmbeddingRequestStrings{Input: req.Embed, Model: openai.EmbeddingModel(req.Model)})
	if x.header != nil && o.cfg.OnHeaders != nil {
		if info := o.rates(x.header); !info.empty() {
			o.cfg.OnHeaders(info)
		}
	}
	switch {
	case x.err != nil:
		return nil, o.clean(netError(call, x.err, o.cfg.Timeout))
	case x.status >= 300:
		d := diagnose(x.status, x.header, x.body, time.Now())
		d.err.Message = o.secrets.redact(d.err.Message)
		return nil, o.clean(o.explained(req, form{}, x, d))
	case err != nil && (call.Err() != nil || errors.Is(err, io.ErrUnexpectedEOF)):
		return nil, o.clean(netError(call, err, o.cfg.Timeout))
	case err != nil:
		return nil, o.clean(&Error{Kind: Transient, Code: "unreadable_reply", Status: x.status, Message: err.Error(), Err: err})
	}
	vectors, err := inOrder(got.Data, len(req.Embed))
	if err != nil {
		return nil, &Error{Kind: Transient, Code: "unreadable_reply", Status: x.status, Message: err.Error(), Err: err}
	}
	resp := &Response{Content: EncodeVectors(vectors), FinishReason: FinishStop, Model: string(got.Model)}
	if n := max(got.Usage.PromptTokens, got.Usage.TotalTokens); n > 0 {
		resp.Usage.PromptTokens = n
	} else {
		resp.Usage.Unknown = 1
	}
	return resp, nil
}

// inOrder puts the vectors of a reply in the order of the texts. Each says to
// which it belongs; servers that give none of them a number keep to the order.
func inOrder(data []openai.Embedding, n int) ([][]float32, error) {
	vectors := make([][]float32, n)
	numbered := false
	for _, d := range data {
		numbered = numbered || d.Index != 0
	}
	if len(data) != n {
		return nil, fmt.Errorf("the reply holds %d vectors for %d texts", len(data), n)
	}
	for i, d := range data {
		if numbered {
			i = d.Index
		}
		if i < 0 || i >= n || vectors[i] != nil {
			return nil, fmt.Errorf("the reply holds a vector with the index %d, for %d texts, twice or out of range", d.Index, n)
		}
		vectors[i] = d.Embedding
	}
	return vectors, checkVectors(vectors, n)
}
