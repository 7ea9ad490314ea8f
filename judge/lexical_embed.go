package judge

import (
	"hash/fnv"
	"math"

	"github.com/ragjudge/ragjudge/text"
)

// lexicalDimensions is the length of the lexical judge's vectors. With some ten
// content words a text, two words of two texts share a place in about one of
// ten pairs, and then add or take a tenth of the similarity.
const lexicalDimensions = 1024

// lexicalVectors gives each text a vector by its words alone: each content word
// adds to one place that its hash names, with a sign of its own, as often as it
// stands there, damped by the square root. The cosine of two such vectors is
// about the share of words that two texts have in common; it sees no meaning.
// Vectors are of length 1; that of a text without words is zero.
func lexicalVectors(texts []string) [][]float32 {
	all := make([][]float32, len(texts))
	for i, t := range texts {
		all[i] = lexicalVector(t)
	}
	return all
}

func lexicalVector(s string) []float32 {
	words := text.AppendWords(nil, text.Fold(s))
	counts := map[string]int{}
	var order []string // sums of floats hang on their order
	for _, all := range []bool{false, true} {
		for i, w := range words {
			if !all && (stopWords[w] || isNegation(words, i)) {
				continue
			}
			w = contentWord(w)
			if counts[w]++; counts[w] == 1 {
				order = append(order, w)
			}
		}
		if len(order) > 0 {
			break // a text of small words only is known by these
		}
	}
	sum := make([]float64, lexicalDimensions)
	for _, w := range order {
		h := fnv.New64a()
		h.Write([]byte(w)) //nolint:errcheck // a hash takes all
		n := h.Sum64()
		weight := math.Sqrt(float64(counts[w]))
		if n>>63 == 1 {
			weight = -weight
		}
		sum[n%lexicalDimensions] += weight
	}
	length := 0.0
	for _, x := range sum {
		length += x * x
	}
	vector := make([]float32, lexicalDimensions)
	if length > 0 {
		for i, x := range sum {
			vector[i] = float32(x / math.Sqrt(length))
		}
	}
	return vector
}
