package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// oneWord refuses what can't stand in a request's line or header.
func oneWord(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return fmt.Errorf("must not hold spaces or line breaks, as %s does", show(s))
	}
	return nil
}

// tidy refuses line breaks, and spaces around a name, which come from pasting.
func tidy(s string) error {
	if strings.TrimSpace(s) != s || strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Errorf("must not have spaces around it or hold line breaks, as %s does", show(s))
	}
	return nil
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variableName takes the name of an environment variable. What isn't one is
// likely to be the key itself and isn't repeated.
func variableName(s string) error {
	if s == "" || variable.MatchString(s) && !looksRandom(s) {
		return nil
	}
	return errors.New("must be the name of an environment variable, such as OPENAI_API_KEY; the key itself belongs into that variable")
}

// delimiter is one ASCII character that can separate fields.
type delimiter struct{ text }

func (d delimiter) fromTOML(v any) error {
	s, ok := v.(string)
	if !ok {
		return wrongType("a text", v)
	}
	return d.fromText(s)
}

// fromText also takes \t in two characters, because a shell makes a tab hard
// to type.
func (d delimiter) fromText(s string) error {
	if s == `\t` {
		s = "\t"
	}
	if len(s) > 1 || s != "" && (s[0] >= 0x7f || s[0] < ' ' && s[0] != '\t' || s == `"`) {
		return fmt.Errorf("must be one ASCII character other than the quote, such as \";\" or \"\\t\", not %s", show(s))
	}
	*d.p = s
	return nil
}

// endpoint is an http or https address without a query's fragment.
type endpoint struct{ p *string }

func (e endpoint) fromTOML(v any) error {
	s, ok := v.(string)
	if !ok {
		return wrongType("a text", v)
	}
	if maskURL(s) != s {
		return errSecretURL
	}
	return e.fromText(s)
}

func (e endpoint) fromText(s string) error {
	if s == "" {
		*e.p = s
		return nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil: // its text repeats the address, which may hold a password
		return errors.New("must be an address such as https://api.openai.com/v1; this one can't be parsed")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("must start with https:// or http://, as https://api.openai.com/v1 does, not be %s", show(maskURL(s)))
	case u.Hostname() == "":
		return fmt.Errorf("must name a host, as https://api.openai.com/v1 does, not be %s", show(maskURL(s)))
	case u.Fragment != "":
		return fmt.Errorf("must not have a part after \"#\", as %s has", show(maskURL(s)))
	}
	*e.p = s
	return nil
}

func (e endpoint) resolved() any { return maskText(maskURL(*e.p)) }

// column is an entry of dataset.columns. An empty column means that the field
// is fed by none.
func column(field, _ string) error {
	if field == "" {
		return errors.New("a field has an empty name")
	}
	return nil
}

func rule(name, value string) error {
	if name == "" || strings.TrimSpace(value) == "" {
		return errors.New("a rule must have a name and a text")
	}
	return nil
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// header is an entry of judge.headers, by RFC 9110's field names and values.
func header(name, value string) error {
	if !headerName.MatchString(name) {
		return fmt.Errorf("%s is not the name of an HTTP header", show(name))
	}
	if strings.ContainsFunc(value, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
		return errors.New("the value of an HTTP header must not hold line breaks or other control characters")
	}
	return nil
}
