"""Every packet that the NICs put on the wire, judged by tools that nobody here wrote, against what was asked for."""
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest

import balboa

SIZES = [0, 1, 2, 3, 63, 64, 65, 1023, 4096, 4097, 65536]
PMTUS = [256, 1024, 4096]
QPS, ITERATIONS = 2, 2

FIRST, MIDDLE, LAST, ONLY, ACK = 6, 7, 8, 10, 17  # IBTA table 38
FIRST_PSN, PSNS_APART = 0x100, 0x10000  # of the first QP, and from one QP to the next
LOCAL_QPN, REMOTE_QPN = 17, 18  # of the first QP of each side
TARGET_ADDRESS = 1 << 40
BTH_BYTES, RETH_BYTES, AETH_BYTES, ICRC_BYTES, UDP_BYTES = 12, 16, 4, 4, 8

FIELDS = """ip.src ip.checksum.status udp.dstport udp.length infiniband.bth.opcode infiniband.bth.destqp
infiniband.bth.psn infiniband.bth.a infiniband.bth.padcnt infiniband.bth.p_key infiniband.bth.m infiniband.bth.tver
infiniband.reth.va infiniband.reth.r_key infiniband.reth.dmalen infiniband.aeth.syndrome infiniband.aeth.msn
infiniband.invariant.crc frame.protocols""".split()
# RPC over RDMA and TFTP claim some RoCE packets by guessing.
TSHARK = ["tshark", "-n", "-o", "ip.check_checksum:TRUE", "-o", "infiniband.try_heuristic_first:FALSE"]
for protocol in ("rpcordma", "tftp", "data"):
    TSHARK += ["--disable-protocol", protocol]


def frames_of(capture):
    """The frames of a nanosecond pcap, whole."""
    data = pathlib.Path(capture).read_bytes()
    magic, _, _, _, _, _, link_type = struct.unpack_from("<IHHiIII", data)
    assert (magic, link_type) == (0xA1B23C4D, 1), capture
    frames, at = [], 24
    while at < len(data):
        _, _, captured, original = struct.unpack_from("<IIII", data, at)
        assert captured == original
        frames.append(data[at + 16 : at + 16 + captured])
        at += 16 + captured
    return frames


def dissect(capture):
    """tshark's fields of every frame as dicts; numbers as int, what a frame does not have as None."""
    command = TSHARK + ["-r", str(capture), "-T", "fields", "-E", "occurrence=f"]
    for field in FIELDS:
        command += ["-e", field]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def value(field, cell):
        return cell if field in ("ip.src", "frame.protocols") else int(cell, 0) if cell else None

    rows = [line.split("\t") for line in text.splitlines()]
    return [{f.split(".", 1)[1]: value(f, c) for f, c in zip(FIELDS, row)} for row in rows]


def join(captures, path):
    """One capture of all, for tools that take long to start."""
    contents = [c.read_bytes() for c in captures]
    path.write_bytes(contents[0][:24] + b"".join(c[24:] for c in contents))
    return path


