package report

import (
	"bytes"
	"fmt"
	"io"
)

// Markdown writes the summary as GitHub-flavoured Markdown, for a pull request
// or a wiki. The data can't break out of its cell: pipes, markup and HTML are
// escaped, and invisible characters are written as [Text] writes them.
func Markdown(w io.Writer, s *Summary) error {
	var b bytes.Buffer
	b.WriteString("# Evaluation summary\n\n")
	writeList(&b, header(s))
	for _, sec := range sections(s) {
		fmt.Fprintf(&b, "\n## %s\n", sec.title)
		if sec.intro != "" {
			fmt.Fprintf(&b, "\n%s\n", escapeMarkdown(sec.intro))
		}
		if sec.table != nil {
			b.WriteByte('\n')
			writeMarkdownTable(&b, sec.table)
		}
		if len(sec.lines) > 0 {
			b.WriteByte('\n')
			writeList(&b, sec.lines)
		}
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}

func writeList(b *bytes.Buffer, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", escapeMarkdown(line))
	}
}

func writeMarkdownTable(b *bytes.Buffer, t *table) {
	for _, c := range t.cols {
		fmt.Fprintf(b, "| %s ", escapeMarkdown(c.name))
	}
	b.WriteString("|\n")
	for _, c := range t.cols {
		if c.text {
			b.WriteString("|---")
		} else {
			b.WriteString("|--:")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.rows {
		for _, cell := range row {
			fmt.Fprintf(b, "| %s ", escapeMarkdown(cell))
		}
		b.WriteString("|\n")
	}
}
