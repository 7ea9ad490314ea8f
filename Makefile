.PHONY: test ci bench

test:
	go test -race -timeout 20m ./...

ci:
	.ci/run

# Every row of docs/benchmarks.md; the ratios are what counts.
bench:
	go test -run '^$$' -bench . -benchtime 1x -timeout 90m ./bench/
	go test -run '^$$' -bench . -timeout 60m ./cache/ ./cost/ ./dataset/ ./judge/ ./llm/ ./report/ ./tokens/
