#include "support.hpp"
#include "traces/pcap_reader.hpp"

namespace traces {
namespace {

using test::read_all;
using Bytes = std::vector<uint8_t>;

constexpr uint32_t kSection = 0x0a0d0d0a;

// Writes blocks in one byte order.
class Pcapng {
 public:
  explicit Pcapng(bool big_endian = false) : big_endian_(big_endian) {}

  Pcapng& block(uint32_t type, const Bytes& body) {
    const auto padding = (4 - body.size() % 4) % 4;
    const uint64_t length = 12 + body.size() + padding;
    test::append(bytes, big_endian_, 4, {type, length});
    bytes.insert(bytes.end(), body.begin(), body.end());
    bytes.resize(bytes.size() + padding);
    test::append(bytes, big_endian_, 4, {length});
    return *this;
  }
  Pcapng& section() {
    Bytes body = numbers(4, {0x1a2b3c4d});
    add(body, 2, {1, 0});
    add(body, 8, {~uint64_t{0}});
    return block(kSection, body);
  }
  Pcapng& interface(uint16_t link_type, uint32_t snap_length = 0, const Bytes& options = {}) {
    Bytes body = numbers(2, {link_type, 0});
    add(body, 4, {snap_length});
    body.insert(body.end(), options.begin(), options.end());
    return block(1, body);
  }
  Pcapng& enhanced(uint32_t interface, uint64_t ticks, const Bytes& data, uint32_t original,
                   const Bytes& options = {}) {
    Bytes body = numbers(4, {interface, ticks >> 32, ticks & 0xffffffff, data.size(), original});
    body.insert(body.end(), data.begin(), data.end());
    body.resize((body.size() + 3) / 4 * 4);
    body.insert(body.end(), options.begin(), options.end());
    return block(6, body);
  }
  Pcapng& obsolete(uint16_t interface, uint64_t ticks, const Bytes& data, uint32_t original) {
    Bytes body = numbers(2, {interface, 0xffff});
    add(body, 4, {ticks >> 32, ticks & 0xffffffff, data.size(), original});
    body.insert(body.end(), data.begin(), data.end());
    return block(2, body);
  }
  Pcapng& simple(uint32_t original, const Bytes& data) {
    Bytes body = numbers(4, {original});
    body.insert(body.end(), data.begin(), data.end());
    return block(3, body);
  }

  // Options, each padded to four bytes.
  Bytes option(uint16_t code, const Bytes& value) const {
    Bytes body = numbers(2, {code, value.size()});
    body.insert(body.end(), value.begin(), value.end());
    body.resize((body.size() + 3) / 4 * 4);
    return body;
  }
  Bytes resolution(uint8_t value) const { return option(9, {value}); }
  Bytes offset(int64_t seconds) const { return option(14, numbers(8, {static_cast<uint64_t>(seconds)})); }

  Bytes numbers(size_t width, std::initializer_list<uint64_t> values) const {
    Bytes body;
    add(body, width, values);
    return body;
  }

  test::Contents read() const {
    test::TemporaryFile file("blocks.pcapng");
    test::write_bytes(file.name(), bytes);
    test::Contents contents = read_all(file.name());
    if (!contents.error.empty()) {
      test::expect_error_line(contents.error, file.name());
      contents.error.erase(0, file.name().size() + 2);
    }
    return contents;
  }

  Bytes bytes;

 private:
  void add(Bytes& body, size_t width, std::initializer_list<uint64_t> values) const {
    test::append(body, big_endian_, width, values);
  }

