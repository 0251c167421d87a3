#!/bin/bash
# tidy.sh BUILD_FOLDER: clang-tidy over the files that changed since the branch left main, or over all where there is
# no such point. Headers are seen through one translation unit that includes them.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
list=$(scripts/tidy_units.py "$1") || exit 1
mapfile -t units < <(printf '%s' "$list")
echo "${#units[@]} translation units"
[ ${#units[@]} -eq 0 ] && exit 0
printf '%s\0' "${units[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$1" --quiet 2>&1 |
  grep --line-buffered -vE '^[0-9]+ warnings? (generated|treated as error)'
exit "${PIPESTATUS[1]}"
