package config

import "strings"

// distance is the number of single letters that must be put in, left out,
// replaced or swapped with their neighbour to make b of a (optimal string
// alignment).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
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

// longest is the length from which on a name is no typo of a known one.
const longest = 100

// near returns the distance of two names, and whether one can be a typo of the
// other: about one wrong letter in three.
func near(a, b string) (int, bool) {
	if len(a) > longest {
		return 0, false
	}
	d := distance(a, b)
	return d, d <= max(1, len(b)/3) && d < len(b)
}

// nearest returns the name that a was likely meant to be, or "".
func nearest(a string, names []string) string {
	best, least := "", 0
	for _, name := range names {
		if d, ok := near(a, name); ok && (best == "" || d < least) {
			best, least = name, d
		}
	}
	return best
}

// nearestKey returns the key that an unknown one was likely meant to be, or "".
// The right last part in the wrong table is nearer than a typo.
func nearestKey(key string) string {
	section, leaf := splitKey(strings.ReplaceAll(strings.ToLower(key), "-", "_"))
	best, least := "", 0
	for _, known := range Keys() {
		if strings.Contains(known, "<") {
			continue
		}
		s, l := splitKey(known)
		d, ok := near(leaf, l)
		if !ok {
			continue
		}
		d *= 2
		if s != section {
			d++
		}
		if best == "" || d < least {
			best, least = known, d
		}
	}
	return best
}

// splitKey cuts a key before its last part.
func splitKey(key string) (section, leaf string) {
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		return key[:i], key[i+1:]
	}
	return "", key
}
