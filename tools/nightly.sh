#!/bin/sh
# What takes too long for every change: all sanitizers, ten minutes of fuzzing, a hundred kills,
# every page of the site in a browser, and the numbers of other packages. All parts run, whatever
# fails; the last line counts them.
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

sh tools/install.sh check "$tmp/library" || exit
export R_LIBS="$tmp/library${R_LIBS:+:$R_LIBS}"
part address sh tools/sanitize.sh address
part thread sh tools/sanitize.sh thread
part valgrind sh tools/sanitize.sh valgrind 120
part fuzz sh tools/fuzz.sh 600 "$(date +%j)"
part browser env FALLIBLE_INSTALLED=1 sh tools/browser.sh
part site env FALLIBLE_INSTALLED=1 sh tools/site.sh --look "$tmp/site"
part faults Rscript tests/fuzz/faults.R 100 40
part sweep Rscript tests/fuzz/sweep.R
part torture Rscript tests/fuzz/torture.R 600
part peers sh tools/peers.sh
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
