// The folder that a run leaves. It grows under another name, flushed file by file, and takes its own name in one step
// at the end: a folder of that name is always whole, and a run that was cut short keeps what it had written.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/config/error.hpp"

namespace sim {

class RunFolder {
 public:
  /// Makes `path`.partial; one left by an earlier run is replaced. Throws InputError when that of a run under way is
  /// there, or when one of the two is taken by something that is not a run folder for certain; OutputError when the
  /// folder cannot be made. An earlier run's is an empty one, or holds nothing but files of a run, a resolved
  /// config.toml and, unless it is a `.partial`, a result.json among them.
  explicit RunFolder(const std::filesystem::path& path);
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  /// A run that was refused before it left more than its configuration leaves nothing.
  ~RunFolder();

  /// Where the file `name` of the growing folder lies, for those that write while the run goes on.
  std::string file(const std::string& name) const { return (partial_ / name).string(); }

  /// Writes a whole file, handed to the system before the call returns. Throws OutputError.
  void write(const std::string& name, const std::string& text) const;

  /// Gives the folder its name; an earlier run folder of that name goes away. Throws OutputError.
  void commit();

 private:
  std::filesystem::path path_, partial_;
  int lock_ = -1;  // on the folder that grows, for as long as it does
};

/// True for a name that a run gives to a file of its folder.
bool is_run_file(const std::string& name);

/// The members that every result.json begins with: schema_version, version, seed, simulated_ps.
nlohmann::ordered_json result_header(uint64_t seed, uint64_t simulated_ps);

/// Two spaces of indent and a newline at the end. The same value gives the same bytes on every machine: members keep
/// their order, reals have the fewest digits that read back the same.
std::string to_text(const nlohmann::ordered_json& json);

/// What host.json holds: how long the run took, how fast it was, and on what machine.
nlohmann::ordered_json host_report(double wall_s, uint64_t cycles, uint64_t clock_hz);

}  // namespace sim
