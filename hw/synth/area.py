#!/usr/bin/env python3
"""Area and longest paths of lowered stages, by Yosys for UltraScale+ (xcup).

usage: area.py DIR [STAGE...] [--cache DIR] [--bound NS] [--paths]

DIR holds what balboa-synth wrote. One row a stage:
  LUT       LUT1 to LUT6        FF        flip-flops
  LUTRAM    LUTs used as RAM    BRAM18    block RAMs of 18 Kbit
  reg_ns    the recurrence (rule 9): the longest path from a register or an input to a register, a RAM port or a
            stream's pop. The data and push outputs are left open, since a stage's depth pipelines them.
  bram_ns   the same from a block RAM, the 1 ns that its data comes late included
  out_ns    the longest path to a data or push output, from wherever
  depth     of each output in the order of step(), what its path asks for (hw/timing.hpp): whole cycles of 3.2 ns, and
            one more
Paths are Yosys' estimate with 300 ps of wire before every LUT (paths.py). What Yosys made of a Verilog
text is kept. Exit 1 when reg_ns or bram_ns is over the bound, 2 on bad usage.
"""
import argparse
import collections
import hashlib
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import paths  # noqa: E402

FLOW = "synth_xilinx -family xcup -flatten -abc9 -noiopad -noclkbuf"
LUTS_OF_LUTRAM = {"RAM32X1S": 1, "RAM64X1S": 1, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8,
                  "RAM32M": 4, "RAM64M": 4, "RAM32M16": 8, "RAM64M8": 8, "RAM32X16DR8": 8, "RAM64X8SW": 8,
                  "RAM128X1S": 2, "RAM256X1S": 4, "RAM512X1S": 8}
# Their outputs, to tell Yosys that they come late.
BLOCK_RAMS = {"RAMB18E2": {"DOUTADOUT": 16, "DOUTBDOUT": 16, "DOUTPADOUTP": 2, "DOUTPBDOUTP": 2},
              "RAMB36E2": {"DOUTADOUT": 32, "DOUTBDOUT": 32, "DOUTPADOUTP": 4, "DOUTPBDOUTP": 4}}
OUTPUTS = r"_(wdata|push)$"
CYCLE_PS = 3200  # of a path that is cut: 4 ns less what the registers in it take


def fail(message):
    print(f"area.py: {message}", file=sys.stderr)
    sys.exit(2)


def yosys(script):
    run = subprocess.run(["yosys", "-p", script], capture_output=True, text=True)
    if run.returncode != 0:
        fail("yosys: " + (run.stderr or run.stdout).strip().splitlines()[-1])
    return run.stdout


def with_registers_kept(text):
    """Registers, and with them what a Ram fetches, stay although nothing but an open output may hang on them: their
    own loops and the Ram's address count."""
    return re.sub(r"^( +)reg ", r"\1(* keep *) reg ", text, flags=re.M)


def without_contents(library):
    """The library's Ram without its zeroes: a block RAM begins with them in any case, and Yosys takes time for each row
    that grows with the square of their number."""
    return re.sub(r"^ *initial for .*\n", "", library, flags=re.M)


def open_outputs(stage, text):
    """The stage in a module `top` that leaves its data and push outputs open and is never reset."""
    ports = re.findall(r"(input|output) wire (\[\d+:0\] )?(\w+)", text[:text.index(");")])
    kept = [p for p in ports if not re.search(OUTPUTS, p[2]) and p[2] != "rst_n"]
    declared = ", ".join(f"{direction} wire {width}{name}" for direction, width, name in kept)
    joined = ", ".join(f".{name}({name})" for _, _, name in kept)
    return f"module top ({declared});\n  {stage} inner (.rst_n(1'b1), {joined});\nendmodule\n{text}"


def late_block_rams(library):
    """Yosys' declarations of the block RAMs, with the delay of their outputs."""
    text = ""
    for cell, outputs in BLOCK_RAMS.items():
        declaration = re.search(rf"module {cell} \(\.\.\.\);.*?(?=endmodule)", library, re.S).group(0)
        arcs = "".join(f"    (posedge {'CLKARDCLK' if 'AD' in pin else 'CLKBWRCLK'} => ({pin} : {bits}'bx)) = "
                       f"{paths.BLOCK_RAM_PS};\n" for pin, bits in outputs.items())
        text += f"(* blackbox *)\n{declaration}  specify\n{arcs}  endspecify\nendmodule\n"
    return text


def yosys_data():
    return pathlib.Path(shutil.which("yosys") or fail("yosys is not installed")).resolve().parent.parent / "share/yosys"


