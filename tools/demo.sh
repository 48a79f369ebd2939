#!/bin/sh
# Shows what the package does: `sh tools/demo.sh [PICTURES]`, where PICTURES (seen from the
# package's root, default `pictures`) is the folder for the pictures. The package is installed into
# a temporary library, so the user's library does not change.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

sh tools/install.sh demo "$tmp/library"
R_LIBS="$tmp/library${R_LIBS:+:$R_LIBS}" LANG="${LANG:-C.UTF-8}" Rscript tools/demo.R "${1:-pictures}"
