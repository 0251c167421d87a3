#include "sim/report/pipeline_graph.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace sim {
namespace {

// The line is at the top and the host at the bottom, so receive runs down and transmit runs up.
constexpr const char* kHead = R"(digraph nic {
  graph [rankdir=TB, newrank=true, nodesep=0.12, ranksep=0.28, fontname="Helvetica", fontsize=15]
  node [shape=box, style=filled, fillcolor=white, color="#7a8794", height=0.3, margin="0.08,0.04"]
  node [fontname="Helvetica", fontsize=14]
  edge [color="#7a8794", arrowsize=0.6, fontname="Helvetica", fontsize=11, fontcolor="#46515c"]
)";

struct Group {
  const char *name, *title, *color;
};
constexpr Group kGroups[] = {
    {"rx", "receive", "#e3f0fb"}, {"tables", "tables", "#fdf3d8"}, {"tx", "transmit", "#e5f5e5"}};

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

std::string group_of(const std::string& stage) {
  return stage.substr(0, stage.find('.'));
}

bool faces_the_line(const std::string& port) {
  return starts_with(port, "mac_");
}

std::string group_text(const std::string& name, const std::string& title, const std::string& color,
                       const std::vector<std::string>& stages) {
  std::string text =
      fmt::format("  subgraph \"cluster_{}\" {{\n    graph [label=\"{}\", style=\"rounded,filled\", color=\"{}\"]\n",
                  name, title, color);
  for (const std::string& stage : stages)
    if (group_of(stage) == name)
      text += fmt::format("    \"{}\" [label=\"{}\"]\n", stage, stage.substr(stage.find('.') + 1));
  return text + "  }\n";
}

// All control ports say the same; what they carry stands at the edge.
std::string port_text(const std::string& name) {
  const std::string control = "_control";
  const bool is_control = name.size() > control.size() && name.substr(name.size() - control.size()) == control;
  return fmt::format("  \"{}\" [shape=ellipse, fontsize=12, label=\"{}\", tooltip=\"{}\"]\n", name,
                     is_control ? "control" : name, name);
}

}  // namespace

std::string PipelineGraph::token_name(const std::type_info& type) {
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr),
                                                    std::free);
  const std::string name = text ? text.get() : type.name();
  const std::string without_arguments = name.substr(0, name.find('<'));
  return without_arguments.substr(without_arguments.rfind(':') + 1);
}

PipelineGraph::Stream& PipelineGraph::find(const hw::StreamBase& stream) {
  const auto it = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& s) { return s.stream == &stream; });
  if (it == streams_.end()) throw std::logic_error("a stage uses a stream that the wiring does not name");
  return *it;
}

std::string PipelineGraph::dot() const {
  std::string text = kHead;
  for (const Group& group : kGroups) text += group_text(group.name, group.title, group.color, stages_);
  std::string line;
  for (const Stream& s : streams_) {
    if (!s.is_port) continue;
    text += port_text(s.name);
    if (faces_the_line(s.name)) line += " \"" + s.name + "\"";
  }
  text += "  {rank=same" + line + "}\n";
  for (const Stream& s : streams_) text += edge_text(s);
  return text + "}\n";
}

std::string PipelineGraph::edge_text(const Stream& s) {
  const std::string& from = s.is_port && s.writer.empty() ? s.name : s.writer;
  const std::string& to = s.is_port && s.reader.empty() ? s.name : s.reader;
  if (from.empty() || to.empty())
    throw std::logic_error(s.name + ": the wiring gives this stream no " + (from.empty() ? "writer" : "reader"));
  const bool up = s.is_port ? faces_the_line(s.name) == (to == s.name) : starts_with(s.name, "tx.");
  return fmt::format("  \"{}\" -> \"{}\" [label=\"{} {}\", tooltip=\"{}\"{}]\n", up ? to : from, up ? from : to,
                     s.token, s.capacity, s.name, up ? ", dir=back" : "");
}

}  // namespace sim
