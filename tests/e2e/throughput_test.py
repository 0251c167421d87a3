"""Steady rates of the ideal profile: close to what the wire allows, and never above.

A frame takes its Ethernet, IPv4, UDP and BTH headers, ICRC, FCS, preamble and gap on the wire, 82 bytes, and a RETH of
16 bytes when it opens a message; no frame is shorter than 84 bytes there.
"""
import unittest

import balboa

LINE_GBPS = 100
CLOCK_PERIOD_PS = 4000
OVERHEAD_BYTES = 14 + 20 + 8 + 12 + 4 + 24
RETH_BYTES = 16


def ceiling_messages_per_s(size, pmtu):
    packets = max(1, -(-size // pmtu))
    wire_bytes = size + packets * OVERHEAD_BYTES + RETH_BYTES
    return LINE_GBPS * 1e9 / 8 / wire_bytes


class Throughput(balboa.Case):
    def steady(self, *, size, pmtu, depth, qps, messages):
        arguments = ["--profile", "ideal", "-s", size, "-m", pmtu, "-t", depth, "-q", qps, "-n", messages // qps]
        result = self.perf(*arguments)
        self.assertGreaterEqual(result["steady_messages"], 1000)
        self.assertTrue(result["memory_equal"])
        rate = result["steady_messages_per_s"]
        # Completions are seen at the edges of the host's clock, so that the time between two may be one period short.
        longest_s = (result["steady_ps"] + CLOCK_PERIOD_PS) / 1e12
        self.assertLessEqual(result["steady_messages"] / longest_s, ceiling_messages_per_s(size, pmtu))
        self.assertAlmostEqual(result["steady_gbps"], rate * size * 8e-9, places=6)
        return result

    def test_ceilings_are_those_of_the_wire(self):
        self.assertAlmostEqual(ceiling_messages_per_s(65536, 4096) * 65536 * 8e-9, 98.014, places=3)
        self.assertAlmostEqual(ceiling_messages_per_s(65536, 1024) * 65536 * 8e-9, 92.565, places=3)
        self.assertAlmostEqual(ceiling_messages_per_s(64, 4096) / 1e6, 77.16, places=2)

    def test_64_kb_at_pmtu_4096(self):
        result = self.steady(size=65536, pmtu=4096, depth=128, qps=1, messages=1300)
        self.assertGreaterEqual(result["steady_gbps"], 97.5)

    def test_64_kb_at_pmtu_1024(self):
        result = self.steady(size=65536, pmtu=1024, depth=128, qps=1, messages=1300)
        self.assertGreaterEqual(result["steady_gbps"], 92)

    def test_64_bytes_on_one_qp(self):
        result = self.steady(size=64, pmtu=4096, depth=1024, qps=1, messages=20000)
        self.assertGreaterEqual(result["steady_messages_per_s"], 62.5e6)

    def test_64_bytes_on_16_qps(self):
        result = self.steady(size=64, pmtu=4096, depth=1024, qps=16, messages=64000)
        self.assertGreaterEqual(result["steady_messages_per_s"], 62.5e6)


if __name__ == "__main__":
    unittest.main()
