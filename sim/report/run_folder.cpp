#include "sim/report/run_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <system_error>
#include <thread>

#include "sim/config/load.hpp"
#include "sim/config/version.hpp"

namespace sim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;

[[noreturn]] void cannot_write(const fs::path& path, const std::error_code& error) {
  throw OutputError(path.string() + ": " + error.message());
}

bool holds_only_run_files(const fs::path& path) {
  if (!fs::is_directory(fs::symlink_status(path))) return false;
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (!fs::is_regular_file(entry.symlink_status()) || !is_run_file(entry.path().filename().string())) return false;
  return true;
}

// A config.toml with what every run's has.
bool has_configuration(const fs::path& path) {
  try {
    const toml::table config = parse_toml_file((path / "config.toml").string());
    return config.at_path("sim.seed").is_integer() && config.at_path("nic.clock_hz").is_integer();
  } catch (const InputError&) {
    return false;
  }
}

// A result.json that begins as every run's does.
bool has_result(const fs::path& path) {
  std::ifstream stream(path / "result.json", std::ios::binary);
  const Json result = Json::parse(stream, nullptr, false);
  const Json header = result_header(0, 0);
  return result.is_object() && std::all_of(header.items().begin(), header.items().end(), [&result](const auto& member) {
           return result.contains(member.key()) && result[member.key()].type_name() == member.value().type_name();
         });
}

// Only what a run has left for certain may be replaced, so that no path that a user mistypes costs a file. A folder
// that grows, or was cut short, has no result yet.
enum class State { whole, growing };

void require_free(const fs::path& path, State state) {
  if (!fs::exists(fs::symlink_status(path))) return;
  const bool of_a_run =
      holds_only_run_files(path) &&
      (fs::is_empty(path) || (has_configuration(path) && (state == State::growing || has_result(path))));
  if (!of_a_run)
    throw InputError(path.string() + ": exists and is not a run folder; must be new, empty or an earlier run's");
}

// The descriptor that holds the lock on a folder; -1 when another run holds it, or there is no such folder.
int lock_folder(const fs::path& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0 || flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
  close(folder);
  return -1;
}

void require_idle(const fs::path& path) {
  if (!fs::exists(path)) return;
  const int lock = lock_folder(path);
  if (lock < 0) throw InputError(path.string() + ": another run writes there; must be a folder of no run under way");
  close(lock);
}

// "a/b/" and "a/x/../b" are "a/b": what the path means must not change when folders on it come into being.
fs::path normal(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

}  // namespace

bool is_run_file(const std::string& name) {
  static const std::set<std::string> kNames = {"area.csv",    "config.toml",   "counters.txt", "host.json",
                                               "result.json", "timeline.json", "waves.vcd"};
  const fs::path path(name);
  const bool latencies = name == "latency.csv" || (name.rfind("latency_", 0) == 0 && path.extension() == ".csv");
  return kNames.count(name) != 0 || latencies || path.extension() == ".pcap";
}

RunFolder::RunFolder(const fs::path& path) : path_(normal(path)), partial_(path_) {
  partial_ += ".partial";
  require_free(path_, State::whole);
  require_free(partial_, State::growing);
  require_idle(partial_);
  std::error_code error;
  fs::remove_all(partial_, error);
  if (!error) fs::create_directories(partial_, error);
  if (error) cannot_write(partial_, error);
  lock_ = lock_folder(partial_);
}

RunFolder::~RunFolder() {
  if (lock_ >= 0) close(lock_);
  std::error_code error;
  const auto files = fs::directory_iterator(partial_, error);
  if (error || std::distance(begin(files), end(files)) != 1) return;
  if (fs::exists(partial_ / "config.toml", error)) fs::remove_all(partial_, error);
}

void RunFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream stream(partial_ / name, std::ios::binary);
  stream << text << std::flush;
  if (!stream) cannot_write(partial_ / name, std::error_code(errno, std::generic_category()));
}

void RunFolder::commit() {
  require_free(path_, State::whole);  // somebody may have put something there meanwhile
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
