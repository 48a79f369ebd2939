#!/bin/sh
# Runs the fuzzer of tests/fuzz, and then libFuzzer on the core, each for ten minutes or for
# SECONDS:
#   sh tools/fuzz.sh [SECONDS] [SEED]
# Exits with 1 if anything failed. Add a seed that failed to tests/fuzz/corpus.R, and an input that
# libFuzzer found to tests/fuzz/core/corpus.
set -u
cd "$(dirname "$0")/.." || exit
seconds=${1:-600} seed=${2:-1} failed=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
sh tools/install.sh check "$tmp/library" || exit

echo "== R"
R_LIBS="$tmp/library${R_LIBS:+:$R_LIBS}" Rscript tests/fuzz/run.R "$seconds" "$seed" || failed=1

echo "== core"
if echo 'int main(){}' | clang++ -fsanitize=fuzzer-no-link -x c++ - -o "$tmp/probe" 2>/dev/null; then
  mkdir "$tmp/found"
  FALLIBLE_CORE_TESTS=tests/fuzz/core \
    FALLIBLE_CORE_RUN="-max_total_time=$seconds -seed=$seed -max_len=512 -timeout=30 -artifact_prefix=tests/fuzz/core/ $tmp/found tests/fuzz/core/corpus" \
    sh tools/test-core.sh clang++ c++17 -O1 -g -fsanitize=fuzzer,address,undefined \
    -fno-sanitize-recover=all >"$tmp/log" 2>&1 || failed=1
  tail -n 25 "$tmp/log"
else
  echo "skipped: clang++ with libFuzzer is missing (Debian: clang, libclang-rt-dev)"
fi
exit $failed
