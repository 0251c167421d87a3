#include "sim/config/resolve.hpp"

#include <algorithm>
#include <map>

#include "sim/config/load.hpp"
#include "sim/config/profiles.hpp"

namespace sim {
namespace {

std::string profile_of(const ConfigSource& source, const toml::table& file) {
  if (!source.profile.empty()) return source.profile;
  const toml::node* named = file.get("profile");
  if (!named) return kDefaultProfile;
  if (!named->is_string()) throw InputError(source.file + ": profile: must be the name of a profile in quotes");
  return **named->as_string();
}

// Options such as -m are settings too, and none of two contradicting ones is right.
void refuse_contradictions(const std::vector<std::string>& settings) {
  std::map<std::string, std::string> values;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = setting.substr(0, equals), value = setting.substr(equals + 1);
    const auto [at, fresh] = values.emplace(key, value);
    if (!fresh && at->second != value)
      throw InputError(key + ": set to " + at->second + " and to " + value + "; allowed is one value");
  }
}

// What parameters ask of each other.
void check_together(const Config& config) {
  try {
    models::check(config.pcie);
    models::check(config.card);
  } catch (const std::invalid_argument& error) {
    throw InputError(error.what());
  }
}

}  // namespace

const Profile& find_profile(const std::string& name) {
  const auto found =
      std::find_if(profiles().begin(), profiles().end(), [&](const Profile& p) { return p.name == name; });
  if (found != profiles().end()) return *found;
  std::string names;
  for (const Profile& profile : profiles()) names += (names.empty() ? "" : ", ") + profile.name;
  throw InputError("profile " + name + ": no such profile; there are " + names);
}

Config resolve(const ConfigSource& source) {
  Config config;
  Schema schema;
  declare(schema, config);

  const toml::table file = source.file.empty() ? toml::table() : parse_toml_file(source.file);
  const Profile& profile = find_profile(profile_of(source, file));
  apply_table(schema, parse_toml(profile.toml, "profile " + profile.name));

  for (const std::string& setting : source.defaults) apply_setting(schema, setting);
  std::set<std::string> others = source.other_sections;
  others.insert("profile");
  apply_table(schema, file, others);
  refuse_contradictions(source.settings);
  for (const std::string& setting : source.settings) apply_setting(schema, setting);
  check_together(config);
  return config;
}

}  // namespace sim
