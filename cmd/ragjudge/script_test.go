package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/llm/llmtest"
)

// secretKey is the key of the fake provider. It must turn up in no output and
// in no file.
const secretKey = "sk-live-Zq8vT3mW0pL5xR7nKd2y"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ragjudge": runMain})
}

// runMain is main, in the test's binary.
func runMain() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(Main(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// The scripts run the real command line against a fake provider over HTTP.
//
//	serve [FAULT] [latency=D] [rejects=A,B] [cuts=TOKENS] [batch=LOOKS] [answer=A] [judge=obedient|fenceless] [key=K]  starts a provider; $URL is its base URL
//	     [says.MODEL=WORD,N] [fails.MODEL=N] [denies=MODEL] [drifts=N]        see panel_test.go
//	await N                                             waits until it was asked N times
//	calls N, paid N                                     assert what the provider saw so far
//	batches N                                           asserts how many batches were made
//	awaitbatches N                                      waits until so many were seen in progress
//	oncepaid                                            asserts that no request was paid for twice
//	finishbatches                                       lets batches end that would stay in progress
//	terminate                                           sends SIGTERM to what runs in the background
//	samples N FILE                                      writes a dataset of N samples
//	longsample N FILE                                   writes a short sample and one with N lines of context
//	lines N FILE                                        asserts the number of lines
//	keyless                                             asserts that the key is in no output and no file
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			root, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			e.Setenv("ROOT", root)
			e.Setenv("OPENAI_API_KEY", secretKey)
			e.Setenv("RAGJUDGE_CACHE", filepath.Join(e.WorkDir, "cache"))
			e.Setenv("HOME", e.WorkDir)
			// Scripts count calls; those about the preflight turn it on.
			e.Setenv("RAGJUDGE_RUN_PREFLIGHT", "false")
			e.Values[providerKey{}] = &provider{}
			e.Values[obedientKey{}] = new(*llmtest.Obedient)
			return nil
		},
		Cmds:                scriptCmds(),
		RequireExplicitExec: true,
	})
}

// scriptCmds are the commands that scripts have beside testscript's own.
func scriptCmds() map[string]func(*testscript.TestScript, bool, []string) {
	cmds := map[string]func(*testscript.TestScript, bool, []string){
		"serve": serve, "calls": called, "paid": paid, "samples": samples, "longsample": longSample, "batches": batches, "finishbatches": finishBatches, "awaitbatches": awaitBatches, "oncepaid": oncePaid, "lines": lines, "keyless": keyless, "await": await, "terminate": terminate,
	}
	maps.Copy(cmds, hostileCmds)
	maps.Copy(cmds, inputCmds)
	maps.Copy(cmds, familyCmds)
	return cmds
}

// provider is the fake provider of one script, the latest that it started.
type provider struct {
	*llmtest.Server
	*arrivals
}

// arrivals counts the requests that come to one server.
type arrivals struct {
	mu      sync.Mutex
	came    int
	arrived chan struct{} // closed and made anew with every request
}

type providerKey struct{}

func providerOf(ts *testscript.TestScript) *provider {
	p := ts.Value(providerKey{}).(*provider)
	if p.Server == nil {
		ts.Fatalf("no provider was started")
	}
	return p
}

// note counts an arrival and wakes those that wait for one.
func (a *arrivals) note() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.came++
	close(a.arrived)
	a.arrived = make(chan struct{})
}

// await returns when n requests have come.
func (a *arrivals) await(n int) {
	for {
		a.mu.Lock()
		came, next := a.came, a.arrived
		a.mu.Unlock()
		if came >= n {
			return
		}
		<-next
	}
}

// faults are those that a script can name.
var faults = map[string]llmtest.FaultFunc{
	"unauthorized":       llmtest.Always(llmtest.Unauthorized()),
	"payment_required":   llmtest.Always(llmtest.PaymentRequired()),
	"insufficient_quota": llmtest.Always(llmtest.InsufficientQuota()),
	"model_not_found":    llmtest.Always(llmtest.ModelNotFound()),
	"daily_quota":        llmtest.Always(llmtest.RateLimit("43200")),
	"refusal":            llmtest.Always(llmtest.Refusal()),
	"content_filter":     llmtest.OnFirstTryOf("What color is sample 3?", llmtest.ContentFilter()),
	"mostly_filtered":    llmtest.FirstOf(llmtest.On("What color is sample 3?", llmtest.ContentFilter()), llmtest.On("What color is sample 4?", llmtest.ContentFilter())),
	"fewer":              llmtest.Always(llmtest.FewerVerdicts()),
	"duplicates":         llmtest.Always(llmtest.DuplicateVerdicts()),
	"truncated":          llmtest.Always(llmtest.Truncated()),
	"null":               llmtest.Always(llmtest.NullContent()),
	"unclosed":           llmtest.Always(llmtest.ThinkingUnclosed()),
	"nousage":            llmtest.Always(llmtest.NoUsage()),
	"flaky":              llmtest.Every(5, llmtest.Status(503)),
	"mostly_down":        llmtest.Every(2, llmtest.Status(503)),
	"hang":               llmtest.Always(llmtest.Hang()),
	"storm":              storm(),
}

// storm is everything that a provider does on a bad night. It depends on the
// request and its try, and not on when it comes, so that results can be compared.
func storm() llmtest.FaultFunc {
	return llmtest.Seeded(7, 0.2, llmtest.RateLimit("0.01"), llmtest.RateLimitBare(), llmtest.Status(500), llmtest.ServiceUnavailableHTML(),
		llmtest.Slow(5*time.Millisecond), llmtest.CutBody(), llmtest.Reset(), llmtest.EmptyChoices(),
		llmtest.FencedJSON(), llmtest.Thinking(), llmtest.MoreVerdicts())
}

