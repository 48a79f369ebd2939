#!/bin/sh
# Makes the site of the package in a folder, and asks for nothing from the network:
#   sh tools/site.sh [FOLDER]     (default: site)
set -u
cd "$(dirname "$0")/.." || exit
sh tools/install.sh check || exit
Rscript -e 'if (!requireNamespace("pkgdown", quietly = TRUE)) quit(status = 77)' || {
  echo "skipped: pkgdown is missing (Debian: r-cran-pkgdown)"
  exit 0
}
FALLIBLE_SITE=$(realpath -m "${1:-site}") Rscript - <<'R'
  options(pkgdown.internet = FALSE)
  pkgdown::build_site(
    override = list(destination = Sys.getenv("FALLIBLE_SITE")), preview = FALSE, new_process = FALSE,
    install = TRUE
  )
R
