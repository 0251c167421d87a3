"""ARP requests and pings amid RoCE traffic: the NIC's replies are, byte for byte, those that scapy makes."""
import struct
import unittest

import balboa
from oracles_test import frames_of

SERVER_MAC, CLIENT_MAC = "52:54:00:00:00:01", "52:54:00:00:00:02"
SERVER, CLIENT, OTHER = balboa.SAMPLE_SERVER, "10.77.0.2", "10.77.0.3"
TTL_HOPS = 64
MIN_FRAME_BYTES = 60


def scapy_layers():
    try:
        from scapy.layers.inet import ICMP, IP
        from scapy.layers.l2 import ARP, Ether
    except ImportError:
        raise unittest.SkipTest("needs scapy") from None
    return Ether, ARP, IP, ICMP


def records_of(capture):
    at = 24
    while at < len(capture):
        size = 16 + struct.unpack_from("<I", capture, at + 8)[0]
        yield capture[at : at + size]
        at += size


def padded(frame):
    return bytes(frame).ljust(MIN_FRAME_BYTES, b"\0")


class Echo(balboa.Case):
    def traffic(self):
        """Pairs of a frame for the server and the reply that it asks for; None: it is for the host."""
        Ether, ARP, IP, ICMP = scapy_layers()
        there, back = {"src": CLIENT_MAC, "dst": SERVER_MAC}, {"src": SERVER_MAC, "dst": CLIENT_MAC}

        def who_has(address, to):
            return Ether(src=CLIENT_MAC, dst=to) / ARP(op=1, hwsrc=CLIENT_MAC, psrc=CLIENT, pdst=address)

        is_at = Ether(**back) / ARP(op=2, hwsrc=SERVER_MAC, psrc=SERVER, hwdst=CLIENT_MAC, pdst=CLIENT)
        pairs = [
            (who_has(SERVER, "ff:ff:ff:ff:ff:ff"), is_at),
            (who_has(SERVER, SERVER_MAC), is_at),
            (who_has(OTHER, "ff:ff:ff:ff:ff:ff"), None),
            (Ether(**there) / ARP(op=2, hwsrc=CLIENT_MAC, psrc=CLIENT, hwdst=SERVER_MAC, pdst=SERVER), None),
        ]
        for size in (0, 1, 8, 18, 22, 23, 56, 57, 500, 1472, 8972):
            fields = {"id": size * 7 + 1, "tos": size % 4, "flags": "DF" if size % 2 else 0}
            echo = {"id": size + 0x1234, "seq": size % 5}
            data = bytes((size + i * 3) % 256 for i in range(size))
            to_server = IP(src=CLIENT, dst=SERVER, ttl=1 + size % 200, **fields)
            to_client = IP(src=SERVER, dst=CLIENT, ttl=TTL_HOPS, **fields)
            ping = Ether(**there) / to_server / ICMP(type=8, **echo) / data
            pong = Ether(**back) / to_client / ICMP(type=0, **echo) / data
            pairs.append((ping, pong))
        to_other = Ether(**there) / IP(src=CLIENT, dst=OTHER) / ICMP(type=8)
        fragment = Ether(**there) / IP(src=CLIENT, dst=SERVER, flags="MF") / ICMP(type=8) / bytes(64)
        timestamp = Ether(**there) / IP(src=CLIENT, dst=SERVER) / ICMP(type=13)
        pairs += [(to_other, None), (fragment, None), (timestamp, None)]
        return [(padded(request), reply and padded(reply)) for request, reply in pairs]

    def replay(self, requests, width):
        """The sample with one of the requests behind each of its frames."""
        sample = balboa.SAMPLE.read_bytes()
        capture, left = sample[:24], list(requests)
        for record in records_of(sample):
            capture += record
            if left:
                frame = left.pop(0)
                capture += record[:8] + struct.pack("<II", len(frame), len(frame)) + frame
        self.assertEqual(left, [])
        path = self.folder / "mixed.pcap"
        path.write_bytes(capture)
        options = ("--as", SERVER, "--pcap", "--set", f"nic.width={width}")
        return self.simulate("replay", path, *options, output=f"w{width}")

    def test_replies_are_those_of_scapy(self):
        traffic = self.traffic()
        replies = [reply for _, reply in traffic if reply]
        for width in (64, 256, 512, 1024):
            result = self.replay([request for request, _ in traffic], width)
            sent = [f for f in frames_of(self.folder / f"w{width}/nic0.pcap") if f[6:12].hex(":") == SERVER_MAC]
            answers = [f for f in sent if f[12:14] == b"\x08\x06" or f[23] == 1]
            self.assertEqual(len(answers), len(replies))
            for answer, reply in zip(answers, replies):
                self.assertEqual(answer.hex(), reply.hex())
            counters = result["counters"]["nic0"]
            self.assertEqual(counters["rx.echo.arp_replies"], 2)
            self.assertEqual(counters["rx.echo.echo_replies"], len(replies) - 2)
            self.assertEqual(counters["rx.reply_store.stored"], len(replies))
            self.assertEqual(counters["rx.reply_store.dropped"], 0)
            # RoCE goes its way beside them.
            self.assertEqual(result["verdicts"]["answers"]["match"], 5)


if __name__ == "__main__":
    unittest.main()
