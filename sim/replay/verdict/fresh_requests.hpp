// New requests: PSN by PSN the same, though a READ may be cut into other pieces.
#pragma once
#include <vector>

#include "sim/replay/verdict/counts.hpp"

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
  };
  struct Hole {
    uint32_t psn = 0, count = 0;
  };

  bool meet(Side side, Piece& piece, VerdictCounts& counts);
  bool compare_cut(Piece& captured, Piece& simulated, VerdictCounts& counts);
  void compare(const Piece& captured, const Piece& simulated, VerdictCounts& counts);
  bool is_in_hole(uint32_t psn) const;

  std::vector<Piece> waiting_[2];  // per side, in the order of PSNs
  std::vector<Hole> holes_;        // the last ones
};

}  // namespace sim
