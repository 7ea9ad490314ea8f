package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"github.com/ragjudge/ragjudge/eval"
)

// ManifestSchema is the version of the form of manifest.json.
const ManifestSchema = 1

// Manifest says what was run, so that a number can be traced to what made it.
// It holds no secret.
type Manifest struct {
	Schema int `json:"schema"`
	// Tool is the name and version of the program that started the run.
	Tool string `json:"tool"`
	// Started is when the run was first started, in UTC.
	Started time.Time `json:"started"`
	// Identity is everything that makes a score what it is. A run is only ever
	// resumed under the same identity.
	Identity []Item `json:"identity"`
	// Dataset describes the input.
	Dataset Dataset `json:"dataset"`
	// Served are the names under which the endpoint served the judge.
	Served []string `json:"served"`
	// Judges tells of each judge by itself.
	Judges []Judge `json:"judges,omitempty"`
	// Learnt is what was found out about the endpoint, in words.
	Learnt []string `json:"learnt,omitempty"`
	// PriceDate is the date of the price table, as YYYY-MM-DD.
	PriceDate string `json:"price_date"`
	// Config is the resolved configuration of the latest execution.
	Config json.RawMessage `json:"config,omitempty"`
	// Charged is what bounds on money and calls reckon with: what was spent, and
	// the most that it can have been where the server did not tell.
	Charged Charged `json:"charged"`
	// Parts is what all executions have cost, by metric and judge; see RowCost.
	Parts []Part `json:"parts,omitempty"`
	// Executions are those that ended in good order, oldest first.
	Executions []Execution `json:"executions"`
}

// Judge is what the executions that ended in good order tell of one judge.
type Judge struct {
	// Name is its name in the configuration.
	Name string `json:"name"`
	// Served is what answered under it. More than one entry means that the judge
	// changed within the run.
	Served []Served `json:"served"`
	// Usage is what it took.
	Usage Usage `json:"usage"`
}

// Served is a model as the server named it, with its system_fingerprint.
type Served struct {
	Model       string `json:"model"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// Charged is an amount of what a bound limits.
type Charged struct {
	CostUSD float64 `json:"cost_usd"`
	Calls   int64   `json:"calls"`
	Tokens  int64   `json:"tokens"`
}

// Plus adds what rows have cost, as far as it is known.
func (c Charged) Plus(u Usage) Charged {
	return Charged{CostUSD: c.CostUSD + u.CostUSD, Calls: c.Calls + int64(u.Calls), Tokens: c.Tokens + int64(u.PromptTokens+u.CompletionTokens)}
}

// Item is one part of a run's identity, such as "judge.model".
type Item struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Dataset describes a run's input.
type Dataset struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	SHA256 string `json:"sha256"`
	// Rows is the number of samples; LastRow the row number of the last one,
	// which is higher where bad lines were skipped.
	Rows    int `json:"rows"`
	LastRow int `json:"last_row"`
}

// Execution is one process that worked on the run.
type Execution struct {
	Number   int       `json:"number"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	// Outcome is the caller's word for how it ended, such as "done".
	Outcome string `json:"outcome"`
	// Scored and Reused count rows, as in Stats.
	Scored int `json:"scored"`
	Reused int `json:"reused"`
	// Expected is what it was expected to cost before it began; nil if nobody
	// could say.
	Expected *Expected `json:"expected,omitempty"`
	// Usage is what the execution cost, together with the rows that a process
	// killed before it had left in the journal.
	Usage Usage `json:"usage"`
}

// Expected is an estimate of an execution's calls, tokens and money, each as low,
// expected and high.
type Expected struct {
	Calls  [3]int64 `json:"calls"`
	Tokens [3]int64 `json:"tokens"`
	// CostUSD is nil where no price is known.
	CostUSD *[3]float64 `json:"cost_usd"`
}

// Total is what all executions cost together.
func (m *Manifest) Total() Usage {
	var u Usage
	for _, e := range m.Executions {
		u = u.Add(e.Usage)
	}
	return u
}

// DiffersError says that a directory holds a run of another identity.
type DiffersError struct {
	Dir   string
	Diffs []string
}

// Error names every difference.
func (e *DiffersError) Error() string {
	return fmt.Sprintf("%s holds another run, which differs in %s", e.Dir, strings.Join(e.Diffs, "; "))
}

// diff lists in words where two identities differ.
func diff(old, now []Item) []string {
	was := map[string]string{}
	for _, it := range old {
		was[it.Name] = it.Value
	}
	var out []string
	for _, it := range now {
		v, ok := was[it.Name]
		delete(was, it.Name)
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("%s (not there before, now %q)", it.Name, it.Value))
		case v != it.Value:
			out = append(out, fmt.Sprintf("%s (was %q, now %q)", it.Name, v, it.Value))
		}
	}
	for _, it := range old {
		if v, ok := was[it.Name]; ok {
			out = append(out, fmt.Sprintf("%s (was %q, now absent)", it.Name, v))
		}
	}
	return out
}

// ReadManifest reads the manifest of the run in dir. A directory without one
// gives an error that wraps fs.ErrNotExist.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, manifestName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no run directory: %w", dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("read the manifest %s: %w", path, err)
	}
	if m.Schema != ManifestSchema {
		return nil, fmt.Errorf("read the manifest %s: its schema is %d, and this version reads %d", path, m.Schema, ManifestSchema)
	}
	return &m, nil
}

func (d *Dir) writeManifest() error {
	return WriteJSON(filepath.Join(d.path, manifestName), d.Manifest)
}

// WriteJSON writes v, indented, to a file that is replaced in one step and can
// be read by its owner only.
func WriteJSON(path string, v any) error {
	b, err := eval.MarshalJSON(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	var out strings.Builder
	if err := indent(&out, b); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	// The mode is exact, whatever the umask: results may hold customers' text.
	if err := renameio.WriteFile(path, []byte(out.String()), 0o600, renameio.IgnoreUmask()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
