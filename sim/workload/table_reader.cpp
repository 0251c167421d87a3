#include "sim/workload/table_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/config/error.hpp"

namespace sim {

std::string place_of(const std::string& file, const toml::source_position& at) {
  return fmt::format("{}:{}:{}: ", file, at.line, at.column);
}

void refuse(const std::string& file, const toml::source_position& at, const std::string& what) {
  throw InputError(place_of(file, at) + what);
}

std::string quoted_list(const std::set<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "\"" : ", \"") + name + "\"";
  return list;
}

TableReader::TableReader(const std::string& file, std::string name, const toml::table& table,
                         const std::set<std::string>& known)
    : file_(file), name_(std::move(name)), table_(table) {
  for (const auto& [key, node] : table)
    if (known.count(std::string(key.str())) == 0)
      sim::refuse(file, key.source().begin,
                  fmt::format("{}.{}: no such key; there are {}", name_, key.str(), fmt::join(known, ", ")));
}

void TableReader::refuse(const std::string& key, const std::string& what) const {
  const toml::node* node = table_.get(key);
  sim::refuse(file_, (node ? node->source() : table_.source()).begin, name_ + "." + key + ": " + what);
}

std::optional<uint64_t> TableReader::count(const std::string& key, uint64_t least, uint64_t most) const {
  const toml::node* node = table_.get(key);
  if (!node) return std::nullopt;
  const auto value = node->value_exact<int64_t>();
  if (value && *value >= 0 && uint64_t(*value) >= least && uint64_t(*value) <= most) return uint64_t(*value);
  const std::string to = most == INT64_MAX ? "" : fmt::format(" to {}", most);
  const std::string got = value ? fmt::format("{} is not allowed; ", *value) : "";
  refuse(key, fmt::format("{}must be a whole number from {}{}", got, least, to));
}

std::optional<bool> TableReader::truth(const std::string& key) const {
  const toml::node* node = table_.get(key);
  if (!node) return std::nullopt;
  const auto value = node->value_exact<bool>();
  if (!value) refuse(key, "must be true or false");
  return *value;
}

std::optional<std::string> TableReader::text(const std::string& key) const {
  const toml::node* node = table_.get(key);
  if (!node) return std::nullopt;
  const auto value = node->value_exact<std::string>();
  if (!value || value->empty()) refuse(key, "must be a text in quotes, and not empty");
  return *value;
}

std::string TableReader::choice(const std::string& key, const std::set<std::string>& choices,
                                const char* preset) const {
  const toml::node* node = table_.get(key);
  if (!node && preset) return preset;
  const auto value = node ? node->value_exact<std::string>() : std::nullopt;
  if (value && choices.count(*value) != 0) return *value;
  refuse(key, "must be one of " + quoted_list(choices));
}

std::vector<const toml::table*> TableReader::tables(const std::string& key) const {
  const toml::node* node = table_.get(key);
  std::vector<const toml::table*> list;
  if (!node) return list;
  const toml::array* array = node->as_array();
  if (!array) refuse(key, "must be an array of tables");
  for (const toml::node& element : *array) {
    if (!element.is_table()) sim::refuse(file_, element.source().begin, name_ + "." + key + ": must be a table");
    list.push_back(element.as_table());
  }
  return list;
}

std::optional<std::pair<uint64_t, uint64_t>> TableReader::two(const std::string& key, uint64_t most) const {
  const toml::node* node = table_.get(key);
  if (!node) return std::nullopt;
  const toml::array* array = node->as_array();
  const auto at = [&](size_t i) -> std::optional<int64_t> {
    return array && array->size() == 2 ? (*array)[i].value_exact<int64_t>() : std::nullopt;
  };
  const auto first = at(0), second = at(1);
  if (!first || !second || *first < 0 || *second < 0 || uint64_t(*first) > most || uint64_t(*second) > most)
    refuse(key, fmt::format("must be two whole numbers from 0 to {}, [nic0's, nic1's]", most));
  return std::make_pair(uint64_t(*first), uint64_t(*second));
}

}  // namespace sim
