"""What the project says of degraded views, scored against what is known: the simulator's own runs, from both ends."""
import json
import random

import balboa
import degraded

REQUESTER, RESPONDER = "10.0.0.1", "10.0.0.2"
FAILURES = ("different", "missing", "extra")
SEEDS = range(6)
CLIENT, SERVER = "10.77.0.2", "10.77.0.1"
SOFT_ROCE = [
    (name, end)
    for name in ("rc_mixed", "rc_mixed_mtu256", "rc_multiqp", "pt_read_bw", "loss_write", "loss_read_resp", "loss_ack")
    for end in (("s",) if name.startswith("loss") else ("c", "s"))
]
# The requester may stop where a READ has lost responses to the wire and to the tap (docs/replay.md).
LOST_TO_BOTH = ("loss_read_resp", "tap loses 0.01", CLIENT)
READ_REQUEST, PATH_MTU = 0x0C, 1024
# Where the tap loses so much that its losses lie beside those of the wire, the two are taken together (docs/triage.md).
BESIDE_EACH_OTHER = "tap loses 0.05"
# A copy that differs in nothing, behind a retry of the instant before, may be taken for one more retry (docs/triage.md).
ALIKE = "mirrored alike"


def psns_of(frame):
    """How many PSNs a request takes; a READ one for each response."""
    length = degraded.dma_length(frame) if degraded.opcode(frame) == READ_REQUEST else 0
    return max(1, -(-length // PATH_MTU))


def psns_lost(sent, received):
    """PSNs of the frames that a link lost, and of those that the receiver missed at once, which it then NAKs. Behind a
    gap it misses nothing: all is sent again in any case. A link keeps the order."""
    lost, missed, expected, arrived = 0, 0, {}, iter(received)
    due = next(arrived, None)
    for _, _, frame in sent:
        qp, psn = degraded.destination_qp(frame), degraded.psn(frame)
        in_order = psn == expected.setdefault(qp, psn)
        if due is not None and frame == due[2]:
            expected[qp] += psns_of(frame) if in_order else 0
            due = next(arrived, None)
        else:
            lost += psns_of(frame)
            missed += psns_of(frame) if in_order else 0
    return lost, missed


def views(records, requester, responder, seed):
    yield "whole", records
    yield "requests alone", degraded.one_way(records, requester)
    yield "answers alone", degraded.one_way(records, responder)
    yield "mid-flow", degraded.mid_flow(records)
    yield "mirrored", degraded.mirrored_behind_a_router(records)
    yield "mirrored alike", degraded.mirrored_twice_alike(records)
    for rate in (0.001, 0.01, 0.05):
        yield f"tap loses {rate}", degraded.lossy(records, rate, seed)
    yield "erspan 2", degraded.in_erspan2(records)
    yield "erspan 3", degraded.in_erspan3(records)
    yield "vxlan", degraded.in_vxlan(records)
    for length in (64, 96, 128):
        yield f"snap {length}", degraded.snapped(records, length)


class Degraded(balboa.Case):
    def run_with_losses(self, seed):
        """A mix of everything on four queue pairs, some frames lost both ways; the records of both ends, and
        psns_lost() of the requests."""
        chance = random.Random(seed)
        forward, backward = (sorted(chance.sample(range(20, 500), 4)) for _ in range(2))
        sections = {
            "nic": {"pmtu": 1024},
            "workload": {"test": "bw", "operation": "mix", "size": 8192, "iterations": 60, "qps": 4, "tx_depth": 8},
            "sim": {"seed": seed + 1},
        }
        scenario = self.write("scenario.toml", balboa.scenario(sections, forward, backward))
        self.simulate("run", scenario, "--pcap", output=f"run{seed}")
        ends = [degraded.read(self.folder / f"run{seed}/nic{n}.pcap") for n in (0, 1)]
        return ends, psns_lost(*(degraded.one_way(end, REQUESTER) for end in ends))

    def files_of(self, name, records):
        return [degraded.write(self.folder / f"{name.replace(' ', '_')}.pcap", records)]

    def failures_of_replay(self, files, address, *options):
        run = self.program("replay", *files, "--as", address, "--mode", "functional", "--json", *options)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        verdicts = json.loads(run.stdout)["verdicts"]
        parts = [verdicts[part] for part in ("answers", "requests", "data") if part in verdicts]
        return [text for part in parts for kind in FAILURES for text in part.get("examples", {}).get(kind, [])]

    def lost_on_the_wire(self, files):
        result = json.loads(self.balboa("triage", "--json", *files).stdout)
        return sum(c["lost_request_psns"]["wire_before_tap"] for c in result["connections"])

    def test_replay_finds_no_false_difference(self):
        for seed in SEEDS:
            ends, _ = self.run_with_losses(seed)
            for end, records in enumerate(ends):
                for name, view in views(records, REQUESTER, RESPONDER, seed):
                    files = self.files_of(name, view)
                    for address in (REQUESTER, RESPONDER):
                        with self.subTest(seed=seed, tap=f"nic{end}", view=name, address=address):
                            self.assertEqual(self.failures_of_replay(files, address), [])

    def test_flows_split_over_two_files(self):
        ends, _ = self.run_with_losses(0)
        for skew_ns in (0, 3000, 250_000):
            parts = degraded.split(ends[1])
            parts = parts[0], degraded.later(parts[1], skew_ns)
            files = [degraded.write(self.folder / f"part{i}.pcap", p) for i, p in enumerate(parts)]
            for address in (REQUESTER, RESPONDER):
                with self.subTest(skew_ns=skew_ns, address=address):
                    self.assertEqual(self.failures_of_replay(files, address), [])

    def test_soft_roce_from_both_ends(self):
        for name, end in SOFT_ROCE:
            capture = balboa.shared(f"captures/rxe/{name}.{end}.pcap")
            records = [r for r in degraded.read(capture) if degraded.is_roce(r[2])]
            for view, changed in views(records, CLIENT, SERVER, 1):
                files = self.files_of(f"{name}.{end} {view}", changed)
                for address in (CLIENT, SERVER):
                    if (name, view, address) == LOST_TO_BOTH:
                        continue
                    with self.subTest(name=name, tap=end, view=view, address=address):
                        self.assertEqual(self.failures_of_replay(files, address, "--peer-quirks", "rxe"), [])

    def test_triage_finds_losses_and_no_false_ones(self):
        found = truth = 0
        for seed in SEEDS:
            (_, received), (lost, missed) = self.run_with_losses(seed)
            for name, view in views(received, REQUESTER, RESPONDER, seed):
                with self.subTest(seed=seed, view=name):
                    claimed = self.lost_on_the_wire(self.files_of(name, view))
                    if name not in (BESIDE_EACH_OTHER, ALIKE):
                        self.assertLessEqual(claimed, lost)
                    if name in ("whole", "mirrored", "erspan 2", "erspan 3", "vxlan", "snap 64", "snap 96", "snap 128"):
                        found, truth = found + claimed, truth + missed
        self.assertGreater(truth, 0)
        self.assertGreaterEqual(found / truth, 0.95)
