#include "sim/diff/leaves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace sim {
namespace {

using Json = nlohmann::ordered_json;

class Collector {
 public:
  void add(const std::string& path, const Json& json) {
    if (json.is_object()) {
      for (const auto& [name, value] : json.items()) add(inside(path, name), value);
    } else if (json.is_array()) {
      for (size_t i = 0; i < json.size(); i++) add(inside(path, element_name(json[i], i)), json[i]);
    } else {
      const size_t n = ++uses_[path];
      leaves.emplace_back(n == 1 ? path : path + "#" + std::to_string(n), json);
    }
  }

  Leaves leaves;

 private:
  static std::string inside(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }
  static std::string element_name(const Json& element, size_t position) {
    if (element.is_object())
      for (const char* key : {"row", "name"})
        if (element.contains(key) && element[key].is_string()) return element[key].get<std::string>();
    return std::to_string(position);
  }

  std::map<std::string, size_t> uses_;
};

}  // namespace

Leaves leaves_of(const Json& json) {
  Collector collector;
  collector.add("", json);
  return std::move(collector.leaves);
}

double Change::percent() const {
  if (!a.is_number() || !b.is_number() || a.get<double>() == 0) return std::numeric_limits<double>::infinity();
  return 100 * (b.get<double>() - a.get<double>()) / std::abs(a.get<double>());
}

std::vector<Change> changes(const Leaves& a, const Leaves& b) {
  std::map<std::string, const Json*> of_b;
  for (const auto& [path, value] : b) of_b.emplace(path, &value);
  std::vector<Change> list;
  for (const auto& [path, value] : a) {
    const auto other = of_b.find(path);
    const Json& in_b = other == of_b.end() ? Json() : *other->second;
    if (other == of_b.end() || value != in_b) list.push_back({path, value, in_b});
    if (other != of_b.end()) of_b.erase(other);
  }
  for (const auto& [path, value] : b)
    if (of_b.count(path) != 0) list.push_back({path, {}, value});
  return list;
}

void sort_by_size(std::vector<Change>& changes) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& x, const Change& y) { return std::abs(x.percent()) > std::abs(y.percent()); });
}

}  // namespace sim
