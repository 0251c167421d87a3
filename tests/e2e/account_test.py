"""Where the time goes: the account of an idle NIC against closed forms, and what-if runs against what it blames.

The closed forms are made here, from the depths that hw/timing.hpp lists, the frame format, the line rate and the PCIe
formula of docs/timing-model.md: nothing of the account's own code.
"""
import csv
import itertools
import math
import re
import unittest

from balboa import ROOT, Case, scenario

PERIOD = 4000  # ps, 250 MHz
NS = 1000

# Cycles between taking a packet and the step that writes it, where a stage holds it in registers: for its table's row
# (connection, qp_state, memory_region, msn), for row and work request (receive_queue), for row, turn, piece and credit
# (work_queue), for a sum cut in two (rx.ip).
INSIDE = {"tx.work_queue": 4, "tables.connection": 1, "rx.ip": 1, "tables.qp_state": 1, "tables.memory_region": 1,
          "tables.receive_queue": 2, "tables.msn": 1}

# On the way of a header behind which stage its tokens lie in block RAM: 2 cycles.
BLOCK_RAM = {"tx.payload": 2}

# Bytes of header from Ethernet to the last extended one: WRITE and READ request with RETH, SEND without, acknowledgement
# and READ response with AETH.
HEADER = {"write": 70, "read": 70, "send": 54, "answer": 58}
BEAT = 64
MPS = 256
LINK_LATENCY = 220 * NS  # of a posted write
READ_LATENCY = 480 * NS


def depths():
    """Depth of (stage, output) at 512 bits, as hw/timing.hpp lists it; 2 for what it does not."""
    text = (ROOT / "hw/timing.hpp").read_text()
    return {(stage, int(output)): int(depth)
            for stage, width, output, depth in re.findall(r'\{"([a-z0-9_.]+)", (\d+), (\d+), (\d+)\}', text)
            if width in ("0", "512")}


def beats(size):
    return math.ceil(size / BEAT)


