package text

// maxDistance bounds the runes of a name that Distance looks at, so that a
// hostile one costs nothing.
const maxDistance = 100

// Distance is the number of single letters that must be put in, left out,
// replaced or swapped with their neighbour to make b of a (optimal string
// alignment), for "did you mean" hints. Only the first 100 letters of each
// count.
func Distance(a, b string) int {
	s, t := clipped(a), clipped(b)
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(s)][len(t)]
}

func clipped(name string) []rune {
	r := []rune(name[:min(len(name), 4*maxDistance)])
	return r[:min(len(r), maxDistance)]
}
