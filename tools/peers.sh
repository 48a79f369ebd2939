#!/bin/sh
# Compares results of fallible with results of other packages:
#   sh tools/peers.sh [FOLDER]
# Downloads poLCA from CRAN and published files of CrowdTruth from GitHub, into the folder
# FALLIBLE_PEERS or a temporary folder. Comparisons whose downloads fail are left out. With FOLDER,
# writes tables there (the package's tables are in inst/extdata/results). Comparisons in bench/
# (agreement, metrics, speed) are not repeated.
set -u
cd "$(dirname "$0")/.." || exit
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
FALLIBLE_PEERS=${FALLIBLE_PEERS:-$tmp/peers} failed=0
export FALLIBLE_PEERS
mkdir -p "$FALLIBLE_PEERS"

Rscript -e 'library(fallible)' >/dev/null 2>&1 || {
  sh tools/install.sh check "$tmp/library" || exit
  export R_LIBS="$tmp/library${R_LIBS:+:$R_LIBS}"
}
Rscript - <<'R'
  .libPaths(c(Sys.getenv("FALLIBLE_PEERS"), .libPaths()))
  wanted <- c("scatterplot3d", "poLCA")
  missing <- wanted[!nzchar(vapply(wanted, function(p) system.file(package = p), ""))]
  if ("@CRAN@" %in% getOption("repos")) utils::chooseCRANmirror(ind = 1, local.only = TRUE)
  if (length(missing)) {
    try(install.packages(missing, lib = .libPaths()[[1]], quiet = TRUE))
  }
R
crowdtruth=$FALLIBLE_PEERS/CrowdTruth-core
if [ -z "${CROWDTRUTH_DATA-}" ]; then
  [ -d "$crowdtruth" ] || {
    git clone -q --depth 1 --filter=blob:none --sparse \
      https://github.com/CrowdTruth/CrowdTruth-core "$crowdtruth" &&
      git -C "$crowdtruth" sparse-checkout set tutorial/data
  }
  export CROWDTRUTH_DATA="$crowdtruth/tutorial/data"
fi

for part in crowdtruth latent; do
  echo "== $part"
  Rscript "tests/peers/$part.R" ${1:+"$1/peers-$part.csv"} || failed=1
done
exit $failed