def on_pcie(size):
    """`size` bytes with their headers on Gen4 x16, of which ACKs and credits take their share."""
    gbps = 16 * 128 / 130 * 16 * (1 - 2 * 8 / 168 - 4 / 1538)
    return -(-(size * round(8e9 / gbps)) // 10**6)


POSTED = on_pcie(24 + 64) + LINK_LATENCY  # a doorbell with its WQE; a CQE


class Way:
    """The rows of one message's way over idle NICs, profile roce, but for the waits for a clock edge."""

    def __init__(self):
        self.rows = {"nic0.host": 150 * NS}
        self.lines = []
        self.depth = depths()
        self.charge("nic0.pcie", POSTED)
        self.passes(0, ["host.port", "tx.work_queue"])
        self.add(0, "tx.flow_control", self.out("tx.flow_control") + 1)
        self.add(0, "tables.retransmit", self.out("tables.retransmit") + 1)

    def out(self, stage, output=0):
        return self.depth.get((stage, output), 2)

    def charge(self, row, time):
        self.rows[row] = self.rows.get(row, 0) + time

    def add(self, nic, stage, cycles):
        self.charge(f"nic{nic}.{stage}", cycles * PERIOD)

    def passes(self, nic, stages, output=0):
        for stage in stages:
            self.add(nic, stage, self.out(stage, output) + INSIDE.get(stage, 0))

    def sends(self, nic, kind, size):
        """From the arbiter to the other NIC's tables."""
        header = HEADER[kind]
        self.passes(nic, ["tx.arbiter", "tables.connection"])
        if size:
            self.add(nic, "tx.payload", self.out("tx.payload", 1))
            self.charge(f"nic{nic}.pcie", on_pcie(24) + READ_LATENCY + on_pcie(20 + min(size, MPS)))
            self.add(nic, "host.pcie_read", 2 + beats(size) - 1)  # the host's data come faster than one beat a cycle
        else:
            self.add(nic, "tx.payload", self.out("tx.payload") + BLOCK_RAM["tx.payload"])
            self.passes(nic, ["tx.ext_headers", "tx.bth", "tx.udp", "tx.ip", "tx.ethernet"])
        spills = (size - 1) % BEAT + 1 + header % BEAT > BEAT if size else header > BEAT
        self.add(nic, "tx.frame", self.out("tx.frame") + spills)
        self.passes(nic, ["tx.icrc_insert", "tx.frame_merge"])
        self.line(nic, max(60, header + size + 4))
        self.charge("wire", 50 * NS)
        peer = 1 - nic
        # Commit and fetch; where the headers end in the second beat, that too.
        self.add(peer, "rx.packet_store", self.out("rx.packet_store") + 2 + (header > BEAT))
        self.passes(peer, ["rx.ethernet", "rx.l3_length", "rx.icrc_check", "rx.header_split", "rx.ip", "rx.udp",
                           "rx.bth", "rx.ext_headers", "tables.qp_state", "tables.memory_region",
                           "tables.receive_queue"])

    def line(self, sender, frame):
        """The last beat that had to wait for its bytes, and the cycles of those that came in the same cycle with it.
        That depends on where the line's time lies between two edges, so both ways are told apart by the clock row."""
        last = (8 + frame) * 80
        before = (8 + (frame - 1) // BEAT * BEAT) * 80
        self.lines.append((f"nic{sender}.mac", f"nic{1 - sender}.mac.rx", [(last, 2 * PERIOD), (before, 3 * PERIOD)]))

    def places(self, nic, size, answer):
        """From the verdict on a packet to its last beat; an answer is compared first."""
        self.passes(nic, ["tables.msn"])
        self.add(nic, "tables.outstanding_reads", self.out("tables.outstanding_reads") + 1 + answer)
        self.add(nic, "rx.payload", self.out("rx.payload") + max(beats(size), 1) - 1)

    def completes(self):
        """From an answer's last beat to the CPU."""
        self.passes(0, ["tx.ack_merge"])
        self.add(0, "tx.flow_control", self.out("tx.flow_control") + 2)    # an ACK is compared first
        self.add(0, "tables.retransmit", self.out("tables.retransmit", 1) + 2)  # a release of one packet
        self.charge("nic0.pcie", POSTED)


def way_to_completion(op, size):
    way = Way()
    way.sends(0, op, 0 if op == "read" else size)
    way.passes(1, ["tables.msn"], output=1)
    # A READ is written to its row, joins the ring, gets its turn and is fetched; an acknowledgement passes at once.
    way.add(1, "tx.response_queue", way.out("tx.response_queue") + (4 if op == "read" else 0))
    answer = size if op == "read" else 0
    way.sends(1, "answer", answer)
    way.places(0, answer, answer=True)
    way.completes()
    return way


def way_to_data(op, size):
    """To the memory that the data go to: to the last byte of the last TLP, and on."""
    way = Way()
    way.sends(0, op, 0 if op == "read" else size)
    if op == "read":
        way.passes(1, ["tables.msn"], output=1)
        way.add(1, "tx.response_queue", way.out("tx.response_queue") + 4)
        way.sends(1, "answer", size)
    target = 0 if op == "read" else 1
    way.places(target, size, answer=op == "read")
    last = (size - 1) % MPS + 1
    way.charge(f"nic{target}.pcie", on_pcie(24 + last) + LINK_LATENCY)
    return way


def way_to_receiver(size):
    """The CQE is there with the last TLP of the payload, and follows it on the link."""
    way = Way()
    way.sends(0, "send", size)
    way.places(1, size, answer=False)
    way.charge("nic1.pcie", POSTED + (on_pcie(24 + (size - 1) % MPS + 1) if size else 0))
    return way


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

    def check_way(self, rows, way):
        rows, want = dict(rows), dict(way.rows)
        clocks = {name: rows.pop(name) for name in list(rows) if name.endswith(".clock")}
        for time in clocks.values():  # each is the end of a wait for PCIe or the line, of which a NIC has four at most
            self.assertLess(time, 4 * PERIOD)
        for mac, rx, choices in way.lines:
            self.assertIn((rows.pop(mac), rows.pop(rx)), choices)
        self.assertEqual(rows, want)

    def other_way(self, key):
        """Rows of the only message's way to another end, which are all service and sum to its total."""
        way = self.read_json()["results"][0]["account"][key]
        self.assertEqual(way["messages"], 1)
        rows = {r["row"]: r["service_ps"]["average"] for r in way["rows"]}
        self.assertEqual(sum(rows.values()), way["average"])
        self.assertFalse([r for r in way["rows"] if r["queueing_ps"]["average"]])
        return rows, way["average"]

    def test_every_row_has_its_closed_form(self):
        for op in ("write", "read", "send"):
            for size in (0, 64, 252, 1000, 2048, 4096):
                with self.subTest(op=op, size=size):
                    [message] = self.account("--op", op, "-n", "1", "-s", size)
                    self.check_sums([message])
                    self.assertFalse([k for k, v in message.items() if k.endswith(".queueing_ps") and int(v)])
                    self.check_way(self.rows(message), way_to_completion(op, size))
                    if size:
                        rows, total = self.other_way("post_to_data_visible_ps")
                        self.check_way(rows, way_to_data(op, size))
                        self.assertEqual(total, int(message["data_visible_ps"]) - int(message["post_ps"]))
                    if op == "send":
                        rows, total = self.other_way("post_to_receive_completion_ps")
                        self.check_way(rows, way_to_receiver(size))
                        self.assertEqual(total, int(message["receive_completion_ps"]) - int(message["post_ps"]))
                    else:
                        self.assertEqual(message["receive_completion_ps"], "")

    def test_a_message_of_many_packets_waits_only_for_itself(self):
        messages = (("-s", 65536), ("-s", 100000, "-m", 1024), ("-s", 20000, "--profile", "ideal"))
        for op, arguments in itertools.product(("write", "read", "send"), messages):
            [message] = self.account("--op", op, "-n", "1", *arguments)
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

    def data_of_one_write(self, *settings):
        """Rows from post to data visible of a WRITE of 4 KB, 16 TLPs, and what they are without the target's PCIe."""
        self.account("-n", 1, "-s", 4096, *[word for s in settings for word in ("--set", f"pcie.{s}")])
        rows, _ = self.other_way("post_to_data_visible_ps")
        return rows, way_to_data("write", 4096)

    def test_a_slow_host_takes_one_tlp_after_the_other(self):
        """Behind the first one, which is complete with its fourth beat; 1 ns a byte."""
        rows, way = self.data_of_one_write("host_write_gbps=8")
        way.rows["nic1.rx.payload"] = (2 + 4 - 1) * PERIOD
        way.rows["nic1.pcie"] = on_pcie(24 + MPS) + 4096 * NS + LINK_LATENCY
        self.check_way(rows, way)

    def test_credits_of_two_tlps_let_every_second_one_wait_for_the_one_before_it(self):
        """The last one waits for the one two before it, and so on to the second, complete with the eighth beat."""
        rows, way = self.data_of_one_write("posted_data=32")
        way.rows["nic1.rx.payload"] = (2 + 8 - 1) * PERIOD
        way.rows["nic1.pcie"] = 8 * on_pcie(24 + MPS) + 7 * 200 * NS + LINK_LATENCY
        self.check_way(rows, way)

    def test_scarce_read_credits_are_pcie_s(self):
        """A READ request each for 512 bytes that waits for the credit of the one before: the time is all its own."""
        [free], [scarce] = (self.account("-n", 1, "-s", 4096, "--set", f"pcie.nonposted_headers={n}") for n in (8, 1))
        self.check_sums([scarce])
        self.assertFalse([k for k, v in scarce.items() if k.endswith(".queueing_ps") and int(v)])
        more = int(scarce["nic0.pcie.service_ps"]) - int(free["nic0.pcie.service_ps"])
        self.assertGreaterEqual(more, 7 * 200 * NS)

    def test_ends_come_in_their_order(self):
        for op in ("write", "read", "send"):
            for m in self.account("--op", op, "-n", 30, "-t", 8, "-s", 5000, "-q", 2):
                self.assertLess(int(m["post_ps"]), int(m["data_visible_ps"]))
                self.assertLess(int(m["data_visible_ps"]), int(m["completion_ps"]))
                if op == "send":
                    self.assertLessEqual(int(m["data_visible_ps"]), int(m["receive_completion_ps"]))

    def test_rows_sum_under_any_load(self):
        loads = (("-q", 3, "-t", 16), ("-q", 8, "-b"), ("--test", "lat"),
                 ("-t", 16, "--set", "pcie.posted_data=16", "--set", "pcie.host_write_gbps=20"))
        for op, load in itertools.product(("write", "read", "send"), loads):
            messages = self.account("--op", op, "-n", 20, "-s", 3000, *load)
            self.check_sums(messages)
            account = self.read_json()["results"][0]["account"]
            for key, way in account.items():
                if key.startswith("post_to_"):
                    rows = sum(r["service_ps"]["average"] + r["queueing_ps"]["average"] for r in way["rows"])
                    self.assertAlmostEqual(rows, way["average"], delta=1e-3)
                    self.assertEqual(way["messages"], len(messages))

    def test_tracing_changes_no_result(self):
        for op, test in itertools.product(("write", "read", "send"), ("bw", "lat")):
            arguments = ("--op", op, "--test", test, "-n", 40, "-s", 6000)
            plain = self.perf(*arguments)
            traced = self.perf(*arguments, "--account", "--timeline", "--vcd", "--ladder")
            traced.pop("account")
            self.assertEqual(plain, traced)

    def test_the_order_of_calls_changes_no_account(self):
        loads = (("write",), ("read",), ("send", "--set", "pcie.posted_data=16", "--set", "pcie.nonposted_headers=2"))
        for load in loads:
            # With a short time-out: a run ends behind the last, and steps in every cycle up to there.
            arguments = ("perf", "--op", *load, "-n", 60, "-t", 16, "-s", 6000, "-q", 3, "--set", "nic.timeout=5",
                         "--account", "--timeline", "--vcd", "--quiet", "--trace-from", 4, "--trace-to", 6)
            self.balboa(*arguments, "-o", "plain")
            for setting in ("sim.shuffle=true", "sim.every_cycle=true", "sim.quantum_cycles=1"):
                self.balboa(*arguments, "-o", "other", "--set", setting)
                for name in ("latency.csv", "waves.vcd", "timeline.json"):
                    self.assertEqual((self.folder / "plain" / name).read_bytes(),
                                     (self.folder / "other" / name).read_bytes(), f"{load} {setting} {name}")

    def test_a_lost_packet_is_blamed_on_the_timer(self):
        for op, lost in itertools.product(("write", "read", "send"), ("forward", "backward")):
            with self.subTest(op=op, lost=lost):
                workload = {"operation": op, "size": 64, "iterations": 1}
                self.write("lost.toml", scenario({"nic": {"timeout": 5}, "workload": workload}, **{lost: [1]}))
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
        "line full, small": ("-n", 200, "-t", 128, "-s", 64),
        "line full, large": ("-n", 32, "-t", 32, "-s", 65536, "--set", "host.post_ns=0"),
        "window full": ("-n", 64, "-t", 64, "-s", 64, "--set", "nic.window_packets=4", "--set", "host.post_ns=0"),
        "window full, large": ("-n", 30, "-t", 30, "-q", 2, "-s", 8192, "--set", "nic.window_packets=3",
                               "--set", "host.post_ns=0"),
    }
    CUT = ("rx.bth", "tables.msn", "tx.response_queue", "rx.payload", "tx.work_queue", "tx.icrc_insert",
           "tx.flow_control")
    # What comes a cycle earlier meets other packets in flow_control: then another way is the longest.
    MEETS = {("window full", "tx.work_queue"), ("window full", "tx.flow_control"),
             ("line full, small", "tx.response_queue")}
    MEETS_OF_READ = {("window full", "rx.payload")}

    def test_a_stage_cut_by_a_cycle_gives_back_what_it_is_blamed_for(self):
        """By one period for each time that the critical path crosses it. Posts that other messages' completions wait
        for would move too, so all are posted at once here."""
        depth = depths()
        for op, (load, arguments) in itertools.product(("write", "read", "send"), self.LOADS.items()):
            before = self.account("--op", op, *arguments)
            for stage in self.CUT:
                if (load, stage) in self.MEETS or (op == "read" and (load, stage) in self.MEETS_OF_READ):
                    continue
                with self.subTest(op=op, load=load, stage=stage):
                    cut = depth.get((stage, 0), 2) - 1
                    after = self.account("--op", op, *arguments, "--set", f"timing.{stage}={cut}", output="cut")
                    gained = 0
                    for old, new in zip(before, after):
                        blamed = self.blamed(old, stage) - self.blamed(new, stage)
                        self.assertEqual(int(old["total_ps"]) - int(new["total_ps"]), blamed)
                        self.assertEqual(blamed % PERIOD, 0)
                        gained += blamed
                    self.assertGreaterEqual(gained, PERIOD)

    def test_one_crossing_is_one_cycle(self):
        """tables.msn sees the request and its answer, as every packet that comes."""
        crossings = {"tables.msn": 2, "tx.work_queue": 1, "rx.bth": 2, "tx.icrc_insert": 2, "tx.response_queue": 1,
                     "tables.outstanding_reads": 1}
        for op in ("write", "read", "send"):
            [before] = self.account("--op", op, "-n", "1", "-s", 64)
            for stage, times in crossings.items():
                cut = depths().get((stage, 0), 2) - 1
                [after] = self.account("--op", op, "-n", "1", "-s", 64, "--set", f"timing.{stage}={cut}", output="cut")
                self.assertEqual(int(before["total_ps"]) - int(after["total_ps"]), times * PERIOD, (op, stage))

    @staticmethod
    def blamed(message, stage):
        return sum(int(message.get(f"nic{nic}.{stage}.{kind}_ps") or 0)
                   for nic in (0, 1) for kind in ("service", "queueing"))

    def test_a_depth_of_no_stage_is_refused(self):
        run = self.balboa("perf", "--set", "timing.rx.bht=1", code=2)
        self.assertIn("did you mean timing.rx.bth?", run.stderr)
        run = self.balboa("perf", "--set", "timing.rx.bth=33", code=2)
        self.assertIn("a whole number from 0 to 32", run.stderr)


class Agreement(Case):
    def test_latencies_of_the_result_are_those_of_the_account(self):
        """Both begin with the post. The result ends at the CPU's look, one every host.poll_ns, the account where the
        completion is there to be seen."""
        for op in ("write", "send", "read"):
            for poll in (0, 40, 500):
                with self.subTest(op=op, poll=poll):
                    result = self.perf("--op", op, "-s", 64, "-n", 20, "-t", 1, "--account",
                                       "--set", f"host.poll_ns={poll}")
                    with open(self.folder / "out/latency.csv", newline="", encoding="ascii") as file:
                        messages = list(csv.DictReader(file))
                    totals = sorted(int(m["total_ps"]) for m in messages)
                    for name, total in (("min", totals[0]), ("max", totals[-1])):
                        wait = result["latency_ps"][name] - total
                        self.assertTrue(0 <= wait < poll * NS + 2 * PERIOD, (name, wait))
                    self.assertEqual(int(messages[0]["post_ps"]), result["first_post_ps"])
                    self.assertLessEqual(int(messages[-1]["completion_ps"]), result["last_completion_ps"])
                    self.assertGreaterEqual(result["end_ps"], result["last_completion_ps"])

    def test_every_size_has_its_account(self):
        run = self.balboa("perf", "-a", "-n", 2, "--account", "-o", "out")
        results = self.read_json()["results"]
        self.assertEqual(run.stdout.count("where the time goes"), len(results))
        for result in results:
            with open(self.folder / f"out/latency_{result['size_bytes']}.csv", newline="", encoding="ascii") as file:
                self.assertEqual([int(m["bytes"]) for m in csv.DictReader(file)], [result["size_bytes"]] * 2)
            self.assertIn(f"\n {result['size_bytes']} bytes\n where the time goes", run.stdout)


if __name__ == "__main__":
    unittest.main()
