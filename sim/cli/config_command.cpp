#include <cstdio>
#include <memory>

#include "hw/nic.hpp"
#include "sim/cli/commands.hpp"
#include "sim/config/show.hpp"
#include "sim/report/pipeline_graph.hpp"

namespace sim {

int show_command(const ShowOptions& options) {
  std::fputs(to_toml(resolve(options.config)).c_str(), stdout);
  return 0;
}

int schema_command(const SchemaOptions& options) {
  Config config;
  Schema schema;
  declare(schema, config);
  std::fputs((options.json ? schema_json(schema).dump(2) + "\n" : schema_table(schema)).c_str(), stdout);
  return 0;
}

int pipeline_command(const PipelineOptions&) {
  const auto nic = std::make_unique<hw::Nic<512>>();  // the wiring is the same for every width
  PipelineGraph graph;
  nic->wire(graph);
  std::fputs(graph.dot().c_str(), stdout);
  return 0;
}

}  // namespace sim
