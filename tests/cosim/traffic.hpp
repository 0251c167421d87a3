// Tokens for the co-simulation. Model and Verilog must agree on any token whatever; these are random but lean towards
// what makes stages do something: few QPs, numbers that follow each other, frames that are mostly right.
#pragma once
#include <array>
#include <random>

#include "hw/tokens.hpp"
#include "tests/cosim/plan.hpp"
#include "tests/support/token_bits.hpp"

namespace cosim {

// What random fields would make too large or too rare for a stage to get anywhere.
template <class T>
void tame(T&) {}
// Most work requests go to QPs that are never opened and drain at once: no QP may be given more than it has slots.
inline void tame(hw::Wqe& t) {
  const uint64_t r = mix(mix(mix(t.index.u64()) + t.rkey.u64()) + t.immediate.u64());
  t.qpn = hw::Qpn(r % 16 == 0 ? r / 16 % 4 : 4 + r / 16 % 500);
  t.length = t.length & hw::Bits<32>(0x3fff);
}
inline void tame(hw::WorkQueueControl& t) {
  t.qpn = t.qpn & hw::Qpn(3);
  t.pmtu = hw::PmtuCode(1 + t.pmtu.u64() % 5);
}
inline void tame(hw::Credit& t) {
  t.qpn = t.qpn & hw::Qpn(3);
  t.psns = t.psns & hw::Bits<24>(15);
  t.dead = hw::Bits<1>(t.psns.u64() == 15);
}
inline void tame(hw::ReadAnswered& t) {
  t.qpn = t.qpn & hw::Qpn(3);
}
inline void tame(hw::TxPacket& t) {
  static constexpr uint8_t kOpcodes[] = {0x00, 0x04, 0x06, 0x08, 0x0a, 0x0c, 0x0c, 0x0c};
  t.opcode = hw::Bits<8>(kOpcodes[t.opcode.u64() % 8]);
  t.qpn = t.qpn & hw::Qpn(3);
  t.psns = (t.psns & hw::Bits<5>(3)) + hw::Bits<5>(1);
}
inline void tame(hw::ListCommand& t) {
  tame(t.packet);
  t.count = (t.count & hw::Bits<24>(7)) + hw::Bits<24>(1);
}
inline void tame(hw::RxAck& t) {
  static constexpr uint8_t kSyndromes[] = {0x1f, 0x1f, 0x1f, 0x00, 0x20, 0x60, 0x61, 0x7f};
  t.syndrome = hw::Bits<8>(kSyndromes[t.syndrome.u64() % 8]);
  t.qpn = t.qpn & hw::Qpn(3);
  t.psn = hw::Psn(t.psn.v & hw::Bits<24>(31));
}
inline void tame(hw::FlowControlControl& t) {
  t.qpn = t.qpn & hw::Qpn(3);
  t.psn = hw::Psn(t.psn.v & hw::Bits<24>(3));
}
inline void tame(hw::Response& t) {
  t.qpn = t.qpn & hw::Qpn(7);
  t.bytes = t.bytes & hw::Bits<32>(0x7ff);
}
inline hw::Bits<8> opcode_of(const hw::Bits<8>& random) {
  static constexpr uint8_t kOpcodes[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
                                         0x0b, 0x0c, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x11, 0x17};
  return hw::Bits<8>(kOpcodes[random.u64() % sizeof kOpcodes]);
}
// Eight PSNs to either side of the wrap.
inline hw::Psn near_wrap(const hw::Psn& random) {
  const hw::Bits<24> low = random.v & hw::Bits<24>(7);
  return hw::Psn(bool(random.v.get<3, 1>()) ? low : low - hw::Bits<24>(8));
}
inline void tame(hw::TxFrame& t) {
  t.header = hw::Bits<7>(hw::wire::kExtOffset) + hw::wire::extended_bytes(opcode_of(t.bytes.get<0, 8>())).to<7>();
}
inline void tame(hw::RxPacket& t) {
  t.opcode = opcode_of(t.opcode);
  t.drop = t.drop & hw::DropCode(t.psn.v.u64() % 4 == 0 ? 7 : 0);
}
inline void tame(hw::RxTransport& t) {
  t.opcode = opcode_of(t.opcode);
  t.drop = t.drop & hw::DropCode(t.psn.v.u64() % 4 == 0 ? 7 : 0);
  t.qpn = t.qpn & hw::Qpn(3);
  t.psn = near_wrap(t.psn);
  t.va = t.va & hw::Bits<64>(0xfff);
  t.rkey = t.rkey & hw::Bits<32>(0x301);
  t.dma_length = t.dma_length & hw::Bits<32>(0x1fff);
}
// One of a few payloads that suit small PMTUs, or none.
inline hw::PacketBytes tame_payload(const hw::PacketBytes& bytes) {
  static constexpr uint16_t kBytes[] = {0, 256, 512, 256, 512, 100, 1, 513};
  return hw::PacketBytes(kBytes[bytes.u64() % 8]);
}
inline hw::PmtuCode tame_pmtu(const hw::PmtuCode& pmtu) {
  return hw::PmtuCode(1 + pmtu.u64() % 2);
}
inline void tame(hw::RxChecked& t) {
  const uint64_t odd = t.expected.v.u64() % 4;
  tame(t.packet);
  t.packet.payload = tame_payload(t.packet.payload);
  t.room = t.room & hw::Bits<32>(0x701);
  t.sequence = t.sequence & hw::Bits<2>(odd == 0 ? 3 : 0);
  t.nak = t.nak & hw::Bits<8>(odd == 1 ? 0x7f : 0);
}
inline void tame(hw::QpStateControl& t) {
  t.qpn = t.qpn & hw::Qpn(3);
  t.expected = near_wrap(t.expected);
}
inline void tame(hw::RegionControl& t) {
  t.rkey = t.rkey & hw::Bits<32>(0x301);
  t.va = t.va & hw::Bits<64>(0xff);
  t.length = t.length & hw::Bits<64>(0x7fff);
}
inline void tame(hw::ReceivePosted& t) {
  t.qpn = t.qpn & hw::Qpn(3);
}
inline void tame(hw::ReceiveWqe& t) {
  t.qpn = t.qpn & hw::Qpn(3);
}
inline void tame(hw::ReceiveQueueControl& t) {
  t.qpn = t.qpn & hw::Qpn(3);
}

inline void tame(hw::MsnControl& t) {
  t.qpn = t.qpn & hw::Qpn(3);
  t.pmtu = tame_pmtu(t.pmtu);
}
inline void tame(hw::ReadServed& t) {
  t.qpn = t.qpn & hw::Qpn(3);
}
inline void tame(hw::RxVerdict& t) {
  static constexpr uint8_t kOpcodes[] = {0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x10, 0x0d, 0x0a};
  t.opcode = hw::Bits<8>(kOpcodes[t.opcode.u64() % 8]);
  t.placement.ack.qpn = t.placement.ack.qpn & hw::Qpn(3);
  t.placement.ack.psn = hw::Psn(t.placement.ack.psn.v & hw::Bits<24>(3));
  t.placement.bytes = tame_payload(t.placement.bytes);
}
inline void tame(hw::ReadIssued& t) {
  t.qpn = t.qpn & hw::Qpn(3);
  t.psn = hw::Psn(t.psn.v & hw::Bits<24>(3));
  t.bytes = t.bytes & hw::Bits<32>(0x300);
}
inline void tame(hw::OutstandingReadsControl& t) {
  t.qpn = t.qpn & hw::Qpn(3);
  t.pmtu = tame_pmtu(t.pmtu);
}

// Most frames are to these.
constexpr uint64_t kMac = 0x021122334455, kIp = 0x0a000002;
inline void tame(hw::AddressControl& t) {
  if (t.mac.u64() % 4 == 0) return;
  t.mac = hw::Bits<48>(kMac);
  t.ip = hw::Bits<32>(kIp);
}

template <class T>
class Traffic {
 public:
  explicit Traffic(uint64_t seed) : random_(seed) {}

