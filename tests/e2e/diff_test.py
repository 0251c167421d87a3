"""balboa diff: two runs that differ in nothing, in one parameter, and in ways that forbid a comparison."""
import json
import os
import unittest

import balboa

MESSAGE = 65536  # 16 packets: with nic.ack_interval below that, some inside ask for an ACK
MESSAGES = 8


class Diff(balboa.Case):
    def run_of(self, name, *options):
        self.perf("-s", MESSAGE, "-n", MESSAGES, "--pcap", *options, output=name)

    def diff(self, *options, code):
        return json.loads(self.balboa("diff", "a", "b", "--json", *options, code=code).stdout)

    def test_the_same(self):
        short = ("--set", "nic.timeout=5")  # a run ends behind the last time-out, and steps in every cycle up to there
        self.run_of("a", *short)
        self.run_of("b", *short, "--set", "sim.shuffle=true", "--set", "sim.every_cycle=true")
        diff = self.diff(code=0)
        self.assertFalse(diff["differ"])
        self.assertIsNone(diff["first"])
        self.assertEqual([change["path"] for change in diff["parameters"]], ["sim.every_cycle", "sim.shuffle"])
        self.assertEqual(sum(sender["packets_a"] for sender in diff["packets"] if sender["sender"] == "nic0"),
                         2 * MESSAGES * MESSAGE // 4096)
        self.assertTrue(self.balboa("diff", "a", "b").stdout.endswith(" the runs are the same\n"))

    def test_a_file_that_is_none(self):
        self.run_of("a")
        self.run_of("b")
        for name in ("counters.txt", "nic1.pcap"):
            (self.folder / "b" / name).unlink()
            os.mkfifo(self.folder / "b" / name)
            self.assertIn(f"b/{name}: is no regular file", self.balboa("diff", "a", "b", code=2).stderr)
            (self.folder / "b" / name).unlink()

    def test_one_parameter(self):
        """Every fourth packet in place of the last one asks for an ACK: the fourth is the first to differ."""
        self.run_of("a")
        self.run_of("b", "--set", "nic.ack_interval=4")
        diff = self.diff(code=1)
        self.assertEqual(diff["parameters"],
                         [{"path": "nic.ack_interval", "a": 16, "b": 4, "percent": -75.0}])
        first = diff["first"]
        self.assertEqual((first["capture"], first["sender"]), ("nic0.pcap", "nic0"))
        self.assertEqual((first["first"]["packet"], first["first"]["what"]), (4, "bytes"))
        self.assertEqual(first["first"]["byte"], 14 + 20 + 8 + 8)  # AckReq
        self.assertIn("ackreq=0", first["first"]["a"]["line"])
        self.assertIn("ackreq=1", first["first"]["b"]["line"])
        self.assertEqual(first["first"]["a"]["time_ps"], first["first"]["b"]["time_ps"])
        counters = {change["path"]: (change["a"], change["b"]) for change in diff["workloads"][0]["counters"]}
        self.assertEqual(counters["nic1.tx.response_queue.acks_sent"], (MESSAGES, 4 * MESSAGES))
        table = self.balboa("diff", "a", "b", code=1).stdout
        self.assertIn("first difference: packet 4 of nic0 in nic0.pcap: bytes, from byte 50 of the frame\n", table)

    def test_a_bound(self):
        """More ACKs, but at this rate nobody waits for them: no rate falls by half."""
        self.run_of("a")
        self.run_of("b", "--set", "nic.ack_interval=4")
        self.diff("--fail-above", 50, code=0)
        self.run_of("b", "--set", "link.gbps=25")
        self.diff("--fail-above", 50, code=1)

    def refuse(self, says):
        run = self.balboa("diff", "a", "b", code=2)
        self.assertEqual(run.stdout, "")
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertIn(says, run.stderr)

    def test_bad_input(self):
        self.run_of("a")
        self.refuse("b: no such folder")
        (self.folder / "b").mkdir()
        self.refuse("b/result.json: cannot be read")
        self.perf("-s", MESSAGE, "-n", 4, output="b")
        self.refuse("different workloads: iterations is 8 in one and 4 in the other")
        self.run_of("b")
        capture = self.folder / "b/nic1.pcap"
        capture.write_bytes(capture.read_bytes()[:-7])
        self.refuse("b/nic1.pcap: packet ")
        self.balboa("diff", "a", code=2)
        for percent in ("-1", "nan", "inf", "much"):
            self.assertIn("a number from 0", self.balboa("diff", "a", "a", "--fail-above", percent, code=2).stderr)


if __name__ == "__main__":
    unittest.main()
