package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// value is the place of a setting in a Config, with what may be put there. Its
// errors say what must be given, and repeat a wrong value only through show.
type value interface {
	fromTOML(v any) error
	fromText(s string) error
	resolved() any
}

// typeName says what a TOML value is, in the words of the errors.
func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case int64:
		return "a whole number"
	case float64:
		return "a number with a point"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	case time.Time, toml.LocalDate, toml.LocalTime, toml.LocalDateTime:
		return "a date or a time"
	}
	return fmt.Sprintf("%T", v)
}

func wrongType(want string, v any) error {
	err := fmt.Errorf("must be %s, not %s", want, typeName(v))
	if s, ok := v.(string); ok && want != "a text" {
		if _, e := strconv.ParseFloat(s, 64); e == nil || s == "true" || s == "false" {
			return fmt.Errorf("%w: leave out the quotes", err)
		}
	}
	return err
}

// show quotes a wrong value for an error: shortened, and masked if it could be
// a secret.
func show(s string) string {
	const most = 60
	if looksSecret(s) {
		return masked
	}
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "..."
	}
	return strconv.Quote(s)
}

// text is a string; check, if there, may refuse it.
type text struct {
	p     *string
	check func(string) error
}

func (t text) fromTOML(v any) error {
	s, ok := v.(string)
	if !ok {
		return wrongType("a text", v)
	}
	return t.fromText(s)
}

func (t text) fromText(s string) error {
	if looksSecret(s) {
		return errSecret
	}
	if t.check != nil {
		if err := t.check(s); err != nil {
			return err
		}
	}
	*t.p = s
	return nil
}

func (t text) resolved() any { return maskText(*t.p) }

// path is the name of a file or a folder; stdin allows "-".
type path struct {
	p     *string
	stdin bool
}

func (p path) fromTOML(v any) error {
	s, ok := v.(string)
	if !ok {
		return wrongType("a text", v)
	}
	return p.fromText(s)
}

func (p path) fromText(s string) error {
	switch {
	case looksSecret(s):
		return errSecret
	case s == "-" && !p.stdin:
		return errors.New("must be the name of a file or folder, not \"-\"")
	case s == "~" || strings.HasPrefix(s, "~/"):
		return fmt.Errorf("%s: \"~\" is only known to a shell; write the folder out", show(s))
	case strings.ContainsRune(s, 0):
		return errors.New("must be the name of a file or folder, which holds no NUL")
	}
	*p.p = s
	return nil
}

func (p path) resolved() any { return maskText(*p.p) }

// choice is one of a few words.
type choice struct {
	p     *string
	words []string
}

func (c choice) fromTOML(v any) error {
	s, ok := v.(string)
	if !ok {
		return wrongType("one of "+c.list(), v)
	}
	return c.fromText(s)
}

func (c choice) fromText(s string) error {
	if slices.Contains(c.words, s) {
		*c.p = s
		return nil
	}
	err := fmt.Errorf("must be one of %s, not %s", c.list(), show(s))
	if near := nearest(strings.ToLower(s), c.words); near != "" {
		err = fmt.Errorf("%w; did you mean %q?", err, near)
	}
	return err
}

func (c choice) list() string {
	quoted := make([]string, len(c.words))
	for i, w := range c.words {
		quoted[i] = strconv.Quote(w)
	}
	return strings.Join(quoted, ", ")
}

func (c choice) resolved() any { return *c.p }

// flag is a bool.
type flag struct{ p *bool }

func (f flag) fromTOML(v any) error {
	b, ok := v.(bool)
	if !ok {
		return wrongType("true or false", v)
	}
	*f.p = b
	return nil
}

func (f flag) fromText(s string) error {
	b, err := strconv.ParseBool(strings.TrimSpace(s))
	if err != nil {
		return fmt.Errorf("must be true or false, not %s", show(s))
	}
	*f.p = b
	return nil
}

func (f flag) resolved() any { return *f.p }

// integer is a whole number between min and max; put stores it.
type integer struct {
	put      func(int64)
	get      func() any
	min, max int64
}

func (i integer) fromTOML(v any) error {
	n, ok := v.(int64)
	if !ok {
		return wrongType("a whole number", v)
	}
	return i.set(n)
}

