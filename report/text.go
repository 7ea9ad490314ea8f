package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// TextOptions sets how [Text] lays out its tables.
type TextOptions struct {
	// Width is the number of columns of the terminal; 0 where there is none.
	// Text columns are cut to fit and wide category tables are broken into
	// several; a figure is never cut, so a very narrow terminal may wrap.
	Width int
}

const (
	// maxTextCell is the width of the widest text cell where there is no
	// terminal to fit.
	maxTextCell = 80
	// minTextCell is the width to which a text column is cut at most.
	minTextCell = 12
	gap         = "  "
)

// Text writes the summary for a terminal or a log. Control characters, bidi
// controls and other invisible characters of the data are written as escapes
// such as \x1b and \u202e, so that no sample can move the cursor or reorder
// what is read.
func Text(w io.Writer, s *Summary, opts TextOptions) error {
	var b bytes.Buffer
	for _, line := range header(s) {
		writeWrapped(&b, "", line, opts.Width)
	}
	for _, sec := range sections(s) {
		fmt.Fprintf(&b, "\n%s\n", sec.title)
		if sec.intro != "" {
			writeWrapped(&b, gap, sec.intro, opts.Width)
		}
		if sec.table != nil {
			writeTable(&b, sec.table, opts.Width)
			if len(sec.lines) > 0 {
				b.WriteByte('\n')
			}
		}
		for _, line := range sec.lines {
			writeWrapped(&b, gap, line, opts.Width)
		}
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}

// writeWrapped writes a line of text, broken between words where it is wider
// than width; what follows the first break is indented further.
func writeWrapped(b *bytes.Buffer, indent, line string, width int) {
	used := displayWidth(indent)
	b.WriteString(indent)
	for i, word := range strings.Split(escapeText(line), " ") {
		wide := displayWidth(word)
		switch {
		case i == 0:
		case width > 0 && used+1+wide > width:
			b.WriteString("\n" + indent + gap)
			used = displayWidth(indent) + len(gap)
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += wide
	}
	b.WriteByte('\n')
}

// writeTable writes a table. Where it is wider than width it takes the short
// headings, sets a last column below its rows, breaks into several blocks and
// cuts text, as far as its columns allow and in this order.
func writeTable(b *bytes.Buffer, t *table, width int) {
	cells := escapeCells(t)
	widths := columnWidths(cells)
	if width > 0 && total(widths) > width {
		for i, c := range t.cols {
			if c.short != "" {
				cells[0][i] = c.short
			}
		}
		widths = columnWidths(cells)
	}
	var below []string
	if last := len(t.cols) - 1; width > 0 && total(widths) > width && t.cols[last].below {
		for _, row := range cells {
			below = append(below, row[last])
		}
		t = &table{cols: t.cols[:last], rows: t.rows, lead: t.lead}
		widths = widths[:last]
	}
	for n, block := range blocks(t, widths, width) {
		if n > 0 {
			b.WriteByte('\n')
		}
		fit := fitWidths(t, widths, block, width)
		for i, row := range cells {
			writeRow(b, t, row, block, fit)
			if below != nil && i > 0 && below[i] != "" {
				const indent = gap + gap + gap
				b.WriteString(indent + cutWidth(below[i], max(width-len(indent), minTextCell)) + "\n")
			}
		}
	}
}

// escapeCells returns the headings and the rows, escaped.
func escapeCells(t *table) [][]string {
	names := make([]string, len(t.cols))
	for i, c := range t.cols {
		names[i] = escapeText(c.name)
	}
	cells := [][]string{names}
	for _, row := range t.rows {
		escaped := make([]string, len(row))
		for i, c := range row {
			escaped[i] = escapeText(c)
		}
		cells = append(cells, escaped)
	}
	return cells
}

func columnWidths(cells [][]string) []int {
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, c := range row {
			widths[i] = max(widths[i], displayWidth(c))
		}
	}
	return widths
}

// total returns the width of a row of columns of these widths.
func total(widths []int) int {
	n := 0
	for _, w := range widths {
		n += len(gap) + w
	}
	return n
}

// blocks groups the columns so that each block, with the lead columns before
// it, fits the width. Without a width or a lead there is one block.
func blocks(t *table, widths []int, width int) [][]int {
	lead := make([]int, t.lead)
	base := 0
	for i := range lead {
		lead[i] = i
		base += len(gap) + widths[i]
		if t.cols[i].text { // it will be cut before a block is broken
			base -= max(widths[i]-minTextCell, 0)
		}
	}
	all := [][]int{append([]int{}, lead...)}
	used := base
	for i := t.lead; i < len(t.cols); i++ {
		last := len(all) - 1
		wide := len(gap) + widths[i]
		if width > 0 && t.lead > 0 && used+wide > width && len(all[last]) > t.lead {
			all = append(all, append([]int{}, lead...))
			last, used = last+1, base
		}
		all[last] = append(all[last], i)
		used += wide
	}
	return all
}

// fitWidths returns the widths of the columns of a block: the widest text
// column gives way first, until the block fits.
func fitWidths(t *table, widths, block []int, width int) []int {
	fit := make([]int, len(widths))
	used := 0
	for _, i := range block {
		fit[i] = widths[i]
		if t.cols[i].text && width <= 0 {
			fit[i] = min(fit[i], maxTextCell)
		}
		used += len(gap) + fit[i]
	}
	for width > 0 && used > width {
		widest := -1
		for _, i := range block {
			if t.cols[i].text && fit[i] > minTextCell && (widest < 0 || fit[i] > fit[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		fit[widest]--
		used--
	}
	return fit
}

func writeRow(b *bytes.Buffer, t *table, row []string, block, fit []int) {
	var line strings.Builder
	for _, i := range block {
		cell := row[i]
		if t.cols[i].text {
			cell = cutWidth(cell, fit[i])
		}
		pad := strings.Repeat(" ", max(fit[i]-displayWidth(cell), 0))
		line.WriteString(gap)
		if t.cols[i].text {
			line.WriteString(cell + pad)
		} else {
			line.WriteString(pad + cell)
		}
	}
	b.WriteString(strings.TrimRight(line.String(), " "))
	b.WriteByte('\n')
}
