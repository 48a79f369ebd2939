#!/bin/sh
# Uses every part of the interactive page in Chromium, and saves a picture of each step:
#   sh tools/browser.sh [FOLDER]
# Skipped, with a message and exit code 77, where Node.js, npm or Chromium is missing.
set -u
cd "$(dirname "$0")/.." || exit
for program in node npm chromium; do
  command -v $program >/dev/null || { echo "skipped: $program is missing"; exit 77; }
done
tmp=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
folder=${1:-$tmp/pictures}
mkdir -p "$folder"
[ -n "${FALLIBLE_INSTALLED-}" ] || {
  sh tools/install.sh check "$tmp/library" || exit
  export R_LIBS="$tmp/library${R_LIBS:+:$R_LIBS}"
}
npm install --silent --no-audit --no-fund --prefix "$tmp" playwright-core >/dev/null || {
  echo "skipped: playwright-core cannot be had"
  exit 77
}

{
  echo item,who,said
  for item in $(seq 1 40); do
    for who in ann bob '<b>gpt</b>'; do
      said=yes
      [ $((item % 3)) = 0 ] && said='<script>alert(1)</script>'
      [ $((item % 7)) = 0 ] && [ $who = bob ] && said=yes
      [ $((item % 5)) = 0 ] && [ $who = ann ] && said='<script>alert(1)</script>'
      echo "$item,$who,$said"
    done
  done
} >"$folder/votes.csv"
echo '<html><script>alert(1)</script></html>' >"$folder/page.html"
head -c 3000000 /dev/zero | tr '\0' 'a' >"$folder/large.csv"

port=${FALLIBLE_PORT:-7465}
Rscript -e "shiny::runApp(fallible::explore(max_size = 2), port = ${port}L, launch.browser = FALSE)" \
  >"$folder/server.log" 2>&1 &
server=$!
for _ in $(seq 1 120); do
  curl -s -o /dev/null "http://127.0.0.1:$port" && break
  sleep 0.5
done
NODE_PATH="$tmp/node_modules" node tests/browser/explore.js "http://127.0.0.1:$port" "$folder"
