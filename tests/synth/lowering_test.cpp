// The lowered probes against the same C++ functions with the simulation's bodies, cycle by cycle, and the planted
// errors, each of which must show. One Verilator model holds all of them.
#include <gtest/gtest.h>
#include <verilated.h>

#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <set>

#include "Vsynth_top.h"
#include "hw/synth/ports.hpp"
#include "mutants.hpp"
#include "operators.hpp"
#include "probes.hpp"

namespace {

constexpr int kCycles = 30000;

struct Seen {
  bool pop = false, push = false;
  uint64_t data = 0;
};

// One cycle of a stage with its input and output streams in a given condition.
using StepFunction = std::function<Seen(const probe::In&, bool valid, bool ready)>;

template <class Token>
std::unique_ptr<hls::stream<Token>> stream_of_one() {
  std::unique_ptr<hls::stream<Token>> s(new hls::stream<Token>());
  s->configure(hw::StreamSpec{"port", 1, hw::Kind::reg});
  return s;
}

template <class Stage>
StepFunction model() {
  const auto stage = std::make_shared<Stage>();
  return [stage](const probe::In& token, bool valid, bool ready) {
    const auto in = stream_of_one<probe::In>();
    const auto out = stream_of_one<probe::Out>();
    hw::Cycles& now = hw::world().now;
    now--;  // what stands in the streams was written in the cycle before
    if (valid) in->write(token);
    if (!ready) out->write(probe::Out());
    now++;
    stage->step(*in, *out);
    Seen seen;
    seen.pop = in->last_read() == now;
    seen.push = out->last_write() == now;
    if (seen.push) seen.data = out->newest().r.u64();
    return seen;
  };
}

struct Probe {
  const char* name;
  StepFunction step;
};

std::vector<Probe> all_probes() {
  return {
#define STAGE(name, parenthesised, ...) {#name, model<hw::synth::Parenthesised<void parenthesised>::type>()},
#include "probes.def"
#undef STAGE
  };
}

class Random {
 public:
  uint64_t operator()() { return engine_(); }
  // Numbers at which comparisons, carries and signs change are as frequent as others.
  uint64_t number() {
    switch (engine_() % 8) {
      case 0:
        return engine_() % 4;
      case 1:
        return ~uint64_t(0) - engine_() % 4;
      case 2:
        return (uint64_t(1) << 63) + engine_() % 4 - 2;
      case 3:
        return engine_() >> engine_() % 64;
      default:
        return engine_();
    }
  }

 private:
  std::mt19937_64 engine_{1};
};

bool bit(const uint32_t* words, size_t i) {
  return words[i / 32] >> (i % 32) & 1;
}
template <class Port>
bool bit(const Port& port, size_t i) {
  return bit(reinterpret_cast<const uint32_t*>(&port), i);
}

class Lowering : public testing::Test {
 protected:
  Lowering() {
    hw::reset_world(1000);
    reset();
  }

  // Starts the models anew and holds the hardware in reset for some cycles, which offer and take tokens to no effect.
  void reset() {
    probes_ = all_probes();
    streams_.clear();
    for (const mutants::FifoCase& f : mutants::kFifos) {
      streams_.emplace_back(new hls::stream<hw::Bits<16>>());
      streams_.back()->configure(hw::StreamSpec{"fifo", f.capacity, hw::Kind(f.kind)});
      streams_.back()->connect_writer(hw::StreamBase::End(), f.depth);
    }
    dut_.rst_n = 0;
    dut_.rvalid = dut_.wready = 1;
    dut_.f_push = dut_.f_pop = (1u << streams_.size()) - 1;
    for (int i = 0; i < 4; i++) edge();
    dut_.rst_n = 1;
  }

  void edge() {
    dut_.clk = 0;
    dut_.eval();
    dut_.clk = 1;
    dut_.eval();
    dut_.clk = 0;
  }

  void cycle() {
    hw::world().now++;
    drive_probes();
    drive_fifos();
    dut_.eval();
    compare_probes();
    compare_fifos();
    edge();
  }

  void drive_probes() {
    token_.a = hw::Bits<64>(random_.number());
    token_.b = random_() % 8 == 0 ? token_.a : hw::Bits<64>(random_.number());
    token_.s = hw::Bits<8>(random_());
    valid_ = random_() % 8 != 0;
    ready_ = random_() % 8 != 0;
    const uint64_t words[3] = {token_.a.u64(), token_.b.u64(), token_.s.u64()};
    memcpy(&dut_.rdata[0], words, 17);
    dut_.rvalid = valid_;
    dut_.wready = ready_;
  }

