#!/bin/sh
# Checks that take too long for every change. They are: ten times the random panels of the long
# tests, lintr on all files, coverage, clang-tidy, all sanitizers, ten minutes of fuzzing, and a
# hundred runs that are killed. Also every page of the site in a browser, comparisons with other
# packages, and all commands on newer releases of Debian. All parts run, even if some fail; the last
# line counts failures.
set -u
cd "$(dirname "$0")/.." || exit
passed=0 failed=0 skipped=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

part() { # name, command
  name=$1
  shift
  echo "== $name"
  "$@"
  case $? in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) && echo "$name skipped" ;;
    *) failed=$((failed + 1)) && echo "$name failed" ;;
  esac
}

# Tests without suggested packages, except those that run the tests.
without_suggested() {
  Rscript tools/library.R "$tmp/imports" testthat && env R_LIBS_SITE="$tmp/imports" R_LIBS_USER=NULL \
    R_ENVIRON=/dev/null R_LIBS="$tmp/library" NOT_CRAN=true Rscript tools/test.R "$tmp/imports.counts"
}

sh tools/install.sh check "$tmp/library" || exit
export R_LIBS="$tmp/library${R_LIBS:+:$R_LIBS}"
# In the short form, no test file may take more than 15 CPU seconds, because the slowest file
# determines the duration.
part short env TEST_SECONDS=15 sh tools/test.sh
part tests env FALLIBLE_EXTENDED_TESTS=nightly sh tools/test.sh
part imports without_suggested
part lint Rscript tools/lint.R
part coverage sh tools/coverage.sh
part tidy sh tools/tidy.sh
part address sh tools/sanitize.sh address
part thread sh tools/sanitize.sh thread
part valgrind sh tools/sanitize.sh valgrind 120
part fuzz sh tools/fuzz.sh 600 "$(date +%j)"
part browser env FALLIBLE_INSTALLED=1 sh tools/browser.sh
part site env FALLIBLE_INSTALLED=1 sh tools/site.sh --look "$tmp/site"
part faults Rscript tests/fuzz/faults.R 100 40
part sweep Rscript tests/fuzz/sweep.R
part torture Rscript tests/fuzz/torture.R 600
part covers Rscript bench/coverage.R --check inst/extdata/results/coverage.csv
part peers sh tools/peers.sh
part trixie sh tools/platforms.sh trixie
part sid sh tools/platforms.sh sid
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
