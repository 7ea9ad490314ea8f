package report

import (
	"fmt"
	"io"
	"strings"
)

// Formats lists the formats of [Render].
var Formats = []string{"text", "md", "json", "csv"}

// Render writes the summary in one of [Formats]; the width is that of the
// terminal, for text, or 0.
func Render(w io.Writer, s *Summary, format string, width int) error {
	switch format {
	case "text":
		return Text(w, s, TextOptions{Width: width})
	case "md":
		return Markdown(w, s)
	case "json":
		return JSON(w, s)
	case "csv":
		return CSV(w, s)
	}
	return fmt.Errorf("render a summary: unknown format %q (known: %s)", format, strings.Join(Formats, ", "))
}
