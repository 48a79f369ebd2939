#!/bin/sh
# Checks the core with clang-tidy; the checks are in .clang-tidy:
#   sh tools/tidy.sh [FILE...]     (default: all sources of the core)
# Exits with 77 if clang-tidy is not installed.
set -eu
cd "$(dirname "$0")/.."
if ! command -v clang-tidy >/dev/null; then
  echo "clang-tidy is missing (Debian: clang-tidy)." >&2
  exit 77
fi
include() {
  Rscript -e "cat(system.file('include', package = '$1', mustWork = TRUE))"
}
eigen=$(include RcppEigen)
sitmo=$(include sitmo)
if [ $# -gt 0 ]; then printf '%s\0' "$@"; else find src/core -name '*.cpp' -print0; fi |
  xargs -0 -P "$(getconf _NPROCESSORS_ONLN)" -I{} clang-tidy --quiet --header-filter=src/core/ {} \
    -- -std=c++17 -I src -isystem "$eigen" -isystem "$sitmo"