  T next() {
    T token = last_;
    test::for_each_leaf(token, [this](auto& b) { this->change(b); });
    last_ = token;
    tame(token);
    return token;
  }

 private:
  template <int N>
  void change(hw::Bits<N>& b) {
    const unsigned kind = random_() % 16;
    if (kind < 5) return;  // as before
    if (kind < 8)
      b = b + hw::Bits<N>(1);  // the next number
    else if (kind < 12)
      b = hw::Bits<N>(random_() % 4);  // a small one
    else if (kind < 13)
      b = ~hw::Bits<N>();  // all ones
    else if (kind < 14)
      b = hw::Bits<N>();  // zero
    else
      for (auto& word : b.w) word = random_();
    b.trim();
  }

  std::mt19937_64 random_;
  T last_;
};

// Beats come as packets that keep rule 6: most are RoCE frames with right lengths, some ARP requests and pings, some
// are none of these.
template <unsigned W>
class Traffic<hw::Beat<W>> {
 public:
  explicit Traffic(uint64_t seed) : random_(seed) {}

  hw::Beat<W> next() {
    if (left_ == 0) begin();
    hw::Beat<W> beat;
    const size_t n = std::min<size_t>(W / 8, left_);
    uint8_t* bytes = reinterpret_cast<uint8_t*>(beat.data.w);
    for (size_t i = 0; i < n; i++) bytes[i] = at_ + i < header_.size() ? header_[at_ + i] : uint8_t(random_());
    at_ += n;
    left_ -= n;
    beat.bytes = typename hw::Beat<W>::Count(n);
    beat.last = hw::Bits<1>(left_ == 0);
    beat.bad = hw::Bits<1>(left_ == 0 && random_() % 16 == 0);
    return beat;
  }

