// Package bench measures the speed and the size that ragjudge promises, each
// as a benchmark that says what must hold and fails where it does not.
//
// It holds benchmarks only. They run by
//
//	make bench
//
// and never as part of the tests, because a figure of time that is taken on a
// busy machine says nothing about a change. docs/benchmarks.md says how each is
// made and what was measured. Where it can be, a figure is a ratio to a
// yardstick that is measured in the same run, turn by turn; what can't is
// measured on the built program, from its start to its end.
//
// Two variables of the environment change what runs:
//
//	RAGJUDGE_BENCH_ROWS  samples of BenchmarkMemory; 100000 if not set
//	RAGJUDGE_BENCH_DIR   where its files go (5 GB for 1,000,000 samples);
//	                     the system's temporary folder if not set
package bench
