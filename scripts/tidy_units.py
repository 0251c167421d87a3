#!/usr/bin/python3
"""Prints the translation units through which clang-tidy sees every changed C++ file: tidy_units.py BUILD_FOLDER.

Changed is what differs from the point where this branch left main, or everything when the branch is main itself. A
source file is its own unit. A header is seen through one unit that includes it, by the build's own record of
dependencies. Of everything, units of tests are taken only where a header has no other.
"""
import json
import os
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def changed_files():
    """The tracked C++ files that changed, and whether that is all of them."""
    tracked = run("git", "ls-files", "*.cpp", "*.hpp").split()
    head = run("git", "rev-parse", "HEAD").strip()
    for main_branch in ("origin/main", "main"):
        base = run("git", "merge-base", "HEAD", main_branch).strip()
        if base and base != head:
            return [f for f in run("git", "diff", "--name-only", base).split() if f in set(tracked)], False
    return tracked, True


def units_and_headers(build):
    """Maps each translation unit of ours to the headers of ours that it includes."""
    root = os.getcwd()
    units = {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        by_object = {
            re.search(r" -o (\S+)", c["command"]).group(1): os.path.relpath(c["file"], root) for c in json.load(file)
        }
    for block in run("ninja", "-C", build, "-t", "deps").split("\n\n"):
        lines = block.strip().splitlines()
        unit = by_object.get(lines[0].split(":")[0]) if lines else None
        if unit and not unit.startswith(("..", build)):
            files = [os.path.relpath(os.path.join(root, build, line.strip()), root) for line in lines[1:]]
            units[unit] = {f for f in files if f.endswith(".hpp") and not f.startswith("..")}
    return units


def main():
    units = units_and_headers(sys.argv[1])
    changed, everything = changed_files()
    chosen = [f for f in changed if f in units and not (everything and f.startswith("tests/"))]
    seen = set().union(*(units[u] for u in chosen))
    for header in (f for f in changed if f.endswith(".hpp")):
        if header in seen:
            continue
        stem = os.path.basename(header)[: -len(".hpp")]
        including = [u for u in units if header in units[u]]
        if including:
            unit = min(including, key=lambda u: (stem not in u, u.startswith("tests/"), u))
            chosen.append(unit)
            seen |= units[unit]
    print("\n".join(chosen))


main()
