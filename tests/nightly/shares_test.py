"""Fair shares over as many messages as the slowest QP needs for a hundred of its own."""
import balboa


class Shares(balboa.Case):
    def test_100_messages_of_1_mb_beside_63_qps_of_4_kb(self):
        # Every QP sends 100 MB: 100 messages, or 25600.
        result = self.perf("--profile", "ideal", "-q", 64, "-s", 4096, "-n", 100, "-t", 16,
                           "--set", "workload.first_size=1048576")
        self.assertTrue(result["memory_equal"])
        self.assertGreaterEqual(result["qp_bytes_least"], 0.95 * result["qp_bytes_most"])
