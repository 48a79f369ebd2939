#!/bin/sh
# Installs what this package needs, without questions.
#
#   sh tools/install.sh demo|test|long|check [LIBRARY [BUILD]]
#   sh tools/install.sh demo|test|long|check --list
#
# Each level contains the levels before it. For root on Debian, packages are binaries from Debian.
# For other users, missing R packages are compiled from CRAN into the user's library. With LIBRARY
# (an absolute path) the package is then installed there, from a copy in the folder BUILD, which
# keeps compiled objects. --list installs nothing and prints the names of the R packages.
# shellcheck disable=SC2086,SC2116 # lists of packages are meant to be split into words
set -eu
cd "$(dirname "$0")/.."
level=${1-} library=${2-} build=${3-}
case $level in
  demo | test | long | check) ;;
  *) echo "usage: sh tools/install.sh demo|test|long|check [LIBRARY [BUILD]] | --list" >&2; exit 2 ;;
esac

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# Runs a command. Its output is shown only if the command fails.
quietly() {
  "$@" >"$tmp/log" 2>&1 || { cat "$tmp/log" >&2; exit 1; }
}

# The package names in one field of DESCRIPTION. R's own packages are left out.
described() {
  awk -v field="$1:" '
    /^[^ \t]/ { on = index($0, field) == 1; sub(/^[^:]*:/, "") }
    on { gsub(/\([^)]*\)|,/, " "); print }
  ' DESCRIPTION | tr -s ' \t' '\n' |
    grep -vxE '|R|base|compiler|grDevices|graphics|grid|methods|parallel|splines|stats|stats4|tools|utils'
}

# Packages in `needed` must be installed. Packages in `wanted` may fail to install; their tests or
# pictures are then left out. What the package needs is read from DESCRIPTION. Only packages that
# the scripts in tools/ use are named here.
needed="$(described Imports) $(described LinkingTo)"
wanted="ggplot2"
debian="r-base-core make g++"
if [ "$level" != demo ]; then
  needed="$needed testthat future"
  wanted="$wanted dbplyr dplyr DBI RSQLite" # tests of databases
  debian="$debian doctest-dev"
fi
if [ "$level" = long ] || [ "$level" = check ]; then
  wanted="$wanted RPostgreSQL"
  debian="$debian postgresql"
fi
if [ "$level" = check ]; then
  needed="$needed $(described Suggests) roxygen2 lintr covr pkgdown"
  debian="$debian locales pandoc qpdf tidy pngquant debootstrap"
  debian="$debian clang clang-format clang-tidy libclang-rt-dev" # the last: clang's sanitizers
fi

if [ "$library" = --list ]; then
  echo $needed $wanted
  exit
fi

as_debian() {
  for package in "$@"; do
    echo "r-cran-$(echo "$package" | tr '[:upper:]' '[:lower:]')"
  done
}

# Prints the arguments that are not installed yet.
absent() {
  present=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "$@" 2>/dev/null || true) "
  for package in "$@"; do
    case $present in
      *" installed:$package "*) ;;
      *) echo "$package" ;;
    esac
  done
}

from_debian() {
  compilers=$(absent r-base-core make g++ $(as_debian $(described LinkingTo)))
  missing=$(absent $debian $(as_debian $needed $wanted) | grep -vxF "$compilers" | sort -u || true)
  [ -n "$compilers$missing" ] || return 0
  echo "Installing from Debian:" $compilers $missing
  export DEBIAN_FRONTEND=noninteractive
  begun=$(date +%s)
  # A package source that fails must not stop the script. Packages that cannot be installed are
  # reported below.
  apt-get update -qq >/dev/null 2>&1 || true
  apt="apt-get install -qq --no-install-recommends -o DPkg::Lock::Timeout=300"
  [ -z "$compilers" ] || quietly $apt $compilers
  [ -z "$library" ] || compile & # in parallel to unpacking packages, which uses only one core
  [ -z "$missing" ] || quietly $apt $missing
  echo "Installed after $(($(date +%s) - begun)) s"
  wait
}

