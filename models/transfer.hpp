// What the workloads have in common: the operation, and the queue pairs between two hosts on which it runs.
#pragma once
#include <vector>

#include "models/host.hpp"

namespace models {

enum class Transfer { write, read, send };

// One end of a test: its host, its queues, and its end of each connection. The two vectors of QPs belong together.
struct Side {
  Host host;
  Cq send_cq, recv_cq;
  std::vector<uint32_t> qps;
};
struct Sides {
  Side a, b;
};

// A message: when the CPU began to post it, and when it saw its completion.
struct DoneMessage {
  uint32_t qp;  // its number in the side
  uint32_t bytes;
  hw::Picoseconds post, completion;
};

struct Queues {
  unsigned qps = 1;
  unsigned max_send_wr = 128, max_recv_wr = 0;  // of each QP, at both ends
};

// Of QP number `i`, where the first QP begins with `first`: far from those of the others, as where programs choose PSNs
// at random, so that a capture tells whose answers are whose.
uint32_t psn_apart(uint32_t first, size_t i);

// From one buffer of `size` bytes to the next, so that none lies on more pages than it must.
uint64_t buffer_stride(uint64_t size);

// Completion queues on both hosts, without QPs yet.
Sides make_sides(const Host& a, const Host& b);
// Creates QPs on both hosts and moves them to RTS, connected in pairs. `attr` as in models::connect, with
// the PSNs of the first QP; those of the others lie apart.
void connect_more(Sides& sides, const Queues& queues, const QpAttr& attr);
// Both.
Sides connect_sides(const Host& a, const Host& b, const Queues& queues, const QpAttr& attr);

}  // namespace models
