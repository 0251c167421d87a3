#include "sim/trace/options.hpp"

#include <fmt/format.h>

#include "sim/config/error.hpp"

namespace sim {

namespace {

constexpr double kLatestUs = 1e12;  // 11 days; in picoseconds well inside 64 bits

void check_time(const char* option, const std::optional<double>& us) {
  if (us && !(*us >= 0 && *us <= kLatestUs))  // refuses NaN too
    throw InputError(fmt::format("{} {}: must be microseconds from 0 to {:.0f}", option, *us, kLatestUs));
}

void check_heeded(const char* option, bool given, bool heeded, const char* traces) {
  if (given && !heeded)
    throw InputError(fmt::format("{}: nothing is traced that it bounds; allowed with {}", option, traces));
}

}  // namespace

void check(const TraceOptions& o) {
  check_time("--trace-from", o.from_us);
  check_time("--trace-to", o.to_us);
  if (o.to_us && *o.to_us < o.from_us.value_or(0))
    throw InputError(fmt::format("--trace-to {}: ends before --trace-from {}", *o.to_us, o.from_us.value_or(0)));
  const bool files = o.timeline || o.waves;
  check_heeded("--trace-from", o.from_us.has_value(), files || o.ladder, "--timeline, --vcd or --ladder");
  check_heeded("--trace-to", o.to_us.has_value(), files || o.ladder, "--timeline, --vcd or --ladder");
  check_heeded("--trace-stages", o.stages.has_value(), files, "--timeline or --vcd");
}

}  // namespace sim
