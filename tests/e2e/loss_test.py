"""Lost frames: whatever is lost, every WRITE completes once, the memories are equal and nothing is left anywhere."""
import random
import unittest

import balboa

MESSAGES = 8
PMTU = 1024


def timeouts(result):
    return result["counters"]["nic0"]["tx.flow_control.local_ack_timeout_err"]


def naks(result):
    return result["counters"]["nic1"]["tx.response_queue.naks_sent"]


class Loss(balboa.Case):
    def lose(self, workload, nic, forward=(), backward=()):
        messages = workload["iterations"] * workload["qps"]
        sections = {
            "nic": nic,
            "workload": {"test": "bw", **workload},
            "expect": {"messages": messages, "errors": 0, "memory_equal": True},
        }
        file = self.write("scenario.toml", balboa.scenario(sections, forward, backward))
        return self.simulate("run", file)["result"]

    def lose_of_eight(self, packets, **lost):
        workload = {"size": packets * PMTU, "iterations": MESSAGES, "qps": 1, "tx_depth": MESSAGES}
        return self.lose(workload, {"pmtu": PMTU}, **lost)

    def each_data_packet(self, packets):
        for frame in range(1, MESSAGES * packets + 1):
            with self.subTest(lost=frame):
                result = self.lose_of_eight(packets, forward=[frame])
                self.assertEqual(result["frames_lost"], 1)
                # A gap is seen by what follows it; where nothing follows, only time tells.
                last = frame == MESSAGES * packets
                self.assertEqual((timeouts(result), naks(result)), (1, 0) if last else (0, 1))

    def each_acknowledgement(self, packets):
        frames = self.lose_of_eight(packets)["counters"]["nic1"]["mac.tx.frames"]
        self.assertGreater(frames, 1)
        for frame in range(1, frames + 1):
            with self.subTest(lost=frame):
                result = self.lose_of_eight(packets, backward=[frame])
                self.assertEqual(result["frames_lost"], 1)
                # A later acknowledgement says what the lost one said.
                self.assertEqual((timeouts(result), naks(result)), (1 if frame == frames else 0, 0))

    def test_every_qp_times_out_alone(self):
        """All first packets of 500 QPs are lost, so that each QP needs its own time-out, the last ones too."""
        workload = {"size": 64, "iterations": 1, "qps": 500, "tx_depth": 1}
        result = self.lose(workload, {"timeout": 8}, forward=range(1, 501))
        self.assertEqual(result["frames_lost"], 500)
        self.assertEqual(timeouts(result), 500)

    def test_nothing_lost(self):
        result = self.lose_of_eight(3)
        self.assertEqual((result["frames_lost"], timeouts(result), naks(result)), (0, 0, 0))

    def test_each_data_packet_of_single_packet_messages(self):
        self.each_data_packet(1)

    def test_each_data_packet_of_three_packet_messages(self):
        self.each_data_packet(3)

    def test_each_acknowledgement_of_single_packet_messages(self):
        self.each_acknowledgement(1)

    def test_each_acknowledgement_of_three_packet_messages(self):
        self.each_acknowledgement(3)

    def test_a_loss_that_nothing_recovers_is_reported(self):
        sections = {"nic": {"timeout": 0}, "workload": {"test": "bw", "size": 64, "iterations": 1}}
        file = self.write("scenario.toml", balboa.scenario(sections, forward=[1]))
        lines = self.balboa("run", file, "--quiet", code=1).stderr.splitlines()
        self.assertEqual(lines[0], "balboa: deadlock: the work is not done, but nothing can move")
        for stage in ("tx.flow_control", "tables.retransmit", "host.port"):
            self.assertIn(f"balboa: stage nic0.{stage} still holds 1", lines)

    def test_fifty_seeds_of_many_losses(self):
        lost = 0
        for seed in range(50):
            rng = random.Random(seed)
            pmtu = rng.choice([256, 1024, 4096])
            workload = {
                "size": rng.choice([1, 64, pmtu, pmtu + 1, 3 * pmtu - 1]),
                "iterations": rng.randint(5, 20),
                "qps": rng.randint(1, 4),
                "tx_depth": rng.randint(1, 16),
            }
            # Time-outs far apart, so that none falls into the recovery of another.
            nic = {"pmtu": pmtu, "window_packets": rng.choice([1, 2, 16, 1024]), "timeout": rng.randint(6, 12)}
            frames = 4 + 3 * workload["iterations"] * workload["qps"]
            forward = sorted(rng.sample(range(1, frames), rng.randint(2, 6)))
            backward = sorted(rng.sample(range(1, frames // 2), rng.randint(1, 4)))
            with self.subTest(seed=seed, workload=workload, nic=nic, forward=forward, backward=backward):
                lost += self.lose(workload, nic, forward, backward)["frames_lost"]
        self.assertGreater(lost, 150)


if __name__ == "__main__":
    unittest.main()
