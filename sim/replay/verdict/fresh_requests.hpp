// New requests: PSN by PSN the same, though a READ may be cut into other pieces.
#pragma once
#include <vector>

#include "sim/replay/verdict/counts.hpp"
#include "sim/replay/verdict/fifo.hpp"

namespace sim {

class FreshRequests {
 public:
  void add(Side side, const Sighting& request, uint32_t psns, VerdictCounts& counts);
  // The capture does not hold [psn, psn + count).
  void hole(uint32_t psn, uint32_t count, VerdictCounts& counts);
  void give_up(VerdictCounts& counts, const char* reason);
  // `captured_end`: the PSN behind the last request in the capture.
  void finish(uint32_t captured_end, VerdictCounts& counts);

 private:
  // A request, or of a READ what is not yet compared.
  struct Piece {
    Sighting request;
    uint32_t psns = 0;
    bool is_cut = false;
    bool is_judged = false;  // stays in its place until all before it are judged
  };
  struct Hole {
    uint32_t psn = 0, count = 0;
  };

  void reset();
  void settle(uint32_t psn, VerdictCounts& counts);
  void wait(Side side, const Piece& piece, VerdictCounts& counts);
  bool meet(Side side, Piece& piece, VerdictCounts& counts);
  bool compare_cut(Piece& captured, Piece& simulated, VerdictCounts& counts);
  void compare(const Piece& captured, const Piece& simulated, VerdictCounts& counts);
  static void take(Fifo<Piece>& waiting, Piece& piece);
  bool is_in_hole(uint32_t psn) const;

  Fifo<Piece> waiting_[2];   // per side, in the order of PSNs
  std::vector<Hole> holes_;  // the last ones
  uint32_t settled_ = 0;     // PSNs before it are compared no more
  bool has_settled_ = false;
};

}  // namespace sim
