#!/bin/bash
# What does one change do? Builds two revisions, runs the same on both, and prints `balboa diff` of each pair of runs.
#
# usage: bench/ab.sh [--no-area] REV_A REV_B [-- PERF OPTION...]
#
# Of each revision, in a worktree of its own: balboa and balboa-synth; six runs of `balboa perf` (bandwidth and latency
# of write, read and send; -n 200 unless another -n is given) with captures, and with the account where both know it;
# every stage as Verilog. Stages whose Verilog differs go through Yosys, the smallest first, for AREA_SECONDS (60) in
# all; area stands in the diff of the first pair. Nothing stays behind. With ccache, what both share is compiled once.
# Exit codes: 0 no pair differs, 1 some do, 2 bad input, or a revision does not build.
set -um # every job is a process group of its own, so that an interrupt can end it with all its children
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() { echo "ab.sh: $*" >&2; exit 2; }

area=yes area_seconds=${AREA_SECONDS:-60}
if [ "${1:-}" = --no-area ]; then area=no; shift; fi
[ $# -ge 2 ] || fail "usage: bench/ab.sh [--no-area] REV_A REV_B [-- PERF OPTION...]"
declare -A commit
for side in a b; do
  commit[$side]=$(git -C "$root" rev-parse --verify --quiet --short "$1^{commit}") ||
    fail "$1: no revision of this repository"
  shift
done
if [ $# -gt 0 ]; then
  [ "$1" = -- ] || fail "$1: unknown; options of perf come behind --"
  shift
fi
perf_options=("$@")
[[ " $* " == *" -n "* ]] || perf_options+=(-n 200)

work=$(mktemp -d "${TMPDIR:-/tmp}/balboa-ab.XXXXXX") || exit 2
clean_up() {
  trap '' INT TERM HUP
  for job in $(jobs -p); do kill -- "-$job" 2>/dev/null; done
  wait
  for side in a b; do git -C "$root" worktree remove --force "$work/$side" 2>/dev/null; done
  rm -rf "$work"
  git -C "$root" worktree prune
} 2>/dev/null
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# timed SECONDS WHAT COMMAND...: ends it after SECONDS and says how long it took. It waits for jobs, since bash heeds no
# trap while a command runs.
timed() {
  local start=$SECONDS status=0 job watchdog
  "${@:3}" & job=$!
  { sleep "$1"; kill -- "-$job"; } & watchdog=$!
  wait $job 2>/dev/null || status=$?
  kill -- "-$watchdog"
  wait $watchdog 2>/dev/null
  printf '  %-40s %4d s\n' "$2" $((SECONDS - start))
  return $status
}
# Both sides at once.
both() {
  local status=0
  "$@" a & local job=$!
  "$@" b || status=$?
  wait $job || status=$?
  return $status
}

# The compiler sees paths relative to the worktree: the cache of one serves the other.
build() {
  local tree=$work/$1 launcher=()
  ! command -v ccache >/dev/null || launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  export CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1
  {
    git -C "$root" worktree add --detach "$tree" "${commit[$1]}" &&
      cmake -S "$tree" -B "$tree/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "${launcher[@]}" &&
      cmake --build "$tree/build" --target balboa balboa-synth
  } >"$work/$1.log" 2>&1 && return
  grep -E 'error|FAILED|fatal' "$work/$1.log" | head -n 5 >&2
  return 1
}

perf_set() {
  local operation test
  for operation in write read send; do
    for test in bw lat; do
      "$work/$1/build/balboa" perf --op $operation --test $test --quiet --pcap -o "$work/runs/$1/${operation}_$test" \
        "${account[@]}" "${perf_options[@]}" 2>&1 | sed "s/^/  ${commit[$1]} ${operation}_$test: /" >&2
    done
  done
}

lower() {
  "$work/$1/build/hw/synth/balboa-synth" --all -o "$work/verilog/$1" "${limits[@]}" 2>&1 |
    grep -m 1 -E 'error|balboa-synth:' | sed "s/^/  ${commit[$1]}: /" >&2
  return "${PIPESTATUS[0]}"
}

# Stages whose Verilog differs or that only one has, the smallest first.
changed_stages() {
  cd "$work/verilog" || return
  local library=same
  cmp -s a/hw_ram.v b/hw_ram.v || library=other
  for stage in $(ls -Sr a b | grep -oP '^(?!hw_).*(?=\.v$)' | awk '!seen[$0]++'); do
    [ $library = same ] && cmp -s "a/$stage.v" "b/$stage.v" || echo "$stage"
  done
}

# area.py's row of a stage, as a line of SIDE.csv. Nothing for a stage that this side does not have.
area_row() {
  [ -e "$work/verilog/$2/$1.v" ] || return 0
  "$root/hw/synth/area.py" "$work/verilog/$2" "$1" --cache "$work/area" | tr -s ' ' , >"$work/$2.row"
  [ -e "$work/$2.csv" ] || head -n 1 "$work/$2.row" >"$work/$2.csv"
  tail -n +2 "$work/$2.row" >>"$work/$2.csv"
}
area_of_changed() {
  local stage
  mkdir -p "$work/area"
  for stage in $(changed_stages); do
    both area_row "$stage"
    echo "$stage" >>"$work/area.done"
  done
}
# Only stages that both sides are done with: half of one would read as a difference.
keep_area() {
  local side stage
  touch "$work/area.done"
  for side in a b; do
    [ ! -e "$work/$side.csv" ] || [ ! -d "$work/runs/$side/write_bw" ] ||
      awk -F, 'NR == FNR { done[$1]; next } FNR == 1 || $1 in done' "$work/area.done" "$work/$side.csv" \
        >"$work/runs/$side/write_bw/area.csv"
  done
  for stage in $(changed_stages | grep -vxFf "$work/area.done"); do
    echo "  $stage: Verilog differs; area not known within $area_seconds s"
  done
}

echo "A ${commit[a]} $(git -C "$root" log -1 --format=%s "${commit[a]}")"
echo "B ${commit[b]} $(git -C "$root" log -1 --format=%s "${commit[b]}")"
for side in a b; do
  timed infinity "build ${commit[$side]}" build $side || fail "${commit[$side]} does not build"
done

for judge in "$work/b/build/balboa" "$work/a/build/balboa" "$root/build/balboa" ''; do
  "$judge" diff --help >/dev/null 2>&1 && break
done
[ -n "$judge" ] || fail "neither revision has \`balboa diff\`, nor is there one in $root/build"

account=(--account)
for side in a b; do
  "$work/$side/build/balboa" perf --help | grep -q -- --account || account=()
done
mkdir -p "$work/runs/a" "$work/runs/b" "$work/verilog"
timed infinity "six runs of each" both perf_set
if [ $area = yes ]; then
  # Tables as small as those of the target `area`.
  mapfile -t limits < <(grep -oE '\-D HW_[A-Z_]+=[0-9]+' "$work/b/hw/synth/CMakeLists.txt" | tr ' ' '\n')
  if timed infinity "Verilog of all stages of each" both lower; then
    timed "$area_seconds" "area of the $(changed_stages | wc -l) stages that differ" area_of_changed
    keep_area
  else
    echo "  a revision cannot be lowered: no area"
  fi
fi

worst=0
cd "$work/runs" || exit 2
for pair in {write,read,send}_{bw,lat}; do
  echo
  echo "$pair"
  if [ ! -d "a/$pair" ] || [ ! -d "b/$pair" ]; then
    echo " not compared: one revision left no run"
    worst=2
    continue
  fi
  "$judge" diff "a/$pair" "b/$pair"
  status=$?
  [ $status -le $worst ] || worst=$status
done
echo
echo "$SECONDS s in all"
exit $worst
