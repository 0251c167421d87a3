#!/bin/bash
# Every header of hw/ compiles alone as C++14, without an include path: it needs no other header first, and nothing
# that lies outside hw/. Bodies of a facade (plain, vendor types, _BitInt, port wires) are reached through the facade
# and have tests of their own.
set -u
compiler=$1
cd "$(dirname "$0")/../../hw" || exit 2

check() {
  "$1" -x c++ -std=c++14 -fsyntax-only -Wall -Wextra -Werror -include "$2" /dev/null
}
export -f check

if grep -rnE '#include *[<"]([^">]*/)?(sim|models|traces|tests|bench)/' --include='*.hpp' .; then
  echo "the lines above include something outside hw/" >&2
  exit 1
fi
find . -path ./synth -prune -o -name '*.hpp' ! -path './bus/bits_*' ! -path './bus/ram_*' ! -path './bus/stream_*' -print0 |
  sort -z | xargs -0 -n 1 -P "$(nproc)" bash -c 'check "$0" "$1"' "$compiler"
