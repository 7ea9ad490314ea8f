// Package testset draws test sets and says what a set of samples is fit for.
//
// Draw takes a sample of a log: so many questions, spread over the strata of a
// category, without duplicates and near-duplicates. The same seed gives the
// same sample whatever the order of the log, because chance is a hash of seed
// and question. Profile describes samples that pass by: lengths, languages,
// categories, fields, duplicates. Difference and Rows say how small a change of
// a mean a number of samples can show.
//
// Memory is bounded: Draw holds the sample and a few times as many candidates,
// Profile a histogram per field and a bounded index of questions.
package testset
