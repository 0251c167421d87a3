"""Captures in place of a peer: real ones match from both ends, changed ones do not, and what cannot be replayed is
refused."""
import subprocess
import zlib

import balboa

WRITE_FIRST, ACK = 6, 17
TCP, UDP = 6, 17
PROTOCOL_AT, SOURCE_AT, DESTINATION_AT = 23, 26, 30
RECORD_BYTES, ETHERNET_BYTES, IP_BYTES, UDP_BYTES = 16, 14, 20, 8
BTH_AT = ETHERNET_BYTES + IP_BYTES + UDP_BYTES
MSN_AT = BTH_AT + 12 + 3  # the low byte of the AETH's MSN
FILE_HEADER_BYTES = 24
FAILURES = ("different", "missing", "extra")
# Between soft-RoCE's two ends: RC in full, without losses.
CLEAN = ("rc_mixed", "rc_mixed_mtu256", "rc_multiqp", "pt_write_bw", "pt_read_bw", "pt_send_lat", "nano_mixed",
         "vlan_mixed", "v6_mixed", "rc_zero", "snap96_mixed")
ENDS = ("10.77.0.1", "10.77.0.2")
OTHER_ENDS = {"v6_mixed": ("fd77::1", "fd77::2"), "vlan_mixed": ("10.77.100.1", "10.77.100.2")}


def records_of(capture):
    """Where each frame of a little-endian pcap begins, and its length."""
    at = FILE_HEADER_BYTES
    while at < len(capture):
        length = int.from_bytes(capture[at + 8 : at + 12], "little")
        yield at + RECORD_BYTES, length
        at += RECORD_BYTES + length


def acks_of(capture):
    return [at for at, _ in records_of(capture) if capture[at + BTH_AT] == ACK]


def addresses_of(capture):
    """All IPv4 addresses that a plain capture's UDP packets come from."""
    udp = [at for at, _ in records_of(capture) if capture[at + PROTOCOL_AT] == UDP]
    return sorted({".".join(map(str, capture[at + SOURCE_AT : at + SOURCE_AT + 4])) for at in udp})


def icrc(frame):
    """Of a RoCE v2 frame over IPv4 up to the ICRC itself (IBTA annex A17.3.3): what routers change counts as ones."""
    masked = bytearray(b"\xff" * 8 + frame[ETHERNET_BYTES:])
    ip, udp, bth = 8, 8 + IP_BYTES, 8 + IP_BYTES + UDP_BYTES
    for at in (ip + 1, ip + 8, ip + 10, ip + 11, udp + 6, udp + 7, bth + 4):
        masked[at] = 0xFF
    return zlib.crc32(masked).to_bytes(4, "little")


