"""Degraded views of a nanosecond capture, as taps in the field give them. Each takes and returns records: (nanoseconds,
bytes on the wire, captured bytes), in order of time."""
import random
import struct

ETHERNET, IP, UDP = 14, 20, 8
BTH_AT = ETHERNET + IP + UDP
SOURCE = slice(ETHERNET + 12, ETHERNET + 16)


def read(path):
    """The records of a little-endian pcap; their times count where it has nanoseconds."""
    content, at, records = path.read_bytes(), 24, []
    while at < len(content):
        seconds, nanoseconds, held, length = struct.unpack_from("<IIII", content, at)
        records.append((seconds * 10**9 + nanoseconds, length, content[at + 16 : at + 16 + held]))
        at += 16 + held
    return records


def write(path, records):
    out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)]
    for time, length, frame in records:
        out.append(struct.pack("<IIII", time // 10**9, time % 10**9, len(frame), length) + frame)
    path.write_bytes(b"".join(out))
    return path


def is_roce(frame):
    return frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == (4791).to_bytes(2, "big")


def psn(frame):
    return int.from_bytes(frame[BTH_AT + 9 : BTH_AT + 12], "big")


def opcode(frame):
    return frame[BTH_AT]


def dma_length(frame):
    return int.from_bytes(frame[BTH_AT + 24 : BTH_AT + 28], "big")


def destination_qp(frame):
    return int.from_bytes(frame[BTH_AT + 5 : BTH_AT + 8], "big")


def source(frame):
    return ".".join(map(str, frame[SOURCE]))


def one_way(records, address):
    return [r for r in records if source(r[2]) == address]


def mid_flow(records):
    return records[len(records) // 4 : -len(records) // 5]


def later(records, nanoseconds):
    """By another clock."""
    return [(time + nanoseconds, length, frame) for time, length, frame in records]


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def next_hop(frame):
    """The frame behind a router: one hop less, other MACs."""
    header = bytearray(frame[ETHERNET : ETHERNET + IP])
    header[8] -= 1
    header[10:12] = b"\0\0"
    header[10:12] = checksum(header).to_bytes(2, "big")
    return bytes.fromhex("02aa00000001" "02aa00000002") + frame[12:ETHERNET] + bytes(header) + frame[ETHERNET + IP :]


def mirrored(records, change):
    """Every frame twice, the second one changed and 700 ns later."""
    return sorted(records + [(t + 700, n, change(f)) for t, n, f in records], key=lambda r: r[0])


def mirrored_behind_a_router(records):
    return mirrored(records, next_hop)


def mirrored_twice_alike(records):
    return mirrored(records, lambda frame: frame)


def lossy(records, rate, seed):
    chance = random.Random(seed)
    return [r for r in records if chance.random() >= rate]


def split(records):
    """By queue pair, as a link aggregation group spreads flows."""
    parts = [], []
    for record in records:
        parts[destination_qp(record[2]) % 2].append(record)
    return parts


def in_erspan(records, protocol, header):
    """As a switch mirrors them: ERSPAN over GRE over IPv4 (draft-foschiano-erspan)."""
    wrapped = []
    for number, (time, length, frame) in enumerate(records):
        gre = struct.pack(">HHI", 0x1000, protocol, number) + header + frame
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, IP + len(gre), 0, 0, 64, 47, 0, b"\xc0\0\2\1", b"\xc0\0\2\2")
        ip = ip[:10] + checksum(ip).to_bytes(2, "big") + ip[12:]
        outer = bytes.fromhex("02bb00000001" "02bb00000002" "0800") + ip + gre
        wrapped.append((time, length + len(outer) - len(frame), outer))
    return wrapped


def in_erspan2(records):
    return in_erspan(records, 0x88BE, struct.pack(">HHI", 0x1000, 0x0005, 0))


def in_erspan3(records):
    return in_erspan(records, 0x22EB, struct.pack(">HHIHH", 0x2000, 0x0005, 1000, 0, 0))


def in_vxlan(records):
    wrapped = []
    for time, length, frame in records:
        payload = struct.pack(">II", 0x08000000, 42 << 8) + frame
        udp = struct.pack(">HHHH", 49152, 4789, UDP + len(payload), 0) + payload
        header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, IP + len(udp), 0, 0, 64, 17, 0, b"\xc0\0\2\1", b"\xc0\0\2\2")
        header = header[:10] + checksum(header).to_bytes(2, "big") + header[12:]
        outer = bytes.fromhex("02bb00000001" "02bb00000002" "0800") + header + udp
        wrapped.append((time, length + len(outer) - len(frame), outer))
    return wrapped


def snapped(records, length):
    return [(time, wire, frame[:length]) for time, wire, frame in records]
