"""Longest paths of a netlist that Yosys mapped: its cell delays, and 300 ps of wire before every LUT (abc9 -W 300).

The delays are those of the specify blocks in Yosys' own cell library. What that does not know: a block RAM takes its
inputs at the clock edge and gives its data BLOCK_RAM_PS after it (rule 9); an input of a stage is another stage's
register.
"""
import collections
import re

WIRE_PS = 300
BLOCK_RAM_PS = 1000
REGISTER_PS = 303  # clock to Q of Yosys' FDRE

Arcs = collections.namedtuple("Arcs", "paths setups clocked")  # {(from, to): ps}, {input: ps}, {output: ps}


def pin_name(text):
    return re.sub(r"\s", "", text).replace("[", ".").replace("]", "")


def cell_library(text):
    """{cell: Arcs} from the specify blocks of a Verilog library."""
    library = {}
    for name, body in re.findall(r"^module (\w+)\b(.*?)^endmodule", text, re.S | re.M):
        block = re.search(r"\bspecify\b(.*?)endspecify", body, re.S)
        if not block:
            continue
        block = re.sub(r"//[^\n]*|/\*.*?\*/", "", block.group(1))
        arcs = Arcs({}, {}, {})
        for start, end, ps in re.findall(r"\(\s*(\w+(?:\[\d+\])?)\s*=>\s*(\w+(?:\[\d+\])?)\s*\)\s*=\s*(\d+);", block):
            arcs.paths[pin_name(start), pin_name(end)] = int(ps)
        for pin, ps in re.findall(r"\$setup\(\s*(\w+)\s*,.*?,\s*(\d+)\);", block):
            arcs.setups[pin] = max(arcs.setups.get(pin, 0), int(ps))
        for output, ps in re.findall(r"edge \w+ => \(\s*(\w+)\s*[:+]+[^)]*\)\)\s*=\s*(\d+);", block):
            arcs.clocked[output] = max(arcs.clocked.get(output, 0), int(ps))
        library[name] = arcs
    return library


class Netlist:
    """A module of write_json with arrival times: per bit and kind of start, the latest time and where it comes from."""

    def __init__(self, module, library):
        self.module, self.library = module, library
        self.names = {}
        for name, net in sorted(module["netnames"].items(), key=lambda n: n[1].get("hide_name", 0), reverse=True):
            for i, bit in enumerate(net["bits"]):
                self.names[bit] = f"{name}[{i}]" if len(net["bits"]) > 1 else name
        self.arrival = {"register": {}, "block RAM": {}}
        self.source = {"register": {}, "block RAM": {}}
        self.ends = []  # (bit, ps of setup, name)
        self.drivers = {}  # bit: [(bit before, ps)]
        self.read_cells()
        self.propagate()

    def read_cells(self):
        for port, description in self.module["ports"].items():
            if description["direction"] == "input" and port not in ("clk", "rst_n"):
                for bit in description["bits"]:
                    self.arrival["register"][bit] = REGISTER_PS
        for name, cell in self.module["cells"].items():
            kind, directions = cell["type"], cell["port_directions"]
            pins = {}
            for pin, bits in cell["connections"].items():
                for i, bit in enumerate(bits):
                    pins[f"{pin}.{i}" if len(bits) > 1 else pin] = (directions[pin], bit)
            if kind.startswith("RAMB"):
                for pin, (direction, bit) in pins.items():
                    if direction == "output":
                        self.arrival["block RAM"][bit] = BLOCK_RAM_PS
                    else:
                        self.ends.append((bit, 0, f"{name}.{pin}"))
                continue
            if kind not in self.library:
                raise ValueError(f"no delays of the cell {kind}")
            arcs = self.library[kind]
            for output, ps in arcs.clocked.items():
                self.arrival["register"][pins[output][1]] = ps
            if arcs.clocked:
                for pin, (direction, bit) in pins.items():
                    if direction == "input":
                        self.ends.append((bit, arcs.setups.get(pin, 0), self.names.get(pins["Q"][1], name) + "." + pin))
            wire = WIRE_PS if kind.startswith("LUT") else 0
            for (start, end), ps in arcs.paths.items():
                if start in pins and end in pins:
                    self.drivers.setdefault(pins[end][1], []).append((pins[start][1], ps + wire))

    def propagate(self):
        done, order, stack = set(), [], [b for b in self.drivers]
        while stack:
            bit = stack[-1]
            if bit in done:
                stack.pop()
                continue
            waiting = [b for b, _ in self.drivers.get(bit, []) if b not in done]
            if waiting:
                stack.extend(waiting)
            else:
                done.add(stack.pop())
                order.append(bit)
        for kind, arrival in self.arrival.items():
            for bit in order:
                for before, ps in self.drivers.get(bit, []):
                    if before in arrival and arrival[before] + ps > arrival.get(bit, -1):
                        arrival[bit] = arrival[before] + ps
                        self.source[kind][bit] = before

    def path(self, kind, bit):
        steps = []
        while bit is not None:
            steps.append(f"{self.names.get(bit, bit)} {self.arrival[kind][bit]}")
            bit = self.source[kind].get(bit)
        return list(reversed(steps))

    def longest(self, kind, ports, state=True):
        """(ps, end, path) of the longest path from a register or a block RAM to the output ports whose names match
        `ports` and, with `state`, to the inputs of registers and block RAMs."""
        ends = list(self.ends) if state else []
        for port, description in self.module["ports"].items():
            if description["direction"] == "output" and re.search(ports, port):
                ends += [(bit, 0, port) for bit in description["bits"]]
        arrival = self.arrival[kind]
        timed = [(arrival[bit] + setup, name, bit) for bit, setup, name in ends if bit in arrival]
        if not timed:
            return 0, "", []
        ps, name, bit = max(timed, key=lambda end: end[0])
        return ps, name, self.path(kind, bit)
