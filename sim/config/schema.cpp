#include "sim/config/schema.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace sim {
namespace {

std::string quoted(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      literal += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04X", static_cast<unsigned>(c));
      literal += escape;
    } else {
      literal += c;
    }
  }
  return literal + "\"";
}

std::string shortest(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  std::string literal(digits, end);
  if (std::isfinite(value) && literal.find_first_of(".e") == std::string::npos) literal += ".0";
  return literal;
}

// Levenshtein's, one row of the matrix at a time.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); j++) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

// A word of which more than half would have to change is not what was meant.
std::optional<std::string> nearest(const std::vector<std::string>& words, const std::string& word) {
  std::optional<std::string> best;
  size_t distance = std::max<size_t>(word.size() / 2, 1) + 1;
  for (const std::string& candidate : words) {
    const size_t d = edit_distance(word, candidate);
    if (d < distance) {
      distance = d;
      best = candidate;
    }
  }
  return best;
}

std::string to_toml_literal(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole_number = std::get_if<int64_t>(&value)) return std::to_string(*whole_number);
  if (const auto* number = std::get_if<double>(&value)) return shortest(*number);
  return quoted(std::get<std::string>(value));
}

std::string Parameter::allowed() const {
  std::string text;
  if (!choices.empty()) {
    for (const Value& choice : choices) text += (text.empty() ? "one of " : ", ") + to_toml_literal(choice);
  } else if (range) {
    text = std::holds_alternative<int64_t>(default_value) ? "a whole number from " : "a number from ";
    text += to_toml_literal(range->min) + " to " + to_toml_literal(range->max);
  } else {
    text = std::holds_alternative<bool>(default_value) ? "true or false" : "text";
  }
  return text;
}

std::optional<Value> Parameter::accept(const Value& value) const {
  Value typed = value;
  if (std::holds_alternative<double>(default_value) && std::holds_alternative<int64_t>(value)) {
    typed = static_cast<double>(std::get<int64_t>(value));
  }
  if (typed.index() != default_value.index()) return {};
  if (range && !(typed >= range->min && typed <= range->max)) return {};  // refuses NaN too
  if (!choices.empty() && std::find(choices.begin(), choices.end(), typed) == choices.end()) return {};
  return typed;
}

void Schema::real(const std::string& key, double& variable, Range range, const std::string& unit,
                  const std::string& sentence) {
  add(bind(key, variable, unit, sentence), std::move(range), {});
}

void Schema::nanoseconds(const std::string& key, uint64_t& variable_ps, int64_t max_ns, const std::string& sentence) {
  if (variable_ps % 1000 != 0) throw std::logic_error(key + ": its default is no whole number of nanoseconds");
  Parameter parameter = bind(key, variable_ps, "ns", sentence);
  parameter.store = [&variable_ps](const Value& value) { variable_ps = uint64_t(std::get<int64_t>(value)) * 1000; };
  parameter.load = [&variable_ps] { return Value(int64_t(variable_ps / 1000)); };
  add(std::move(parameter), whole(0, max_ns), {});
}

void Schema::boolean(const std::string& key, bool& variable, const std::string& sentence) {
  add(bind(key, variable, "", sentence), {}, {});
}

void Schema::text(const std::string& key, std::string& variable, const std::string& sentence) {
  add(bind(key, variable, "", sentence), {}, {});
}

void Schema::text_of(const std::string& key, std::string& variable, const std::vector<std::string>& choices,
                     const std::string& sentence) {
  add(bind(key, variable, "", sentence), {}, {choices.begin(), choices.end()});
}

const Parameter* Schema::find(const std::string& key) const {
  const auto found =
      std::find_if(parameters_.begin(), parameters_.end(), [&](const Parameter& p) { return p.key == key; });
  return found == parameters_.end() ? nullptr : &*found;
}

bool Schema::has_group(const std::string& group) const {
  return std::any_of(parameters_.begin(), parameters_.end(),
                     [&](const Parameter& p) { return p.key.compare(0, group.size() + 1, group + ".") == 0; });
}

std::optional<std::string> Schema::nearest_key(const std::string& key) const {
  std::vector<std::string> keys;
  for (const Parameter& p : parameters_) keys.push_back(p.key);
  return nearest(keys, key);
}

std::optional<std::string> Schema::nearest_group(const std::string& group) const {
  std::vector<std::string> groups;
  for (const Parameter& p : parameters_) groups.push_back(p.key.substr(0, p.key.rfind('.')));
  return nearest(groups, group);
}

void Schema::add(Parameter parameter, std::optional<Range> range, std::vector<Value> choices) {
  if (find(parameter.key)) throw std::logic_error(parameter.key + ": declared twice");
  parameter.default_value = parameter.load();
  parameter.range = std::move(range);
  parameter.choices = std::move(choices);
  if (!parameter.accept(parameter.default_value)) {
    throw std::logic_error(parameter.key + ": its default is not allowed");
  }
  parameters_.push_back(std::move(parameter));
}

}  // namespace sim