def mapped(top, sources, cache, before_registers=""):
    """The module `top` of the source texts as cells of the part; `before_registers`: commands for Yosys."""
    flow = f"{FLOW} -top {top}"
    rams = late_block_rams((yosys_data() / "xilinx/cells_xtra.v").read_text())
    key = hashlib.sha256("".join([flow, before_registers, rams, *sources]).encode()).hexdigest()[:24]
    kept = cache / f"{key}.json"
    if not kept.exists():
        files = [cache / f"{key}.{i}.v" for i in range(len(sources) + 1)]
        for path, text in zip(files, [rams, *sources]):
            path.write_text(text)
        yosys(f"scratchpad -set synth_xilinx.abc9.W {paths.WIRE_PS}; "
              f"read_verilog -sv {' '.join(map(str, files[1:]))}; "
              f"{flow} -run :map_ffs; {before_registers} {flow} -run map_ffs:map_luts; "
              f"delete =RAMB18E2 =RAMB36E2; read_verilog -lib -specify {files[0]}; {flow} -run map_luts:; "
              f"write_json {kept}")
        for path in files:
            path.unlink()
    return json.loads(kept.read_text())["modules"][top]


def area(module):
    cells = collections.Counter(cell["type"] for cell in module["cells"].values())
    count = lambda pattern: sum(n for name, n in cells.items() if re.fullmatch(pattern, name))
    return {"LUT": count("LUT[1-6]"), "FF": count("FD[RSCP]E(_1)?"),
            "LUTRAM": sum(n * LUTS_OF_LUTRAM.get(name, 0) for name, n in cells.items()),
            "BRAM18": count("RAMB18E2") + 2 * count("RAMB36E2")}


def measure(stage, directory, cache):
    path = directory / f"{stage}.v"
    if not path.exists():
        fail(f"no {path}: balboa-synth writes it")
    text, library = path.read_text(), without_contents((directory / "hw_ram.v").read_text())
    cells = paths.cell_library((yosys_data() / "xilinx/cells_sim.v").read_text())
    # Logic stays out of the registers' reset, where it would have to come 0.4 ns earlier.
    recurrence = mapped("top", [with_registers_kept(t) for t in (library, open_outputs(stage, text))], cache, "dffunmap -srst-only;")
    netlist = paths.Netlist(recurrence, cells)
    result = {"reg": netlist.longest("register", r"_pop$"), "bram": netlist.longest("block RAM", r"_pop$")}
    whole = mapped(stage, [library, text], cache)
    netlist = paths.Netlist(whole, cells)
    outputs = [p[:-len("_push")] for p in whole["ports"] if p.endswith("_push")]
    worst = [max(netlist.longest(start, f"^{port}{OUTPUTS}", state=False) for start in netlist.arrival)
             for port in outputs]
    result["out"] = max(worst)
    result["depth"] = "/".join(str(math.ceil(ps / CYCLE_PS) + 1) for ps, *_ in worst)
    return {**result, **area(whole)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("stages", nargs="*")
    parser.add_argument("--cache", type=pathlib.Path, help="default: DIR/area")
    parser.add_argument("--bound", type=float, default=4.0, help="ns, default 4.0: 250 MHz")
    parser.add_argument("--paths", action="store_true", help="the nets of each path, with the ps at which they change")
    options = parser.parse_args()
    if not options.directory.is_dir():
        fail(f"no folder {options.directory}")
    cache = options.cache or options.directory / "area"
    cache.mkdir(parents=True, exist_ok=True)
    stages = options.stages or sorted(f.stem for f in options.directory.glob("*.v") if not f.stem.startswith("hw_"))
    columns = (20, 6, 6, 6, 6, 6, 7, 6, 7, 7)
    print_row = lambda cells: print(" ".join(f"{c:<{w}}" if i == 0 else f"{c:>{w}}"
                                             for i, (c, w) in enumerate(zip(cells, columns))), flush=True)
    print_row(["stage", "LUT", "FF", "LUTRAM", "BRAM18", "reg_ns", "bram_ns", "out_ns", "depth", "verdict"])
    over = False
    for stage in stages:
        r = measure(stage, options.directory, cache)
        reg, bram, out = (r[k][0] / 1000 for k in ("reg", "bram", "out"))
        good = max(reg, bram) <= options.bound
        over |= not good
        print_row([stage, r["LUT"], r["FF"], r["LUTRAM"], r["BRAM18"], f"{reg:.2f}", f"{bram:.2f}" if bram else "-",
                   f"{out:.2f}", r["depth"], "good" if good else "OVER"])
        for kind in ("reg", "bram", "out") if options.paths else ():
            print(f"  {kind}: {' > '.join(r[kind][2])} > {r[kind][1]}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
