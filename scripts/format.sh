#!/bin/bash
# Checks the format of every tracked C++ file; with --fix, mends it. The faulty files of tests/synth/bad mark the lines of
# their faults and stay as they are.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
mode=(--dry-run -Werror)
[ "${1:-}" = --fix ] && mode=(-i)
git ls-files -z '*.hpp' '*.cpp' ':!tests/synth/bad' | xargs -0 -r clang-format "${mode[@]}"
