#include "sim/report/run_folder.hpp"

#include <sys/utsname.h>

#include <cerrno>
#include <fstream>
#include <set>
#include <system_error>
#include <thread>

#include "sim/config/version.hpp"

namespace sim {
namespace {

namespace fs = std::filesystem;

constexpr int kSchemaVersion = 1;

[[noreturn]] void cannot_write(const fs::path& path, const std::error_code& error) {
  throw OutputError(path.string() + ": " + error.message());
}

// Nothing but what a run writes: only such a folder may be replaced, so that no path a user mistypes costs a file.
bool holds_only_a_run(const fs::path& path) {
  static const std::set<std::string> kNames = {"area.csv",    "config.toml", "counters.txt",  "host.json",
                                               "latency.csv", "result.json", "timeline.json", "waves.vcd"};
  if (!fs::is_directory(fs::symlink_status(path))) return false;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    const fs::path name = entry.path().filename();
    if (!fs::is_regular_file(entry.symlink_status())) return false;
    if (kNames.count(name.string()) == 0 && name.extension() != ".pcap") return false;
  }
  return true;
}

void require_free(const fs::path& path) {
  if (!fs::exists(fs::symlink_status(path)) || holds_only_a_run(path)) return;
  throw InputError(path.string() + ": exists and is not a run folder; must be new, empty or an earlier run's");
}

// "a/b/" and "a/x/../b" are "a/b": what the path means must not change when folders on it come into being.
fs::path normal(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

}  // namespace

RunFolder::RunFolder(const fs::path& path) : path_(normal(path)), partial_(path_) {
  partial_ += ".partial";
  require_free(path_);
  require_free(partial_);
  std::error_code error;
  fs::remove_all(partial_, error);
  if (!error) fs::create_directories(partial_, error);
  if (error) cannot_write(partial_, error);
}

void RunFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream stream(partial_ / name, std::ios::binary);
  stream << text << std::flush;
  if (!stream) cannot_write(partial_ / name, std::error_code(errno, std::generic_category()));
}

void RunFolder::commit() {
  require_free(path_);  // somebody may have put something there meanwhile
  std::error_code error;
  fs::remove_all(path_, error);
  if (!error) fs::rename(partial_, path_, error);
  if (error) cannot_write(path_, error);
}

nlohmann::ordered_json result_header(uint64_t seed, uint64_t simulated_ps) {
  return {{"schema_version", kSchemaVersion}, {"version", version()}, {"seed", seed}, {"simulated_ps", simulated_ps}};
}

std::string to_text(const nlohmann::ordered_json& json) {
  return json.dump(2) + "\n";
}

nlohmann::ordered_json host_report(double wall_s, uint64_t cycles, uint64_t clock_hz) {
  utsname machine{};
  uname(&machine);
  const double cycles_per_s = wall_s > 0 ? static_cast<double>(cycles) / wall_s : 0;
  return {{"wall_s", wall_s},
          {"cycles_per_s", cycles_per_s},
          {"times_slower_than_hardware", cycles_per_s > 0 ? static_cast<double>(clock_hz) / cycles_per_s : 0},
          {"machine", machine.machine},
          {"system", std::string(machine.sysname) + " " + machine.release},
          {"processors", std::thread::hardware_concurrency()}};
}

}  // namespace sim
