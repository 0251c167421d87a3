#include "frames.hpp"
#include "hw/rx/ext_headers.hpp"
#include "through.hpp"
#include "token_text.hpp"

namespace {

using hw::Bits;
using hw::RxPacket;
using hw::RxTransport;

// A field of the extended headers, big endian, at byte `at` behind the BTH.
uint64_t field(const test::Bytes& ext, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; i++) value = value << 8 | ext[at + i];
  return value;
}

// IBTA table 38: which of the extended headers follow the BTH.
bool reth_follows(unsigned opcode) {
  return opcode == 0x06 || (opcode >= 0x0a && opcode <= 0x0c);
}
bool aeth_follows(unsigned opcode) {
  return opcode == 0x0d || (opcode >= 0x0f && opcode <= 0x11);
}
bool immediate_follows(unsigned opcode) {
  return opcode == 0x03 || opcode == 0x05 || opcode == 0x09 || opcode == 0x0b;
}

struct Case {
  RxPacket in;
  RxTransport out;
};

Case random_case(std::mt19937_64& random, uint8_t opcode, uint32_t tag) {
  test::Bytes ext(20);
  for (uint8_t& b : ext) b = uint8_t(random() | 1);
  Case c;
  c.in.opcode = c.out.opcode = Bits<8>(opcode);
  c.in.qpn = c.out.qpn = hw::Qpn(random());
  c.in.psn = c.out.psn = hw::Psn(random());
  c.in.ack_request = c.out.ack_request = Bits<1>(random());
  c.in.solicited = c.out.solicited = Bits<1>(random());
  c.in.payload = c.out.payload = hw::PacketBytes(random());
  c.in.body = c.out.body = Bits<1>(random());
  c.in.drop = c.out.drop = hw::DropCode(random());
  c.in.tag.id = c.out.tag.id = tag;
  memcpy(c.in.ext.w, ext.data(), ext.size());
  if (reth_follows(opcode)) {
    c.out.va = Bits<64>(field(ext, 0, 8));
    c.out.rkey = Bits<32>(field(ext, 8, 4));
    c.out.dma_length = Bits<32>(field(ext, 12, 4));
  }
  if (immediate_follows(opcode)) c.out.immediate = Bits<32>(field(ext, reth_follows(opcode) ? 16 : 0, 4));
  if (aeth_follows(opcode)) {
    c.out.syndrome = Bits<8>(ext[0]);
    c.out.msn = Bits<24>(field(ext, 1, 3));
  }
  return c;
}

TEST(RxExtHeaders, EveryOpcodeHasItsHeadersAndZeroForAllOthers) {
  std::mt19937_64 random(2);
  std::vector<RxPacket> in;
  std::vector<RxTransport> want;
  for (uint32_t i = 0; i < 20 * 256; i++) {
    const Case c = random_case(random, uint8_t(i), i);
    in.push_back(c.in);
    want.push_back(c.out);
  }
  for (unsigned percent : {100u, 40u}) {
    hw::rx::ExtHeaders stage;
    const auto out = test::through<RxTransport>(stage, in, percent);
    ASSERT_EQ(out.size(), want.size());
    for (size_t i = 0; i < want.size(); i++) {
      ASSERT_EQ(test::text(out[i]), test::text(want[i])) << "opcode " << i % 256;
      ASSERT_EQ(out[i].tag.id, i);
    }
  }
}

}  // namespace