class Replay(balboa.Case):
    def replay(self, capture, address=balboa.SAMPLE_SERVER, *options, code=0):
        return self.simulate("replay", capture, "--as", address, *options, code=code)

    def answers(self, result):
        return {name: count for name, count in result["verdicts"]["answers"].items() if isinstance(count, int)}

    def assert_answers(self, result, **expected):
        answers = self.answers(result)
        for name, count in expected.items():
            self.assertEqual(answers.get(name, 0), count, f"{name}: {answers}")

    def refuse(self, capture, *patterns, address=balboa.SAMPLE_SERVER, options=()):
        run = self.balboa("replay", capture, "--as", address, *options, code=2)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for pattern in patterns:
            self.assertRegex(run.stderr, pattern)

    def both_ends(self, name, mode):
        for side in "sc":
            capture = balboa.SHARED / f"captures/rxe/{name}.{side}.pcap"
            if not capture.exists():
                continue
            for address in OTHER_ENDS.get(name, ENDS):
                with self.subTest(name=name, side=side, address=address, mode=mode):
                    result = self.replay(capture, address, "--peer-quirks", "rxe", "--mode", mode)
                    self.assertTrue(result["compared"])
                    self.assertEqual(result["problems"], [])

    def test_soft_roce_clocked(self):
        balboa.shared("captures/rxe")
        for name in CLEAN:
            self.both_ends(name, "clocked")

    def test_soft_roce_functional(self):
        balboa.shared("captures/rxe")
        for name in CLEAN:
            self.both_ends(name, "functional")

    def test_third_party(self):
        for capture in sorted(balboa.shared("captures/third_party").glob("*.pcap")):
            content = capture.read_bytes()
            replayed = 0
            for address in addresses_of(content):
                for mode in ("clocked", "functional"):
                    with self.subTest(capture=capture.name, address=address, mode=mode):
                        run = self.program("replay", capture, "--as", address, "--mode", mode, "--peer-quirks", "rxe")
                        self.assertIn(run.returncode, (0, 2), run.stdout + run.stderr)
                        if run.returncode == 2:  # another host on the same wire
                            self.assertRegex(run.stderr, "is at no connection of")
                        replayed += run.returncode == 0
            self.assertGreaterEqual(replayed, 4, capture.name)  # two ends, two modes

    def test_the_sample(self):
        result = self.replay(balboa.SAMPLE)
        self.assert_answers(result, match=5, different=0, missing=0, extra=0)
        self.assertEqual(result["given"]["requests_in"], 80)
        self.assertEqual(result["given"]["translated"], 0)

    def test_from_standard_input(self):
        with open(balboa.SAMPLE, "rb") as stream:
            command = [balboa.PROGRAM, "replay", "-", "--as", balboa.SAMPLE_SERVER]
            run = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=True)
        self.assertIn("the NIC does what the endpoint did", run.stdout)

    def test_by_prefix_and_by_mac(self):
        mac = ":".join(f"{byte:02x}" for byte in balboa.SAMPLE.read_bytes()[FILE_HEADER_BYTES + RECORD_BYTES :][:6])
        whole = self.replay(balboa.SAMPLE)
        for endpoint in ("10.77.0.1/32", "10.77.0.0/31", mac):
            result = self.replay(balboa.SAMPLE, endpoint)
            self.assertEqual(result["verdicts"], whole["verdicts"], endpoint)
        self.refuse(balboa.SAMPLE, "names both ends", address="10.77.0.0/24")

    def test_paces_give_the_same_verdict(self):
        capture = balboa.shared("captures/rxe/rc_mixed.s.pcap")
        ends = {}
        for pace in ("captured", "line", "10"):
            result = self.replay(capture, "10.77.0.1", "--pace", pace)
            self.assert_answers(result, match=46)
            ends[pace] = result["end_ps"]
        self.assertLess(ends["line"], ends["10"])
        self.assertLess(ends["10"], ends["captured"])

    def test_read_data_is_compared_where_it_was_written(self):
        capture = balboa.shared("captures/rxe/rc_multiqp.s.pcap")
        data = self.replay(capture, "10.77.0.1")["verdicts"]["data"]
        self.assertGreater(data["match"], 0)
        self.assertGreater(data["not_comparable"], 0)
        self.assertEqual(data["different"], 0)

    def test_a_capture_with_tcp_in_it(self):
        capture = balboa.shared("captures/third_party/linlinw5__rdma_write_bw.pcap")
        content = capture.read_bytes()
        udp = [at for at, _ in records_of(content) if content[at + PROTOCOL_AT] == UDP]
        request = next(at for at in udp if content[at + BTH_AT] == WRITE_FIRST)
        responder = ".".join(map(str, content[request + DESTINATION_AT : request + DESTINATION_AT + 4]))
        result = self.replay(capture, responder)
        self.assert_answers(result, match=5)
        # What is not RoCE leaves the NIC through the host's port, whole.
        own = bytes(map(int, responder.split(".")))
        tcp = [at for at, _ in records_of(content) if content[at + PROTOCOL_AT] == TCP]
        to_host = [at for at in tcp if content[at + SOURCE_AT : at + SOURCE_AT + 4] != own]
        self.assertGreater(len(to_host), 10)
        counters = result["counters"]["nic0"]
        self.assertEqual(counters["rx.ethernet.host_frames"], len(to_host))
        self.assertEqual(counters["rx.ethernet.roce_frames"], 15)

    def test_packets_corrupted_on_their_way(self):
        result = self.replay(balboa.shared("captures/rxe/corrupt_write.s.pcap"))
        self.assert_answers(result, match=45, equivalent=28, different=0, missing=0, extra=0)
        self.assertEqual(result["counters"]["nic0"]["rx.icrc_check.icrc_errors"], 16)

    def test_packets_lost_on_their_way(self):
        result = self.replay(balboa.shared("captures/rxe/loss_write.s.pcap"))
        self.assert_answers(result, match=47, equivalent=26, different=0, missing=0, extra=0)

    def changed(self, capture, at):
        """The capture with one byte of the frame that holds `at` changed, and its ICRC right."""
        start, length = next((s, n) for s, n in records_of(capture) if s <= at < s + n)
        capture[at] += 1
        capture[start + length - 4 : start + length] = icrc(capture[start : start + length - 4])
        file = self.folder / "changed.pcap"
        file.write_bytes(capture)
        return file

    def test_one_changed_ack(self):
        capture = bytearray(balboa.SAMPLE.read_bytes())
        changed = self.changed(capture, acks_of(capture)[2] + MSN_AT)
        run = self.balboa("replay", changed, "--as", balboa.SAMPLE_SERVER, "-o", "out", code=1)
        self.assert_answers(self.read_json(), match=4, different=1, missing=0, extra=0)
        self.assertRegex(run.stdout, r"PSN \d+.*MSN 4.*MSN 3")
        self.assertEqual(len(run.stderr.splitlines()), 1)

    def test_one_changed_request(self):
        capture = bytearray(balboa.SAMPLE.read_bytes())
        second = [at for at, _ in records_of(capture) if capture[at + BTH_AT] == WRITE_FIRST][1]
        changed = self.changed(capture, second + BTH_AT + 12 + 8)  # of the rkey
        self.replay(changed, "10.77.0.2")  # the endpoint posts what it sends
        self.replay(changed, "10.77.0.1")  # memory is what the requests touch

    def test_one_ack_not_captured(self):
        capture = balboa.SAMPLE.read_bytes()
        third = acks_of(capture)[2]
        length = dict(records_of(capture))[third]
        without = self.folder / "without.pcap"
        without.write_bytes(capture[: third - RECORD_BYTES] + capture[third + length :])
        result = self.replay(without)  # a later ACK acknowledges the same
        self.assert_answers(result, match=4, equivalent=1)
        exact = self.replay(without, balboa.SAMPLE_SERVER, "--ack-compare", "exact", code=1)
        self.assertEqual(exact["verdicts"]["exact_acks"]["extra"], 1)

    def test_refused_addresses(self):
        self.refuse(balboa.SAMPLE, r"10\.9\.9\.9", r"10\.77\.0\.1", address="10.9.9.9")
        self.refuse(balboa.SAMPLE, "fd77::1", r"10\.77\.0\.1", address="fd77::1")
        for text in ("10.77.0", "10.77.0.1/33", "10.77.0.1/", "10.77.0.1/x", "02:00:00:00:00", "host", ""):
            self.refuse(balboa.SAMPLE, r"--as: ", "allowed", address=text)

    def test_refused_options(self):
        self.refuse(balboa.SAMPLE, "--pace", "allowed", options=("--pace", "fast"))
        self.refuse(balboa.SAMPLE, "--pace", "allowed", options=("--pace", "0"))
        self.refuse(balboa.SAMPLE, "--pace", "clock", options=("--mode", "functional", "--pace", "line"))
        self.refuse(balboa.SAMPLE, "--pcap", "clock", options=("--mode", "functional", "--pcap", "-o", "out"))
        self.refuse(balboa.SAMPLE, "--qp", "0x77", options=("--qp", "0x77"))
        self.refuse(balboa.SAMPLE, "--to", options=("--from", "2", "--to", "1"))

    def test_refused_files(self):
        self.refuse("absent.pcap", "absent.pcap: No such file")
        self.refuse(self.folder, str(self.folder))
        self.refuse(self.write("text.pcap", "This is no capture at all, but a letter.\n"), "text.pcap")
        self.refuse(self.write("empty.pcap", ""), "empty.pcap")

    def test_derived_and_strange_captures(self):
        """A clear result or one clear line, whatever the file."""
        folder = balboa.shared("captures")
        for capture in sorted([*folder.glob("derived/*.pcap*"), *folder.glob("not_roce/*")]):
            for mode in ("clocked", "functional"):
                with self.subTest(capture=capture.name, mode=mode):
                    run = self.program("replay", capture, "--as", "10.1.16.61", "--mode", mode, "--peer-quirks", "rxe")
                    # A bad header checksum must be dropped, whatever the captured endpoint did.
                    wrong = 1 if (capture.name, mode) == ("ip_csum_bad.pcap", "clocked") else 0
                    self.assertIn(run.returncode, (wrong, 2), run.stdout + run.stderr)
                    self.assertEqual(len(run.stderr.splitlines()), run.returncode != 0, run.stderr)

    def test_a_cut_file_is_replayed_up_to_the_cut(self):
        content = balboa.SAMPLE.read_bytes()
        second = acks_of(content)[1]
        cut = self.folder / "cut.pcap"
        cut.write_bytes(content[: second + 100])
        self.refuse(cut, r"cut\.pcap", "packet|record|byte")
        run = self.balboa("replay", cut, "--as", balboa.SAMPLE_SERVER, "--quiet", "-o", "out", code=2)
        self.assertEqual(len(run.stderr.splitlines()), 1)
        self.assert_answers(self.read_json(), match=2)
