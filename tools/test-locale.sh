#!/bin/sh
# Runs tests of labels, groups and raters of the installed package in a Turkish session, where "I"
# is not the capital of "i" and strings have another order. If the system lacks this locale, it is
# compiled into a temporary folder. If that fails, no tests are run.
set -u
cd "$(dirname "$0")/.." || exit
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if ! locale -a | grep -qi '^tr_TR[.]utf-\{0,1\}8$'; then
  if ! localedef -i tr_TR -f UTF-8 "$tmp/tr_TR.UTF-8" >/dev/null 2>&1; then
    echo "No locale tr_TR.UTF-8: its tests are skipped"
    exit 0
  fi
  export LOCPATH="$tmp"
fi
LC_ALL=tr_TR.UTF-8 NOT_CRAN=true Rscript tools/test.R "$tmp/counts" \
  '^(ratings|ratings-(input|labels|read)|read-formats|rater-kinds|covariates)$'
