// DMA models on a bench: a NIC that gives commands and takes or gives data, and the kernel that calls the model.
#pragma once
#include <string>
#include <vector>

#include "models/pcie_read.hpp"
#include "models/pcie_write.hpp"
#include "tests/models/kernel.hpp"

namespace test {

inline models::PcieParams slot(unsigned generation, unsigned lanes) {
  models::PcieParams p;
  p.generation = generation;
  p.lanes = lanes;
  return p;
}

const hw::Clock kClock(250000000);

inline hw::DmaCommand command(uint64_t address, uint64_t bytes, uint32_t tag = 0) {
  hw::DmaCommand c;
  c.address = hw::Bits<64>(address);
  c.bytes = hw::PacketBytes(bytes);
  c.tag.id = tag;
  return c;
}

// Commands of `bytes` each, a page apart.
inline std::vector<hw::DmaCommand> commands_of(uint64_t bytes, unsigned count) {
  std::vector<hw::DmaCommand> list;
  for (uint32_t i = 0; i < count; i++) list.push_back(command(i * uint64_t(4096), bytes, i));
  return list;
}

// Payload for write commands: a pattern each.
template <unsigned W>
std::vector<hw::Beat<W>> beats_of(const std::vector<hw::DmaCommand>& list) {
  std::vector<hw::Beat<W>> beats;
  for (size_t i = 0; i < list.size(); i++)
    for (const auto& b : to_beats<W>(pattern(list[i].bytes.u64(), i))) beats.push_back(b);
  return beats;
}

// Both directions at once, on one link.
template <unsigned W>
struct DmaBench {
  Bench bench;
  hw::Clock clock;
  models::HostMemory memory;
  models::PcieLink link;
  models::CardMemory card;
  models::PcieRead<W> read;
  models::PcieWrite<W> write;
  hls::stream<hw::DmaCommand> read_commands, write_commands;
  hls::stream<hw::Beat<W>> read_data, write_data;
  Kernel kernel;
  Source<hw::DmaCommand> reads, writes;
  Source<hw::Beat<W>> beats;
  Sink<hw::Beat<W>> sink;
  std::vector<hw::Picoseconds> visible;  // of each write

  struct Work {
    std::vector<hw::DmaCommand> reads, writes;
    unsigned percent = 100;                      // of the cycles in which the NIC offers and takes
    std::vector<hw::DmaCommand> delivered = {};  // the writes whose data comes; empty: as they are
  };

  DmaBench(const models::PcieParams& p, Calling calling, const Work& work, const hw::Clock& c = kClock,
           const models::CardMemoryParams& on_card = models::CardMemoryParams())
      : clock(c),
        link(p, c),
        card(on_card),
        read(p, c, memory, link, &card),
        write(p, c, memory, link, &card),
        kernel(calling),
        reads(bench, read_commands, work.reads, work.percent),
        writes(bench, write_commands, work.writes, work.percent),
        beats(bench, write_data, beats_of<W>(work.delivered.empty() ? work.writes : work.delivered), work.percent),
        sink(bench, read_data, work.percent) {
    configure(read_commands, "read_commands", 16);
    configure(read_data, "read_data", 64);
    configure(write_commands, "write_commands", 16);
    configure(write_data, "write_data", 64);
    const models::Waker r = kernel.add(read, read_commands, read_data);
    read_commands.connect_reader(kernel.end(r));
    read_data.connect_writer(kernel.end(r), 1);
    const models::Waker w = kernel.add(write, write_commands, write_data);
    write_commands.connect_reader(kernel.end(w));
    write_data.connect_reader(kernel.end(w));
    write.observe([this](const hw::DmaCommand&, hw::Picoseconds at) { visible.push_back(at); });
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { kernel.step(); });
  }
  // Cycles in which the sink took the last beat of each read.
  std::vector<hw::Cycles> read_ends() const {
    std::vector<hw::Cycles> ends;
    for (size_t i = 0; i < sink.tokens.size(); i++)
      if (bool(sink.tokens[i].last)) ends.push_back(sink.cycles[i]);
    return ends;
  }
};

template <unsigned W>
struct ReadRun : DmaBench<W> {
  ReadRun(const models::PcieParams& p, Calling calling, std::vector<hw::DmaCommand> list, unsigned percent = 100,
          const hw::Clock& c = kClock)
      : DmaBench<W>(p, calling, {std::move(list), {}, percent}, c) {}
};
template <unsigned W>
struct WriteRun : DmaBench<W> {
  WriteRun(const models::PcieParams& p, Calling calling, std::vector<hw::DmaCommand> list, unsigned percent = 100,
           const hw::Clock& c = kClock)
      : DmaBench<W>(p, calling, {{}, std::move(list), percent}, c) {}
};

}  // namespace test
