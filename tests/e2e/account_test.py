"""Where the time goes: the account of an idle NIC against closed forms, and what-if runs against what it blames.

The closed forms are made here, from the depths that hw/timing.hpp lists, the frame format, the line rate and the PCIe
formula of docs/timing-model.md: nothing of the account's own code.
"""
import csv
import math
import re
import unittest

from balboa import ROOT, Case, scenario

PERIOD = 4000  # ps, 250 MHz
NS = 1000

# Cycles between taking a packet and the step that writes it, where a stage holds it in registers: for its table's row
# (connection, qp_state, msn), for a sum or comparison cut in two (rx.ip, memory_region), per job of the requester.
INSIDE = {"tx.work_queue": 1, "tables.connection": 1, "rx.ip": 1, "tables.qp_state": 1, "tables.memory_region": 2,
          "tables.msn": 1}

# On the way of a header behind which stage its tokens lie in block RAM: 2 cycles.
BLOCK_RAM = {"tx.payload": 2}


def depths():
    """Depth of (stage, output) at 512 bits, as hw/timing.hpp lists it; 2 for what it does not."""
    text = (ROOT / "hw/timing.hpp").read_text()
    return {(stage, int(output)): int(depth)
            for stage, width, output, depth in re.findall(r'\{"([a-z0-9_.]+)", (\d+), (\d+), (\d+)\}', text)
            if width in ("0", "512")}


