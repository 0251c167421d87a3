#!/usr/bin/env python3
"""Speed of the simulator: what a cycle of two busy NICs costs, and what a second of waiting costs.

usage: speed.py BALBOA [--instructions]

Prints, for saturated WRITEs, READs and SENDs of 4 KB at 100 Gb/s between two NICs (ICRC made and checked, payload moved
and compared) and of 64 B: nanoseconds of one core per cycle of the pair, how many times slower than hardware that is,
cycles and packets per second. With --instructions, counted by valgrind and so the same on a busy machine: instructions
per beat and per cycle, and those of one simulated second in which 500 QPs wait for a silent peer with armed time-outs.
Exit 1 when a bar is missed: 100 times slower than hardware, 3e8 instructions a second of waiting.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

CLOCK_NS = 4.0
SLOWEST = 100.0
MOST_WAITING_INSTRUCTIONS = 3e8


def run(command):
    """CPU seconds of the command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"speed.py: {' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def instructions(command):
    _, done = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command])
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def perf(balboa, op, size, messages):
    return [balboa, "perf", "--op", op, "--profile", "ideal", "-s", str(size), "-n", str(messages), "-t", "1024",
            "--json"]


def cycles(done):
    return json.loads(done.stdout)["results"][0]["end_ps"] / 1000 / CLOCK_NS


def busy(balboa, op, size, few, many, count_instructions):
    """The cost of the messages between a short and a long run: start-up and tear-down cancel out."""
    best = None
    for _ in range(3):
        short_s, short = run(perf(balboa, op, size, few))
        long_s, long = run(perf(balboa, op, size, many))
        cost = (long_s - short_s) * 1e9 / (cycles(long) - cycles(short))
        best = cost if best is None else min(best, cost)
    packets = (many - few) / ((cycles(long) - cycles(short)) * best * 1e-9)
    print(f"{op.upper()} {size} B: {best:.0f} ns a cycle of the pair, {best / CLOCK_NS:.0f} times slower than hardware, "
          f"{1e3 / best:.2f} Mcycle/s, {packets / 1e3:.0f} kpacket/s (best of 3)")
    if count_instructions:
        spent = instructions(perf(balboa, op, size, few * 3)) - instructions(perf(balboa, op, size, few))
        beats = -(-(70 + size + 4) // 64) * few * 2
        ticks = cycles(run(perf(balboa, op, size, few * 3))[1]) - cycles(run(perf(balboa, op, size, few))[1])
        print(f"{op.upper()} {size} B: {spent / beats:.0f} instructions a beat from host to host, {spent / ticks:.0f} a cycle")
    return best / CLOCK_NS


def waiting_scenario(folder, time_out, frames):
    """500 QPs send one packet each to a peer that gets none of them: time-outs until the retries are used up."""
    text = (f'profile = "roce"\n[nic]\ntimeout = {time_out}\nretry_count = 7\n[workload]\nqps = 500\nsize = 64\n'
            "iterations = 1\n[expect]\nerrors = 500\n")
    text += "".join(f'[[fault]]\nlink = "nic0-nic1"\nframe = {i + 1}\ntype = "drop"\n' for i in range(frames))
    path = pathlib.Path(folder) / f"waiting_{time_out}.toml"
    path.write_text(text)
    return str(path)


def waiting(balboa):
    """Eight time-outs of 134 ms are 1.07 s. The same with 8 time-outs of 0.13 ms costs what is not waiting."""
    with tempfile.TemporaryDirectory() as folder:
        spent = [instructions([balboa, "run", waiting_scenario(folder, t, 4000), "--quiet"]) for t in (15, 5)]
        _, done = run([balboa, "run", waiting_scenario(folder, 15, 4000), "--json"])
    seconds = json.loads(done.stdout)["simulated_ps"] * 1e-12
    print(f"500 QPs with armed time-outs, {seconds:.2f} s simulated: {spent[0]:.3g} instructions, start-up, 4000 "
          f"packets and the scenario file included; {spent[0] - spent[1]:.3g} more than the same in 1 ms")
    return spent[0] / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("balboa")
    parser.add_argument("--instructions", action="store_true")
    options = parser.parse_args()
    if not os.access(options.balboa, os.X_OK):
        print(f"speed.py: {options.balboa}: no such program", file=sys.stderr)
        sys.exit(2)
    missed = False
    for op in ("write", "read", "send"):
        missed |= busy(options.balboa, op, 4096, 2000, 20000, options.instructions) > SLOWEST
        busy(options.balboa, op, 64, 20000, 200000, options.instructions)
    if options.instructions:
        missed |= waiting(options.balboa) > MOST_WAITING_INSTRUCTIONS
    sys.exit(1 if missed else 0)


main()
