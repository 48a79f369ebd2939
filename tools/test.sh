#!/bin/sh
# Tests the C++ core without R, and the installed package. The last lines show the counts of both:
#   sh tools/test.sh [--long]
# --long: more random panels, a PostgreSQL server, all pictures, inputs that once failed. It sets
# FALLIBLE_EXTENDED_TESTS=true, which tests check. The package is installed into a temporary
# library, or into the folder FALLIBLE_LIBRARY, where it stays.
set -u
cd "$(dirname "$0")/.." || exit
case ${1-} in
  '') ;;
  --long) export FALLIBLE_EXTENDED_TESTS=true ;;
  *) echo "usage: sh tools/test.sh [--long]" >&2; exit 2 ;;
esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
# NOT_CRAN is set because testthat does not compare snapshots on CRAN.
export LANG="${LANG:-C.UTF-8}" NOT_CRAN=true
export FALLIBLE_EXTENDED_TESTS="${FALLIBLE_EXTENDED_TESTS:-false}"
library=${FALLIBLE_LIBRARY:-$tmp/library}
passed=0 failed=0 skipped=0

count() { # arguments: passed, failed, skipped, and the exit code
  [ "$4" = 0 ] || [ "$2" != 0 ] || set -- "$1" 1 "$3"
  passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

level=test
[ "$FALLIBLE_EXTENDED_TESTS" = false ] || level=long
# Objects are kept, so that tests of the core can link them without compiling again.
if sh tools/install.sh $level "$library" "$tmp/fallible"; then
  echo "== C++ core"
  FALLIBLE_CORE_OBJECTS="$tmp/fallible/src/core" sh tools/test-core.sh >"$tmp/core" 2>&1
  code=$?
  cat "$tmp/core"
  if [ $code = 77 ]; then
    count 0 0 1 0
  else
    # Reads "[doctest] assertions: 5 | 4 passed | 1 failed |". An exception is not counted as an
    # assertion.
    assertions=$(sed -n 's/.*assertions: *[0-9]* | *\([0-9]*\) passed | *\([0-9]*\) failed.*/\1 \2/p' "$tmp/core")
    thrown=$(grep -cE 'ERROR: test case (THREW|CRASHED)' "$tmp/core")
    # shellcheck disable=SC2086 # two words
    set -- ${assertions:-0 0}
    count "$1" $(($2 + thrown)) 0 $code
  fi

  echo "== R package"
  R_LIBS="$library${R_LIBS:+:$R_LIBS}" Rscript tools/test.R "$tmp/r"
  code=$?
  # shellcheck disable=SC2046 # three words
  count $(cat "$tmp/r" 2>/dev/null || echo 0 0 0) $code
else
  failed=1
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
