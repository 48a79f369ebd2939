#!/bin/sh
# Checks that files of the core include only headers of folders in lower layers:
#   sh tools/layers.sh
# Each line contains a folder and the other folders whose headers it may include. No file of the
# core may include R's headers.
set -eu
cd "$(dirname "$0")/../src/core"
found=$(mktemp)
trap 'rm -f "$found"' EXIT

allowed='base
ratings base
model base ratings
agreement base ratings
crowdtruth base
posterior base ratings
accuracy base ratings model
simulation base ratings model accuracy'

find . -name '*.[ch]pp' | sort | while read -r file; do
  folder=$(echo "$file" | cut -d / -f 2)
  below=$(echo "$allowed" | grep -E "^$folder( |\$)") || { echo "$file: no such layer" && continue; }
  grep -nE '^#include "' "$file" | while IFS=: read -r line include; do
    path=$(echo "$include" | cut -d '"' -f 2)
    case $path in
      ../*/*) to=$(echo "$path" | cut -d / -f 2) ;;
      */*) to=$path ;;
      *) to=$folder ;;
    esac
    case " $below " in
      *" $to "*) ;;
      *) echo "$file:$line: '$folder' must not include from '$to'" ;;
    esac
  done
  grep -HnE '^#include <R(cpp|cppEigen|internals|math|\.h|_ext)' "$file" || true
done >"$found"
cat "$found"
[ ! -s "$found" ]
