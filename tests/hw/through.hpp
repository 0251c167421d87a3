// Runs tokens through a stage that has one input and one output.
#pragma once
#include "bench.hpp"

namespace test {

// Every token must come out. With ports that never stall (percent = 100) the stage must take one token a cycle and
// offer it in the next one, or in the one after `held` cycles more inside of it.
template <class Out, class In, class Stage>
std::vector<Out> through(Stage& stage, const std::vector<In>& tokens, unsigned percent = 100, unsigned held = 0) {
  Bench bench;
  hls::stream<In> in;
  hls::stream<Out> out;
  configure(in, "in", 2);
  configure(out, "out", 2);
  Source<In> source(bench, in, tokens, percent);
  Sink<Out> sink(bench, out, percent);
  for (int limit = 0; limit < 100000 && sink.tokens.size() < tokens.size(); limit++) {
    bench.tick([&] { stage.step(in, out); });
  }
  EXPECT_EQ(sink.tokens.size(), tokens.size());
  for (size_t i = 0; percent == 100 && i < sink.cycles.size(); i++) EXPECT_EQ(sink.cycles[i], i + 2 + held);
  return sink.tokens;
}

template <class Out, class In, class Stage>
Out one_through(Stage& stage, const In& token, unsigned held = 0) {
  return through<Out>(stage, std::vector<In>{token}, 100, held).at(0);
}

}  // namespace test
