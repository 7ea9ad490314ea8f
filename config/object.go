package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// object is a table of free form that is passed on as a JSON object. refuse, if
// there, says why a name can't be one of its members.
type object struct {
	p      *map[string]any
	refuse func(name string) error
}

func (o object) fromTOML(v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return wrongType("a table", v)
	}
	return o.set(m)
}

// fromText takes a JSON object, as an environment variable holds it.
func (o object) fromText(s string) error {
	dec := json.NewDecoder(bytes.NewReader([]byte(s)))
	dec.UseNumber()
	var m map[string]any
	if dec.Decode(&m) != nil || m == nil {
		return errors.New(`must be a JSON object, such as {"top_k": 20}`)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("must be one JSON object and nothing behind it")
	}
	return o.set(m)
}

func (o object) set(m map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if o.refuse != nil {
			if err := o.refuse(name); err != nil {
				return err
			}
		}
	}
	if err := plainJSON("", m); err != nil {
		return err
	}
	*o.p = m
	return nil
}

func (o object) resolved() any {
	if *o.p == nil {
		return map[string]any{}
	}
	return concealed(*o.p)
}

// plainJSON reports what of a value is a secret, or has no place in JSON.
func plainJSON(name string, v any) error {
	switch v := v.(type) {
	case string:
		if looksSecret(v) || namesSecret(name) && v != "" {
			return errSecret
		}
		return nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s must be a finite number, not %v", name, v)
		}
		return nil
	case bool, int64, json.Number, nil:
		return nil
	case []any:
		for _, item := range v {
			if err := plainJSON(name, item); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		for _, inner := range slices.Sorted(maps.Keys(v)) {
			if err := plainJSON(strings.TrimPrefix(name+"."+inner, "."), v[inner]); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%s must be a text, a number, true or false, a list or a table, not %s", name, typeName(v))
}

// ownBodyFields are written by ragjudge itself: replies could not be told apart
// in the cache, or not be read, if something else stood there.
var ownBodyFields = []string{"model", "messages", "stream", "n", "response_format", "temperature", "max_tokens", "max_completion_tokens", "seed"}

func bodyField(name string) error {
	if slices.Contains(ownBodyFields, name) {
		return fmt.Errorf("%q is written by ragjudge and can't be set here", name)
	}
	return nil
}
