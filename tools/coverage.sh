#!/bin/sh
# Measures the share of lines of R and C++ that the tests of the package run. Works in a copy of the
# package, because it compiles in its folder. Generated files are left out (.covrignore):
#   sh tools/coverage.sh
# Fails below 95%.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
sh tools/install.sh check
cp -R . "$tmp/fallible"
cd "$tmp/fallible"
find src -name '*.o' -delete
NOT_CRAN=true TESTTHAT_PARALLEL=false Rscript - <<'R'
loadNamespace("covr")
flags <- getOption("covr.flags")
flags[] <- sub("-O0", "-O1", flags) # Eigen is very slow without any optimisation
options(covr.flags = flags)
lines <- covr::tally_coverage(covr::package_coverage(type = "tests"), by = "line")
percent <- function(x) round(100 * mean(x > 0), 2)
files <- sort(tapply(lines$value, lines$filename, percent))
low <- files[files < 95]
cat(sprintf("%6.2f %s\n", low, names(low)), sep = "")
cat("   ...", length(files) - length(low), "files of 95 and more\n")
total <- percent(lines$value)
cat("R", percent(lines$value[startsWith(lines$filename, "R/")]),
    "C++", percent(lines$value[startsWith(lines$filename, "src/")]), "total", total, "\n")
quit(status = total < 95)
R
