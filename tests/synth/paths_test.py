#!/usr/bin/env python3
"""Paths of a netlist of five cells against sums by hand, and of stages that Yosys maps. usage: paths_test.py FOLDER"""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))
import area  # noqa: E402
import paths  # noqa: E402

LIBRARY = """
module LUT2(output O, input I0, I1);
  specify
    (I0 => O) = 238;
    (I1 => O) = 127;
  endspecify
endmodule
module CARRY(output [1:0] O, input [1:0] S);
  specify
    (S[0] => O[1]) = 400;  // (S[1] => O[1]) = 999;
  endspecify
endmodule
module FDRE(output reg Q, input C, CE, D, R);
  specify
    $setup(D , posedge C &&& CE && !IS_C_INVERTED , /*-46*/ 0);
    $setup(CE, posedge C &&& !IS_C_INVERTED, 109);
    if (!IS_C_INVERTED && R == IS_R_INVERTED && CE) (posedge C => (Q : D ^ IS_D_INVERTED)) = 303;
  endspecify
endmodule
"""


def cell(kind, **pins):
    outputs = {"O", "Q", "DOUTADOUT"}
    return {"type": kind, "connections": {p: b if isinstance(b, list) else [b] for p, b in pins.items()},
            "port_directions": {p: "output" if p in outputs else "input" for p in pins}}


# state (bit 10) and RAM data (bit 20) through one LUT to the output, the state's own enable, and through the carry.
MODULE = {
    "ports": {"in_rvalid": {"direction": "input", "bits": [5]}, "rst_n": {"direction": "input", "bits": [6]},
              "out_wdata": {"direction": "output", "bits": [30]}, "in_pop": {"direction": "output", "bits": [41]}},
    "netnames": {"state": {"bits": [10]}, "sum": {"bits": [40, 41]}},
    "cells": {"ff": cell("FDRE", Q=10, C=2, CE=30, D=5, R=6), "lut": cell("LUT2", O=30, I0=10, I1=20),
              "carry": cell("CARRY", O=[40, 41], S=[30, 6]), "ram": cell("RAMB18E2", DOUTADOUT=20, DINADIN=10)}}


class Paths(unittest.TestCase):
    def setUp(self):
        self.netlist = paths.Netlist(MODULE, paths.cell_library(LIBRARY))

    def test_register_to_enable(self):
        self.assertEqual(self.netlist.longest("register", "^$")[:2], (303 + 300 + 238 + 109, "state.CE"))

    def test_block_ram_to_enable_and_through_the_carry_to_a_port(self):
        self.assertEqual(self.netlist.longest("block RAM", "^$")[:2], (1000 + 300 + 127 + 109, "state.CE"))
        self.assertEqual(self.netlist.longest("block RAM", "_pop$")[:2], (1000 + 300 + 127 + 400, "in_pop"))

    def test_outputs_alone(self):
        ps, end, steps = self.netlist.longest("register", "_wdata$", state=False)
        self.assertEqual((ps, end), (303 + 300 + 238, "out_wdata"))
        self.assertEqual(steps, ["state 303", "30 841"])

    def test_reset_starts_no_path(self):
        self.assertNotIn(6, self.netlist.arrival["register"])

    def test_unknown_cell(self):
        with self.assertRaisesRegex(ValueError, "DSP48"):
            paths.Netlist({**MODULE, "cells": {"x": cell("DSP48", O=1)}}, {})


# The row of a Ram of many rows goes out and nowhere else; its address comes through an adder.
FETCH = """module fetch (
  input wire clk,
  input wire rst_n,
  input wire [13:0] in_rdata,
  output wire [13:0] out_wdata,
  output wire [0:0] out_push
);
  reg [13:0] base_q = 14'h0;
  wire [13:0] address = base_q + in_rdata;
  hw_ram #(.W(14), .AW(14), .N(16384), .FWD(FORWARDS)) rows (.clk(clk), .rst_n(rst_n), .req(1'b1), .ra(address),
    .rdata(out_wdata), .we(in_rdata[0]), .wa(base_q), .wd(in_rdata));
  assign out_push = 1'b1;
  always @(posedge clk) base_q <= in_rdata;
endmodule
"""


class Stages(unittest.TestCase):
    def recurrence(self, forwards):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "hw_ram.v").write_text((pathlib.Path(area.__file__).parent / "rtl/hw_ram.v").read_text())
            (folder / "fetch.v").write_text(FETCH.replace("FORWARDS", str(forwards)))
            return area.measure("fetch", folder, folder)["reg"]

    def test_address_of_a_ram_whose_row_only_goes_out(self):
        ps, end, _ = self.recurrence(0)
        self.assertRegex(end, "ADDR")
        self.assertGreater(ps, 303 + 300 + 500)

    def test_address_of_a_ram_that_forwards(self):
        self.assertGreater(self.recurrence(1)[0], 303 + 300 + 500)


if __name__ == "__main__":
    unittest.main()
