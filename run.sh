#!/bin/bash
# Installs what is missing, builds, and shows the main job: a WRITE sweep between two simulated NICs, and a real
# capture replayed into one. Results stay in out/.
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$root/scripts/common.sh"

install_packages
say "building in build/"
build_in build "balboa balboa-synth"

cd "$root"
say "a WRITE sweep: build/balboa perf --op write -a -n 200 -o out/write_sweep"
build/balboa perf --op write -a -n 200 -o out/write_sweep

say "a real capture: build/balboa replay traces/samples/pt_write_bw.pcap --as 10.77.0.1 -o out/replay"
build/balboa replay traces/samples/pt_write_bw.pcap --as 10.77.0.1 -o out/replay

say "run folders"
ls out/write_sweep out/replay
