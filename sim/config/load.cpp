#include "sim/config/load.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace sim {
namespace {

std::string place(const toml::source_region& source) {
  std::ostringstream text;
  if (source.path) text << *source.path << ':' << source.begin.line << ':' << source.begin.column << ": ";
  return text.str();
}

[[noreturn]] void unknown(const std::string& where, const std::string& key, const std::optional<std::string>& meant) {
  throw InputError(where + key + ": unknown key; " +
                   (meant ? "did you mean " + *meant + "?" : "balboa config schema lists all"));
}

std::optional<Value> value_of(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* whole_number = node.as_integer()) return whole_number->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* text = node.as_string()) return text->get();
  return {};
}

// A value as the error shows it: a scalar in full, anything else by its kind.
std::string shown(const toml::node& node) {
  const auto value = value_of(node);
  if (value) return to_toml_literal(*value);
  std::ostringstream kind;
  kind << "(" << node.type() << ")";
  return kind.str();
}

void store(const Parameter& parameter, const toml::node& node, const std::string& where) {
  const auto value = value_of(node);
  const auto accepted = value ? parameter.accept(*value) : std::nullopt;
  if (!accepted) {
    const std::string unit = parameter.unit.empty() ? "" : " " + parameter.unit;
    throw InputError(where + parameter.key + " = " + shown(node) + ": must be " + parameter.allowed() + unit);
  }
  parameter.store(*accepted);
}

void apply_group(const Schema& schema, const toml::table& table, const std::string& group,
                 const std::set<std::string>& skipped) {
  for (const auto& [name, node] : table) {
    if (skipped.count(std::string(name.str()))) continue;
    const std::string key = group + std::string(name.str());
    if (const Parameter* parameter = schema.find(key)) {
      store(*parameter, node, place(node.source()));
    } else if (node.is_table() && schema.has_group(key)) {
      apply_group(schema, *node.as_table(), key + ".", {});
    } else {
      unknown(place(name.source()), key, node.is_table() ? schema.nearest_group(key) : schema.nearest_key(key));
    }
  }
}

// Text is what does not parse as TOML, and everything that a text parameter is given without quotes.
toml::table parse_setting_value(const Parameter& parameter, const std::string& value) {
  try {
    toml::table table = toml::parse("value = " + value);
    const bool is_text = std::holds_alternative<std::string>(parameter.default_value);
    if (table.size() == 1 && (!is_text || table["value"].is_string())) return table;
  } catch (const toml::parse_error&) {
  }
  return toml::table{{"value", value}};
}

// The parser descends into itself for every part of a dotted key: a line without end would exhaust its stack.
void require_short_lines(const std::string& text, const std::string& name) {
  constexpr size_t kLongest = 16384;
  size_t line = 1;
  for (size_t at = 0; at < text.size(); line++) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (end - at > kLongest)
      throw InputError(name + ":" + std::to_string(line) + ":1: a line of " + std::to_string(end - at) +
                       " bytes; at most " + std::to_string(kLongest));
    at = end + 1;
  }
}

}  // namespace

toml::table parse_toml(const std::string& text, const std::string& name) {
  require_short_lines(text, name);
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw InputError(place(error.source()) + std::string(error.description()));
  }
}

toml::table parse_toml_file(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
      !std::filesystem::is_directory(status))
    throw InputError(file + ": is no regular file; must be one, since it is read more than once");
  std::ifstream stream(file, std::ios::binary);
  bool readable = stream.is_open();
  std::string text;
  try {
    text.assign(std::istreambuf_iterator<char>(stream), {});
  } catch (const std::ios_base::failure&) {
    readable = false;  // a directory, for one
  }
  if (!readable) throw InputError(file + ": " + std::strerror(errno));
  return parse_toml(text, file);
}

void apply_table(const Schema& schema, const toml::table& table, const std::set<std::string>& other_sections) {
  apply_group(schema, table, "", other_sections);
}

void apply_setting(const Schema& schema, const std::string& setting) {
  const size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError("--set " + setting + ": must be KEY=VALUE, such as nic.qp_count=64");
  }
  const std::string key = setting.substr(0, equals);
  const Parameter* parameter = schema.find(key);
  if (!parameter) unknown("--set ", key, schema.nearest_key(key));
  const toml::table table = parse_setting_value(*parameter, setting.substr(equals + 1));
  store(*parameter, *table.get("value"), "--set ");
}

}  // namespace sim
