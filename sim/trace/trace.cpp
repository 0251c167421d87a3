#include "sim/trace/trace.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <fstream>

#include "sim/config/error.hpp"

namespace sim {

namespace {

// `write` fills the file.
template <class F>
void write_file(const std::string& path, F write) {
  std::ofstream file(path, std::ios::binary);
  write(file);
  file.close();
  if (!file) throw OutputError(path + ": cannot be written");
}

void warn_if_full(const char* file, hw::Picoseconds full_at) {
  if (full_at == 0) return;
  spdlog::warn("{} is full from {} us on; --trace-from and --trace-to choose another window, --trace-stages less of it",
               file, microseconds(full_at));
}

}  // namespace

Trace::Trace(const TraceOptions& options) : options_(options) {
  const TraceWindow window(options);
  if (options.account) account_ = std::make_unique<Account>(recorder_);
  if (options.timeline) timeline_ = std::make_unique<Timeline>(recorder_, window);
  if (options.waves) waves_ = std::make_unique<Waves>(recorder_, window);
  if (options.ladder) ladder_ = std::make_unique<Ladder>(window);
  if (timeline_) recorder_.add_listener(*timeline_);
  if (waves_) recorder_.add_listener(*waves_);
}

void Trace::check_names(const std::vector<std::string>& names) const {
  const TraceWindow window(options_);
  for (const std::string& name : names)
    if (window.wants(name)) return;
  throw InputError("--trace-stages " + options_.stages + ": no stage or stream has such a name; there are " +
                   names.front() + " to " + names.back());
}

void Trace::finish(hw::Picoseconds end) {
  if (TraceWindow(options_).from() > end)
    spdlog::warn("--trace-from {}: the run ended at {} us", options_.from_us, microseconds(end));
  if (account_) {
    text_ += account_->table();
    result_["account"] = account_->json();
  }
  if (ladder_) text_ += ladder_->text();
  if (options_.folder.empty()) return;
  if (account_) write_file(options_.folder + "/latency.csv", [this](auto& file) { file << account_->latency_csv(); });
  if (timeline_) write_file(options_.folder + "/timeline.json", [this](auto& file) { timeline_->write(file); });
  if (waves_) write_file(options_.folder + "/waves.vcd", [this](auto& file) { waves_->write(file); });
  if (timeline_) warn_if_full("timeline.json", timeline_->full_at());
  if (waves_) warn_if_full("waves.vcd", waves_->full_at());
}

}  // namespace sim
