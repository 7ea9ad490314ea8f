package dataset

import (
	"bytes"
	"regexp"
	"strings"
)

// delimiters are tried in this order: the usual ones, those of log files, and
// the control characters that databases export with.
const delimiters = ",;\t|^~:\x01\x1f"

// excelSep is the line by which Excel tells itself the delimiter; it stands
// above the header.
var excelSep = regexp.MustCompile(`^"?sep=([^"\r\n])"?[,;\t ]*$`)

// findDelimiter settles how the fields of a CSV file are separated.
func (p *part) findDelimiter(head []byte, opt *Options, columns *columns) *fault {
	line := firstLine(head)
	said := excelSep.FindSubmatch(line)
	if p.sepLine = said != nil; p.sepLine {
		p.delim = said[1][0]
	}
	var f *fault
	switch {
	case opt.Delimiter != 0:
		p.delim = opt.Delimiter
	case p.format == TSV:
		p.delim = '\t'
	case !p.sepLine:
		p.delim, f = guessDelimiter(head, p.eol, columns)
	}
	p.format = CSV
	if p.delim == '\t' {
		p.format = TSV
	}
	return f
}

// separation is what a delimiter would make of a file's beginning.
type separation struct {
	delim byte
	known int // columns of the header that feed a field
	even  int // records after it with as many cells as it has
	cells int // of the header
}

// better compares by what shows most that the delimiter is the right one. Text
// is full of commas and colons, so a column that is known counts first; that
// records have the header's number of cells, second.
func (g separation) better(o separation) int {
	for _, d := range []int{g.known - o.known, g.even - o.even, g.cells - o.cells} {
		if d != 0 {
			return d
		}
	}
	return 0
}

// guessDelimiter takes the delimiter that makes most known columns of the
// header, and then the one that the records below agree with. Where two do
// equally well, and each would read another header, nothing is guessed.
func guessDelimiter(head []byte, eol byte, columns *columns) (byte, *fault) {
	var best, second separation
	for i := range len(delimiters) {
		g := tryDelimiter(head, delimiters[i], eol, columns)
		switch {
		case g.cells < 2:
		case g.delim == ':' && g.known < 2: // "question: why?" is YAML, or prose
		case best.cells == 0 || g.better(best) > 0:
			best, second = g, best
		case second.cells == 0 || g.better(second) > 0:
			second = g
		}
	}
	if best.cells == 0 {
		return ',', nil // one column
	}
	if second.known > 0 && second.known == best.known && second.even == best.even {
		return 0, faultf("may be separated by %q or by %q: the header and the records fit both", rune(best.delim), rune(second.delim)).
			withHint("name the right one: --delimiter, or dataset.delimiter")
	}
	return best.delim, nil
}

func tryDelimiter(head []byte, delim, eol byte, columns *columns) separation {
	const records = 20
	g := separation{delim: delim}
	for _, name := range headerCells(firstLine(head), delim) {
		g.cells++
		if columns.names(strings.TrimSpace(name)) {
			g.known++
		}
	}
	cells := recordCells(head, delim, eol, records+1)
	for i, n := range cells {
		if i > 0 && n == g.cells {
			g.even++
		}
	}
	return g
}

// recordCells counts the cells of the first records, outside quotes. The last
// one of a head that was cut is left out.
func recordCells(head []byte, delim, eol byte, most int) []int {
	var counts []int
	n, quotes, start := 1, false, true
	for _, b := range head {
		switch {
		case quotes:
			quotes = b != '"' // a doubled quote opens again at once
			start = false
			if !quotes {
				start = true
			}
		case b == '"' && start:
			quotes = true
		case b == delim:
			n++
			start = true
		case b == eol:
			counts = append(counts, n)
			if len(counts) == most {
				return counts
			}
			n, start = 1, true
		default:
			start = false
		}
	}
	return counts
}

// headerCells cuts one line outside quotes.
func headerCells(header []byte, delim byte) []string {
	var cells []string
	var cell []byte
	inQuotes := false
	for _, b := range bytes.TrimRight(header, "\r\n") {
		switch {
		case b == '"':
			inQuotes = !inQuotes
		case b == delim && !inQuotes:
			cells = append(cells, string(cell))
			cell = cell[:0]
		default:
			cell = append(cell, b)
		}
	}
	return append(cells, string(cell))
}