func serve(ts *testscript.TestScript, _ bool, args []string) {
	opt := llmtest.Options{Answer: judge.LexicalAnswer, Key: secretKey}
	for _, arg := range args {
		k, v, ok := strings.Cut(arg, "=")
		switch {
		case ok && panelOption(ts, &opt, k, v):
		case !ok:
			f, known := faults[arg]
			if !known {
				ts.Fatalf("no fault %q", arg)
			}
			opt.Fault = f
		case k == "judge":
			opt.Answer = serveObedient(ts, v == "fenceless").Answer
		case k == "answer":
			opt.Answer = func(*llm.Request) string { return v }
		case k == "latency":
			d, err := time.ParseDuration(v)
			ts.Check(err)
			opt.Latency = d
		case k == "rejects":
			opt.Rejects = strings.Split(v, ",")
		case k == "key":
			opt.Key = v
		case k == "batch": // the number of looks at a batch that is in progress
			n, err := strconv.Atoi(v)
			ts.Check(err)
			opt.Batch = &llmtest.BatchOptions{Looks: n}
		case k == "cuts":
			n, err := strconv.Atoi(v)
			ts.Check(err)
			opt.Fault = llmtest.CutsPrompts(n)
		default:
			ts.Fatalf("serve: what is %q?", arg)
		}
	}
	p := ts.Value(providerKey{}).(*provider)
	seen := &arrivals{arrived: make(chan struct{})}
	p.arrivals = seen
	strike := opt.Fault
	opt.Fault = func(n int, r *llmtest.Request) llmtest.Fault {
		seen.note()
		if strike == nil {
			return llmtest.Fault{}
		}
		return strike(n, r)
	}
	p.Server = llmtest.New(opt)
	ts.Defer(p.Server.Close)
	ts.Setenv("URL", p.URL())
}

func called(ts *testscript.TestScript, neg bool, args []string) {
	count(ts, neg, args, providerOf(ts).Requests())
}

func paid(ts *testscript.TestScript, neg bool, args []string) {
	count(ts, neg, args, providerOf(ts).Paid())
}

func count(ts *testscript.TestScript, neg bool, args []string, got int) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if (got == want) == neg {
		ts.Fatalf("there are %d, want %d (not: %t)", got, want, neg)
	}
}

func await(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	providerOf(ts).await(n)
}

// terminate sends SIGTERM to what runs in the background, as a scheduler does.
func terminate(ts *testscript.TestScript, _ bool, _ []string) {
	for _, c := range ts.BackgroundCmds() {
		ts.Check(c.Process.Signal(syscall.SIGTERM))
	}
}

func samples(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), testSamples(n), 0o600))
}

// batches asserts how many batches were made.
func batches(ts *testscript.TestScript, neg bool, args []string) {
	count(ts, neg, args, len(providerOf(ts).Batches()))
}

// awaitBatches returns when so many batches were seen in progress.
func awaitBatches(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	providerOf(ts).AwaitBatches(n)
}

// oncePaid holds that no request was paid for twice.
func oncePaid(ts *testscript.TestScript, _ bool, _ []string) {
	for _, r := range providerOf(ts).Repeats() {
		if r.Paid > 1 {
			ts.Fatalf("paid %d times: %s", r.Paid, r.Body)
		}
	}
}

// finishBatches lets all batches end.
func finishBatches(ts *testscript.TestScript, _ bool, _ []string) { providerOf(ts).FinishBatches() }

// longSample writes a dataset of two samples, the second with so many lines of
// context.
func longSample(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var context strings.Builder
	for i := range n {
		fmt.Fprintf(&context, "Shelf %d holds books about gardens and old maps. ", i+1)
	}
	data := append(testSamples(1), fmt.Appendf(nil, `{"id":"long","question":"What does shelf 1 hold?","answer":"Shelf 1 holds books.","contexts":[%q],"ground_truth":"Books."}`+"\n", context.String())...)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}

// testSamples makes n samples, each with texts of its own, some with less.
func testSamples(n int) []byte {
	var b bytes.Buffer
	for i := 1; i <= n; i++ {
		answer := fmt.Sprintf("Sample %d is green. It weighs %d grams.", i, i)
		if i%7 == 0 {
			answer = "I don't know."
		}
		fmt.Fprintf(&b, `{"id":"s%d","question":"What color is sample %d?","answer":%q,"contexts":[{"id":"c%d","text":"Sample %d is green and weighs %d grams."},{"id":"x%d","text":"The weather was fine on day %d."}],"ground_truth":"Sample %d is green.","relevant_ids":["c%d"],"category":"k%d"}`+"\n",
			i, i, answer, i, i, i+i%2, i, i, i, i, i%2)
	}
	return b.Bytes()
}

func lines(ts *testscript.TestScript, neg bool, args []string) {
	count(ts, neg, args[:1], strings.Count(ts.ReadFile(args[1]), "\n"))
}

// keyless looks for the key in everything that the script has left behind.
func keyless(ts *testscript.TestScript, _ bool, _ []string) {
	needle := []byte(secretKey[8:])
	if strings.Contains(ts.ReadFile("stdout")+ts.ReadFile("stderr"), string(needle)) {
		ts.Fatalf("the key is in the output")
	}
	seen := 0
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		if bytes.Contains(b, needle) {
			ts.Fatalf("the key is in %s", path)
		}
		return nil
	}))
	if seen == 0 {
		ts.Fatalf("no file was looked at")
	}
}
