"""Captures become scenarios: runs of the simulator come out the same, losses of soft-RoCE happen again."""
import balboa
import degraded

READ_REQUEST, READ_RESPONSE_FIRST, ACK, ATOMIC_ACK = 0x0C, 0x0D, 0x11, 0x12
NAK_SEQUENCE, AETH_AT = 0x60, degraded.BTH_AT + 12
HALF = 1 << 23


def packets_of(path):
    """(time, sender, destination QPN, opcode, PSN, bytes) of each packet."""
    return [
        (time, degraded.source(f), degraded.destination_qp(f), degraded.opcode(f), degraded.psn(f), len(f))
        for time, _, f in degraded.read(path)
    ]


def recovery_of(records, requester, pmtu):
    """PSNs of the sequence NAKs, and those that READs are asked for again from."""
    naks, again, highest = [], [], None
    for _, _, f in records:
        if not degraded.is_roce(f):
            continue
        op, psn = degraded.opcode(f), degraded.psn(f)
        if op == ACK and f[AETH_AT] == NAK_SEQUENCE:
            naks.append(psn)
        if degraded.source(f) != requester or READ_RESPONSE_FIRST <= op <= ATOMIC_ACK:
            continue
        end = psn + max(1, -(-degraded.dma_length(f) // pmtu) if op == READ_REQUEST else 1)
        if highest is not None and (psn - highest) % (2 * HALF) >= HALF and op == READ_REQUEST:
            again.append(psn)
        if highest is None or (end - highest) % (2 * HALF) < HALF:
            highest = end
    return naks, again


class Extract(balboa.Case):
    def extract(self, *captures, code=0, options=()):
        return self.balboa("extract", *captures, "-o", "made.toml", *options, code=code)

    def run_made(self):
        self.simulate("run", "made.toml", "--pcap", output="made")
        return self.folder / "made"

    def again(self, tap, *command):
        """The packets at a tap of the simulator, and those at the same tap when the extract has run."""
        self.simulate(*command, "--pcap", output="first")
        self.extract(self.folder / "first" / tap)
        made = self.run_made()
        (self.folder / "made.toml").unlink()
        return packets_of(self.folder / "first" / tap), packets_of(made / tap)

    def assert_same_again(self, *command):
        """What the simulator captured comes out the same, to the nanosecond."""
        first, made = self.again("nic0.pcap", *command)
        self.assertEqual(made, first)

    def test_bandwidth(self):
        self.assert_same_again("perf", "-s", 4096, "-n", 50)
        self.assert_same_again("perf", "-s", 16384, "-n", 30, "-t", 4)
        self.assert_same_again("perf", "-s", 65536, "-n", 10, "-q", 4, "-b")
        self.assert_same_again("perf", "--op", "read", "-s", 8192, "-n", 30, "-t", 4)
        self.assert_same_again("perf", "-s", 64, "-n", 500, "-t", 16)

    def test_several_queue_pairs(self):
        for operation in ("write", "send", "read"):
            self.assert_same_again("perf", "--op", operation, "-s", 3000, "-n", 40, "-q", 2, "-t", 4)
            self.assert_same_again("perf", "--op", operation, "-s", 8, "-n", 40, "-q", 3, "-t", 2)

    def test_latency(self):
        for operation in ("write", "send", "read"):
            self.assert_same_again("perf", "--op", operation, "--test", "lat", "-s", 64, "-n", 20)

    def test_a_lost_packet(self):
        self.assert_same_again("run", balboa.ROOT / "tests/scenarios/one_of_eight_lost.toml")

    def test_both_hosts_and_losses_at_either_tap(self):
        scenario = balboa.ROOT / "tests/scenarios/listed_work.toml"
        for tap in ("nic0.pcap", "nic1.pcap"):
            first, made = self.again(tap, "run", scenario)
            self.assertEqual([p[1:] for p in made], [p[1:] for p in first])

    def soft_roce(self, name, messages):
        capture = balboa.shared(f"captures/rxe/{name}.s.pcap")
        self.extract(capture)
        made = self.run_made()
        self.assertEqual(self.read_json("made")["result"]["messages"], messages)
        captured = recovery_of(degraded.read(capture), "10.77.0.2", 1024)
        again = recovery_of(degraded.read(made / "nic1.pcap"), "10.0.0.1", 1024)
        return captured, again

    def test_requests_lost_by_soft_roce(self):
        captured, again = self.soft_roce("loss_write", 30)
        self.assertEqual(len(captured[0]), 16)
        self.assertEqual(again, captured)

    def test_responses_lost_by_soft_roce(self):
        captured, again = self.soft_roce("loss_read_resp", 30)
        self.assertEqual(len(captured[1]), 25)
        self.assertEqual(again, captured)

    def test_acks_lost_by_soft_roce(self):
        self.soft_roce("loss_ack", 30)
        counters = self.read_json("made")["result"]["counters"]["nic0"]
        # One more retry of the capture has no cause that it shows.
        self.assertEqual(counters["tx.flow_control.local_ack_timeout_err"], 7)

    def test_answers_to_atomics_lost_by_soft_roce(self):
        self.soft_roce("loss_atomic_ack", 60)
        self.assertIn("66 atomics are not yet supported", (self.folder / "made.toml").read_text())

    def test_bad_input(self):
        self.write("made.toml", "mine")
        run = self.extract(balboa.SAMPLE, code=2)
        self.assertIn("made.toml is there already", run.stderr)
        self.assertEqual((self.folder / "made.toml").read_text(), "mine")
        for hosts in ("10.0.0.1", "10.0.0.1,10.0.0.1", "10.0.0.1,host", "10.0.0.1,fd77::1"):
            run = self.balboa("extract", balboa.SAMPLE, "-o", "new.toml", "--hosts", hosts, code=2)
            self.assertEqual(len(run.stderr.splitlines()), 1)
            self.assertIn("--hosts", run.stderr)
        run = self.balboa("extract", balboa.SAMPLE, "-o", "new.toml", "--hosts", "10.9.9.9,10.9.9.8", code=2)
        self.assertIn("10.9.9.9", run.stderr)
        many = balboa.shared("captures/third_party/linlinw5__nccl_node0.pcap")
        run = self.balboa("extract", many, "-o", "new.toml", code=2)
        self.assertRegex(run.stderr, r"choose with --hosts one of \S+,\S+ \S+,\S+")
        self.assertFalse((self.folder / "new.toml").exists())

