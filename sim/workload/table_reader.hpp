// Tables of a scenario file, read key by key. Whatever is refused is told with file, line and column (InputError).
#pragma once
#include <toml++/toml.h>

#include <optional>
#include <set>
#include <string>

namespace sim {

// "run.toml:9:1: "
std::string place_of(const std::string& file, const toml::source_position& at);
[[noreturn]] void refuse(const std::string& file, const toml::source_position& at, const std::string& what);

// One table, whose keys are all among `known` or refused. The table must outlive the reader.
class TableReader {
 public:
  TableReader(const std::string& file, std::string name, const toml::table& table, const std::set<std::string>& known);

  bool has(const std::string& key) const { return table_.contains(key); }
  // A whole number from `least` to `most`.
  std::optional<uint64_t> count(const std::string& key, uint64_t least = 0, uint64_t most = INT64_MAX) const;
  std::optional<bool> truth(const std::string& key) const;
  std::optional<std::string> text(const std::string& key) const;
  // One of `choices`; the key must be there, or `preset` is what it is without.
  std::string choice(const std::string& key, const std::set<std::string>& choices, const char* preset = nullptr) const;
  // The tables of an array, none when the key is not there.
  std::vector<const toml::table*> tables(const std::string& key) const;
  // A pair of whole numbers up to `most`.
  std::optional<std::pair<uint64_t, uint64_t>> two(const std::string& key, uint64_t most) const;

  [[noreturn]] void refuse(const std::string& key, const std::string& what) const;

 private:
  const std::string& file_;
  std::string name_;
  const toml::table& table_;
};

// "a", "b"
std::string quoted_list(const std::set<std::string>& names);

}  // namespace sim
