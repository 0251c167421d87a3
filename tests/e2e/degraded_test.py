"""What the project says of degraded views, scored against what is known: the simulator's own runs, from both ends."""
import json
import random

import balboa
import degraded

REQUESTER, RESPONDER = "10.0.0.1", "10.0.0.2"
FAILURES = ("different", "missing", "extra")
SEEDS = range(6)
READ_REQUEST, PATH_MTU = 0x0C, 1024
# Where the tap loses so much that its losses lie beside those of the wire, the two are taken together (docs/triage.md).
BESIDE_EACH_OTHER = "tap loses 0.05"


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

    def views(self, records, seed):
        yield "whole", records
        yield "requests alone", degraded.one_way(records, REQUESTER)
        yield "answers alone", degraded.one_way(records, RESPONDER)
        yield "mid-flow", degraded.mid_flow(records)
        yield "mirrored", degraded.mirrored_behind_a_router(records)
        for rate in (0.001, 0.01, 0.05):
            yield f"tap loses {rate}", degraded.lossy(records, rate, seed)
        yield "erspan", degraded.in_erspan2(records)
        yield "vxlan", degraded.in_vxlan(records)
        for length in (64, 96, 128):
            yield f"snap {length}", degraded.snapped(records, length)

    def files_of(self, name, records):
        return [degraded.write(self.folder / f"{name.replace(' ', '_')}.pcap", records)]

    def failures_of_replay(self, files, address):
        run = self.program("replay", *files, "--as", address, "--mode", "functional", "--json")
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
                for name, view in self.views(records, seed):
                    files = self.files_of(name, view)
                    for address in (REQUESTER, RESPONDER):
                        with self.subTest(seed=seed, tap=f"nic{end}", view=name, address=address):
                            self.assertEqual(self.failures_of_replay(files, address), [])

    def test_flows_split_over_two_files(self):
        ends, _ = self.run_with_losses(0)
        files = [degraded.write(self.folder / f"part{i}.pcap", p) for i, p in enumerate(degraded.split(ends[1]))]
        for address in (REQUESTER, RESPONDER):
            self.assertEqual(self.failures_of_replay(files, address), [])

    def test_triage_finds_losses_and_no_false_ones(self):
        found = truth = 0
        for seed in SEEDS:
            (_, received), (lost, missed) = self.run_with_losses(seed)
            for name, view in self.views(received, seed):
                with self.subTest(seed=seed, view=name):
                    claimed = self.lost_on_the_wire(self.files_of(name, view))
                    if name != BESIDE_EACH_OTHER:
                        self.assertLessEqual(claimed, lost)
                    if name in ("whole", "mirrored", "erspan", "vxlan", "snap 64", "snap 96", "snap 128"):
                        found, truth = found + claimed, truth + missed
        self.assertGreater(truth, 0)
        self.assertGreaterEqual(found / truth, 0.95)
