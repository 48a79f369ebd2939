#!/bin/sh
# Only the registry knows methods and intervals by their names:
#   sh tools/ids.sh
# Elsewhere in R/ nothing may compare with such a name, switch on it or keep a list of them; code
# asks the record what the method needs or gives. To hand a name on (`method = "joint"`) is fine.
set -eu
cd "$(dirname "$0")/../R"
found=$(mktemp)
trap 'rm -f "$found"' EXIT

registry='accuracy-registry.R method-*.R interval-*.R'
# shellcheck disable=SC2086 # patterns of file names
ids=$(cat $registry | tr -d '\n' | grep -oE 'new_(method|interval)\( *"[a-z_]+"' | cut -d '"' -f 2)
[ "$(echo "$ids" | wc -l)" -gt 5 ] || { echo "no records found"; exit 1; }

for file in *.R; do
  case $file in
    accuracy-registry.R | method-*.R | interval-*.R) continue ;;
    agreement*.R | bounds*.R | plot-bounds.R) continue ;; # these have intervals of their own
  esac
  awk -v ids="$(echo "$ids" | grep -vx none | paste -sd '|' -)" -v file="$file" '
    BEGIN {
      id = "\"(" ids ")\""
      compared = "(==|!=) *" id "|" id " *(==|!=|%in%)|%in% *(c\\()?[^)]*" id
      called = "(identical|match|setdiff|intersect|setequal|startsWith|grepl?)\\([^)]*" id
      listed = "<- *c\\([^)]*" id
      none = "interval[^,;]*(==|!=|%in%)[^,;]*\"none\"|\"none\" *(==|!=) *[^,;]*interval"
      record = "(method|interval)_(" ids "|none)[$]id"
      compared = compared "|(==|!=|%in%) *" record "|" record " *(==|!=|%in%)"
      label = "(^|[ (,])[\"`]?(" ids ")[\"`]? *=([^=]|$)"
    }
    /^ *#/ { next }
    {
      # Labels are told from arguments by the parentheses of the switch around them; those in strings
      # do not count.
      n = split($0, piece, "\"")
      text = piece[1]
      for (i = 2; i <= n; ++i) {
        if (i % 2 == 0) gsub(/[()]/, "", piece[i])
        text = text "\"" piece[i]
      }
      while (match(text, /switch\(|[()]/)) {
        part = substr(text, 1, RSTART - 1)
        if (inside && depth == at && part ~ label) hit = 1
        token = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (token == ")") {
          if (inside && depth == at) inside = 0
          --depth
        } else {
          ++depth
          if (token == "switch(") { inside = 1; at = depth }
        }
      }
      if (inside && depth == at && text ~ label) hit = 1
      plain = $0 ~ compared || $0 ~ called || $0 ~ listed || $0 ~ none
      if (plain) hit = 1
      if (hit) print file ":" FNR ": " $0
      hit = 0
    }' "$file"
done >"$found"
cat "$found"
[ ! -s "$found" ]
