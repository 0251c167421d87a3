#include "models/host.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace models {

namespace {

void to_rts(const Host& self, uint32_t qp, const Host& peer, uint32_t peer_qp, QpAttr attr) {
  attr.dest_qp_num = peer_qp;
  attr.ah.destination_mac = peer.mac;
  attr.ah.source_mac = self.mac;
  attr.ah.destination_ip = peer.ip;
  attr.ah.source_ip = self.ip;
  for (ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
    attr.qp_state = state;
    self.device.modify_qp(qp, attr);
  }
}

// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): every input bit moves every output bit.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr uint64_t kChunk = HostMemory::kPageBytes;

}  // namespace

void connect(const Host& a, uint32_t qp_a, const Host& b, uint32_t qp_b, QpAttr attr) {
  to_rts(a, qp_a, b, qp_b, attr);
  std::swap(attr.sq_psn, attr.rq_psn);
  to_rts(b, qp_b, a, qp_a, attr);
}

void fill(HostMemory& memory, uint64_t address, uint64_t bytes, uint64_t seed) {
  uint8_t chunk[kChunk];
  for (uint64_t at = 0; at < bytes; at += kChunk) {
    for (uint64_t i = 0; i < kChunk; i += 8) {
      const uint64_t word = mix(mix(seed) + address + at + i);
      std::memcpy(chunk + i, &word, 8);
    }
    memory.write(address + at, chunk, std::min(kChunk, bytes - at));
  }
}

bool equal(HostMemory& a, uint64_t address_a, HostMemory& b, uint64_t address_b, uint64_t bytes) {
  a.settle_all();
  b.settle_all();
  uint8_t chunk_a[kChunk], chunk_b[kChunk];
  for (uint64_t at = 0; at < bytes; at += kChunk) {
    const uint64_t n = std::min(kChunk, bytes - at);
    a.read(address_a + at, chunk_a, n);
    b.read(address_b + at, chunk_b, n);
    if (std::memcmp(chunk_a, chunk_b, n) != 0) return false;
  }
  return true;
}

}  // namespace models
