// How deep each stage is pipelined: cycles from taking an input to offering an output (rule 9). The figures are the
// project's estimate for a 250 MHz UltraScale+ part until a vendor's schedule report replaces them: the longest path to
// the output as docs/area.md lists it, cut into cycles of 3.2 ns, and one cycle more for the registered input. So what
// is not listed, which is 3.2 ns at most, is two deep.
#pragma once
#include <string.h>

namespace hw {

struct StageDepth {
  const char* stage;
  unsigned width;   // bus width in bits; 0: any that is not listed before
  unsigned output;  // number of the output in the order of step()
  unsigned depth;
};

constexpr StageDepth kStageDepths[] = {
    {"rx.l3_length", 0, 0, 3},
    {"rx.icrc_check", 0, 0, 3},  // matrix over a beat, compare
    {"rx.header_split", 0, 0, 3},
    {"rx.header_split", 512, 1, 4},  // lengths, then the bytes behind the payload are cleared
    {"rx.header_split", 1024, 1, 4},
    {"rx.header_split", 0, 1, 3},
    {"rx.ip", 0, 0, 3},
    {"rx.udp", 0, 0, 3},
    {"rx.echo", 0, 0, 3},
    {"rx.echo", 0, 1, 3},
    {"tables.qp_state", 0, 0, 3},
    {"tables.memory_region", 0, 0, 3},
    {"tables.msn", 0, 0, 3},
    {"tables.msn", 0, 1, 3},
    {"tables.outstanding_reads", 0, 0, 3},
    {"tx.work_queue", 0, 0, 3},
    {"tx.flow_control", 0, 0, 3},
    {"tx.flow_control", 0, 1, 3},
    {"tx.flow_control", 0, 3, 3},  // what a credit returns; output 2, a READ, is the row and the packet as they are
    {"tx.ack_merge", 0, 0, 3},
    {"tx.response_queue", 0, 0, 3},  // a READ response's address
    {"tx.response_queue", 0, 1, 3},
    {"tx.ip", 0, 0, 4},            // the header's checksum
    {"tx.icrc_insert", 64, 0, 4},  // matrix over a beat, zero bytes taken back, shift
    {"tx.icrc_insert", 128, 0, 5},
    {"tx.icrc_insert", 256, 0, 5},
    {"tx.icrc_insert", 512, 0, 6},
    {"tx.icrc_insert", 1024, 0, 7},
    {"tx.frame_merge", 0, 0, 1},  // a multiplexer behind the memories of its inputs, which needs no register there
};

inline unsigned stage_depth(const char* stage, unsigned width, unsigned output) {
  for (const StageDepth& d : kStageDepths)
    if (strcmp(d.stage, stage) == 0 && (d.width == 0 || d.width == width) && d.output == output) return d.depth;
  return 2;
}

}  // namespace hw
