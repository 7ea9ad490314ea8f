// Package report turns the results of a run into a summary: means with their
// intervals, the counts of everything that has no score, categories, the
// worst samples, the gates, and what it all cost. It renders the summary as
// text, Markdown, JSON and CSV.
//
// # What it promises
//
// Missing is never zero and never NaN. Only a scored value enters a mean;
// beside every mean stand the number of scored values and the counts of the
// undefined, skipped, unscored and failed ones. A figure that does not exist
// is null in JSON, empty in CSV and a dash for people.
//
// The same results give the same summary, to the last digit: sums are exact,
// the bootstrap is seeded by [Options] and by the name of what it resamples,
// and every list has a stated order. The mean, the range and a bootstrapped
// interval do not depend on the order of the results either; only the last
// digits of the standard deviation and of a normal interval can.
//
// Memory does not grow with the number of results. A [Summarizer] keeps a
// bounded number of values, categories, reasons and samples and says in the
// summary where a bound was reached.
//
// # Statistics
//
// The mean is the correctly rounded sum of the values divided by their number.
// Because the sum is exact before it is rounded, values such as 1/3 and 2/3
// whose true sum is a whole number give exactly that whole number, so a mean
// of 0.85 is not taken for less than 0.85 for want of a digit.
//
// The 95 % interval of a mean is made by one of these methods, named beside it
// as ci95_method:
//
//   - [MethodBootstrap]: the percentile bootstrap over samples, for 2 to
//     [BootstrapMax] scored values (2 to [CategoryBootstrapMax] within a
//     category). [Resamples] means are drawn with replacement; the interval
//     runs from the 50th lowest to the 50th highest of them. See Efron and
//     Tibshirani, An Introduction to the Bootstrap, chapter 13. With a handful
//     of values it is too narrow, as every bootstrap is.
//   - [MethodNormal]: mean plus and minus 1.96 standard errors, for more values
//     than that, cut to the range of the values seen. The variance is
//     Welford's.
//   - [MethodNoSpread]: all of two or more values are equal. The interval is
//     that value; it says nothing about values that were not seen.
//   - [MethodNone]: fewer than two values, or values too large to square. There
//     is no interval.
//
// Samples are taken as independent; there is no clustering.
package report
