// From profile, file and settings to a configuration, and the exact line of every error on the way.
#include "sim/config/resolve.hpp"

#include <gtest/gtest.h>

#include "sim/config/load.hpp"
#include "sim/config/profiles.hpp"
#include "sim/config/show.hpp"
#include "temporary_folder.hpp"

namespace sim {
namespace {

std::string error_of(const ConfigSource& source) {
  try {
    resolve(source);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

class Resolve : public testing::Test {
 protected:
  ConfigSource file(const std::string& text) const { return {"", folder_.file("nic.toml", text), {}, {}}; }
  // The error of a file with this text, without the folder's name.
  std::string file_error(const std::string& text) const {
    const std::string prefix = (folder_ / "").string();
    const std::string error = error_of(file(text));
    return error.compare(0, prefix.size(), prefix) == 0 ? error.substr(prefix.size()) : error;
  }
  static std::string set_error(const std::string& setting) { return error_of({"", "", {setting}, {}}); }

  test::TemporaryFolder folder_;
};

TEST_F(Resolve, NothingIsTheDefaultProfile) {
  EXPECT_EQ(to_toml(resolve({})), to_toml(Config()));
  EXPECT_EQ(to_toml(resolve({"roce", "", {}, {}})), to_toml(Config()));
}

TEST_F(Resolve, LaterSourcesWin) {
  ConfigSource source = file("[nic]\npmtu = 1024\nqp_count = 8\n[link]\ngbps = 25\n");
  source.profile = "ideal";
  source.settings = {"nic.qp_count=16", "nic.retry_count=1", "nic.qp_count=16"};
  const Config config = resolve(source);
  EXPECT_TRUE(config.pcie.unlimited) << "from the profile";
  EXPECT_EQ(config.nic.pmtu_bytes, 1024u) << "from the file";
  EXPECT_EQ(config.link.gbps, 25u);
  EXPECT_EQ(config.nic.qp_count, 16u) << "from the settings";
  EXPECT_EQ(config.nic.retry_count, 1u);
}

TEST_F(Resolve, ParametersThatContradictEachOther) {
  EXPECT_EQ(set_error("pcie.read_latency_ns=100"), "pcie.read_latency_ns = 100: allowed are 220 and more");
  EXPECT_EQ(set_error("pcie.posted_data=8"), "pcie.posted_data = 8: allowed are 16 and more");
}

TEST_F(Resolve, TheFileMayNameItsProfileAndTheCommandLineWins) {
  ConfigSource source = file("profile = \"ideal\"\n");
  EXPECT_TRUE(resolve(source).pcie.unlimited);
  source.profile = "roce";
  EXPECT_FALSE(resolve(source).pcie.unlimited);
}

TEST_F(Resolve, OtherSectionsAreSomebodyElses) {
  ConfigSource source = file("[elsewhere]\nanything = 1\n[nic]\nqp_count = 2\n");
  EXPECT_EQ(error_of(source).substr((folder_ / "").string().size()),
            "nic.toml:1:2: elsewhere: unknown key; balboa config schema lists all");
  source.other_sections = {"elsewhere"};
  EXPECT_EQ(resolve(source).nic.qp_count, 2u);
}

TEST_F(Resolve, ErrorsInFilesNamePlaceKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(file_error("[nic]\nqp_cuont = 3\n"), "nic.toml:2:1: nic.qp_cuont: unknown key; did you mean nic.qp_count?");
  EXPECT_EQ(file_error("nic.qp_count = 0\n"),
            "nic.toml:1:16: nic.qp_count = 0: must be a whole number from 1 to 16384 QPs");
  EXPECT_EQ(file_error("[nic]\npmtu = 100\n"),
            "nic.toml:2:8: nic.pmtu = 100: must be one of 256, 512, 1024, 2048, 4096 bytes");
  EXPECT_EQ(file_error("[nic]\npmtu = \"big\"\n"),
            "nic.toml:2:8: nic.pmtu = \"big\": must be one of 256, 512, 1024, 2048, 4096 bytes");
  EXPECT_EQ(file_error("[link]\ngbps = 100.0\n"),
            "nic.toml:2:8: link.gbps = 100.0: must be a whole number from 1 to 1600 Gb/s");
  EXPECT_EQ(file_error("[sim]\nshuffle = 1\n"), "nic.toml:2:11: sim.shuffle = 1: must be true or false");
  EXPECT_EQ(file_error("[nic]\nqp_count = [1, 2]\n"),
            "nic.toml:2:12: nic.qp_count = (array): must be a whole number from 1 to 16384 QPs");
  EXPECT_EQ(file_error("[nic.qp_count]\n"),
            "nic.toml:1:1: nic.qp_count = (table): must be a whole number from 1 to 16384 QPs");
  EXPECT_EQ(file_error("[nics]\n"), "nic.toml:1:2: nics: unknown key; did you mean nic?");
  EXPECT_EQ(file_error("nic = 4\n"), "nic.toml:1:1: nic: unknown key; balboa config schema lists all");
  EXPECT_EQ(file_error("profile = 4\n"), "nic.toml: profile: must be the name of a profile in quotes");
}

TEST_F(Resolve, BrokenTomlIsNamedWithItsPlace) {
  const std::string error = file_error("[nic]\nqp_count = \n");
  EXPECT_EQ(error.compare(0, std::string("nic.toml:2:12: ").size(), "nic.toml:2:12: "), 0) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

TEST_F(Resolve, FilesThatCannotBeRead) {
  EXPECT_EQ(error_of({"", "/does/not/exist.toml", {}, {}}), "/does/not/exist.toml: No such file or directory");
  EXPECT_EQ(error_of({"", "/", {}, {}}), "/: Is a directory");
}

TEST_F(Resolve, ErrorsInSettings) {
  EXPECT_EQ(set_error("nic.qp_cuont=3"), "--set nic.qp_cuont: unknown key; did you mean nic.qp_count?");
  EXPECT_EQ(set_error("nic.qp_count=70000"), "--set nic.qp_count = 70000: must be a whole number from 1 to 16384 QPs");
  EXPECT_EQ(set_error("nic.qp_count=many"),
            "--set nic.qp_count = \"many\": must be a whole number from 1 to 16384 QPs");
  EXPECT_EQ(set_error("nic.qp_count=2\nb=3"),
            "--set nic.qp_count = \"2\\u000Ab=3\": must be a whole number from 1 to 16384 QPs");
  EXPECT_EQ(set_error("nic.qp_count"), "--set nic.qp_count: must be KEY=VALUE, such as nic.qp_count=64");
  EXPECT_EQ(set_error("=3"), "--set =3: must be KEY=VALUE, such as nic.qp_count=64");
}

TEST_F(Resolve, UnknownProfile) {
  EXPECT_EQ(error_of({"fast", "", {}, {}}), "profile fast: no such profile; there are roce, ideal");
}

TEST(Setting, TextNeedsNoQuotes) {
  std::string mode = "fast";
  std::string free = "";
  Schema schema;
  schema.text_of("a.mode", mode, {"fast", "slow"}, "");
  schema.text("a.free", free, "");
  apply_setting(schema, "a.mode=slow");
  EXPECT_EQ(mode, "slow");
  apply_setting(schema, "a.mode=\"fast\"");
  EXPECT_EQ(mode, "fast");
  apply_setting(schema, "a.free=12");
  EXPECT_EQ(free, "12");
  apply_setting(schema, "a.free=x = 1");
  EXPECT_EQ(free, "x = 1");
  EXPECT_THROW(apply_setting(schema, "a.mode=slower"), InputError);
}

// A profile names every parameter but those of `sim`, `timing` and `workload`: a new parameter, or a changed default,
// leaves no profile behind.
TEST(Profiles, AreComplete) {
  Config config;
  Schema schema;
  declare(schema, config);
  for (const Profile& profile : profiles()) {
    const toml::table table = parse_toml(profile.toml, profile.name);
    for (const Parameter& parameter : schema.parameters()) {
      const std::string group = parameter.key.substr(0, parameter.key.find('.'));
      const bool of_the_run = group == "sim" || group == "timing" || group == "workload";
      EXPECT_EQ(bool(table.at_path(parameter.key)), !of_the_run) << profile.name << " " << parameter.key;
    }
  }
}

}  // namespace
}  // namespace sim