  void compare_probes() {
    for (size_t i = 0; i < probes_.size(); i++) {
      if (left_out_.count(probes_[i].name)) continue;
      const Seen seen = probes_[i].step(token_, valid_, ready_);
      EXPECT_EQ(bit(dut_.pop, i), seen.pop) << probes_[i].name << " in cycle " << hw::world().now;
      EXPECT_EQ(bit(dut_.push, i), seen.push) << probes_[i].name << " in cycle " << hw::world().now;
      uint64_t data;
      memcpy(&data, &dut_.wdata[2 * i], 8);
      if (seen.push) {
        EXPECT_EQ(data, seen.data) << probes_[i].name << " in cycle " << hw::world().now;
      }
    }
  }

  // Phases of 256 cycles in which the ends push and pop with other probabilities each.
  bool often(size_t fifo, unsigned end) {
    static const unsigned kPercent[] = {100, 100, 90, 50, 20, 3};
    std::minstd_rand phase(unsigned(hw::world().now / 256 * 31 + fifo * 7 + end * 3 + 1));
    phase.discard(3);
    return random_() % 100 < kPercent[phase() % 6];
  }

  void drive_fifos() {
    const uint16_t word = uint16_t(random_());
    dut_.f_wdata = word;
    dut_.f_push = dut_.f_pop = 0;
    for (size_t i = 0; i < streams_.size(); i++) {
      full_[i] = streams_[i]->full();
      empty_[i] = streams_[i]->empty();
      if (!full_[i] && often(i, 0)) {
        streams_[i]->write(hw::Bits<16>(word));
        dut_.f_push |= 1u << i;
      }
      if (!empty_[i] && often(i, 1)) {
        head_[i] = streams_[i]->read().u64();
        dut_.f_pop |= 1u << i;
      }
    }
  }

  void compare_fifos() {
    for (size_t i = 0; i < streams_.size(); i++) {
      EXPECT_EQ(bit(dut_.f_wready, i), !full_[i]) << "fifo " << i << " in cycle " << hw::world().now;
      EXPECT_EQ(bit(dut_.f_rvalid, i), !empty_[i]) << "fifo " << i << " in cycle " << hw::world().now;
      uint16_t data;
      memcpy(&data, reinterpret_cast<const char*>(&dut_.f_rdata[0]) + 2 * i, 2);
      if (bit(dut_.f_pop, i)) {
        EXPECT_EQ(data, head_[i]) << "fifo " << i << " in cycle " << hw::world().now;
      }
    }
  }

  Vsynth_top dut_;
  Random random_;
  std::vector<Probe> probes_;
  std::set<std::string> left_out_;
  std::vector<std::unique_ptr<hls::stream<hw::Bits<16>>>> streams_;
  bool full_[std::size(mutants::kFifos)] = {}, empty_[std::size(mutants::kFifos)] = {};
  uint64_t head_[std::size(mutants::kFifos)] = {};
  probe::In token_;
  bool valid_ = false, ready_ = false;
};

TEST_F(Lowering, EqualsTheModelInEveryCycleAndShowsEveryPlantedError) {
  for (int i = 0; i < kCycles && !HasFailure(); i++) cycle();
  std::ifstream list(BALBOA_MUTANTS);
  std::string line;
  size_t planted = 0;
  for (; std::getline(list, line); planted++) EXPECT_TRUE(bit(dut_.seen, planted)) << "not noticed: " << line;
  EXPECT_GE(planted, std::size(mutants::kSpellings) + std::size(mutants::kLibraryErrors));
}

// Tables keep their contents through a reset, so what they hold is not compared.
TEST_F(Lowering, ResetBringsBackTheInitialState) {
  for (int i = 0; i < 500; i++) cycle();
  left_out_ = {"table_", "forward", "struct_table", "ram", "ram_forward"};
  for (int round = 0; round < 20 && !HasFailure(); round++) {
    reset();
    for (int i = 0; i < 100; i++) cycle();
  }
}

TEST(Mutants, CoverEveryKindOfInstruction) {
  for (const auto& [kind, spelling] : synth::verilog_operators()) {
    size_t times = 0;
    for (const mutants::Spelling& s : mutants::kSpellings) times += kind == s.kind && spelling != s.wrong;
    EXPECT_GE(times, 1u) << kind;
  }
}

}  // namespace
