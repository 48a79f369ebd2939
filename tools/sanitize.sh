#!/bin/sh
# Runs the tests of the C++ core with a sanitizer, or the fuzzer of the whole package under
# valgrind:
#   sh tools/sanitize.sh address|thread [COMPILER] [STANDARD]     (default: all four builds, or g++)
#   sh tools/sanitize.sh valgrind [SECONDS]
set -u
cd "$(dirname "$0")/.." || exit
kind=${1-}
[ $# = 0 ] || shift
case $kind in
  address)
    export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
    flags=-fsanitize=address,undefined
    builds='g++ c++17,g++ c++20,clang++ c++17,clang++ c++20'
    ;;
  thread) flags=-fsanitize=thread builds='g++ c++17' ;;
  valgrind)
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    sh tools/install.sh test "$tmp"
    FALLIBLE_FUZZ_SLOW=Inf R_LIBS="$tmp${R_LIBS:+:$R_LIBS}" R --vanilla -d "valgrind --quiet --error-exitcode=1" \
      --file=tests/fuzz/run.R --args "${1:-60}" 1
    exit
    ;;
  *)
    echo "usage: sh tools/sanitize.sh address|thread [COMPILER] [STANDARD], or valgrind [SECONDS]" >&2
    exit 2
    ;;
esac
[ $# = 0 ] || builds="$1 ${2:-c++17}"

failed=0
IFS=,
for build in $builds; do
  unset IFS
  echo "$build"
  # shellcheck disable=SC2086 # two words
  sh tools/test-core.sh $build -O0 -g1 "$flags" -fno-sanitize-recover=all || failed=1
done
exit $failed
