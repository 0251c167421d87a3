"""Captures in place of a peer: real ones match, changed ones do not, and what cannot be replayed is refused."""
import unittest
import zlib

import balboa

WRITE_FIRST, ACK = 6, 17
TCP, UDP = 6, 17
PROTOCOL_AT, SOURCE_AT, DESTINATION_AT = 23, 26, 30
RECORD_BYTES, ETHERNET_BYTES, IP_BYTES, UDP_BYTES = 16, 14, 20, 8
BTH_AT = ETHERNET_BYTES + IP_BYTES + UDP_BYTES
MSN_AT = BTH_AT + 12 + 3  # the low byte of the AETH's MSN
FILE_HEADER_BYTES = 24


def records_of(capture):
    """Where each frame of a little-endian pcap begins, and its length."""
    at = FILE_HEADER_BYTES
    while at < len(capture):
        length = int.from_bytes(capture[at + 8 : at + 12], "little")
        yield at + RECORD_BYTES, length
        at += RECORD_BYTES + length


def acks_of(capture):
    return [at for at, _ in records_of(capture) if capture[at + BTH_AT] == ACK]


def icrc(frame):
    """Of a RoCE v2 frame over IPv4 up to the ICRC itself (IBTA annex A17.3.3): what routers change counts as ones."""
    masked = bytearray(b"\xff" * 8 + frame[ETHERNET_BYTES:])
    ip, udp, bth = 8, 8 + IP_BYTES, 8 + IP_BYTES + UDP_BYTES
    for at in (ip + 1, ip + 8, ip + 10, ip + 11, udp + 6, udp + 7, bth + 4):
        masked[at] = 0xFF
    return zlib.crc32(masked).to_bytes(4, "little")


