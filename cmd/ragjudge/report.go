package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ragjudge/ragjudge/report"
)

func (a *app) render(s *report.Summary, format string) error {
	if !slices.Contains(report.Formats, format) {
		return usagef("unknown format %q: there are %s", format, strings.Join(report.Formats, ", "))
	}
	return report.Render(a.out, s, format, terminalWidth(a.out))
}

func (a *app) reportCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "report RUN",
		Short: "Show the summary of a run directory as text, Markdown, JSON or CSV",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := report.Load(args[0])
			if err != nil {
				return usageError(err)
			}
			return a.render(s, format)
		},
	}
	c.Flags().StringVarP(&format, "format", "f", "text", strings.Join(report.Formats, ", "))
	return c
}

// terminalWidth is the width of the terminal behind w, 0 if it is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
