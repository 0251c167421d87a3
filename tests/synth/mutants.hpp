// Planted errors: each kind of instruction spelled wrongly once, and each rule of the Verilog library broken once.
#pragma once
#include <string>
#include <vector>

namespace mutants {

struct Spelling {
  const char* kind;  // of verilog_operators(), each at least once
  const char* wrong;
};
const Spelling kSpellings[] = {
    {"add", "@0 - @1"},
    {"sub", "@1 - @0"},
    {"mul", "@0 + @1"},
    {"and", "@0 | @1"},
    {"or", "@0 & @1"},
    {"xor", "@0 | @1"},
    {"shl", "@0 >> @1"},
    {"lshr", "$signed(@0) >>> @1"},
    {"ashr", "@0 >> @1"},
    {"eq", "@0 != @1"},
    {"ne", "@0 == @1"},
    {"ugt", "@0 >= @1"},
    {"uge", "@0 > @1"},
    {"ult", "@0 <= @1"},
    {"ule", "@0 < @1"},
    {"sgt", "@0 > @1"},
    {"sge", "$signed(@0) > $signed(@1)"},
    {"slt", "@0 < @1"},
    {"sle", "$signed(@0) < $signed(@1)"},
    {"negative", "~@0[@m]"},
    {"not.negative", "@0[@m]"},
    {"select", "@0 ? @2 : @1"},
    {"zext", "{{@d{@0[@m]}}, @0}"},
    {"sext", "{@z, @0}"},
    {"trunc", "~@0[@t:0]"},
    {"umin", "@0 > @1 ? @0 : @1"},
    {"umax", "@0 < @1 ? @0 : @1"},
    {"smin", "@0 < @1 ? @0 : @1"},
    {"smax", "@0 > @1 ? @0 : @1"},
    {"uadd.sat", "@0 + @1"},
    {"usub.sat", "@0 - @1"},
    {"abs", "@0"},
    {"bswap", "@0"},
    {"bitreverse", "@0"},
    {"ctpop", "@first"},
    {"cttz", "@last"},
    {"ctlz", "@first"},
    {"fshl", "@0 << (@2 % @w)"},
    {"fshr", "@1 >> (@2 % @w)"},
    {"br.true", "~@0"},
    {"br.false", "@0"},
    {"switch", "@0 != @1"},
    {"both", "@0 | @1"},
    {"either", "@0 & @1"},
    {"phi", "@0 ? @2 : @1"},
    {"merge", "@0 ? @2 : @1"},
    {"which", "@0 ? @2 : @1"},
    {"element", "@0 == @1 ? @3 : @2"},
    {"row", "@0[@1 ^ 1]"},
    {"forward", "@4"},  // a load that misses a store of its own step
    {"forward", "@0 ? @3 : @4"},
    {"write", "if (~@0) @1[@2] <= @3;"},
    {"write", "@1[@2] <= @3;"},
};

struct LibraryError {
  const char* module;  // hw_ram or hw_fifo
  const char* right;
  const char* wrong;
  const char* meaning;
};
const LibraryError kLibraryErrors[] = {
    {"hw_ram", "if (FWD != 0)", "if (FWD == 2)", "no bypass"},
    {"hw_ram", "== old[", "== fresh[", "the bypass loses the row that is held"},
    {"hw_ram", "(reads & (target", "(reads & 1'b1 | (target", "the bypass takes a write to another row"},
    {"hw_ram", "~reads & (newer | hit)", "newer | hit", "the bypass outlives its request"},
    {"hw_ram", "hit ? written : newer", "newer", "the bypass is a cycle late"},
    {"hw_ram", "fetched <= rows[ra];", "fetched <= writes & (wa == ra) ? wd : rows[ra];", "a Ram reads the new value"},
    {"hw_ram", "if (reads) fetched", "fetched", "data changes without a request"},
    {"hw_fifo", "== MAX;", "== MAX - 1;", "capacity one too small"},
    {"hw_fifo", "assign wready = ~full;", "assign wready = ~full | pop;", "a freed slot is seen in the same cycle"},
    {"hw_fifo", "DEPTH - 1 +", "DEPTH +", "depth one too large"},
    {"hw_fifo", "(kept != {C{1'b0}})", "(kept != {C{1'b0}} | push)", "latency 1 counted as 0"},
    {"hw_fifo", "(KIND == 4 ? 1 : 0);", "0;", "latency 3 counted as 2"},
    {"hw_fifo", "< 3'd3", "< 3'd4", "prefetch overrun"},
    {"hw_fifo", "to_head = push & (~has_head | (pop & ~has_second))", "to_head = push & ~has_head",
     "a push beside a pop"},
    {"hw_fifo", "== N - 1 ?", "== N ?", "the row number wraps late"},
};

// FIFOs that are compared with the stream of the simulation.
struct FifoCase {
  unsigned kind, capacity, depth;
};
const FifoCase kFifos[] = {{0, 1, 1}, {0, 2, 1}, {0, 2, 3}, {1, 1, 1}, {1, 5, 1},  {1, 8, 4}, {2, 3, 1}, {2, 7, 2},
                           {2, 1, 1}, {3, 4, 1}, {3, 9, 2}, {3, 1, 1}, {3, 16, 5}, {4, 5, 1}, {4, 12, 3}};

// The mutants of the build in the order of their bits in `seen`: written by the generator.
struct Planted {
  std::string meaning, where;
};

}  // namespace mutants
