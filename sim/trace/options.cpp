#include "sim/trace/options.hpp"

#include <fmt/format.h>

#include "sim/config/error.hpp"

namespace sim {

void check_trace(const TraceOptions& o) {
  const TraceOptions plain;
  if (o.to_us < o.from_us)
    throw InputError(fmt::format("--trace-to {}: ends before --trace-from {}", o.to_us, o.from_us));
  const bool window = o.from_us != plain.from_us || o.to_us != plain.to_us;
  if (window && !(o.timeline || o.waves || o.ladder))
    throw InputError("--trace-from, --trace-to: a window of what; allowed with --timeline, --vcd or --ladder");
  if (o.stages != plain.stages && !(o.timeline || o.waves))
    throw InputError("--trace-stages: stages of what; allowed with --timeline or --vcd");
}

}  // namespace sim
