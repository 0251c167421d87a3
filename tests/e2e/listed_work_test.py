"""Scenarios that list their work: the same packets as perftest's kinds where they say the same, losses by what a packet
is, and one clear line for what is not allowed."""
import struct
import unittest

from balboa import ROOT, Case

ONE = '[[connection]]\nname = "a"\nwork = [{op = "write", size = 4096, count = 9, depth = 2}]\n'


def headers(capture):
    """Of each packet its time, its length, and its headers up to the BTH: buffers lie elsewhere."""
    data = capture.read_bytes()
    packets, at = [], 24
    while at < len(data):
        seconds, nanoseconds, length, _ = struct.unpack_from("<4I", data, at)
        packets.append((seconds, nanoseconds, length, data[at + 16 : at + 16 + 54]))
        at += 16 + length
    return packets


def fault(**keys):
    lines = ["[[fault]]", 'link = "nic0-nic1"', 'type = "drop"']
    return "\n".join(lines + [f"{key} = {value}" for key, value in keys.items()]) + "\n"


class ListedWork(Case):
    def run_text(self, text, *arguments, **options):
        return self.simulate("run", self.write("scenario.toml", text), *arguments, **options)["result"]

    def test_a_timer_that_runs_on_is_no_deadlock(self):
        """The timer of the last message, 4.096 us * 2^19, outlasts the watchdog."""
        self.run_text(ONE.replace("work =", "timeout = 19\nwork ="))

    def test_the_same_packets_as_perftest(self):
        for operation, size, depth in (("write", 4096, 128), ("read", 10000, 4), ("send", 64, 16)):
            with self.subTest(operation=operation):
                self.perf("--op", operation, "-s", size, "-n", 300, "-t", depth, "--pcap", output="perf")
                work = f'{{op = "{operation}", size = {size}, count = 300, depth = {depth}}}'
                self.run_text(f"[[connection]]\nwork = [{work}]\n", "--pcap", output="listed")
                for capture in ("nic0.pcap", "nic1.pcap"):
                    perf, listed = (headers(self.folder / run / capture) for run in ("perf", "listed"))
                    self.assertGreater(len(perf), 300)
                    self.assertEqual(perf, listed)

    def test_the_example(self):
        self.balboa("run", ROOT / "tests/scenarios/listed_work.toml", "--quiet")

    def test_think_time_is_from_the_completion(self):
        # The first request has none to wait for: it thinks from the start.
        times = []
        for think in (0, 100000):
            text = f'[[connection]]\nwork = [{{op = "write", size = 8, count = 5, depth = 1, think_ns = {think}}}]\n'
            times.append(self.run_text(text)["last_completion_ps"])
        self.assertAlmostEqual(times[1] - times[0], 5 * 100000 * 1000, delta=5 * 50000)

    def test_every_copy_that_is_due_is_lost(self):
        text = ONE + "".join(fault(packet=5, turn='"due"', copy=copy) for copy in (1, 2, 3))
        result = self.run_text(text)
        self.assertEqual(result["frames_lost"], 3)
        self.assertEqual(result["messages"], 9)

    def test_a_copy_behind_a_gap_counts_apart(self):
        # Packet 6 is sent once behind the gap of packet 5 and once in order: the second time is its first that is due.
        for turn, lost in (('"ahead"', 2), ('"due"', 2), ('"again"', 1)):
            text = ONE + fault(packet=5, turn='"due"') + fault(packet=6, turn=turn)
            self.assertEqual(self.run_text(text)["frames_lost"], lost, turn)

    def test_a_lost_ack_is_recovered_after_a_timeout(self):
        text = "[nic]\ntimeout = 8\n" + ONE.replace("depth = 2", "depth = 1")
        lost = fault(packet=9, kind='"ack"').replace("nic0-nic1", "nic1-nic0")
        result = self.run_text(text + lost)
        self.assertEqual(result["frames_lost"], 1)
        self.assertEqual(result["counters"]["nic0"]["tx.flow_control.local_ack_timeout_err"], 1)

    def test_what_is_not_allowed(self):
        work = '[[connection]]\nwork = [{op = "write", size = 1%s}]\n'
        for text, line in (
            (work % ", imm = -1", "2:40: connection.work.imm: -1 is not allowed"),
            (work % ", received = 1", "2:8: connection.work: a request of nic0 waits for 1 messages received"),
            ('[[connection]]\nwork = [{op = "wrte", size = 1}]\n', 'must be one of "read", "send", "write"'),
            (work % "" + "[workload]\nsize = 1\n", "allowed is either this or [[connection]]"),
            (ONE + fault(packet=1, connection='"b"'), 'fault.connection: there is no "b"'),
            (ONE + fault(), "fault.frame: must be there"),
            (ONE + fault(frame=1, psn=1), "fault.psn: a frame is told by its number alone"),
            (ONE + fault(psn=1, kind='"ack"', turn='"due"'), "fault.turn: an ACK has none"),
        ):
            with self.subTest(line=line):
                run = self.balboa("run", self.write("bad.toml", text), code=2)
                self.assertIn(line, run.stderr)
                self.assertEqual(run.stderr.count("\n"), 1)
        run = self.balboa("run", self.write("good.toml", ONE), "--set", "workload.size=1", code=2)
        self.assertIn("the scenario lists its work", run.stderr)


if __name__ == "__main__":
    unittest.main()
