#!/bin/sh
# Compiles the C++ core and its tests without R, and runs the tests:
#   sh tools/test-core.sh [COMPILER] [STANDARD] [FLAG...]     (default: g++ c++17)
# Exits with 77 if doctest is not installed. Environment variables: FALLIBLE_CORE_OBJECTS, a folder
# with the compiled core; FALLIBLE_CORE_TESTS, a folder to use instead of tests/cpp;
# FALLIBLE_CORE_RUN, arguments of the test program.
set -eu
cd "$(dirname "$0")/.."
compiler=${1:-g++} standard=${2:-c++17}
shift $(($# < 2 ? $# : 2))
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

if ! echo '#include <doctest/doctest.h>' | "$compiler" -E -x c++ - >/dev/null 2>&1; then
  echo "The header doctest/doctest.h is missing (Debian: doctest-dev)." >&2
  exit 77
fi
include() {
  Rscript -e "cat(system.file('include', package = '$1', mustWork = TRUE))"
}
# Compiler flags, one word each. -isystem suppresses warnings in headers of other projects. clang
# counts signs of integers as conversions, g++ does not.
set -- -std="$standard" -pthread -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion \
  -Wdouble-promotion -pedantic -Werror -I src \
  -isystem "$(include RcppEigen)" -isystem "$(include sitmo)" "$@"

# Precompiles headers that are slow to compile. Other builds of the package do not use this header,
# and so check that the core includes what it needs.
printf '#include <%s>\n' Eigen/Dense algorithm doctest/doctest.h functional thread vector \
  >"$tmp/common.hpp"
"$compiler" "$@" -x c++-header "$tmp/common.hpp" -o "$tmp/common.hpp.gch"

# Runs one compiler per processor. src/core/a.cpp becomes src_core_a.cpp.o, so that files with equal
# names do not collide.
objects=${FALLIBLE_CORE_OBJECTS-}
sources=${FALLIBLE_CORE_TESTS:-tests/cpp}
[ -n "$objects" ] || sources="$sources src/core"
# shellcheck disable=SC2086 # words
find $sources -name '*.cpp' -print0 | xargs -0 -P "$(getconf _NPROCESSORS_ONLN)" -I{} sh -c '
  source=$1 tmp=$2 && shift 2
  exec "$@" -include "$tmp/common.hpp" -c "$source" -o "$tmp/$(echo "$source" | tr / _).o"
' compile {} "$tmp" "$compiler" "$@"
# shellcheck disable=SC2046 # words
"$compiler" "$@" "$tmp"/*.o $([ -z "$objects" ] || find "$objects" -name '*.o') -o "$tmp/tests"
# shellcheck disable=SC2086 # words
"$tmp/tests" ${FALLIBLE_CORE_RUN:---no-colors=true}