class Replay(balboa.Case):
    def replay(self, capture, address=balboa.SAMPLE_SERVER, code=0):
        return self.simulate("replay", capture, "--as", address, code=code)

    def acks(self, result):
        totals = {}
        for flow in result["flows"]:
            for verdict, count in flow["acks"].items():
                totals[verdict] = totals.get(verdict, 0) + count
        return totals

    def refuse(self, capture, *patterns, address=balboa.SAMPLE_SERVER):
        run = self.balboa("replay", capture, "--as", address, code=2)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for pattern in patterns:
            self.assertRegex(run.stderr, pattern)

    def test_the_sample(self):
        result = self.replay(balboa.SAMPLE)
        self.assertEqual(self.acks(result), {"matched": 5, "different": 0, "missing": 0, "extra": 0})
        self.assertEqual(result["frames_fed"], 80)

    def test_perftest_of_soft_roce(self):
        result = self.replay(balboa.shared("captures/rxe/pt_write_bw.s.pcap"))
        self.assertEqual(self.acks(result), {"matched": 5, "different": 0, "missing": 0, "extra": 0})

    def test_a_capture_with_tcp_in_it(self):
        capture = balboa.shared("captures/third_party/linlinw5__rdma_write_bw.pcap")
        content = capture.read_bytes()
        udp = [at for at, _ in records_of(content) if content[at + PROTOCOL_AT] == UDP]
        request = next(at for at in udp if content[at + BTH_AT] == WRITE_FIRST)
        responder = ".".join(map(str, content[request + DESTINATION_AT : request + DESTINATION_AT + 4]))
        result = self.replay(capture, responder)
        self.assertEqual(self.acks(result), {"matched": 5, "different": 0, "missing": 0, "extra": 0})
        # What is not RoCE leaves the NIC through the host's port, whole.
        own = bytes(map(int, responder.split(".")))
        tcp = [at for at, _ in records_of(content) if content[at + PROTOCOL_AT] == TCP]
        to_host = [at for at in tcp if content[at + SOURCE_AT : at + SOURCE_AT + 4] != own]
        self.assertGreater(len(to_host), 10)
        counters = result["counters"]["nic0"]
        self.assertEqual(counters["rx.ethernet.host_frames"], len(to_host))
        self.assertEqual(counters["rx.ethernet.roce_frames"], 15)

    def test_frames_that_are_not_roce_go_to_the_host(self):
        sample = balboa.SAMPLE.read_bytes()
        header, records = sample[:FILE_HEADER_BYTES], list(records_of(sample))
        request, length = next((at, n) for at, n in records if sample[at + BTH_AT] == WRITE_FIRST)
        roce = bytearray(sample[request : request + length])
        arp = b"\xff" * 6 + roce[6:12] + bytes.fromhex("0806000108000604 0001") + bytes(36)
        tcp, other_port, fragment, tagged = (bytearray(roce) for _ in range(4))
        tcp[PROTOCOL_AT] = TCP
        other_port[ETHERNET_BYTES + IP_BYTES + 3] ^= 1
        fragment[ETHERNET_BYTES + 6] |= 0x20
        tagged[12:12] = bytes.fromhex("81000064")
        strangers = [arp, bytes(tcp), bytes(other_port), bytes(fragment), bytes(tagged)]
        capture = header
        for i, (at, length) in enumerate(records):
            capture += sample[at - RECORD_BYTES : at + length]
            time = sample[at - RECORD_BYTES : at - RECORD_BYTES + 8]
            size = len(strangers[i % 5]).to_bytes(4, "little")
            capture += time + size + size + strangers[i % 5]
        mixed = self.folder / "mixed.pcap"
        mixed.write_bytes(capture)
        result = self.replay(mixed)
        self.assertEqual(self.acks(result), {"matched": 5, "different": 0, "missing": 0, "extra": 0})
        counters = result["counters"]["nic0"]
        self.assertEqual(counters["rx.ethernet.host_frames"], len(records))
        self.assertEqual(counters["rx.ethernet.roce_frames"], 80)
        self.assertEqual(counters["mac.rx.frames"], len(records) + 80)

    def test_packets_corrupted_on_their_way(self):
        result = self.replay(balboa.shared("captures/rxe/corrupt_write.s.pcap"))
        acks = self.acks(result)
        self.assertEqual(acks, {"matched": 59, "different": 0, "missing": 0, "extra": 0})
        self.assertEqual(result["counters"]["nic0"]["rx.icrc_check.icrc_errors"], 16)

    def test_packets_lost_on_their_way(self):
        acks = self.acks(self.replay(balboa.shared("captures/rxe/loss_write.s.pcap")))
        self.assertEqual(acks, {"matched": 60, "different": 0, "missing": 0, "extra": 0})

    def test_one_changed_ack(self):
        capture = bytearray(balboa.SAMPLE.read_bytes())
        third = acks_of(capture)[2]
        end = third + dict(records_of(capture))[third]
        self.assertEqual(capture[end - 4 : end], icrc(capture[third : end - 4]))
        capture[third + MSN_AT] += 1
        capture[end - 4 : end] = icrc(capture[third : end - 4])
        changed = self.folder / "changed.pcap"
        changed.write_bytes(capture)
        run = self.balboa("replay", changed, "--as", balboa.SAMPLE_SERVER, "-o", "out", code=1)
        flow = self.read_json()["flows"][0]
        self.assertEqual(flow["acks"], {"matched": 4, "different": 1, "missing": 0, "extra": 0})
        ack = r"PSN (\d+) ACK \(0x1f\)"
        self.assertRegex(flow["examples"][0], rf"^captured {ack} MSN 4, simulated {ack} MSN 3$")
        self.assertIn(flow["examples"][0], run.stdout)

    def test_one_ack_not_captured(self):
        capture = balboa.SAMPLE.read_bytes()
        third = acks_of(capture)[2]
        length = dict(records_of(capture))[third]
        without = self.folder / "without.pcap"
        without.write_bytes(capture[: third - RECORD_BYTES] + capture[third + length :])
        result = self.replay(without, code=1)
        self.assertEqual(self.acks(result), {"matched": 4, "different": 0, "missing": 0, "extra": 1})

    def test_refused_addresses(self):
        self.refuse(balboa.SAMPLE, r"10\.9\.9\.9", r"10\.77\.0\.1", address="10.9.9.9")
        self.refuse(balboa.SAMPLE, r"--as: \"fd77::1\"", "IPv4", address="fd77::1")
        self.refuse(balboa.SAMPLE, r"--as: \"10\.77\.0\"", "IPv4", address="10.77.0")

    def test_refused_files(self):
        self.refuse("absent.pcap", "absent.pcap: No such file")
        self.refuse(self.folder, str(self.folder))
        self.refuse(self.write("text.pcap", "This is no capture at all, but a letter.\n"), "text.pcap")
        self.refuse(self.write("empty.pcap", ""), "empty.pcap")

    def test_a_cut_file_is_replayed_up_to_the_cut(self):
        content = balboa.SAMPLE.read_bytes()
        second = acks_of(content)[1]
        cut = self.folder / "cut.pcap"
        cut.write_bytes(content[: second + 100])
        self.refuse(cut, r"cut\.pcap", "packet|record|byte")
        run = self.balboa("replay", cut, "--as", balboa.SAMPLE_SERVER, "--quiet", "-o", "out", code=2)
        self.assertEqual(len(run.stderr.splitlines()), 1)
        self.assertEqual(self.acks(self.read_json())["matched"], 2)


if __name__ == "__main__":
    unittest.main()
