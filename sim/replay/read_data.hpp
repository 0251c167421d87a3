// Whether the data of READ responses is what the capture wrote there before. Judges the capture alone, in its order, in
// bounded memory: what it cannot know (memory never written, lost packets, READs that overlap a later WRITE, whose data
// may be either by IBTA 9.5) is not judged.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/replay/held_packet.hpp"

namespace sim {

class ReadData {
 public:
  // `seed(address, bytes)`: memory that the capture tells of, by reading it.
  using Seed = std::function<void(uint64_t address, traces::ByteSpan bytes)>;

  void seed_with(Seed seed) { seed_ = std::move(seed); }

  // A request to `host` (any number that tells hosts apart) with its payload; `gap`: packets before it are not
  // captured.
  void request(uint32_t host, const HeldPacket& held, bool gap);
  // A READ response of `host` for the requests of `lane`: sets held.read.
  void response(uint32_t host, uint32_t lane, uint32_t path_mtu, HeldPacket& held);

 private:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr size_t kPages = 32768;  // 128 MB
  static constexpr size_t kMessages = 8, kReads = 1024;

  // Which bytes of a page are known, 64 at a time.
  class Known {
   public:
    void clear() { words_ = {}; }
    void add(size_t first, size_t count);
    bool holds_all(size_t first, size_t count) const;
    bool holds(size_t at) const { return (words_[at / 64] >> at % 64 & 1) != 0; }

   private:
    std::array<uint64_t, kPageBytes / 64> words_{};
  };
  struct Page {
    std::array<uint8_t, kPageBytes> bytes;
    Known known;
    uint32_t remote_key = 0;
    uint64_t epoch = 0;  // of the host, when it was written
  };
  // A message with a RETH.
  struct Access {
    uint32_t psn = 0;
    uint32_t psns = 1;
    uint32_t packet_bytes = 0;  // of its First packet
    uint32_t remote_key = 0;
    uint64_t address = 0;
    uint32_t length = 0;
  };
  struct PendingRead {
    uint32_t lane = 0;
    Access access;
    bool overlapped = false;
  };
  struct Host {
    uint64_t epoch = 0;
    bool took_sends = false;
    std::vector<PendingRead> reads;
  };

  void write(Host& host, uint32_t number, const HeldPacket& held);
  static void overlap(Host& host, uint64_t address, uint64_t length);
  static void forget(Host& host);
  static PendingRead* find_read(Host& host, uint32_t lane, uint32_t psn);
  void compare_page(const Page* page, uint64_t address, traces::ByteSpan bytes, ReadBytes& result) const;
  void compare(uint32_t host, uint32_t remote_key, uint64_t address, traces::ByteSpan bytes, ReadBytes& result);
  void store(uint32_t host, uint32_t remote_key, uint64_t address, traces::ByteSpan bytes);
  const Page* find(uint32_t host, uint32_t remote_key, uint64_t address) const;
  static uint64_t key_of(uint32_t host, uint64_t address) { return address / kPageBytes * 0x9e3779b97f4a7c15 + host; }
  Host& host_of(uint32_t host);

  Seed seed_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::vector<Host> hosts_;
  std::vector<std::vector<Access>> writes_;  // by lane: the newest messages, a ring
};

}  // namespace sim
