// Package metrics holds every metric of ragjudge: the judged ones, which ask a
// language model through package judge, and the deterministic ones, which need
// no call.
//
// New makes a metric of a name:
//
//	m, err := metrics.New("precision@5", metrics.Options{})
//	score, err := m.Score(ctx, &sample)
//
// All lists the families; one family is one file. Names accept the spellings
// of other tools where the meaning is the same (see Canonical).
//
// What the package promises: a value lies within 0..1, and higher is better unless
// eval.Info says otherwise (a peer's formula, by Options.Compat, may leave that
// range where the peer's does). A
// sample without a needed field is skipped, a formula without a value is
// undefined, a judge's reply that can't be used is unscored, a call that failed
// is failed, each with its reason; none of these is ever a number. The
// denominator is always what was asked about. Verdicts, reasons and ratings
// are kept in the score's detail, in the exported types ClaimsDetail,
// ClaimTableDetail, EntitiesDetail, QuestionsDetail, SimilarityDetail, ChunksDetail, RatingDetail, ChecklistDetail, RankingDetail, TextMatchDetail, OverlapDetail,
// BLEUDetail and SentencesDetail.
package metrics
