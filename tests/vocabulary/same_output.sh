#!/bin/bash
# same_output.sh PROGRAM PROGRAM...: succeeds when all print the same lines, and some.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
"$1" > "$dir/expected" || exit 1
[ -s "$dir/expected" ] || { echo "$1 prints nothing"; exit 1; }
for program in "${@:2}"; do
  "$program" > "$dir/actual" || exit 1
  if ! cmp -s "$dir/expected" "$dir/actual"; then
    echo "$1 and $program differ:"
    diff "$dir/expected" "$dir/actual" | head -20
    exit 1
  fi
done
echo "$(wc -l < "$dir/expected") lines, the same from $# programs"
