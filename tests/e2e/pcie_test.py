"""What the PCIe model does to a whole NIC."""
import unittest

import balboa


class Pcie(balboa.Case):
    def counters(self, *settings):
        self.perf("-s", 65536, "-n", 200, "-t", 16, *settings)
        lines = (self.folder / "out/counters.txt").read_text().splitlines()
        return {name: int(value) for name, value in (line.rsplit(" ", 1) for line in lines if line)}

    def test_a_slow_host_fills_the_receive_fifo(self):
        """Memory takes half of the line rate: credits run out, the packets wait in the NIC, then the MAC drops."""
        fast = self.counters()
        self.assertLess(fast["nic1.rx.packet_store.fullest"], 256)
        self.assertEqual(fast["nic1.mac.rx.dropped"], 0)
        slow = self.counters("--set", "pcie.host_write_gbps=50")
        self.assertEqual(slow["nic1.rx.packet_store.fullest"], 1024)
        self.assertGreater(slow["nic1.mac.rx.dropped"], 0)

    def test_the_table_tells_who_dropped_and_who_sent_again(self):
        slow = self.balboa("perf", "-s", 65536, "-n", 60, "--set", "pcie.host_write_gbps=50").stdout.splitlines()
        self.assertRegex(slow[-2], "^ 65536 bytes: nic0 sent [1-9][0-9]* packets again$")
        self.assertRegex(slow[-1], "^ 65536 bytes: the full receive FIFO of nic1 dropped [1-9][0-9]* frames$")
        self.assertNotIn("dropped", self.balboa("perf", "-s", 65536, "-n", 60).stdout)

    def test_few_credits_do_the_same(self):
        slow = self.counters("--set", "pcie.posted_data=64")
        self.assertEqual(slow["nic1.rx.packet_store.fullest"], 1024)

    def test_parameters_that_contradict_each_other(self):
        run = self.balboa("perf", "--set", "pcie.read_latency_ns=100", code=2)
        self.assertEqual(run.stderr, "balboa: pcie.read_latency_ns = 100: allowed are 220 and more\n")
        self.assertEqual(run.stdout, "")


if __name__ == "__main__":
    unittest.main()
