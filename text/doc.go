// Package text holds the plain text handling that the deterministic metrics
// and the offline judge share: sentences, words in any script, citation marks,
// and the overlap of words.
//
// It is rules and tables, no model: the same text gives the same result on
// every machine. It takes any bytes, valid UTF-8 or not, and never panics.
// It imports the standard library and golang.org/x/text only.
package text
