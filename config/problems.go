package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	// Place is where: "ragjudge.toml:7:3", "the environment variable
	// RAGJUDGE_LIMITS_CONCURRENCY", "the flag --concurrency"; empty if what is
	// wrong is that something stands nowhere.
	Place string
	// Key is the key that it is about; empty for a file as a whole.
	Key string
	// Message says what is wrong and what to do.
	Message string
	// Err is the error of the system behind it, if there is one.
	Err error

	layer, line, column int
}

// String is the problem in one line.
func (p Problem) String() string {
	var parts []string
	for _, s := range []string{p.Place, p.Key, p.Message} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

// Problems is the error of [Load]: everything that is wrong, the file's first,
// from top to bottom, then the environment's, the flags', and what is missing.
type Problems struct {
	List []Problem
}

// Error lists the problems, one a line.
func (p *Problems) Error() string {
	if len(p.List) == 1 {
		return p.List[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d problems in the configuration:", len(p.List))
	for _, problem := range p.List {
		b.WriteString("\n" + problem.String())
	}
	return b.String()
}

// Unwrap returns the errors of the system behind the problems, so that
// errors.Is(err, fs.ErrNotExist) works.
func (p *Problems) Unwrap() []error {
	var errs []error
	for _, problem := range p.List {
		if problem.Err != nil {
			errs = append(errs, problem.Err)
		}
	}
	return errs
}

func (p *Problems) sort() {
	slices.SortStableFunc(p.List, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.layer, b.layer), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
}