 private:
  void begin() {
    for (auto& b : header_) b = uint8_t(random_());
    at_ = 0;
    const unsigned kind = random_() % 8;
    if (kind == 0) {
      begin_arp();
    } else if (kind == 1) {
      begin_ping();
    } else {
      begin_roce();
    }
    if (random_() % 16 == 0) header_[random_() % header_.size()] ^= uint8_t(1 << random_() % 8);
    if (random_() % 16 == 0) left_ = 1 + random_() % left_;
  }
  void begin_arp() {
    left_ = 42 + random_() % 40;
    put(0, random_() % 2 ? kMac : 0xffffffffffff, 6);
    put(12, 0x0806);
    put(14, 0x0001080006040001, 8);
    put(38, kIp, 4);
  }
  void begin_ping() {
    const size_t total = 28 + random_() % (random_() % 4 == 0 ? 600 : 70);
    left_ = 14 + total + (random_() % 4 == 0 ? random_() % 80 : 0);
    put(0, kMac, 6);
    put(12, 0x0800);
    header_[14] = 0x45;
    put(16, total);
    put(20, 0);
    header_[23] = 1;
    put(24, 0);
    header_[26] = 10;
    put(30, kIp, 4);
    put(34, 0x0800);
    uint32_t sum = 0;
    for (size_t i = 14; i < 34; i += 2) sum += uint32_t(header_[i]) << 8 | header_[i + 1];
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    put(24, ~sum & 0xffff);
  }
  void begin_roce() {
    const uint8_t opcode = uint8_t(opcode_of(hw::Bits<8>(random_())).u64());
    const size_t ext = hw::wire::extended_bytes(hw::Bits<8>(opcode)).u64();
    const size_t payload = opcode == 0x11 ? 0 : random_() % (random_() % 4 == 0 ? 600 : 70);
    const size_t pad = (4 - payload % 4) % 4, total = 44 + ext + payload + pad;
    left_ = 14 + total + (random_() % 4 == 0 ? random_() % 80 : 0);
    put(12, 0x0800);
    header_[14] = 0x45;
    put(16, random_() % 16 == 0 ? random_() % 512 : total);
    header_[20] = header_[21] = 0;
    header_[23] = 17;
    put(36, random_() % 16 == 0 ? 53 : 4791);
    put(38, total - 20);
    header_[42] = opcode;
    header_[43] = uint8_t(pad << 4);
    put(44, 0xffff);
  }
  void put(size_t at, uint64_t value, size_t bytes = 2) {
    for (size_t i = 0; i < bytes; i++) header_[at + i] = uint8_t(value >> (8 * (bytes - 1 - i)));
  }

  std::mt19937_64 random_;
  std::array<uint8_t, hw::wire::kMaxHeaderBytes> header_;
  size_t at_ = 0, left_ = 0;
};

}  // namespace cosim