  bool big_endian_;
};

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class PcapngOrders : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Order, PcapngOrders, testing::Bool(),
                         [](const auto& info) { return info.param ? "BigEndian" : "LittleEndian"; });

TEST_P(PcapngOrders, EveryPacketBlockOnInterfacesOfSeveralLinkTypes) {
  Pcapng file(GetParam());
  file.section().interface(1).interface(113, 100).block(0xbad, {1, 2, 3});
  file.enhanced(1, 0x1'0000'0002, {1, 2, 3, 4, 5}, 60).obsolete(0, 7, {9}, 1).simple(3, {5, 6, 7});
  const test::Contents contents = file.read();
  ASSERT_EQ(contents.error, "");
  ASSERT_EQ(contents.packets.size(), 3u);
  const Packet& enhanced = contents.packets[0];
  EXPECT_EQ(enhanced.time_ns, 0x1'0000'0002 * 1000);
  EXPECT_EQ(enhanced.bytes, (Bytes{1, 2, 3, 4, 5}));
  EXPECT_EQ(enhanced.original_length, 60u);
  EXPECT_EQ(enhanced.link_type, 113);
  EXPECT_EQ(enhanced.interface_index, 1u);
  EXPECT_EQ(enhanced.index, 1u);
  const Packet& obsolete = contents.packets[1];
  EXPECT_EQ(obsolete.time_ns, 7000);
  EXPECT_EQ(obsolete.bytes, Bytes{9});
  EXPECT_EQ(obsolete.link_type, 1);
  EXPECT_EQ(obsolete.interface_index, 0u);
  const Packet& simple = contents.packets[2];
  EXPECT_EQ(simple.time_ns, 0);
  EXPECT_EQ(simple.bytes, (Bytes{5, 6, 7}));
  EXPECT_EQ(simple.index, 3u);
}

TEST(Pcapng, SectionsOfEitherOrderEachWithInterfacesOfItsOwn) {
  Pcapng little(false), big(true);
  little.section().interface(1).interface(101).enhanced(1, 1, {1}, 1);
  big.section().interface(276).enhanced(0, 2, {2}, 1);
  little.bytes = little.bytes + big.bytes;
  little.section().interface(0).enhanced(0, 3, {3}, 1);
  const test::Contents contents = little.read();
  ASSERT_EQ(contents.error, "");
  ASSERT_EQ(contents.packets.size(), 3u);
  const int link_types[] = {101, 276, 0};
  const uint32_t interfaces[] = {1, 2, 3};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(contents.packets[i].link_type, link_types[i]);
    EXPECT_EQ(contents.packets[i].interface_index, interfaces[i]);
    EXPECT_EQ(contents.packets[i].time_ns, static_cast<int64_t>(i + 1) * 1000);
  }
}

// A simple packet block does not say how much was captured: it is what the interface kept, and the block has room for.
TEST(Pcapng, SimplePacketsAreCutByTheSnapLengthOfTheInterface) {
  const test::Contents contents = Pcapng().section().interface(1, 5).simple(9, {1, 2, 3, 4, 5}).read();
  ASSERT_EQ(contents.packets.size(), 1u);
  EXPECT_EQ(contents.packets[0].bytes, (Bytes{1, 2, 3, 4, 5}));
  EXPECT_EQ(contents.packets[0].original_length, 9u);
}

