// tables/retransmit in a bench, and the commands that it takes.
#pragma once
#include <memory>

#include "bench.hpp"
#include "hw/tables/retransmit.hpp"
#include "token_text.hpp"

namespace test {

using hw::Bits;

inline hw::ListCommand command(hw::ListOp op, uint64_t qpn, uint64_t count = 0, uint64_t status = 0) {
  hw::ListCommand c;
  c.op = Bits<3>(op);
  c.packet.qpn = hw::Qpn(qpn);
  c.count = Bits<24>(count);
  c.status = Bits<4>(status);
  return c;
}
inline hw::ListCommand send(uint64_t qpn, uint64_t psn, bool last = true, uint64_t index = 0) {
  hw::ListCommand c = command(hw::kListSend, qpn);
  c.packet.psn = hw::Psn(psn);
  c.packet.opcode = Bits<8>(last ? hw::wire::kWriteLast : hw::wire::kWriteMiddle);
  c.packet.local_address = Bits<64>(psn * 0x100000001);
  c.packet.remote_address = Bits<64>(~psn);
  c.packet.rkey = Bits<32>(psn * 3);
  c.packet.dma_length = Bits<32>(psn * 5);
  c.packet.payload = hw::PacketBytes(psn % 4097);
  c.packet.immediate = Bits<32>(psn * 7);
  c.packet.solicited = Bits<1>(psn % 3 == 0);
  c.packet.pmtu = hw::PmtuCode(1);
  c.packet.psns = Bits<5>(1);
  c.packet.last = Bits<1>(last);
  c.packet.index = Bits<16>(index);
  c.packet.tag.id = uint32_t(psn);
  return c;
}

// A READ request of `psns` responses of 256 bytes; the last has one byte.
inline hw::ListCommand read(uint64_t qpn, uint64_t psn, uint64_t psns, bool last = true, uint64_t index = 0) {
  hw::ListCommand c = send(qpn, psn, last, index);
  c.packet.opcode = Bits<8>(hw::wire::kReadRequest);
  c.packet.payload = hw::PacketBytes(0);
  c.packet.psns = Bits<5>(psns);
  c.packet.dma_length = Bits<32>(256 * (psns - 1) + 1);
  return c;
}
// What is left to ask for when the first `done` responses of READ request `p` are there.
inline hw::TxPacket rest_of(hw::TxPacket p, uint64_t done) {
  p.psn = hw::Psn((p.psn.v.u64() + done) & 0xffffff);
  p.psns = Bits<5>(p.psns.u64() - done);
  p.local_address = Bits<64>(p.local_address.u64() + 256 * done);
  p.remote_address = Bits<64>(p.remote_address.u64() + 256 * done);
  p.dma_length = Bits<32>(p.dma_length.u64() - 256 * done);
  return p;
}

inline std::string line(const hw::TxPacket& p) {
  return text(p) + "tag=" + std::to_string(p.tag.id);
}
inline std::string line(const hw::Completion& c) {
  return "qp " + std::to_string(c.qpn.u64()) + " index " + std::to_string(c.index.u64()) + " status " +
         std::to_string(c.status.u64());
}
template <class T>
std::vector<std::string> lines_of(const std::vector<T>& tokens) {
  std::vector<std::string> lines;
  lines.reserve(tokens.size());
  for (const T& t : tokens) lines.push_back(line(t));
  return lines;
}

typedef std::vector<std::string> Lines;

class RetransmitTest : public ::testing::Test {
 protected:
  void start(std::vector<hw::ListCommand> commands, unsigned in = 100, unsigned out = 100, unsigned cqe = 100) {
    configure(commands_, "commands", 4);
    configure(out_, "out", 4);
    configure(completions_, "completions", 4);
    source_.reset(new Source<hw::ListCommand>(bench_, commands_, std::move(commands), in));
    packets_.reset(new Sink<hw::TxPacket>(bench_, out_, out));
    cqes_.reset(new Sink<hw::Completion>(bench_, completions_, cqe));
  }
  void run(hw::Cycles cycles) {
    bench_.run(cycles, [this] { stage_.step(commands_, out_, completions_); });
  }
  void run_to_the_end() {
    for (int i = 0; i < 100000 && !(source_->done() && commands_.empty()); i++) run(100);
    run(2000);
  }

  Bench bench_{11};
  hw::tables::Retransmit stage_;
  hls::stream<hw::ListCommand> commands_;
  hls::stream<hw::TxPacket> out_;
  hls::stream<hw::Completion> completions_;
  std::unique_ptr<Source<hw::ListCommand>> source_;
  std::unique_ptr<Sink<hw::TxPacket>> packets_;
  std::unique_ptr<Sink<hw::Completion>> cqes_;
};

}  // namespace test
