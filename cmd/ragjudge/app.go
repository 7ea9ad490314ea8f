package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes, a contract with schedulers and CI.
const (
	exitOK          = 0   // done, and every gate holds
	exitInternal    = 1   // a fault of ragjudge, or of the disk
	exitUsage       = 2   // usage, configuration or input
	exitGate        = 3   // a gate failed
	exitCoverage    = 4   // too many samples without a score
	exitStopped     = 5   // stopped by budget or daily quota; resumable
	exitJudge       = 6   // the judge is unusable: key, money, model; resumable
	exitInterrupted = 130 // interrupted; resumable
)

const exitCodesHelp = `Exit codes:
  0    done, and every gate holds
  1    internal error
  2    usage, configuration or input error
  3    a gate failed
  4    too many samples without a score
  5    stopped by the budget or a daily quota; the same command resumes
  6    the judge is unusable (key, money, model); the same command resumes
  130  interrupted; the same command resumes`

// exitError is an error that knows its exit code and, apart from it, what the
// user can do.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usageError is an error of usage, configuration or input.
func usageError(err error) error { return &exitError{code: exitUsage, err: err} }

func usagef(format string, args ...any) error { return usageError(fmt.Errorf(format, args...)) }

// app is what a subcommand has of the world around it, so that tests can give
// it another one.
type app struct {
	environ []string
	in      io.Reader
	out     io.Writer // results
	errw    io.Writer // everything else
	log     *slog.Logger
}

func (a *app) getenv(name string) string {
	// The last setting counts, as it does for a child process.
	for i := len(a.environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(a.environ[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

// Main runs the command line and returns its exit code. The end of ctx means
// that the user asked it to stop.
func Main(ctx context.Context, args, environ []string, in io.Reader, out, errw io.Writer) int {
	a := &app{environ: environ, in: in, out: out, errw: errw}
	a.log = newLogger(errw, "text", slog.LevelInfo)
	root := a.command()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	return a.tell(err)
}

// tell prints an error and gives its exit code.
func (a *app) tell(err error) int {
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{code: exitInternal, err: err}
	}
	for i, line := range strings.Split(strings.TrimSpace(e.Error()), "\n") {
		if i == 0 {
			line = "ragjudge: " + line
		}
		fmt.Fprintln(a.errw, line)
	}
	if e.hint != "" {
		fmt.Fprintln(a.errw, "hint: "+e.hint)
	}
	return e.code
}

// command is the list of subcommands.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "ragjudge",
		Short: "Score the outputs of RAG systems in batches, with a language model as judge",
		Long: `ragjudge scores the outputs of RAG systems in batches. A language model judges
faithfulness, answer relevance, context precision and context recall; retrieval
metrics are computed beside them. Runs are resumable, calls are cached on disk,
and the cost is known before anything is spent.

` + exitCodesHelp,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &exitError{code: exitUsage, err: err, hint: fmt.Sprintf("%q lists the flags", cmd.CommandPath()+" --help")}
	})
	root.AddCommand(
		a.initCommand(),
		a.runCommand(),
		a.estimateCommand(),
		a.reportCommand(),
		a.retrievalCommand(),
		a.dataCommand(),
		a.metricsCommand(),
		a.promptsCommand(),
		a.cacheCommand(),
		a.pricesCommand(),
		a.batchCommand(),
		a.doctorCommand(),
		a.versionCommand(),
	)
	for _, c := range root.Commands() {
		usageErrors(c)
	}
	return root
}

// usageErrors gives wrong arguments the exit code of wrong usage, here and in
// every subcommand.
func usageErrors(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &exitError{code: exitUsage, err: err, hint: fmt.Sprintf("%q shows the usage", cmd.CommandPath()+" --help")}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		usageErrors(sub)
	}
}

// newLogger writes logs for people or for machines.
func newLogger(w io.Writer, format string, level slog.Level) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
