"""READ, SEND and immediate data: what the wire allows, fair shares, every size at every PMTU and width, losses."""
import random
import subprocess
import sys
import unittest

import balboa
from oracles_test import TSHARK, frames_of, join

WIDTH_GBPS = {64: 10, 128: 25, 256: 50, 512: 100, 1024: 200}


class Rates(balboa.Case):
    def steady(self, *arguments):
        result = self.perf("--profile", "ideal", *arguments)
        self.assertTrue(result["memory_equal"])
        self.assertGreaterEqual(result["messages"], 1000)
        return result

    def test_read_and_send_reach_the_wire(self):
        # Every response but the middle ones has an AETH; a SEND has none of the headers of a WRITE.
        for op, pmtu, least, ceiling in (("read", 4096, 97.5, 98.026), ("read", 1024, 92, 92.575),
                                         ("send", 4096, 97.5, 98.038), ("send", 1024, 92, 92.587)):
            with self.subTest(op=op, pmtu=pmtu):
                result = self.steady("--op", op, "-s", 65536, "-m", pmtu, "-n", 1250)
                self.assertGreaterEqual(result["steady_gbps"], least)
                self.assertLessEqual(result["steady_gbps"], ceiling)

    def test_both_ways(self):
        result = self.steady("-b", "-s", 65536, "-n", 1250)
        for direction in result["directions"]:
            self.assertGreaterEqual(direction["steady_gbps"], 97)

    def check_shares(self, *arguments):
        result = self.steady("-q", 64, *arguments)
        self.assertGreaterEqual(result["qp_bytes_least"], 0.95 * result["qp_bytes_most"])

    def test_64_qps_share_alike(self):
        for op in ("write", "read", "send"):
            with self.subTest(op=op):
                self.check_shares("--op", op, "-s", 4096, "-n", 250)

    def test_a_qp_with_large_messages_shares_alike(self):
        self.check_shares("-s", 4096, "--set", "workload.first_size=65536", "-n", 60)


class Mixes(balboa.Case):
    def mix(self, *arguments, receives=64, **options):
        result = self.perf("--op", "mix", "-r", receives, *arguments, **options)
        self.assertTrue(result["memory_equal"])
        self.assertEqual((result["errors"], result["problems"]), (0, []))
        return result

    def test_every_width_at_every_pmtu(self):
        seed = 1
        for width, gbps in WIDTH_GBPS.items():
            for pmtu in (256, 512, 1024, 2048, 4096):
                with self.subTest(width=width, pmtu=pmtu):
                    seed += 1
                    self.mix("-b", "-q", 6, "-n", 25, "-s", 12000, "-m", pmtu, "--set", f"nic.width={width}",
                             "--set", f"link.gbps={gbps}", "--set", f"sim.seed={seed}")

    def test_messages_of_4_mb(self):
        self.mix("-q", 2, "-n", 12, "-s", 1 << 22, "-m", 1024)

    def test_hundreds_of_qps_both_ways(self):
        self.mix("-b", "-q", 500, "-n", 6, "-s", 8192, "-t", 6)

    def test_16384_qps(self):
        self.mix("-q", 16384, "-n", 1, "-s", 300, "-t", 1, "--set", "nic.qp_count=16384", receives=1)

    def test_every_frame_passes_the_oracles(self):
        checker = balboa.shared("oracles/icrc_check.py")
        captures = []
        for pmtu in (256, 1024, 4096):
            name = f"at_{pmtu}"
            self.mix("-b", "-q", 3, "-n", 20, "-s", 9000, "-m", pmtu, "--pcap", output=name)
            captures += [self.folder / name / f"nic{n}.pcap" for n in (0, 1)]
        run = subprocess.run([sys.executable, "-B", checker, *captures], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.check_dissection(join(captures, self.folder / "all.pcap"))

    def check_dissection(self, capture):
        command = [*TSHARK, "-r", str(capture), "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "frame.protocols"]
        rows = [line.split("\t") for line in subprocess.run(command, capture_output=True, text=True,
                                                            check=True).stdout.splitlines()]
        self.assertEqual(len(rows), len(frames_of(capture)))
        self.assertEqual([r for r in rows if "malformed" in r[1]], [])
        # Every opcode of the reliable connected service up to the acknowledgement is on the wire.
        self.assertEqual({int(r[0], 0) for r in rows}, set(range(0x12)))

    def test_whatever_is_lost_everything_arrives(self):
        for seed in range(1, 41):
            choose = random.Random(seed)
            lost = {d: sorted(choose.sample(range(1, 80), choose.randint(5, 25))) for d in ("forward", "backward")}
            sections = {
                "sim": {"seed": seed},
                "nic": {"pmtu": choose.choice([256, 512, 1024, 4096]), "timeout": 5},
                "workload": {"operation": "mix", "size": choose.choice([300, 3000, 20000]), "iterations": 12,
                             "qps": choose.choice([1, 2, 5]), "tx_depth": choose.choice([1, 4, 12]), "rx_depth": 16,
                             "bidirectional": choose.random() < 0.6},
            }
            with self.subTest(seed=seed):
                file = self.write("loss.toml", balboa.scenario(sections, **lost))
                result = self.simulate("run", file)["result"]
                self.assertTrue(result["memory_equal"])
                self.assertGreater(result["frames_lost"], 0)


class Latencies(balboa.Case):
    def median(self, *arguments):
        result = self.perf("--test", "lat", "-n", 200, *arguments)
        self.assertTrue(result["memory_equal"])
        return result["latency_ps"]["median"]

    def test_a_read_takes_both_ways_and_a_dma_read(self):
        write, send, read = (self.median("--op", op, "-s", 64) for op in ("write", "send", "read"))
        self.assertGreater(read, write)
        # A SEND's message is seen by its completion, which follows the data: never earlier than the data of a WRITE.
        self.assertGreaterEqual(send, write)

    def test_a_send_of_nothing(self):
        self.assertLess(self.median("--op", "send", "-s", 0), self.median("--op", "send", "-s", 64))

    def test_every_result_is_printed(self):
        lines = self.balboa("perf", "--test", "lat", "--op", "read", "-n", 50, "-H").stdout.splitlines()
        at = lines.index("#, usec")
        values = [float(line.split(", ")[1]) for line in lines[at + 1 : at + 51]]
        self.assertEqual(values, sorted(values))


if __name__ == "__main__":
    unittest.main()
