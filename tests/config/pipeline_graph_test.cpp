// The drawn pipeline holds all that the wiring says.
#include "sim/report/pipeline_graph.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "hw/nic.hpp"

namespace sim {
namespace {

struct Names {
  std::vector<std::string> streams, ports, stages;
  template <class T>
  void stream(hls::stream<T>&, const char* name, unsigned, hw::Kind) {
    streams.push_back(name);
  }
  template <class T>
  void port(hls::stream<T>&, const char* name, unsigned, hw::Kind) {
    ports.push_back(name);
  }
  template <class S, class... P>
  void stage(S&, const char* name, P...) {
    stages.push_back(name);
  }
  template <class A, class B>
  void independent(hls::stream<A>&, hls::stream<B>&) {}
};

size_t occurrences(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) count++;
  return count;
}

TEST(PipelineGraph, HoldsEveryStageAndEveryStreamOnce) {
  const auto nic = std::make_unique<hw::Nic<512>>();
  Names names;
  PipelineGraph graph;
  nic->wire(names);
  nic->wire(graph);
  const std::string dot = graph.dot();
  ASSERT_GT(names.stages.size(), 20u);
  for (const std::string& stage : names.stages)
    EXPECT_EQ(occurrences(dot, "    \"" + stage + "\" [label="), 1u) << stage;
  for (const std::string& port : names.ports)
    EXPECT_EQ(occurrences(dot, "  \"" + port + "\" [shape=ellipse"), 1u) << port;
  for (const std::string& name : names.streams) EXPECT_EQ(occurrences(dot, "tooltip=\"" + name + "\""), 1u) << name;
  EXPECT_EQ(occurrences(dot, " -> "), names.streams.size() + names.ports.size());
}

TEST(PipelineGraph, ReceiveRunsDownAndTransmitRunsUp) {
  const auto nic = std::make_unique<hw::Nic<512>>();
  PipelineGraph graph;
  nic->wire(graph);
  const std::string dot = graph.dot();
  for (const char* edge :
       {"  \"mac_rx\" -> \"rx.ethernet\" [label=\"Beat 16\", tooltip=\"mac_rx\"]\n",
        "  \"rx.udp\" -> \"rx.bth\" [label=\"RxHeader 8\", tooltip=\"rx.bth_in\"]\n",
        "  \"tx.udp\" -> \"tx.bth\" [label=\"TxHeader 8\", tooltip=\"tx.udp_in\", dir=back]\n",
        "  \"tx.work_queue\" -> \"send_queue\" [label=\"Wqe 16\", tooltip=\"send_queue\", dir=back]\n",
        "  \"mac_tx\" -> \"tx.frame_merge\" [label=\"Beat 16\", tooltip=\"mac_tx\", dir=back]\n"})
    EXPECT_EQ(occurrences(dot, edge), 1u) << edge;
}

struct Nothing {};

TEST(PipelineGraph, AStreamWithOneEndIsNamed) {
  PipelineGraph graph;
  hls::stream<hw::Bits<8>> s;
  Nothing stage;
  graph.stream(s, "rx.loose", 2, hw::Kind::reg);
  graph.stage(stage, "rx.writer", hw::out(s));
  try {
    graph.dot();
    FAIL() << "nothing was thrown";
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "rx.loose: the wiring gives this stream no reader");
  }
}

TEST(PipelineGraph, AStreamThatTheWiringDoesNotNameIsRefused) {
  PipelineGraph graph;
  hls::stream<hw::Bits<8>> s;
  Nothing stage;
  EXPECT_THROW(graph.stage(stage, "rx.writer", hw::out(s)), std::logic_error);
}

}  // namespace
}  // namespace sim
