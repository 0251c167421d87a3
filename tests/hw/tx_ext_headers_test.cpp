// What each opcode has behind its BTH, byte by byte, against a table of its own (IBTA table 38).
#include "hw/tx/ext_headers.hpp"
#include "through.hpp"

namespace {

struct Layout {
  uint8_t opcode;
  bool reth, aeth, immediate;
};
constexpr Layout kLayouts[] = {
    {0x00, false, false, false},  // SEND First
    {0x01, false, false, false},  // SEND Middle
    {0x02, false, false, false},  // SEND Last
    {0x03, false, false, true},   // SEND Last with immediate
    {0x04, false, false, false},  // SEND Only
    {0x05, false, false, true},   // SEND Only with immediate
    {0x06, true, false, false},   // WRITE First
    {0x07, false, false, false},  // WRITE Middle
    {0x08, false, false, false},  // WRITE Last
    {0x09, false, false, true},   // WRITE Last with immediate
    {0x0a, true, false, false},   // WRITE Only
    {0x0b, true, false, true},    // WRITE Only with immediate
    {0x0c, true, false, false},   // READ request
    {0x0d, false, true, false},   // READ response First
    {0x0e, false, false, false},  // READ response Middle
    {0x0f, false, true, false},   // READ response Last
    {0x10, false, true, false},   // READ response Only
    {0x11, false, true, false},   // acknowledge
};

hw::TxRouted with_every_field(uint8_t opcode) {
  hw::TxRouted r;
  r.packet.opcode = hw::Bits<8>(opcode);
  r.packet.remote_address = hw::Bits<64>(0x0102030405060708);
  r.packet.rkey = hw::Bits<32>(0x11121314);
  r.packet.dma_length = hw::Bits<32>(0x21222324);
  r.packet.immediate = hw::Bits<32>(0x31323334);
  r.packet.syndrome = hw::Bits<8>(0x41);
  r.packet.msn = hw::Bits<24>(0x424344);
  return r;
}

std::vector<uint8_t> extended(const Layout& layout) {
  std::vector<uint8_t> bytes;
  const auto add = [&bytes](std::initializer_list<uint8_t> more) { bytes.insert(bytes.end(), more); };
  if (layout.reth) add({1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24});
  if (layout.aeth) add({0x41, 0x42, 0x43, 0x44});
  if (layout.immediate) add({0x31, 0x32, 0x33, 0x34});
  return bytes;
}

TEST(TxExtHeaders, EveryOpcodeHasItsOwnAndNothingElse) {
  for (const Layout& layout : kLayouts) {
    hw::tx::ExtHeaders stage;
    const auto h = test::one_through<hw::TxHeader>(stage, with_every_field(layout.opcode));
    const std::vector<uint8_t> want = extended(layout);
    EXPECT_EQ(h.header.u64(), 54 + want.size()) << int(layout.opcode);
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(h.bytes.w);
    for (size_t i = 0; i < 74; i++)
      EXPECT_EQ(bytes[i], i < 54 || i >= 54 + want.size() ? 0 : want[i - 54]) << int(layout.opcode) << " byte " << i;
  }
}

TEST(TxExtHeaders, OneHeaderACycleAndEveryOneUnderStalls) {
  std::vector<hw::TxRouted> routed;
  for (size_t i = 0; i < 90; i++) routed.push_back(with_every_field(kLayouts[i % 18].opcode));
  for (const unsigned percent : {100u, 40u}) {
    hw::tx::ExtHeaders stage;
    const auto headers = test::through<hw::TxHeader>(stage, routed, percent);
    for (size_t i = 0; i < headers.size(); i++)
      EXPECT_EQ(headers[i].routed.packet.opcode.u64(), kLayouts[i % 18].opcode);
  }
}

}  // namespace
