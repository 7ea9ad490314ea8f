package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// neededFields are what a metric of the user's own can show to the judge.
var neededFields = []eval.Field{eval.FieldUserInput, eval.FieldRetrievedContexts, eval.FieldReference, eval.FieldResponse}

// definitionReader reads the keys of a definition and gathers what is wrong.
type definitionReader struct {
	keys map[string]any
	errs []error
}

func (r *definitionReader) bad(key string, err error) {
	r.errs = append(r.errs, &KeyError{Key: key, Err: err})
}

// given returns the value of a key that is there.
func given[T any](r *definitionReader, key, want string) (v T, ok bool) {
	raw, there := r.keys[key]
	if !there {
		return v, false
	}
	if v, ok = raw.(T); !ok {
		r.bad(key, fmt.Errorf("want %s, got %v", want, raw))
	}
	return v, ok
}

func (r *definitionReader) text(key string, to *string) {
	if s, ok := given[string](r, key, "a text"); ok {
		if *to = s; strings.TrimSpace(s) == "" {
			r.bad(key, errors.New("it is empty"))
		}
	}
}

// required reports a text that isn't there; an empty one has been reported.
func (r *definitionReader) required(key, value string) {
	if _, there := r.keys[key]; !there && value == "" {
		r.bad("", fmt.Errorf("%s is missing: say what the judge is asked", key))
	}
}

func (r *definitionReader) flag(key string, to *bool) {
	if b, ok := given[bool](r, key, "true or false"); ok {
		*to = b
	}
}

func (r *definitionReader) texts(key string, to *[]string, most int) {
	list, ok := given[[]any](r, key, "a list of texts")
	if !ok {
		return
	}
	if len(list) > most {
		r.bad(key, fmt.Errorf("there are %d; at most %d can be meant", len(list), most))
		return
	}
	for i, v := range list {
		s, isText := v.(string)
		if !isText || strings.TrimSpace(s) == "" {
			r.bad(key, fmt.Errorf("item %d is no text, or an empty one", i+1))
			continue
		}
		*to = append(*to, s)
	}
}

func (r *definitionReader) needs(to *[]eval.Field) {
	var names []string
	if _, there := r.keys["needs"]; !there {
		return
	}
	r.texts("needs", &names, 2*len(neededFields))
	var fields []eval.Field
	for _, n := range names {
		f := eval.Field(n)
		switch {
		case !slices.Contains(neededFields, f):
			r.bad("needs", fmt.Errorf("%q can't be shown to the judge; %s", n, knownKey(n, fieldNames(neededFields))))
		case slices.Contains(fields, f):
			r.bad("needs", fmt.Errorf("%s is named twice", n))
		default:
			fields = append(fields, f)
		}
	}
	if len(names) == 0 {
		r.bad("needs", errors.New("it names no field, so that the judge would see nothing"))
	}
	// One order, so that it does not matter for the hash.
	slices.SortFunc(fields, func(a, b eval.Field) int {
		return slices.Index(neededFields, a) - slices.Index(neededFields, b)
	})
	*to = fields
}

func fieldNames(fields []eval.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = string(f)
	}
	return names
}

// levels reads the scale of a rubric.
func (r *definitionReader) levels(d *Definition) {
	if _, there := r.keys["levels"]; !there {
		r.bad("", errors.New(`levels is missing: describe the scale, as in levels = { 1 = "...", 3 = "...", 5 = "..." }`))
		return
	}
	table, ok := given[map[string]any](r, "levels", `a table of numbers with their descriptions, as in { 1 = "...", 5 = "..." }`)
	if !ok {
		return
	}
	d.Levels = map[int]string{}
	for _, key := range sortedKeys(table) {
		n, err := strconv.Atoi(key)
		s, isText := table[key].(string)
		switch {
		case err != nil || strconv.Itoa(n) != key || n < -1000 || n > 1000:
			r.bad("levels."+key, errors.New("a level is a whole number, such as 1"))
		case !isText || strings.TrimSpace(s) == "":
			r.bad("levels."+key, errors.New("a level needs a description"))
		default:
			d.Levels[n] = s
		}
	}
	if len(d.Levels) < 2 {
		r.bad("levels", errors.New("a scale needs at least two levels that are described"))
		d.Levels = map[int]string{0: "no", 1: "yes"} // so that what uses it has a scale
		return
	}
	lo, hi := d.Scale()
	if hi-lo > maxScale {
		r.bad("levels", fmt.Errorf("the scale goes from %d to %d; more than %d steps can't be told apart", lo, hi, maxScale))
	}
	if d.Logprobs && (lo < 0 || hi > 9) {
		r.bad("logprobs", fmt.Errorf("the scale goes from %d to %d; probabilities can be read for levels of one digit only, 0 to 9", lo, hi))
	}
}

// items reads the questions of a checklist.
func (r *definitionReader) items(d *Definition) {
	if _, there := r.keys["items"]; !there {
		r.bad("", errors.New(`items is missing: list what is checked, as in items = ["...", { check = "...", weight = 2, critical = true }]`))
		return
	}
	list, ok := given[[]any](r, "items", `a list of texts, or of tables { check = "...", weight = 2, critical = true }`)
	if !ok {
		return
	}
	if len(list) == 0 || len(list) > maxChecks {
		r.bad("items", fmt.Errorf("there are %d; a checklist has 1 to %d items", len(list), maxChecks))
		return
	}
	seen := map[string]bool{}
	for i, v := range list {
		it, err := checkItemOf(v)
		if err == nil && seen[strings.TrimSpace(it.Check)] {
			err = errors.New("it stands there a second time")
		}
		if err != nil {
			r.bad("items", fmt.Errorf("item %d: %w", i+1, err))
			continue
		}
		seen[strings.TrimSpace(it.Check)] = true
		d.Items = append(d.Items, it)
	}
}

func checkItemOf(v any) (CheckItem, error) {
	it := CheckItem{Weight: 1}
	switch v := v.(type) {
	case string:
		it.Check = v
	case map[string]any:
		for _, key := range sortedKeys(v) {
			ok := false
			switch key {
			case "check":
				it.Check, ok = v[key].(string)
			case "critical":
				it.Critical, ok = v[key].(bool)
			case "weight":
				it.Weight, ok = positive(v[key])
			default:
				return it, fmt.Errorf("there is no key %q; %s", key, knownKey(key, []string{"check", "weight", "critical"}))
			}
			if !ok {
				return it, fmt.Errorf("%s can't be %v", key, v[key])
			}
		}
	default:
		return it, errors.New("it is neither a text nor a table")
	}
	if strings.TrimSpace(it.Check) == "" {
		return it, errors.New("check is missing or empty")
	}
	return it, nil
}

// positive is a finite number above 0.
func positive(v any) (float64, bool) {
	f, ok := v.(float64)
	if n, whole := v.(int64); whole {
		f, ok = float64(n), true
	}
	return f, ok && f > 0 && f <= 1e6 && !math.IsNaN(f)
}

func (r *definitionReader) expect(d *Definition) {
	var s string
	r.text("expect", &s)
	switch s {
	case "", "yes":
	case "no":
		d.ExpectNo = true
	default:
		r.bad("expect", fmt.Errorf(`%q is no answer; known are "yes", "no"`, s))
	}
}