func (i integer) fromText(s string) error {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("must be %s, not %s", i.bounds(), show(s))
	}
	if err != nil {
		return fmt.Errorf("must be a whole number, not %s", show(s))
	}
	return i.set(n)
}

func (i integer) set(n int64) error {
	if n < i.min || n > i.max {
		return fmt.Errorf("must be %s, not %d", i.bounds(), n)
	}
	i.put(n)
	return nil
}

func (i integer) bounds() string {
	if i.max == math.MaxInt64 || i.max == math.MaxInt {
		return fmt.Sprintf("a whole number of at least %d", i.min)
	}
	return fmt.Sprintf("a whole number from %d to %d", i.min, i.max)
}

func (i integer) resolved() any { return i.get() }

func integerAt(p *int, low, high int64) integer {
	return integer{put: func(n int64) { *p = int(n) }, get: func() any { return *p }, min: low, max: high}
}

// number is a finite number between min and max; a max of 0 is no bound.
type number struct {
	put      func(float64)
	get      func() any
	min, max float64
}

func (n number) fromTOML(v any) error {
	switch v := v.(type) {
	case int64:
		return n.set(float64(v))
	case float64:
		return n.set(v)
	}
	return wrongType("a number", v)
}

func (n number) fromText(s string) error {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		return fmt.Errorf("must be a number, not %s", show(s))
	}
	return n.set(f)
}

func (n number) set(f float64) error {
	// Written so that NaN, which compares with nothing, is refused.
	if inside := f >= n.min && (n.max == 0 || f <= n.max) && !math.IsInf(f, 0); !inside {
		err := fmt.Errorf("must be %s, not %v", n.bounds(), f)
		if n.min == 0 && n.max == 1 && f > 1 && f <= 100 {
			err = fmt.Errorf("%w; %v%% is %v", err, f, f/100)
		}
		return err
	}
	n.put(f)
	return nil
}

func (n number) bounds() string {
	if n.max == 0 {
		return fmt.Sprintf("a number of at least %v", n.min)
	}
	return fmt.Sprintf("a number from %v to %v", n.min, n.max)
}

func (n number) resolved() any { return n.get() }

func numberAt(p *float64, low, high float64) number {
	return number{put: func(f float64) { *p = f }, get: func() any { return *p }, min: low, max: high}
}

func optionalNumber(p **float64, low, high float64) number {
	return number{put: func(f float64) { *p = &f }, get: func() any { return *p }, min: low, max: high}
}

// duration is a time with a unit, between min and max.
type duration struct {
	p        *time.Duration
	min, max time.Duration
}

func (d duration) fromTOML(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("must be a time with its unit in quotes, such as \"90s\" or \"5m\", not %s", typeName(v))
	}
	return d.fromText(s)
}

func (d duration) fromText(s string) error {
	t, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil {
		return fmt.Errorf("must be a time with its unit, such as 90s or 5m, not %s", show(s))
	}
	if t < d.min || t > d.max {
		return fmt.Errorf("must be a time from %v to %v, not %v", d.min, d.max, t)
	}
	*d.p = t
	return nil
}

func (d duration) resolved() any { return d.p.String() }

// list is a list of texts; it replaces the one of the layer below.
type list struct{ p *[]string }

func (l list) fromTOML(v any) error {
	items, ok := v.([]any)
	if !ok {
		return wrongType("a list of texts, such as [\"a\", \"b\"]", v)
	}
	out := make([]string, 0, len(items))
	for i, item := range items {
		s, ok := item.(string)
		switch {
		case !ok:
			return fmt.Errorf("must be a list of texts, but item %d is %s", i+1, typeName(item))
		case strings.TrimSpace(s) == "":
			return fmt.Errorf("item %d is empty", i+1)
		case looksSecret(s):
			return errSecret
		}
		out = append(out, s)
	}
	*l.p = out
	return nil
}

// fromText takes items separated by commas; empty ones, as after a last comma,
// are none.
func (l list) fromText(s string) error {
	if looksSecret(s) {
		return errSecret
	}
	out := []string{}
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	*l.p = out
	return nil
}

func (l list) resolved() any {
	out := make([]string, len(*l.p))
	for i, s := range *l.p {
		out[i] = maskText(s)
	}
	return out
}