from_cran() {
  for tool in R make c++; do
    command -v "$tool" >/dev/null || {
      echo "'$tool' is missing: R (>= 4.1) and its compilers are needed (on Debian: r-base-dev)." >&2
      exit 1
    }
  done
  Rscript - "$(echo $needed)" "$wanted" <<'R'
    lists <- strsplit(commandArgs(TRUE), " ", fixed = TRUE)
    absent <- function(x) unique(x[!nzchar(vapply(x, function(p) system.file(package = p), ""))])
    missing <- absent(unlist(lists))
    if (length(missing)) {
      library <- path.expand(strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep)[[1]][1])
      dir.create(library, showWarnings = FALSE, recursive = TRUE)
      .libPaths(c(library, .libPaths()))
      if ("@CRAN@" %in% getOption("repos")) utils::chooseCRANmirror(ind = 1, local.only = TRUE)
      message("Installing from CRAN into ", library, " (this can take minutes): ",
              paste(missing, collapse = " "))
      for (x in lists) { # one list at a time, so that failures in `wanted` do not stop `needed`
        install.packages(absent(x), lib = library, quiet = TRUE, Ncpus = parallel::detectCores())
      }
      if (length(left <- absent(lists[[1]]))) {
        message("Could not install (the lines above say why): ", paste(left, collapse = " "))
        quit(status = 1)
      }
      if (length(left <- absent(lists[[2]]))) {
        message("Going on without: ", paste(left, collapse = " "))
      }
    }
R
}

# Compiles in a copy. In the package's folder, objects that were compiled with older headers could
# be linked.
if [ -n "$library" ]; then
  build=${build:-$tmp/fallible}
  mkdir -p "$library" "$build"
  cp -R DESCRIPTION NAMESPACE NEWS.md R src man inst data "$build"
  find "$build/src" \( -name '*.o' -o -name '*.so' \) -delete
  export MAKEFLAGS="${MAKEFLAGS:--j$(getconf _NPROCESSORS_ONLN)}"
  # Low optimisation: for tests, compilation takes longer than the tests.
  if [ "$level" != demo ] && [ ! -e "${R_MAKEVARS_USER:-$HOME/.R/Makevars}" ]; then
    # Precompiles headers that are slow to compile. Rcpp is not included, because objects of the
    # core are also linked without R.
    printf '#include <%s>\n' Eigen/Dense algorithm functional thread vector >"$build/src/common.hpp"
    cat >"$tmp/Makevars" <<'MAKE'
CXX17FLAGS = -O1 -include common.hpp
all:
$(OBJECTS): common.hpp.gch
common.hpp.gch:
	$(CXX) $(ALL_CPPFLAGS) $(filter-out -include common.hpp,$(ALL_CXXFLAGS)) -x c++-header common.hpp -o $@
MAKE
    export R_MAKEVARS_USER="$tmp/Makevars"
  fi
fi

# Compiles in advance what R CMD INSTALL would compile. Errors are ignored here, because R CMD
# INSTALL reports them.
compile() {
  CLINK_CPPFLAGS=$(Rscript -e 'cat(sprintf("-I\"%s/include\"", find.package(commandArgs(TRUE))))' \
    $(described LinkingTo)) || return 0
  export CLINK_CPPFLAGS
  (cd "$build/src" && R CMD SHLIB -o fallible.so glue_patterns.cpp) >/dev/null 2>&1 || true
}

# An R that was not installed from Debian (for example in /usr/local) cannot use Debian's R
# packages.
r=$(command -v R || true)
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ "${r:-/usr/bin/R}" = /usr/bin/R ]; then
  from_debian
else
  from_cran
fi

if [ -n "$library" ]; then
  quietly R CMD INSTALL --no-test-load --library="$library" "$build"
fi
