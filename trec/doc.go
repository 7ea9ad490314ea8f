// Package trec reads the files of TREC, runs and judgements, and evaluates a
// run: what trec_eval does, with the same numbers, in a stream.
//
// A run has six columns (query, "Q0", document, rank, score, name), judgements
// ("qrels") have four (query, iteration, document, grade). Columns are parted
// by blanks or tabs. The rank column and the order of the lines have no say:
// the documents of a query are ordered by falling score, held as a 32-bit
// float, and at equal scores by falling id, byte by byte.
//
// By the convention ranking.TrecEval every measure equals that of trec_eval
// 9.0.8, and so does the text that WriteText makes. What trec_eval passes over
// in silence, or fails at without saying where, is an *Error here, with file
// and line: a score or grade that is no number, a line of the wrong form, a
// document that stands twice, a query with no judgement but negative ones.
//
// A run is read in blocks, in parallel; memory holds the judgements, the values
// of the queries and a few blocks. Only queries whose lines don't stand
// together are kept as a whole, and the file is then read twice.
package trec
