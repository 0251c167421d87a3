#include "sim/report/run_folder.hpp"

#include <sys/utsname.h>

#include <cerrno>
#include <fstream>
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

bool is_free_for_a_run(const fs::path& path) {
  if (!fs::exists(path)) return true;
  return fs::is_directory(path) &&
         (fs::is_empty(path) || (fs::exists(path / "config.toml") && fs::exists(path / "result.json")));
}

fs::path without_trailing_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

RunFolder::RunFolder(const fs::path& path) : path_(without_trailing_slash(path)), partial_(path_) {
  if (!is_free_for_a_run(path_)) {
    throw InputError(path_.string() + ": exists and is not a run folder; must be new, empty or an earlier run's");
  }
  partial_ += ".partial";
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
