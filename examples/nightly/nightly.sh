#!/bin/sh
# Runs the nightly job and says what its exit code asks for. Give the folder for
# run directories as the first argument; RAGJUDGE names the program.
set -u
runs=${1:-runs}
here=$(dirname "$0")
day=$(date -u +%Y-%m-%d)

${RAGJUDGE:-ragjudge} run --config "$here/ragjudge.toml" --out "$runs/$day" --progress plain --format md > "$runs-$day.md"
code=$?
case $code in
  0) echo "$day: every gate holds" ;;
  3) echo "$day: a gate failed; see $runs-$day.md" ;;
  4) echo "$day: too few samples have a score; see $runs-$day.md" ;;
  5|130) echo "$day: stopped before its end; the same command goes on" ;;
  6) echo "$day: the judge can't be used: look at key, credit and model" ;;
  *) echo "$day: failed with $code" ;;
esac
exit $code
