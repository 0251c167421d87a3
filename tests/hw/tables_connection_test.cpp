#include <map>

#include "hw/tables/connection.hpp"
#include "table_bench.hpp"

namespace {

using hw::Bits;
using hw::ConnectionControl;
using hw::TxPacket;
using hw::TxRouted;
using Table = test::TableBench<TxPacket, ConnectionControl>;

struct Model {
  std::map<uint64_t, ConnectionControl> rows;
  std::vector<TxRouted> out;
  void control(const ConnectionControl& c) { rows[c.qpn.u64() % hw::kMaxQps] = c; }
  void packet(const TxPacket& p) {
    TxRouted r;
    const ConnectionControl& row = rows[p.qpn.u64() % hw::kMaxQps];
    r.packet = p;
    r.packet.qpn = row.remote_qpn;
    r.route = row.route;
    out.push_back(r);
  }
};

std::vector<TxPacket> random_packets(std::mt19937_64& random, size_t count) {
  std::vector<TxPacket> packets(count);
  for (TxPacket& p : packets) {
    p.qpn = hw::Qpn(random() % 6);
    p.psn = hw::Psn(random());
    p.opcode = Bits<8>(random());
    p.local_address = Bits<64>(random());
    p.syndrome = Bits<8>(random());
    p.payload = hw::PacketBytes(random());
  }
  return packets;
}

std::vector<ConnectionControl> random_controls(std::mt19937_64& random, size_t count) {
  std::vector<ConnectionControl> controls(count);
  for (ConnectionControl& c : controls) {
    c.qpn = hw::Qpn(random() % 6);
    c.remote_qpn = hw::Qpn(random());
    c.route.destination_mac = Bits<48>(random());
    c.route.source_mac = Bits<48>(random());
    c.route.destination_ip = Bits<32>(random());
    c.route.source_ip = Bits<32>(random());
    c.route.udp_source_port = Bits<16>(random());
  }
  return controls;
}

TEST(Connection, FollowsTheModelUnderRandomTrafficAndStalls) {
  for (uint64_t seed = 1; seed <= 4; seed++) {
    for (const Table::Pace& pace : test::paces<Table>()) {
      std::mt19937_64 random(seed);
      Table t(seed, pace, random_packets(random, 3000), random_controls(random, 600));
      hls::stream<TxRouted> out;
      test::configure(out, "out", 4);
      test::Sink<TxRouted> sink(t.bench, out, pace.sink);
      hw::tables::Connection stage;
      Model model;
      t.run(model, [&] { stage.step(t.in, t.control, out); });
      test::expect_equal(sink.tokens, model.out);
    }
  }
}

TEST(Connection, OnePacketACycleWhileControlWrites) {
  std::mt19937_64 random(1);
  Table t(1, {}, random_packets(random, 60), random_controls(random, 60));
  hls::stream<TxRouted> out;
  test::configure(out, "out", 4);
  test::Sink<TxRouted> sink(t.bench, out);
  hw::tables::Connection stage;
  Model model;
  for (int i = 0; i < 80; i++) t.tick(model, [&] { stage.step(t.in, t.control, out); });
  ASSERT_EQ(sink.cycles.size(), 60u);
  for (size_t i = 0; i < 60; i++) {
    EXPECT_EQ(t.packet_source->cycles[i], i);
    EXPECT_EQ(t.control_source->cycles[i], i);
    EXPECT_EQ(sink.cycles[i], i + 3);  // offered, taken, put out, read
  }
}

}  // namespace