class Idle(Case):
    def account(self, *arguments, output="out"):
        """Rows of the messages of a run, by line of latency.csv."""
        self.balboa("perf", "--account", "--quiet", "-o", output, *arguments)
        with open(self.folder / output / "latency.csv", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    @staticmethod
    def rows(message):
        return {key[:-len(".service_ps")]: int(value) for key, value in message.items()
                if key.endswith(".service_ps") and int(value) != 0}

    def check_sums(self, messages):
        for m in messages:
            parts = sum(int(v) for k, v in m.items() if k.endswith((".service_ps", ".queueing_ps")))
            self.assertEqual(parts, int(m["total_ps"]))
            self.assertEqual(int(m["completion_ps"]) - int(m["post_ps"]), int(m["total_ps"]))

    def expected(self, size):
        """Every row of a WRITE of one packet on idle NICs, profile roce, but for the waits for a clock edge."""
        depth = depths()
        out = lambda stage, output=0: depth.get((stage, output), 2)
        rows = {}

        def add(nic, stage, cycles):
            name = f"nic{nic}.{stage}"
            rows[name] = rows.get(name, 0) + cycles * PERIOD

        def passes(nic, stages, output=0):
            for stage in stages:
                add(nic, stage, out(stage, output) + INSIDE.get(stage, 0))

        frame = 70 + size + 4  # Ethernet, IP, UDP, BTH, RETH, payload, ICRC
        ack = 62
        passes(0, ["host.port", "tx.work_queue", "tx.arbiter", "tables.connection"])
        add(0, "tx.flow_control", out("tx.flow_control") + 1)
        add(0, "tables.retransmit", out("tables.retransmit") + 1)
        if size:
            add(0, "tx.payload", out("tx.payload", 1))
            add(0, "host.pcie_read", 2 + math.ceil(size / 64) - 1)  # the host's data come faster than one beat a cycle
        else:
            add(0, "tx.payload", out("tx.payload") + BLOCK_RAM["tx.payload"])
            passes(0, ["tx.ext_headers", "tx.bth", "tx.udp", "tx.ip", "tx.ethernet"])
        spills = size == 0 or (size - 1) % 64 + 1 + 6 > 64
        add(0, "tx.frame", out("tx.frame") + spills)
        passes(0, ["tx.icrc_insert"])
        self.add_line(rows, 0, 1, frame)
        passes(1, ["rx.ethernet", "rx.l3_length", "rx.icrc_check", "rx.header_split", "rx.ip", "rx.udp", "rx.bth",
                   "rx.ext_headers", "tables.qp_state", "tables.memory_region"])
        add(1, "rx.packet_store", out("rx.packet_store") + 2 + 1)  # commit and fetch; the second beat ends the headers
        add(1, "tables.msn", out("tables.msn", 1) + INSIDE["tables.msn"])
        passes(1, ["tx.ack_queue", "tx.arbiter", "tables.connection", "tx.ext_headers", "tx.bth", "tx.udp", "tx.ip",
                   "tx.ethernet", "tx.frame", "tx.icrc_insert"])
        add(1, "tx.payload", out("tx.payload") + BLOCK_RAM["tx.payload"])
        self.add_line(rows, 1, 0, ack)
        passes(0, ["rx.ethernet", "rx.l3_length", "rx.icrc_check", "rx.header_split", "rx.ip", "rx.udp", "rx.bth"])
        add(0, "rx.packet_store", out("rx.packet_store") + 2)
        add(0, "rx.ext_headers", out("rx.ext_headers", 1))
        add(0, "tx.flow_control", out("tx.flow_control") + 2)   # an ACK is compared first
        add(0, "tables.retransmit", out("tables.retransmit", 1) + 2)  # a release of one packet
        rows["nic0.host"] = 150 * NS
        rows["nic0.pcie"] = 2 * 220 * NS + (480 * NS + self.data_ps(min(size, 256)) if size else 0)
        rows["wire"] = 2 * 50 * NS
        return rows

    @staticmethod
    def data_ps(size):
        """A completion of `size` bytes on Gen4 x16: 20 bytes of header, what ACKs and credits leave of the raw rate."""
        gbps = 16 * 128 / 130 * 16 * (1 - 2 * 8 / 168 - 4 / 1538)
        attoseconds = round(8e9 / gbps)
        return -(-((size + 20) * attoseconds) // 10**6)

    @staticmethod
    def add_line(rows, sender, receiver, frame):
        """The last beat that had to wait for its bytes, and the cycles of those that came in the same cycle with it.
        That depends on where the line's time lies between two edges, so both ways are told apart by the clock row."""
        last = (8 + frame) * 80
        before = (8 + (frame - 1) // 64 * 64) * 80
        rows[f"nic{sender}.mac"] = (last, before)
        rows[f"nic{receiver}.mac.rx"] = (2 * PERIOD, 3 * PERIOD)

    def test_every_row_has_its_closed_form(self):
        for size in (0, 64, 252, 1000, 2048, 4096):
            with self.subTest(size=size):
                [message] = self.account("-n", "1", "-s", size)
                self.check_sums([message])
                self.assertFalse([k for k, v in message.items() if k.endswith(".queueing_ps") and int(v)])
                rows, want = self.rows(message), self.expected(size)
                clocks = {name: rows.pop(name) for name in list(rows) if name.endswith(".clock")}
                for nic in (0, 1):
                    self.assertLess(clocks.get(f"nic{nic}.clock", 0), (3 if nic == 0 else 1) * PERIOD)
                for sender, receiver in ((0, 1), (1, 0)):
                    mac, rx = f"nic{sender}.mac", f"nic{receiver}.mac.rx"
                    choices = list(zip(want.pop(mac), want.pop(rx)))
                    self.assertIn((rows.pop(mac), rows.pop(rx)), choices)
                self.assertEqual(rows, want)

    def test_a_message_of_many_packets_waits_only_for_itself(self):
        for arguments in (("-s", 65536), ("-s", 100000, "-m", 1024), ("-s", 20000, "--profile", "ideal")):
            [message] = self.account("-n", "1", *arguments)
            self.check_sums([message])
            queueing = {k: v for k, v in message.items() if k.endswith(".queueing_ps") and int(v)}
            if "ideal" in arguments:  # its first work request stands behind the rows that set up the QP
                self.assertTrue(all(k.startswith("nic0.host.port") for k in queueing), queueing)
            else:
                self.assertEqual(queueing, {})

    def test_what_carries_the_time_is_the_line(self):
        result = self.perf("--account", "-n", 1, "-s", 1 << 20)
        self.assertEqual(result["account"]["bottleneck"], {"row": "nic0.mac", "kind": "service"})
        total = result["account"]["post_to_completion_ps"]
        sums = sum(r["service_ps"]["average"] + r["queueing_ps"]["average"] for r in total["rows"])
        self.assertEqual(sums, total["average"])

    def test_data_are_visible_before_the_completion_is(self):
        for m in self.account("-n", 30, "-t", 8, "-s", 5000, "-q", 2):
            self.assertLess(int(m["post_ps"]), int(m["data_visible_ps"]))
            self.assertLess(int(m["data_visible_ps"]), int(m["completion_ps"]))

    def test_tracing_changes_no_result(self):
        arguments = ("-n", 40, "-t", 16, "-s", 6000, "-q", 3)
        plain = self.perf(*arguments)
        traced = self.perf(*arguments, "--account", "--timeline", "--vcd", "--ladder")
        traced.pop("account")
        self.assertEqual(plain, traced)

    def test_the_order_of_calls_changes_no_account(self):
        arguments = ("perf", "-n", 60, "-t", 16, "-s", 6000, "-q", 3, "--account", "--timeline", "--vcd", "--quiet",
                     "--trace-from", 4, "--trace-to", 6)
        self.balboa(*arguments, "-o", "plain")
        for setting in ("sim.shuffle=true", "sim.every_cycle=true", "sim.quantum_cycles=1"):
            self.balboa(*arguments, "-o", "other", "--set", setting)
            for name in ("latency.csv", "waves.vcd", "timeline.json"):
                self.assertEqual((self.folder / "plain" / name).read_bytes(),
                                 (self.folder / "other" / name).read_bytes(), f"{setting} {name}")

    def test_a_lost_packet_is_blamed_on_the_timer(self):
        text = scenario({"nic": {"timeout": 5}, "workload": {"size": 64, "iterations": 1}}, forward=[1])
        self.write("lost.toml", text)
        self.balboa("run", "lost.toml", "--account", "--quiet", "-o", "out")
        with open(self.folder / "out/latency.csv", encoding="utf-8") as file:
            [message] = csv.DictReader(file)
        self.check_sums([message])
        timer = sum(int(message.get(f"nic0.tables.timer.{k}_ps") or 0) for k in ("service", "queueing"))
        self.assertGreaterEqual(timer, 32 * 4096 * NS)

    # -------------------------------------------------------------------------------------------- what if

    LOADS = {
        "idle": ("-n", 1, "-s", 64),
        "idle, 4 KB": ("-n", 1, "-s", 4096),
        "ping-pong": ("--test", "lat", "-n", 10, "-s", 64),
        "line full, small": ("-n", 200, "-t", 200, "-s", 64),
        "line full, large": ("-n", 32, "-t", 32, "-s", 65536, "--set", "host.post_ns=0"),
        "window full": ("-n", 64, "-t", 64, "-s", 64, "--set", "nic.window_packets=4", "--set", "host.post_ns=0"),
        "window full, large": ("-n", 30, "-t", 30, "-q", 2, "-s", 8192, "--set", "nic.window_packets=3",
                               "--set", "host.post_ns=0"),
    }

    def test_a_stage_cut_by_a_cycle_gives_back_what_it_is_blamed_for(self):
        """By one period for each time that the critical path crosses it. Posts that other messages' completions wait
        for would move too, so all are posted at once here."""
        depth = depths()
        for load, arguments in self.LOADS.items():
            before = self.account(*arguments)
            for stage in ("rx.bth", "tables.msn", "tx.work_queue", "tx.icrc_insert", "tx.flow_control"):
                with self.subTest(load=load, stage=stage):
                    cut = depth.get((stage, 0), 2) - 1
                    after = self.account(*arguments, "--set", f"timing.{stage}={cut}", output="cut")
                    gained = 0
                    for old, new in zip(before, after):
                        blamed = self.blamed(old, stage) - self.blamed(new, stage)
                        self.assertEqual(int(old["total_ps"]) - int(new["total_ps"]), blamed)
                        self.assertEqual(blamed % PERIOD, 0)
                        gained += blamed
                    self.assertGreaterEqual(gained, PERIOD)

    def test_one_crossing_is_one_cycle(self):
        [before] = self.account("-n", 1, "-s", 64)
        for stage, crossings in (("tables.msn", 1), ("tx.work_queue", 1), ("rx.bth", 2), ("tx.icrc_insert", 2)):
            cut = depths().get((stage, 0), 2) - 1
            [after] = self.account("-n", 1, "-s", 64, "--set", f"timing.{stage}={cut}", output="cut")
            self.assertEqual(int(before["total_ps"]) - int(after["total_ps"]), crossings * PERIOD, stage)

    @staticmethod
    def blamed(message, stage):
        return sum(int(message.get(f"nic{nic}.{stage}.{kind}_ps") or 0)
                   for nic in (0, 1) for kind in ("service", "queueing"))

    def test_a_depth_of_no_stage_is_refused(self):
        run = self.balboa("perf", "--set", "timing.rx.bht=1", code=2)
        self.assertIn("did you mean timing.rx.bth?", run.stderr)
        run = self.balboa("perf", "--set", "timing.rx.bth=65", code=2)
        self.assertIn("a whole number from 0 to 64", run.stderr)


if __name__ == "__main__":
    unittest.main()
