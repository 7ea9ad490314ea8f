package config

import (
	"strings"

	words "github.com/ragjudge/ragjudge/text"
)

// longest is the length from which on a name is no typo of a known one.
const longest = 100

// near returns the distance of two names, and whether one can be a typo of the
// other: about one wrong letter in three.
func near(a, b string) (int, bool) {
	if len(a) > longest {
		return 0, false
	}
	d := words.Distance(a, b)
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
