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

Trace::Trace(const TraceOptions& options) : options_(options), window_(options) {
  check(options);
  if (options.account) account_ = std::make_unique<Account>(recorder_);
  if (options.timeline) timeline_ = std::make_unique<Timeline>(recorder_, window_);
  if (options.waves) waves_ = std::make_unique<Waves>(recorder_, window_);
  if (options.ladder) ladder_ = std::make_unique<Ladder>(window_);
  if (timeline_) recorder_.add_listener(*timeline_);
  if (waves_) recorder_.add_listener(*waves_);
}

void Trace::begin() const {
  if (!options_.stages) return;
  for (const auto& node : recorder_.nodes()) {
    for (const StageRecord& stage : node->domain->stages())
      if (window_.wants(stage.name)) return;
    for (const StreamTrack& stream : node->streams)
      if (window_.wants(stream.stream().spec().name)) return;
  }
  throw InputError(fmt::format("--trace-stages {}: no stage or stream has such a name; must fit one, such as nic0.rx.*",
                               *options_.stages));
}

void Trace::warn_if_empty(const char* what, bool empty) const {
  if (empty)
    spdlog::warn("{} is empty: nothing of it happened{}", what,
                 options_.from_us || options_.to_us ? " between --trace-from and --trace-to" : "");
}

void Trace::finish() {
  if (account_) {
    text_ += account_->table();
    result_["account"] = account_->json();
  }
  if (ladder_) text_ += ladder_->text();
  if (ladder_) warn_if_empty("the ladder", ladder_->empty());
  if (options_.folder.empty()) return;
  if (account_)
    write_file(options_.folder + "/" + options_.latency_file, [this](auto& file) { file << account_->latency_csv(); });
  if (timeline_) write_file(options_.folder + "/timeline.json", [this](auto& file) { timeline_->write(file); });
  if (waves_) write_file(options_.folder + "/waves.vcd", [this](auto& file) { waves_->write(file); });
  if (timeline_) warn_if_empty("timeline.json", timeline_->empty());
  if (waves_) warn_if_empty("waves.vcd", waves_->empty());
  if (timeline_) warn_if_full("timeline.json", timeline_->full_at());
  if (waves_) warn_if_full("waves.vcd", waves_->full_at());
}

}  // namespace sim
