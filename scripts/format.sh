#!/bin/bash
# Checks the format of every tracked C++ file; with --fix, mends it.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
mode=(--dry-run -Werror)
[ "${1:-}" = --fix ] && mode=(-i)
git ls-files -z '*.hpp' '*.cpp' | xargs -0 -r clang-format "${mode[@]}"
