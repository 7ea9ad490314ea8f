package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/llm"
)

func (a *app) batchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "batch",
		Short: "See to the batches of a run at the provider: list, status, cancel, resume",
		Long: `See to the batches that a run with --backend batch has at the provider. They go
on there whether or not the run does: a run that was stopped or killed takes them
up again when the same command is given, or "ragjudge batch resume".`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(
		a.batchesCommand("list RUN", "List the batches that a run has noted; asks nobody", a.listBatches),
		a.batchesCommand("status RUN", "Ask the provider how the batches of a run stand", a.statusOfBatches),
		a.batchesCommand("cancel RUN [BATCH...]", "Ask the provider to end batches; what is answered by then is paid for, and is fetched by the run", a.cancelBatches),
		a.resumeBatchCommand(),
	)
	return c
}

func (a *app) batchesCommand(use, short string, do func(context.Context, []noted, []string) error) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.configured(cmd.Flags())
			if err != nil {
				return err
			}
			list, err := a.noted(cfg, args[0])
			if err != nil {
				return err
			}
			return do(cmd.Context(), list, args[1:])
		},
	}
	configFlags(c)
	return c
}

// resumeBatchCommand is run, with the backend that it needs.
func (a *app) resumeBatchCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "resume", Short: "Go on with a run through the Batch API: the same as run --backend batch", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.Flags().Set("backend", config.InBatches); err != nil {
				return err
			}
			cfg, err := a.configured(cmd.Flags())
			if err != nil {
				return err
			}
			return a.run(cmd.Context(), cfg, format)
		},
	}
	configFlags(c)
	c.Flags().StringVarP(&format, "format", "f", "text", "of what is printed: text, md, json or csv")
	return c
}

// noted is a batch that a run has noted, with who can be asked about it.
type noted struct {
	llm.BatchNote
	conn *conn
}

// noted reads the journals of a run. The judges are those of the configuration:
// their keys are needed to ask about batches.
func (a *app) noted(cfg *config.Config, dir string) ([]noted, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, usageError(err)
	} else if !info.IsDir() {
		return nil, usagef("%s is no run directory", dir)
	}
	conns, err := a.connect(cfg, &learnt{}, a.log)
	if err != nil {
		return nil, err
	}
	var all []noted
	for _, c := range conns {
		if c.backend == nil {
			continue
		}
		notes, err := llm.BatchNotes(batchJournal(dir, c.connKey))
		if err != nil {
			return nil, usageError(err)
		}
		for _, n := range notes {
			all = append(all, noted{n, c})
		}
	}
	if len(all) == 0 {
		fmt.Fprintf(a.errw, "%s has no open batches of the judges of this configuration\n", dir)
	}
	return all, nil
}

// unmade is the state of a batch whose making was not answered.
const unmade = "not known to be made"

func (a *app) listBatches(_ context.Context, list []noted, rest []string) error {
	if len(rest) > 0 {
		return usagef("list takes the run directory and nothing else")
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for i, n := range list {
		if i == 0 {
			fmt.Fprintln(w, "MODEL\tBATCH\tREQUESTS")
		}
		fmt.Fprintf(w, "%s\t%s\t%d\n", n.conn.model, cmp.Or(n.ID, unmade), n.Requests)
	}
	return w.Flush()
}

func (a *app) statusOfBatches(ctx context.Context, list []noted, rest []string) error {
	if len(rest) > 0 {
		return usagef("status takes the run directory and nothing else")
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for i, n := range list {
		if i == 0 {
			fmt.Fprintln(w, "MODEL\tBATCH\tSTATE\tREQUESTS\tCOMPLETED\tFAILED")
		}
		if n.ID == "" {
			fmt.Fprintf(w, "%s\t-\t%s\t%d\t-\t-\n", n.conn.model, unmade, n.Requests)
			continue
		}
		s, err := n.conn.backend.BatchState(ctx, n.ID)
		if err != nil {
			return errors.Join(batchError(n.ID, err), w.Flush())
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\n", n.conn.model, n.ID, s.State, n.Requests, s.Completed, s.Failed)
	}
	return w.Flush()
}

func (a *app) cancelBatches(ctx context.Context, list []noted, ids []string) error {
	for _, id := range ids {
		if !slices.ContainsFunc(list, func(n noted) bool { return n.ID == id }) {
			return usagef("the run has noted no open batch %q", id)
		}
	}
	for _, n := range list {
		if n.ID == "" || len(ids) > 0 && !slices.Contains(ids, n.ID) {
			continue
		}
		if err := n.conn.backend.CancelBatch(ctx, n.ID); err != nil {
			return batchError(n.ID, err)
		}
		fmt.Fprintf(a.errw, "asked for the end of %s\n", n.ID)
	}
	return nil
}

// batchError gives a call about a batch that failed its exit code.
func batchError(id string, err error) error {
	e := &exitError{code: exitInternal, err: fmt.Errorf("batch %s: %w", id, err)}
	if cause := llm.AsError(err); cause != nil {
		e.hint = cause.Hint
		if cause.Kind == llm.Fatal {
			e.code = exitJudge
		}
	}
	return e
}
