"""The same bytes in result.json, counters.txt and every capture, however the simulation is carried out."""
import unittest

import balboa

FILE_HEADER_BYTES, RECORD_BYTES = 24, 16  # of a pcap
# A time-out that is armed keeps a simulation of every cycle going, so let them be short.
SHORT_TIMEOUT = ("--set", "nic.timeout=5")
PLAIN = ()
WAYS = {
    "a repeat": (),
    "a quantum of 1 cycle": ("--set", "sim.quantum_cycles=1"),
    "a quantum of 3 cycles": ("--set", "sim.quantum_cycles=3"),
    "every cycle": ("--set", "sim.every_cycle=true"),
    "every cycle, shuffled": ("--set", "sim.every_cycle=true", "--set", "sim.shuffle=true"),
    "shuffled, a quantum of 1 cycle": ("--set", "sim.shuffle=true", "--set", "sim.quantum_cycles=1"),
}
# What describes the machine and how the run was carried out, rather than what was simulated.
OTHER_FILES = {"config.toml", "host.json"}


class Determinism(balboa.Case):
    def files_of(self, arguments, way, captures):
        self.balboa(*arguments, *way, "--quiet", "--pcap", "-o", "out")
        files = {f.name: f.read_bytes() for f in (self.folder / "out").iterdir() if f.name not in OTHER_FILES}
        self.assertEqual(sorted(f for f in files if f.endswith(".pcap")), captures)
        self.assertIn("result.json", files)
        return files

    def check(self, *arguments, captures=("nic0.pcap", "nic1.pcap")):
        captures = list(captures)
        plain = self.files_of(arguments, PLAIN, captures)
        for name, way in WAYS.items():
            with self.subTest(way=name):
                self.assert_same(plain, self.files_of(arguments, way, captures))
        for seed in (2, 3, 4):
            with self.subTest(way="shuffled", seed=seed):
                seeded = ("--set", f"sim.seed={seed}")
                in_order = self.files_of(arguments, seeded, captures)
                shuffled = self.files_of(arguments, (*seeded, "--set", "sim.shuffle=true"), captures)
                self.assert_same(in_order, shuffled)

    def assert_same(self, a, b):
        self.assertEqual(sorted(a), sorted(b))
        for name, content in a.items():
            self.assertTrue(content == b[name], f"{name} differs")

    def test_bandwidth(self):
        self.check("perf", "-s", "5000", "-n", "40", "-q", "3", "-t", "8", "-m", "1024", *SHORT_TIMEOUT)

    def test_bandwidth_of_the_ideal_profile(self):
        self.check("perf", "-s", "64", "-n", "50", "-q", "4", "-t", "16", "--profile", "ideal", *SHORT_TIMEOUT)

    def test_scarce_pcie(self):
        """Reads, writes, late and overtaking completions on a narrow link with few credits."""
        pcie = {"generation": 3, "lanes": 4, "llc_percent": 50, "reorder_ns": 300, "posted_data": 32,
                "nonposted_headers": 4, "host_write_gbps": 20, "posted_bytes": 512, "outstanding_reads": 8}
        settings = [word for key, value in pcie.items() for word in ("--set", f"pcie.{key}={value}")]
        self.check("perf", "-s", "3000", "-n", "20", "-q", "2", "-t", "4", "-m", "1024", *settings, *SHORT_TIMEOUT)

    def test_latency(self):
        for op in ("write", "send", "read"):
            self.check("perf", "--op", op, "--test", "lat", "-s", "200", "-n", "30", *SHORT_TIMEOUT)

    def test_a_mix_both_ways(self):
        self.check("perf", "--op", "mix", "-b", "-s", "5000", "-n", "15", "-q", "3", "-t", "4", "-r", "16", "-m", "1024",
                   *SHORT_TIMEOUT)

    def test_a_mix_with_losses(self):
        sections = {
            "nic": {"pmtu": 512, "timeout": 4},
            "workload": {"operation": "mix", "size": 3000, "iterations": 15, "qps": 2, "tx_depth": 4, "rx_depth": 16},
        }
        file = self.write("loss.toml", balboa.scenario(sections, forward=[3, 9, 30, 31, 80], backward=[1, 5, 6, 20]))
        self.check("run", file)

    def test_losses(self):
        sections = {
            "nic": {"pmtu": 1024, "timeout": 4},
            "workload": {"test": "bw", "size": 3000, "iterations": 20, "qps": 2, "tx_depth": 8},
        }
        file = self.write("loss.toml", balboa.scenario(sections, forward=[2, 9, 30, 31, 120], backward=[1, 5, 6]))
        self.check("run", file)

    def test_replay(self):
        capture = bytearray(balboa.SAMPLE.read_bytes())
        at = FILE_HEADER_BYTES
        first = capture[at : at + 4]
        for number in range(85):
            # Every cycle of the sample's 50 ms would take long: a packet each 2 us.
            capture[at : at + 8] = first + (2 * number).to_bytes(4, "little")
            at += RECORD_BYTES + int.from_bytes(capture[at + 8 : at + 12], "little")
        self.assertEqual(at, len(capture))
        fast = self.folder / "fast.pcap"
        fast.write_bytes(capture)
        self.check("replay", fast, "--as", balboa.SAMPLE_SERVER, captures=["nic0.pcap"])


if __name__ == "__main__":
    unittest.main()