TEST(Pcapng, ClocksOfAnyResolutionAndOffset) {
  const Pcapng file;
  struct Case {
    Bytes options;
    uint64_t ticks;
    int64_t time_ns;
  };
  const Case cases[] = {
      {{}, 5, 5000},
      {file.resolution(0), 3, 3'000'000'000},
      {file.resolution(3), 3, 3'000'000},
      {file.resolution(6), 3, 3000},
      {file.resolution(9), 1'700'000'000'123'456'789, 1'700'000'000'123'456'789},
      {file.resolution(12), 3'999, 3},
      {file.resolution(19), ~uint64_t{0}, 1'844'674'407},
      {file.resolution(38), ~uint64_t{0}, 0},
      {file.resolution(0x80 | 1), 3, 1'500'000'000},
      {file.resolution(0x80 | 32), uint64_t{7} << 32 | 1u << 31, 7'500'000'000},
      {file.resolution(0x80 | 127), ~uint64_t{0}, 0},
      {file.offset(10), 5, 10'000'005'000},
      {file.offset(-1), 1'000'001, 1000},
      {file.resolution(9) + file.offset(2), 5, 2'000'000'005},
      {file.option(2, {'e', 't', 'h', '0', '1'}) + file.resolution(9), 5, 5},
      {file.option(0, {}) + file.resolution(9), 5, 5000},  // behind the end of the options
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(&c - cases);
    const test::Contents contents = Pcapng().section().interface(1, 0, c.options).enhanced(0, c.ticks, {}, 0).read();
    EXPECT_EQ(contents.error, "");
    EXPECT_EQ(contents.packets.at(0).time_ns, c.time_ns);
  }
}

TEST(Pcapng, RefusesTimesThatDoNotFit) {
  const Pcapng file;
  const auto read = [](const Bytes& options, uint64_t ticks) {
    return Pcapng().section().interface(1, 0, options).enhanced(0, ticks, {}, 0).read();
  };
  EXPECT_EQ(read(file.resolution(0), 9'223'372'036).packets.at(0).time_ns, 9'223'372'036'000'000'000);
  for (uint64_t seconds : {uint64_t{9'223'372'037}, uint64_t{1} << 62, ~uint64_t{0}}) {
    EXPECT_EQ(read(file.resolution(0), seconds).error,
              "packet 1 (offset 56): the timestamp is out of range; allowed: 0 to 2^63 - 1 ns");
  }
  EXPECT_NE(read(file.offset(-2), 1'999'999).error, "");
  EXPECT_EQ(read(file.offset(-2), 2'000'000).error, "");
}

TEST(Pcapng, SaysWhatIsWrongBehindTheWholePackets) {
  const Pcapng head = Pcapng().section().interface(1).enhanced(0, 1, {1, 2, 3, 4}, 4);
  struct Case {
    Bytes bytes;
    const char* error;
  };
  const Pcapng file;
  const Bytes cut = Pcapng().enhanced(0, 1, {1, 2, 3, 4}, 4).bytes;
  const Bytes unknown = Pcapng().block(0xbad, Bytes(100)).bytes;
  Bytes unequal = cut;
  unequal.back() = 1;
  const Case cases[] = {
      {file.numbers(4, {6}), "pcapng: the block is cut: 4 of at least 12 bytes"},
      {{cut.begin(), cut.end() - 1}, "pcapng: the block is cut: 35 of 36 bytes"},
      {{unknown.begin(), unknown.end() - 1}, "pcapng: the file ends inside a block"},
      {file.numbers(4, {6, 8, 0}), "pcapng: block length 8;"},
      {file.numbers(4, {6, 38, 0}), "pcapng: block length 38;"},
      {file.numbers(4, {6, 2 << 20, 0}), "pcapng: block length 2097152;"},
      {unequal, "pcapng: the block has length 36 and ends with"},
      {file.numbers(4, {kSection, 28, 0x12345678}), "pcapng: byte-order magic 78563412;"},
      {file.numbers(4, {kSection, 12, 0x1a2b3c4d}), "pcapng: section header of 12 bytes;"},
      {Pcapng().block(1, {}).bytes, "pcapng: interface description of 12 bytes;"},
      {Pcapng().interface(1, 0, file.numbers(2, {9, 5})).bytes, "pcapng: option 9 of 5 bytes reaches beyond"},
      {Pcapng().interface(1, 0, file.resolution(39)).bytes, "pcapng: if_tsresol of 10^-39 s;"},
      {Pcapng().enhanced(1, 0, {}, 0).bytes, "interface 1; allowed: below 1"},
      {Pcapng().section().simple(0, {}).bytes, "interface 0; allowed: below 0"},
      {Pcapng().block(6, Bytes(16)).bytes, "packet block of 28 bytes;"},
      {Pcapng().block(3, {}).bytes, "packet block of 12 bytes;"},
      {Pcapng().block(6, file.numbers(4, {0, 0, 0, 5, 5, 0})).bytes, "the block claims 5 bytes and has room for 4;"},
      {Pcapng().block(6, file.numbers(4, {0, 0, 0, 262145, 5})).bytes, "the block claims 262145 bytes; allowed"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.error);
    Pcapng damaged = head;
    damaged.bytes = damaged.bytes + c.bytes;
    const test::Contents contents = damaged.read();
    EXPECT_EQ(contents.packets.size(), 1u);
    EXPECT_EQ(contents.error.rfind("packet 2 (offset ", 0), 0u) << contents.error;
    EXPECT_NE(contents.error.find(std::string("): ") + c.error), std::string::npos) << contents.error;
  }
}

TEST(Pcapng, SkipsUnknownBlocksLargerThanAnyBuffer) {
  const test::Contents contents =
      Pcapng().section().interface(1).block(0xbad, Bytes(3 << 20)).enhanced(0, 1, {1}, 1).read();
  EXPECT_EQ(contents.error, "");
  EXPECT_EQ(contents.packets.size(), 1u);
}

}  // namespace
}  // namespace traces
