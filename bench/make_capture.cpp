// Writes a large synthetic capture: build/bench/make_capture FILE [PACKETS [CONNECTIONS [PAYLOAD]]]. WRITEs of several
// packets and READs of what was written, with their answers, a few of them lost and sent again; every ICRC is right.
// For measuring the speed of what reads captures.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "traces/icrc.hpp"

namespace {

constexpr uint32_t kLossOneIn = 20'000;
constexpr uint32_t kMessagePackets = 4;
constexpr uint64_t kTurnaround_ns = 5'000;  // of a NAK, and of the retry that follows it

void put(std::vector<uint8_t>& bytes, uint64_t value, size_t count) {
  while (count-- > 0) bytes.push_back(static_cast<uint8_t>(value >> 8 * count));
}

class Writer {
 public:
  explicit Writer(const char* file) : buffer_(1 << 20), stream_(std::fopen(file, "wb")) {
    if (!stream_) throw std::runtime_error(std::string(file) + ": cannot be written");
    std::setvbuf(stream_.get(), buffer_.data(), _IOFBF, buffer_.size());
    const uint32_t header[6] = {0xa1b23c4d, 4u << 16 | 2, 0, 0, 262144, 1};
    std::fwrite(header, sizeof header, 1, stream_.get());
  }

  void write(const std::vector<uint8_t>& frame, uint64_t time_ns) {
    const auto size = static_cast<uint32_t>(frame.size());
    const uint32_t header[4] = {static_cast<uint32_t>(time_ns / 1'000'000'000),
                                static_cast<uint32_t>(time_ns % 1'000'000'000), size, size};
    std::fwrite(header, sizeof header, 1, stream_.get());
    std::fwrite(frame.data(), frame.size(), 1, stream_.get());
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::vector<char> buffer_;
  std::unique_ptr<std::FILE, Close> stream_;  // uses the buffer until it is closed
};

struct Connection {
  uint32_t requester = 0, responder = 0;  // IPv4 addresses
  uint32_t requester_qpn = 0, responder_qpn = 0;
  uint32_t psn = 0, msn = 0;
  uint64_t memory = 0;  // address that it writes to and reads from
  uint8_t content = 0;  // of all its bytes
};

class Maker {
 public:
  Maker(const char* file, uint32_t connections, size_t payload) : writer_(file), payload_(payload) {
    for (uint32_t i = 0; i < connections; i++) {
      Connection c;
      c.requester = 0x0a000001 + i % 16;
      c.responder = 0x0a000101 + i / 16 % 16;
      c.requester_qpn = 0x100 + i;
      c.responder_qpn = 0x10100 + i;
      c.psn = static_cast<uint32_t>(random_()) & 0xffffff;
      c.memory = 0x7f0000000000 + uint64_t{i} * 0x10000;
      c.content = static_cast<uint8_t>(random_());
      connections_.push_back(c);
    }
  }

  void run(uint64_t packets) {
    while (written_ < packets) {
      Connection& c = connections_[random_() % connections_.size()];
      if (random_() % 4 == 0) {
        read(c);
      } else {
        write(c);
      }
    }
  }

 private:
  void write(Connection& c) {
    const uint32_t first = c.psn;
    const uint32_t lost =
        random_() % kLossOneIn < kMessagePackets ? static_cast<uint32_t>(random_()) % 3 : kMessagePackets;
    for (uint32_t i = 0; i < kMessagePackets; i++) {
      if (i != lost) write_packet(c, first + i, i);
    }
    if (lost != kMessagePackets) {
      time_ns_ += kTurnaround_ns;
      answer(c, first + lost, 0x11, 0x60, 0);
      time_ns_ += kTurnaround_ns;
      for (uint32_t i = lost; i < kMessagePackets; i++) write_packet(c, first + i, i);
    }
    c.psn += kMessagePackets;
    c.msn++;
    answer(c, c.psn - 1, 0x11, 0x1f, 0);
  }

  void write_packet(const Connection& c, uint32_t psn, uint32_t i) {
    const bool is_last = i + 1 == kMessagePackets;
    begin(c.requester, c.responder, c.responder_qpn, i == 0 ? 0x06 : is_last ? 0x08 : 0x07, psn, is_last);
    if (i == 0) reth(c);
    send(payload_, c.content);
  }

  void read(Connection& c) {
    begin(c.requester, c.responder, c.responder_qpn, 0x0c, c.psn, true);
    reth(c);
    send(0, 0);
    c.msn++;
    for (uint32_t i = 0; i < kMessagePackets; i++) {
      const bool is_last = i + 1 == kMessagePackets;
      answer(c, c.psn + i, i == 0 ? 0x0d : is_last ? 0x0f : 0x0e, 0x1f, payload_);
    }
    c.psn += kMessagePackets;
  }

  void answer(const Connection& c, uint32_t psn, uint8_t opcode, uint8_t syndrome, size_t payload) {
    begin(c.responder, c.requester, c.requester_qpn, opcode, psn, false);
    if (opcode != 0x0e) put(frame_, uint64_t{syndrome} << 24 | (c.msn & 0xffffff), 4);
    send(payload, c.content);
  }

  void reth(const Connection& c) {
    put(frame_, c.memory, 8);
    put(frame_, 0x1234, 4);
    put(frame_, kMessagePackets * payload_, 4);
  }

  void begin(uint32_t source, uint32_t destination, uint32_t qpn, uint8_t opcode, uint32_t psn, bool ack_request) {
    frame_.clear();
    put(frame_, 0x020000000000 | destination, 6);
    put(frame_, 0x020000000000 | source, 6);
    put(frame_, 0x0800, 2);
    put(frame_, 0x4500, 2);
    put(frame_, 0, 2);  // total length
    put(frame_, 0x00004000, 4);
    put(frame_, 0x4011, 2);
    put(frame_, 0, 2);
    put(frame_, source, 4);
    put(frame_, destination, 4);
    put(frame_, 0xc000 | (qpn & 0x3fff), 2);
    put(frame_, 4791, 2);
    put(frame_, 0, 4);  // length, checksum
    put(frame_, uint64_t{opcode} << 24 | 0xffff, 4);
    put(frame_, qpn & 0xffffff, 4);
    put(frame_, uint64_t{ack_request} << 31 | (psn & 0xffffff), 4);
  }

  void send(size_t payload, uint8_t content) {
    frame_.resize(frame_.size() + payload, content);
    const size_t udp_size = frame_.size() + 4 - 34;
    set16(16, udp_size + 20);
    set16(38, udp_size);
    const traces::ByteSpan frame(frame_);
    const uint32_t icrc = traces::compute_icrc(frame.slice(14, 20), frame.slice(34, 8), frame.slice(42, frame.size));
    for (int i = 0; i < 4; i++) frame_.push_back(static_cast<uint8_t>(icrc >> 8 * i));
    writer_.write(frame_, time_ns_);
    time_ns_ += 100;
    written_++;
  }

  void set16(size_t offset, size_t value) {
    frame_[offset] = static_cast<uint8_t>(value >> 8);
    frame_[offset + 1] = static_cast<uint8_t>(value);
  }

  Writer writer_;
  size_t payload_;
  std::mt19937_64 random_{1};
  std::vector<Connection> connections_;
  std::vector<uint8_t> frame_;
  uint64_t written_ = 0, time_ns_ = 1'000'000'000;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: make_capture FILE [PACKETS [CONNECTIONS [PAYLOAD]]]\n");
    return 2;
  }
  const auto number = [&](int i, uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 0) : otherwise;
  };
  try {
    Maker(argv[1], static_cast<uint32_t>(number(3, 4000)), number(4, 1024)).run(number(2, 1'000'000));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_capture: %s\n", error.what());
    return 1;
  }
  return 0;
}
