// The schema: every parameter with its key, default, allowed values, unit and one sentence, bound to the variable it
// sets. One declaration serves loading, checking, printing and documentation.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sim {

using Value = std::variant<bool, int64_t, double, std::string>;

/// The value as TOML spells it; a real keeps a point or an exponent, and is read back to the same bits.
std::string to_toml_literal(const Value& value);

struct Range {
  Value min, max;  // both allowed
};

struct Parameter {
  std::string key;  // "nic.qp_count"
  Value default_value;
  std::optional<Range> range;  // of numbers
  std::vector<Value> choices;  // empty: all of the range
  std::string unit;            // empty: none
  std::string sentence;
  std::function<void(const Value&)> store;
  std::function<Value()> load;

  /// "a whole number from 1 to 16384", "one of 256, 512", "true or false", "text".
  std::string allowed() const;
  /// The value in the parameter's own type (a whole number serves as a real), or nothing when it is not allowed.
  std::optional<Value> accept(const Value& value) const;
};

/// Declarations bind variables by reference: the schema must not outlive them. The default is the variable's value at
/// the time of its declaration. A declaration that contradicts itself (key used twice, default or bounds that the
/// variable cannot hold) throws std::logic_error.
class Schema {
 public:
  template <class T>
  void integer(const std::string& key, T& variable, Range range, const std::string& unit, const std::string& sentence) {
    check_fits<T>(key, range.min);
    check_fits<T>(key, range.max);
    add(bind(key, variable, unit, sentence), std::move(range), {});
  }
  template <class T>
  void integer_of(const std::string& key, T& variable, const std::vector<int64_t>& choices, const std::string& unit,
                  const std::string& sentence) {
    for (const int64_t choice : choices) check_fits<T>(key, choice);
    add(bind(key, variable, unit, sentence), {}, {choices.begin(), choices.end()});
  }
  void real(const std::string& key, double& variable, Range range, const std::string& unit,
            const std::string& sentence);
  /// A time in whole nanoseconds from 0 to `max_ns`; the variable holds picoseconds.
  void nanoseconds(const std::string& key, uint64_t& variable_ps, int64_t max_ns, const std::string& sentence);
  void boolean(const std::string& key, bool& variable, const std::string& sentence);
  void text(const std::string& key, std::string& variable, const std::string& sentence);
  void text_of(const std::string& key, std::string& variable, const std::vector<std::string>& choices,
               const std::string& sentence);

  /// In the order of declaration.
  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Null when there is none.
  const Parameter* find(const std::string& key) const;
  /// True when the key of some parameter lies inside `group`: "nic" for "nic.qp_count".
  bool has_group(const std::string& group) const;
  /// The declared key that `key` was probably meant to be, by edit distance; nothing when none is near.
  std::optional<std::string> nearest_key(const std::string& key) const;
  std::optional<std::string> nearest_group(const std::string& group) const;

 private:
  template <class T>
  static void check_fits(const std::string& key, const Value& bound) {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
    const int64_t value = std::get<int64_t>(bound);
    const bool above_min = std::is_signed_v<T> ? value >= int64_t(std::numeric_limits<T>::min()) : value >= 0;
    if (!above_min || (value > 0 && uint64_t(value) > uint64_t(std::numeric_limits<T>::max()))) {
      throw std::logic_error(key + ": its variable cannot hold the declared bounds");
    }
  }
  template <class T>
  static Parameter bind(const std::string& key, T& variable, const std::string& unit, const std::string& sentence) {
    using Held = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int64_t, T>;
    Parameter parameter;
    parameter.key = key;
    parameter.unit = unit;
    parameter.sentence = sentence;
    parameter.store = [&variable](const Value& value) { variable = static_cast<T>(std::get<Held>(value)); };
    parameter.load = [&variable] { return Value(static_cast<Held>(variable)); };
    return parameter;
  }
  void add(Parameter parameter, std::optional<Range> range, std::vector<Value> choices);

  std::vector<Parameter> parameters_;
};

/// The word that `word` was probably meant to be, by edit distance; nothing when none is near.
std::optional<std::string> nearest(const std::vector<std::string>& words, const std::string& word);

/// A range of whole numbers or of reals.
inline Range whole(int64_t min, int64_t max) {
  return {min, max};
}
inline Range reals(double min, double max) {
  return {min, max};
}

}  // namespace sim
