#!/usr/bin/python3
"""make_encapsulated.py PT_WRITE_BW.PCAP FOLDER: wraps the first ACK of that capture in every link layer and tunnel
that is decoded, with scapy, which shares no code with this project. One frame a row of the tables below."""
import gzip
import struct
import sys

from scapy.all import Dot1AD, Dot1Q, Ether, IP, IPv6, Raw, UDP, rdpcap, wrpcap
from scapy.contrib.erspan import ERSPAN_II, ERSPAN_III, ERSPAN_PlatformSpecific
from scapy.contrib.geneve import GENEVE, GeneveOptions
from scapy.layers.l2 import GRE, CookedLinux, CookedLinuxV2, Loopback
from scapy.layers.vxlan import VXLAN

MAC = dict(dst="02:aa:00:00:00:01", src="02:aa:00:00:00:02")


def outer4(**fields):
    return Ether(**MAC) / IP(src="198.51.100.1", dst="198.51.100.2", ttl=9, **fields)


def outer6():
    return Ether(**MAC) / IPv6(src="2001:db8::1", dst="2001:db8::2", hlim=9)


def gre(proto, **fields):
    return outer4(proto=47) / GRE(proto=proto, **fields)


def tunnels(frame):
    packet = frame[IP]
    ether = Raw(bytes(frame))
    ip = Raw(bytes(packet))
    tagged = Raw(bytes(frame)[:12] + bytes.fromhex("81000007") + bytes(frame)[12:])
    yield Ether(**MAC, type=0x0800) / ip
    yield Ether(**MAC) / Dot1AD(vlan=7) / Dot1Q(vlan=8) / Dot1Q(vlan=9, type=0x0800) / ip
    yield outer4() / UDP(sport=1, dport=4789) / VXLAN(vni=0x123456) / ether
    yield outer6() / UDP(sport=1, dport=4789) / VXLAN(vni=0x123456) / tagged
    yield outer4() / UDP(sport=1, dport=6081) / GENEVE(vni=0x234567, proto=0x6558) / ether
    yield outer4() / UDP(sport=1, dport=6081) / GENEVE(
        vni=0x234567, proto=0x0800, options=[GeneveOptions(classid=0x102, type=3, data=b"abcdefgh")]) / ip
    yield gre(0x0800) / ip
    yield gre(0x6558, key_present=1, key=77) / ether
    yield gre(0x0800, chksum_present=1, key_present=1, seqnum_present=1, key=78, sequence_number=5) / ip
    yield gre(0x88be) / ether
    yield gre(0x88be, seqnum_present=1, sequence_number=1) / ERSPAN_II(ver=1, session_id=100) / ether
    yield gre(0x22eb, seqnum_present=1, sequence_number=2) / ERSPAN_III(session_id=101) / ether
    yield gre(0x22eb, seqnum_present=1, sequence_number=3) / ERSPAN_III(session_id=102, o=1) / \
        ERSPAN_PlatformSpecific() / ether
    yield Ether(**MAC) / Dot1Q(vlan=5) / outer4()[IP] / UDP(sport=1, dport=4789) / VXLAN(vni=10) / tagged
    nested = outer4() / UDP(sport=1, dport=4789) / VXLAN(vni=9) / ether
    yield gre(0x88be, seqnum_present=1, sequence_number=4) / ERSPAN_II(ver=1, session_id=103) / Raw(bytes(nested))


def link_layers(frame):
    ip = Raw(bytes(frame[IP]))
    yield "raw", 101, ip
    yield "ipv4", 228, ip
    yield "null", 0, Loopback(type=2) / ip
    yield "loop", 108, Raw(bytes.fromhex("00000002")) / ip
    yield "cooked", 113, CookedLinux(src=bytes.fromhex("02aa000000020000"), lladdrlen=6, proto=0x0800) / ip
    yield "cooked2", 276, CookedLinuxV2(src=bytes.fromhex("02aa000000020000"), lladdrlen=6, proto=0x0800) / ip


def pcapng_block(order, kind, body):
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + size + body + size


def mixed(frames):
    """A section of either byte order with an interface for each (link type, frame); every kind of packet block."""
    data = b""
    for order in "<>":
        data += pcapng_block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
        for link_type, _ in frames:
            options = struct.pack(order + "HHB3xHHq", 9, 1, 9, 14, 8, 10)  # nanoseconds, 10 s later
            data += pcapng_block(order, 1, struct.pack(order + "HHI", link_type, 0, 0) + options)
        data += pcapng_block(order, 0xBAD, b"unknown")
        for i, (_, frame) in enumerate(frames):
            head = (0, 1000 * (i + 1), len(frame), len(frame))
            data += pcapng_block(order, 6, struct.pack(order + "IIIII", i, *head) + frame)
            data += pcapng_block(order, 2, struct.pack(order + "HHIIII", i, 0, *head) + frame)
        data += pcapng_block(order, 3, struct.pack(order + "I", len(frames[0][1])) + frames[0][1])
    return data


def main():
    capture, folder = sys.argv[1:]
    ack = rdpcap(capture)[17]
    ack.time = 1
    frames = [Ether(bytes(frame)) for frame in tunnels(ack)]
    for frame in frames:
        frame.time = 1
    wrpcap(f"{folder}/encapsulated.pcap", frames, linktype=1)
    layers = [(1, bytes(ack))] + [(link_type, bytes(frame)) for _, link_type, frame in link_layers(ack)]
    with open(f"{folder}/mixed.pcapng", "wb") as file:
        file.write(mixed(layers))
    with open(f"{folder}/mixed.pcapng.gz", "wb") as file:
        file.write(gzip.compress(mixed(layers), mtime=0))
    for name, link_type, frame in link_layers(ack):
        raw = Raw(bytes(frame))
        raw.time = 1
        wrpcap(f"{folder}/link_{name}.pcap", [raw], linktype=link_type)


main()
