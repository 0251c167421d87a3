// How deep each stage is pipelined: cycles from taking an input to offering an output (rule 9). The figures are the
// project's estimate for a 250 MHz UltraScale+ part until a vendor's schedule report replaces them; a stage that is
// not listed is two deep (registered input, registered output).
#pragma once
#include <string.h>

namespace hw {

struct StageDepth {
  const char* stage;
  unsigned width;   // bus width in bits; 0: any
  unsigned output;  // number of the output in the order of step()
  unsigned depth;
};

constexpr StageDepth kStageDepths[] = {
    {"rx.icrc_check", 512, 0, 4},   // matrix over a beat, state, compare
    {"rx.icrc_check", 1024, 0, 5},
    {"tx.icrc_insert", 512, 0, 4},
    {"tx.icrc_insert", 1024, 0, 5},
    {"tables.memory_region", 0, 0, 3},  // two 64-bit compares behind the row
    {"tables.msn", 0, 0, 3},
    {"tables.msn", 0, 1, 3},
};

inline unsigned stage_depth(const char* stage, unsigned width, unsigned output) {
  for (const StageDepth& d : kStageDepths)
    if (strcmp(d.stage, stage) == 0 && (d.width == 0 || d.width == width) && d.output == output) return d.depth;
  return 2;
}

}  // namespace hw
