#include "sim/config/show.hpp"

#include <algorithm>
#include <array>

namespace sim {
namespace {

nlohmann::ordered_json to_json(const Value& value) {
  return std::visit([](const auto& held) { return nlohmann::ordered_json(held); }, value);
}

const char* type_name(const Value& value) {
  static constexpr std::array<const char*, std::variant_size_v<Value>> names = {"boolean", "integer", "real", "text"};
  return names[value.index()];
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

std::string to_toml(const Schema& schema) {
  std::string text;
  std::string section;
  for (const Parameter& parameter : schema.parameters()) {
    const size_t dot = parameter.key.rfind('.');
    if (parameter.key.substr(0, dot) != section) {
      section = parameter.key.substr(0, dot);
      text += (text.empty() ? "[" : "\n[") + section + "]\n";
    }
    const std::string entry = parameter.key.substr(dot + 1) + " = " + to_toml_literal(parameter.load());
    text += padded(entry, 30) + "  # " + (parameter.unit.empty() ? "" : "[" + parameter.unit + "] ") +
            parameter.sentence + "\n";
  }
  return text;
}

std::string to_toml(Config config) {
  Schema schema;
  declare(schema, config);
  return to_toml(schema);
}

std::string schema_table(const Schema& schema) {
  using Row = std::array<std::string, 5>;
  std::vector<Row> rows = {{"KEY", "DEFAULT", "ALLOWED", "UNIT", "MEANING"}};
  for (const Parameter& p : schema.parameters()) {
    rows.push_back({p.key, to_toml_literal(p.default_value), p.allowed(), p.unit, p.sentence});
  }
  std::array<size_t, 5> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); i++) widths[i] = std::max(widths[i], row[i].size() + 2);
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); i++) text += padded(row[i], widths[i]);
    text += "\n";
  }
  return text;
}

nlohmann::ordered_json schema_json(const Schema& schema) {
  auto array = nlohmann::ordered_json::array();
  for (const Parameter& p : schema.parameters()) {
    nlohmann::ordered_json entry = {
        {"key", p.key}, {"type", type_name(p.default_value)}, {"default", to_json(p.default_value)}};
    if (p.range) {
      entry["min"] = to_json(p.range->min);
      entry["max"] = to_json(p.range->max);
    }
    for (const Value& choice : p.choices) entry["choices"].push_back(to_json(choice));
    if (!p.unit.empty()) entry["unit"] = p.unit;
    entry["sentence"] = p.sentence;
    array.push_back(std::move(entry));
  }
  return array;
}

}  // namespace sim
