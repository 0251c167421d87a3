#include <algorithm>

#include "sim/replay/replay_nic.hpp"

namespace sim {

TransportPacket transport_of(const traces::RocePacket& roce) {
  TransportPacket t;
  t.opcode = roce.bth.opcode;
  t.ack_request = roce.bth.ack_request;
  t.solicited = roce.bth.solicited;
  t.psn = roce.bth.psn;
  if (roce.reth) {
    t.virtual_address = roce.reth->virtual_address;
    t.remote_key = roce.reth->remote_key;
    t.dma_length = roce.reth->dma_length;
  }
  if (roce.immediate) t.immediate = *roce.immediate;
  if (roce.aeth) {
    t.syndrome = roce.aeth->syndrome;
    t.msn = roce.aeth->msn;
  }
  t.payload_bytes = uint32_t(std::max(roce.payload_length, 0));
  return t;
}

}  // namespace sim
