// Frames for stage tests, built field by field and independent of hw/bus/wire.hpp.
#pragma once
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace test {

typedef std::vector<uint8_t> Bytes;

// A RoCE v2 frame over IPv4: a WRITE (Only, or the given opcode), or an ACK. Lengths and the ICRC are right; a test
// then breaks what it wants broken.
struct RoceFrame {
  uint8_t opcode = 0x0a;
  unsigned extended = 16;  // bytes behind the BTH that are header
  unsigned payload = 64;
  uint8_t fill = 1;  // makes payloads differ

  unsigned pad() const { return (4 - payload % 4) % 4; }
  unsigned total() const { return 20 + 8 + 12 + extended + payload + pad() + 4; }

  Bytes bytes() const {
    Bytes f(14 + total());
    put(f, 12, 2, 0x0800);
    f[14] = 0x45;
    f[15] = 0x02;
    put(f, 16, 2, total());
    f[22] = 64;
    f[23] = 17;
    put(f, 24, 2, 0xbeef);
    put(f, 26, 4, 0x0a000001);
    put(f, 30, 4, 0x0a000002);
    put(f, 34, 2, 0xc000);
    put(f, 36, 2, 4791);
    put(f, 38, 2, total() - 20);
    f[42] = opcode;
    f[43] = uint8_t(pad() << 4);
    put(f, 44, 2, 0xffff);
    put(f, 47, 3, 0x11);
    for (unsigned i = 0; i < extended + payload; i++) f[54 + i] = uint8_t(fill * 37 + i * 11);
    put_icrc(f);
    return f;
  }

  static void put(Bytes& f, size_t at, unsigned size, uint64_t value) {
    for (unsigned i = 0; i < size; i++) f[at + i] = uint8_t(value >> (8 * (size - 1 - i)));
  }
  // The ICRC by zlib (IBTA annex A17.3.3): over eight bytes of ones and the packet with its mutable fields as ones.
  static uint32_t icrc(const Bytes& f) {
    Bytes covered(8 + f.size() - 14 - 4, 0xff);
    std::copy(f.begin() + 14, f.end() - 4, covered.begin() + 8);
    for (size_t at : {15, 22, 24, 25, 40, 41, 46}) covered[at - 14 + 8] = 0xff;
    return uint32_t(crc32(0, covered.data(), unsigned(covered.size())));
  }
  static void put_icrc(Bytes& f) {
    const uint32_t crc = icrc(f);
    for (unsigned i = 0; i < 4; i++) f[f.size() - 4 + i] = uint8_t(crc >> (8 * i));
  }
};

}  // namespace test
