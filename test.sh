#!/bin/bash
# Installs what is missing, builds, and checks everything: format, lint, the tests under address and
# undefined-behaviour sanitizers, the tests. Runs all parts even when one fails; ctest's summary comes last.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$root/scripts/common.sh"
failed=()

part() {
  say "$1"
  "${@:2}" || { failed+=("$1"); echo "FAILED: $1" >&2; }
}

# run_tests FOLDER [CTEST OPTION]...: one line for each test that does not pass, and the summary.
run_tests() {
  ctest --test-dir "$root/$1" -j "$(nproc)" --output-on-failure "${@:2}" 2>&1 |
    grep --line-buffered -vE '^ +Start +[0-9]+:|  Passed  '
  return "${PIPESTATUS[0]}"
}

# Without what only takes long there: hundreds of short runs each (corners of parameters, widths, seeds of losses, what the
# account says, replays of every capture), and tables of many gigabytes of address space made anew for each of hundreds of
# cases. The code is that of the other tests.
sanitized_tests() {
  local slow='e2e.(account|corners|degraded|determinism|extract|oracles)|e2e.loss.(fifty|each)|e2e.operations.every_width'
  slow+='|e2e.replay.(soft_roce|third_party|derived)|hw.WorkQueue.NewLife'
  build_in build-asan all -DBALBOA_SANITIZE=address,undefined &&
    run_tests build-asan -E "$slow"
}

install_packages || exit 1
say "building in build/"
build_in build all || exit 1

part "format" "$root/scripts/format.sh"
part "lint" "$root/scripts/tidy.sh" build
part "tests under sanitizers" sanitized_tests
[ ${#failed[@]} -eq 0 ] || echo "failed so far: ${failed[*]}"
part "tests" run_tests build
[ ${#failed[@]} -eq 0 ]