def expected_requests(size, pmtu):
    """What the requester sends on each QP: {destination QPN: [the fields of a packet]}."""
    stride = max(64, 1 << (size - 1).bit_length()) if 0 < size <= 4096 else max(64, -(-size // 4096) * 4096)
    requests = {}
    for qp in range(QPS):
        packets = []
        for message in range(ITERATIONS):
            count = max(1, -(-size // pmtu))
            for i in range(count):
                first, last = i == 0, i == count - 1
                payload = size - i * pmtu if last else pmtu
                pad = -payload % 4
                transport = BTH_BYTES + RETH_BYTES * first + payload + pad + ICRC_BYTES
                packet = {
                    "bth.opcode": ONLY if count == 1 else FIRST if first else LAST if last else MIDDLE,
                    "bth.psn": FIRST_PSN + qp * PSNS_APART + len(packets),
                    "bth.padcnt": pad,
                    "length": UDP_BYTES + transport,
                    "reth.va": TARGET_ADDRESS + (qp * ITERATIONS + message) * stride if first else None,
                    "reth.dmalen": size if first else None,
                }
                if last:
                    packet["bth.a"] = 1
                packets.append(packet)
        requests[REMOTE_QPN + qp] = packets
    return requests


class Oracles(balboa.Case):
    def captures(self):
        """Runs every size at every PMTU; yields size, PMTU and the captures of both ends."""
        for pmtu in PMTUS:
            for size in SIZES:
                name = f"{size}_at_{pmtu}"
                self.perf("-s", size, "-n", ITERATIONS, "-q", QPS, "-m", pmtu, "--pcap", output=name)
                yield size, pmtu, [self.folder / name / f"nic{n}.pcap" for n in (0, 1)]

    def test_both_ends_capture_the_same_frames(self):
        for size, pmtu, (sent, received) in self.captures():
            with self.subTest(size=size, pmtu=pmtu):
                self.assertEqual(sorted(frames_of(sent)), sorted(frames_of(received)))

    def test_icrc_by_the_shared_checker(self):
        checker = balboa.shared("oracles/icrc_check.py")
        files = [f for _, _, both in self.captures() for f in both]
        run = subprocess.run([sys.executable, "-B", checker, *files], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        lines = run.stdout.splitlines()
        self.assertEqual(len(lines), len(files))
        for line in lines:
            self.assertRegex(line, r"roce=(\d+) ok=\1 bad=0 cut=0 other=0$")

    def test_icrc_by_scapy(self):
        from scapy.contrib.roce import BTH
        from scapy.layers.inet import IP
        from scapy.layers.l2 import Ether

        checked = 0
        for size, pmtu, both in self.captures():
            for frame in {f for capture in both for f in frames_of(capture)}:
                packet = Ether(frame)
                ip_length = packet[IP].len
                bare = IP(bytes(packet[IP])[:ip_length])  # short frames are padded behind the ICRC
                wire = bytes(bare)[-ICRC_BYTES:]
                bare[BTH].icrc = None
                self.assertEqual(bytes(bare)[-ICRC_BYTES:], wire, f"{size} bytes at PMTU {pmtu}: {frame.hex()}")
                checked += 1
        self.assertGreater(checked, 1000)

    def test_fields_by_tshark(self):
        if not shutil.which("tshark"):
            self.skipTest("needs tshark")
        runs = [(size, pmtu, f) for size, pmtu, both in self.captures() for f in both]
        packets = dissect(join([f for _, _, f in runs], self.folder / "all.pcap"))
        for size, pmtu, capture in runs:
            with self.subTest(size=size, pmtu=pmtu, capture=capture.name):
                count = len(frames_of(capture))
                self.check_fields(packets[:count], size, pmtu)
                del packets[:count]
        self.assertEqual(packets, [])

    def check_fields(self, packets, size, pmtu):
        for p in packets:
            self.assertTrue(p["protocols"].startswith("eth:ethertype:ip:udp:infiniband"), p)
            self.assertNotIn("malformed", p["protocols"])
            always = [p[f] for f in ("checksum.status", "dstport", "bth.p_key", "bth.m", "bth.tver")]
            self.assertEqual(always, [1, 4791, 0xFFFF, 0, 0])
            self.assertIsNotNone(p["invariant.crc"])
        self.check_requests([p for p in packets if p["src"] == "10.0.0.1"], size, pmtu)
        self.check_acknowledgements([p for p in packets if p["src"] == "10.0.0.2"], max(1, -(-size // pmtu)))

    def check_requests(self, packets, size, pmtu):
        for qpn, expected in expected_requests(size, pmtu).items():
            got = [p for p in packets if p["bth.destqp"] == qpn]
            self.assertEqual(len(got), len(expected))
            for g, e in zip(got, expected):
                self.assertEqual({f: g[f] for f in e}, e)
                self.assertEqual(g["reth.r_key"] is None, e["reth.va"] is None)
        self.assertEqual({p["bth.destqp"] for p in packets}, {REMOTE_QPN + qp for qp in range(QPS)})
        self.assertEqual(len({p["reth.r_key"] for p in packets} - {None}), 1)

    def check_acknowledgements(self, packets, packets_of_message):
        for qp in range(QPS):
            got = [p for p in packets if p["bth.destqp"] == LOCAL_QPN + qp]
            total, first = ITERATIONS * packets_of_message, FIRST_PSN + qp * PSNS_APART
            self.assertEqual(got[-1]["bth.psn"], first + total - 1)
            for p in got:
                self.assertEqual((p["bth.opcode"], p["bth.padcnt"], p["aeth.syndrome"]), (ACK, 0, 0x1F))
                self.assertEqual(p["length"], UDP_BYTES + BTH_BYTES + AETH_BYTES + ICRC_BYTES)
                # Completed messages up to the acknowledged packet (IBTA 9.7.7.1).
                self.assertEqual(p["aeth.msn"], (p["bth.psn"] + 1 - first) // packets_of_message)
        self.assertEqual({p["bth.destqp"] for p in packets}, {LOCAL_QPN + qp for qp in range(QPS)})


if __name__ == "__main__":
    unittest.main()
