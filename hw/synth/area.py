#!/usr/bin/env python3
"""Area and recurrence path of lowered stages, by Yosys for UltraScale+ (xcup).

usage: area.py DIR [STAGE...] [--cache DIR] [--bound NS]

DIR holds what balboa-synth wrote. One row a stage:
  LUT       LUT1 to LUT6        FF        flip-flops
  LUTRAM    LUTs used as RAM    BRAM18    block RAMs of 18 Kbit
  path_ns   the recurrence (rule 9): the longest path that ends in a register, a RAM port or a stream's pop. The data
            and push outputs are left open, since a stage's depth pipelines them. Yosys' estimate with 300 ps of wire
            per LUT (abc9 -W 300); a path that starts at a block RAM counts 1 ns more.
Results are kept by the content of the Verilog. Exit 1 when a path is over the bound, 2 on bad usage.
"""
import argparse
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys

FLOW = "synth_xilinx -family xcup -flatten -abc9 -noiopad -noclkbuf"
LUTS_OF_LUTRAM = {"RAM32X1S": 1, "RAM64X1S": 1, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8,
                  "RAM32M": 4, "RAM64M": 4, "RAM32M16": 8, "RAM64M8": 8, "RAM32X16DR8": 8, "RAM64X8SW": 8,
                  "RAM128X1S": 2, "RAM256X1S": 4, "RAM512X1S": 8}
# Yosys knows no delay of these cells: one that leaves a block RAM late, in its own cell library's form.
BLOCK_RAMS = {"RAMB18E2": {"DOUTADOUT": 16, "DOUTBDOUT": 16, "DOUTPADOUTP": 2, "DOUTPBDOUTP": 2},
              "RAMB36E2": {"DOUTADOUT": 32, "DOUTBDOUT": 32, "DOUTPADOUTP": 4, "DOUTPBDOUTP": 4}}
BLOCK_RAM_PS = 1000


def fail(message):
    print(f"area.py: {message}", file=sys.stderr)
    sys.exit(2)


def yosys(script):
    run = subprocess.run(["yosys", "-p", script], capture_output=True, text=True)
    if run.returncode != 0:
        fail("yosys: " + (run.stderr or run.stdout).strip().splitlines()[-1])
    return run.stdout


def area(stage, sources):
    log = yosys(f"read_verilog -sv {sources}; {FLOW} -top {stage}; stat")
    cells = {}
    for name, number in re.findall(r"^\s+([A-Z][A-Z0-9_]+)\s+(\d+)$", log[log.rindex("Number of cells"):], re.M):
        cells[name] = int(number)
    count = lambda pattern: sum(n for name, n in cells.items() if re.fullmatch(pattern, name))
    return {"LUT": count("LUT[1-6]"), "FF": count("FD[RSCP]E(_1)?"),
            "LUTRAM": sum(n * LUTS_OF_LUTRAM.get(name, 0) for name, n in cells.items()),
            "BRAM18": count("RAMB18E2") + 2 * count("RAMB36E2")}


def open_outputs(stage, text):
    """A module around the stage that leaves its data and push outputs open."""
    ports = re.findall(r"(input|output) wire (\[\d+:0\] )?(\w+)", text[:text.index(");")])
    kept = [p for p in ports if not re.search(r"_(wdata|push)$", p[2])]
    declared = ", ".join(f"{direction} wire {width}{name}" for direction, width, name in kept)
    joined = ", ".join(f".{name}({name})" for _, _, name in kept)
    return f"module recurrence ({declared});\n  {stage} inner ({joined});\nendmodule\n"


def late_block_rams(library):
    """Yosys' declarations of the block RAMs, with the delay of their outputs."""
    text = ""
    for cell, outputs in BLOCK_RAMS.items():
        declaration = re.search(rf"module {cell} \(\.\.\.\);.*?(?=endmodule)", library, re.S).group(0)
        arcs = "".join(f"    (posedge {'CLKARDCLK' if 'AD' in pin else 'CLKBWRCLK'} => ({pin} : {bits}'bx)) = "
                       f"{BLOCK_RAM_PS};\n" for pin, bits in outputs.items())
        text += f"(* blackbox *)\n{declaration}  specify\n{arcs}  endspecify\nendmodule\n"
    return text


def recurrence_ns(stage, library, text, work):
    wrapper = work / f"{stage}.recurrence.v"
    # Registers and Rams stay although nothing but an open output may hang on them: the ways to them count.
    kept = re.sub(r"^  (reg |wire \S+ \w+_rdata;)", r"  (* keep *) \1", text, flags=re.M)
    wrapper.write_text(open_outputs(stage, text) + kept)
    data = pathlib.Path(shutil.which("yosys")).resolve().parent.parent / "share/yosys"
    rams = work / "block_rams.v"
    rams.write_text(late_block_rams((data / "xilinx/cells_xtra.v").read_text()))
    flow = FLOW + " -top recurrence"
    log = yosys(f"scratchpad -set synth_xilinx.abc9.W 300; read_verilog -sv {library} {wrapper}; {flow} -run :map_luts;"
                f" delete =RAMB18E2 =RAMB36E2; read_verilog -lib -specify {rams}; {flow} -run map_luts:")
    delays = re.findall(r"Del = *([0-9]+\.[0-9]+)", log)
    return float(delays[-1]) / 1000 if delays else 0.0


def measure(stage, directory, cache):
    path = directory / f"{stage}.v"
    if not path.exists():
        fail(f"no {path}: balboa-synth writes it")
    text = path.read_text()
    library = directory / "hw_ram.v"
    key = hashlib.sha256((text + library.read_text() + pathlib.Path(__file__).read_text()).encode())
    kept = cache / f"{stage}-{key.hexdigest()[:24]}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    result = area(stage, f"{path} {library}")
    result["path_ns"] = recurrence_ns(stage, library, text, cache)
    kept.write_text(json.dumps(result))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("stages", nargs="*")
    parser.add_argument("--cache", type=pathlib.Path, help="default: DIR/area")
    parser.add_argument("--bound", type=float, default=4.0, help="ns, default 4.0: 250 MHz")
    options = parser.parse_args()
    if not options.directory.is_dir():
        fail(f"no folder {options.directory}")
    cache = options.cache or options.directory / "area"
    cache.mkdir(parents=True, exist_ok=True)
    stages = options.stages or sorted(f.stem for f in options.directory.glob("*.v") if not f.stem.startswith("hw_"))
    print(f"{'stage':<20} {'LUT':>6} {'FF':>6} {'LUTRAM':>6} {'BRAM18':>6} {'path_ns':>8} {'bound':>6}  verdict")
    over = False
    for stage in stages:
        r = measure(stage, options.directory, cache)
        good = r["path_ns"] <= options.bound
        over |= not good
        print(f"{stage:<20} {r['LUT']:>6} {r['FF']:>6} {r['LUTRAM']:>6} {r['BRAM18']:>6} {r['path_ns']:>8.2f} "
              f"{options.bound:>6.1f}  {'good' if good else 'OVER'}", flush=True)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
