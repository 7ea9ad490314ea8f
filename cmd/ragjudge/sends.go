package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

// doctorText is what doctor has split into claims.
const doctorText = "The library opens at nine. It closes at seven in the evening."

var doctorAsk = judge.Ask{Metric: "doctor", Prompt: "claims/split", Text: doctorText}

// sends tells how a request goes over the wire after all that was learnt: the
// address, the names of headers, and the body with its texts shortened.
func (c *chain) sends(ctx context.Context, s *session) []string {
	backend := c.conns[0].backend
	if backend == nil {
		return nil
	}
	p, err := c.preview(ctx, s)
	if err != nil {
		return []string{fmt.Sprintf("what is sent can't be shown: %v", err)}
	}
	lines := []string{"sends " + p.Method + " " + p.URL, "headers: " + strings.Join(p.Headers, ", ")}
	body, err := shortened(p.Body)
	if err != nil {
		return append(lines, fmt.Sprintf("the body can't be shown: %v", err))
	}
	return append(lines, "body: "+body)
}

var errLookOnly = errors.New("the request is only looked at")

// preview is the request of doctor as the judge makes it and the backend writes
// it.
func (c *chain) preview(ctx context.Context, s *session) (p llm.Preview, err error) {
	look := llm.ClientFunc(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		p, err = c.conns[0].backend.Preview(req)
		return nil, errLookOnly
	})
	panel, perr := s.panel(look)
	if perr != nil {
		return p, perr
	}
	if _, aerr := panel.Seats[0].Judge.Claims(ctx, doctorAsk); !errors.Is(aerr, errLookOnly) {
		return p, aerr
	}
	return p, err
}

// shortened is a body with long texts cut and the schema left to its name.
func shortened(body json.RawMessage) (string, error) {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return "", err
	}
	b, err := eval.MarshalJSON(shorten(v))
	return string(b), err
}

func shorten(v any) any {
	const most = 60
	switch v := v.(type) {
	case string:
		if n := utf8.RuneCountInString(v); n > most {
			return fmt.Sprintf("%s... (%d characters)", string([]rune(v)[:most]), n)
		}
		return v
	case []any:
		for i := range v {
			v[i] = shorten(v[i])
		}
		return v
	case map[string]any:
		for k := range v {
			if k == "schema" {
				v[k] = "..."
				continue
			}
			v[k] = shorten(v[k])
		}
		return v
	}
	return v
}
