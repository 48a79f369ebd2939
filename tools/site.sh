#!/bin/sh
# Builds the website of the package in a folder, without network access:
#   sh tools/site.sh [--quick] [--look] [FOLDER]     (default: site)
# --quick   without articles and without running examples
# --look    opens every page in Chromium, with pictures in FOLDER-pictures (needs Node.js and npm)
# Exits with 77 if a needed program is missing. FALLIBLE_INSTALLED=1 uses the installed package.
set -u
cd "$(dirname "$0")/.." || exit
quick= look= folder=
for argument; do
  case $argument in
    --quick) quick=1 ;;
    --look) look=1 ;;
    -*) echo "usage: sh tools/site.sh [--quick] [--look] [FOLDER]" >&2; exit 2 ;;
    *) folder=$argument ;;
  esac
done
folder=$(realpath -m "${folder:-site}")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
[ -n "${FALLIBLE_INSTALLED-}" ] || {
  sh tools/install.sh check "$tmp/library" || exit
  export R_LIBS="$tmp/library${R_LIBS:+:$R_LIBS}"
}
Rscript -e 'if (!requireNamespace("pkgdown", quietly = TRUE)) quit(status = 77)' || {
  echo "skipped: pkgdown is missing (Debian: r-cran-pkgdown)"
  exit 77
}
FALLIBLE_SITE=$folder FALLIBLE_QUICK=$quick Rscript - <<'R' || exit
  options(pkgdown.internet = FALSE)
  # Packages that are not installed would be looked up on CRAN.
  no_urls <- function() data.frame(Package = character(), URL = character())
  utils::assignInNamespace("CRAN_urls", no_urls, "downlit")
  quick <- nzchar(Sys.getenv("FALLIBLE_QUICK"))
  site <- pkgdown::as_pkgdown(".", list(destination = Sys.getenv("FALLIBLE_SITE")))
  pkgdown::check_pkgdown(site)
  pkgdown::init_site(site)
  pkgdown::build_home(site, preview = FALSE)
  pkgdown::build_reference(site, examples = !quick, lazy = FALSE, devel = FALSE, preview = FALSE)
  if (!quick) pkgdown::build_articles(site, lazy = FALSE, preview = FALSE)
  pkgdown::build_news(site, preview = FALSE)
  pkgdown::build_search(site)
R
# Links of the README refer to source files.
sed -i -E 's#href="vignettes/(articles/)?([a-z-]+)[.]Rmd"#href="articles/\2.html"#g' "$folder"/*.html
[ -n "$look" ] || exit 0
for program in node npm "${FALLIBLE_CHROMIUM:-chromium}"; do
  command -v "$program" >/dev/null || { echo "not looked at: $program is missing"; exit 77; }
done
npm install --silent --no-audit --no-fund --prefix "$tmp" playwright-core >/dev/null || {
  echo "not looked at: playwright-core cannot be had"
  exit 77
}
NODE_PATH="$tmp/node_modules" node tests/browser/site.js "$folder" "$folder-pictures"
