// Named values, and how those of two runs differ. Parameters, results and area are all compared in this form.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sim {

/// Path and value (a number, a text or a boolean), in the order of the file.
using Leaves = std::vector<std::pair<std::string, nlohmann::ordered_json>>;

/// The values inside `json`, each under its members' names joined by points. An element of an array goes by its text
/// member `row` or `name` where it has one, else by its position from 0. A path that comes again gets "#2", "#3", ...
Leaves leaves_of(const nlohmann::ordered_json& json);

/// A value that two runs do not share.
struct Change {
  std::string path;
  nlohmann::ordered_json a, b;  // null: that run does not have it

  /// From a to b in percent of a; infinite where a is 0 or either is no number.
  double percent() const;
};

/// Every value that differs or is only on one side: in the order of `a`, then what only `b` has.
std::vector<Change> changes(const Leaves& a, const Leaves& b);

/// Puts the greatest percentage first, whatever its sign; equal ones stay in order.
void sort_by_size(std::vector<Change>& changes);

}  // namespace sim
