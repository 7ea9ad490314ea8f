// Package cost knows what judge calls cost: list prices of models, the tokens of
// a request, and the estimate of a run that has not been made yet.
//
// Three promises. A price that is not known is unknown, never zero: Lookup says
// so, and an estimate shows no money. Nothing is priced as another model: names
// are matched exactly, but for a provider's prefix and, where it makes no
// difference, the date of a snapshot. And an estimate is a range with its
// assumptions beside it; the rules of the range are the constants in rules.go.
//
// The price table is embedded and dated; no network is used.
package cost
