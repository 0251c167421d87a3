#include "sim/report/run_folder.hpp"

#include <gtest/gtest.h>

#include "temporary_folder.hpp"

namespace sim {
namespace {

namespace fs = std::filesystem;

std::string error_of(const fs::path& path) {
  try {
    RunFolder folder(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

const std::string kConfig = "[sim]\nseed = 1\n[nic]\nclock_hz = 250000000\n";

std::string result_of(uint64_t seed) {
  return to_text(result_header(seed, 1000));
}

void make_run(const fs::path& path, const std::string& result) {
  RunFolder folder(path);
  folder.write("config.toml", kConfig);
  folder.write("result.json", result);
  folder.commit();
}

TEST(RunFolder, GrowsBesideItsNameAndTakesItAtTheEnd) {
  const test::TemporaryFolder root;
  RunFolder folder(root / "deep/run");
  folder.write("config.toml", "[nic]\n");
  EXPECT_FALSE(fs::exists(root / "deep/run"));
  EXPECT_EQ(test::text_of(folder.file("config.toml")), "[nic]\n") << "on disk before the end";
  folder.commit();
  EXPECT_EQ(test::text_of(root / "deep/run/config.toml"), "[nic]\n");
  EXPECT_FALSE(fs::exists(root / "deep/run.partial"));
}

TEST(RunFolder, ReplacesAnEarlierRunOnlyAtTheEnd) {
  const test::TemporaryFolder root;
  make_run(root / "run", result_of(1));
  RunFolder folder((root / "run").string() + "/");
  folder.write("result.json", result_of(2));
  EXPECT_EQ(test::text_of(root / "run/result.json"), result_of(1));
  folder.commit();
  EXPECT_EQ(test::text_of(root / "run/result.json"), result_of(2));
  EXPECT_FALSE(fs::exists(root / "run/config.toml")) << "nothing of the old run stays";
}

TEST(RunFolder, KeepsARunThatWasCutShort) {
  const test::TemporaryFolder root;
  {
    const RunFolder folder(root / "run");
    folder.write("config.toml", kConfig);
    folder.write("counters.txt", "");
  }
  EXPECT_EQ(test::text_of(root / "run.partial/config.toml"), kConfig);
  make_run(root / "run", result_of(1));
  EXPECT_FALSE(fs::exists(root / "run.partial"));
}

TEST(RunFolder, ARefusedRunLeavesNothing) {
  const test::TemporaryFolder root;
  { RunFolder(root / "run").write("config.toml", kConfig); }
  EXPECT_FALSE(fs::exists(root / "run.partial"));
}

TEST(RunFolder, TouchesNothingThatIsNoRunFolder) {
  const test::TemporaryFolder root;
  const std::string file = root.file("thing", "precious");
  EXPECT_EQ(error_of(file), file + ": exists and is not a run folder; must be new, empty or an earlier run's");
  EXPECT_EQ(error_of(root / ""), root.file("thing", "precious").substr(0, file.rfind('/')) +
                                     ": exists and is not a run folder; must be new, empty or an earlier run's");
  EXPECT_EQ(test::text_of(file), "precious");
}

TEST(RunFolder, NeverTakesAUsersFileWithIt) {
  const test::TemporaryFolder root;
  const std::string notes = root.file("notes", "precious");
  // A path whose meaning would change once its first part exists.
  EXPECT_NE(error_of(root / "new/.."), "no error");
  EXPECT_FALSE(fs::exists(root / "new"));
  // What looks like a run but holds more than one; a growing folder that is none; a link.
  make_run(root / "run", result_of(1));
  fs::copy_file(notes, root / "run/notes");
  EXPECT_NE(error_of(root / "run"), "no error");
  root.file("other.partial", "precious");
  EXPECT_NE(error_of(root / "other"), "no error");
  fs::create_directory_symlink(fs::path(notes).parent_path(), root / "link");
  EXPECT_NE(error_of(root / "link"), "no error");
  // What somebody puts there while the run goes on.
  RunFolder folder(root / "late");
  fs::create_directory(root / "late");
  fs::copy_file(notes, root / "late/notes");
  EXPECT_THROW(folder.commit(), InputError);
  EXPECT_EQ(test::text_of(notes), "precious");
  EXPECT_EQ(test::text_of(root / "late/notes"), "precious");
}

// Names alone make no run: other programs leave a result.json too.
TEST(RunFolder, ARunIsKnownByItsContents) {
  const struct {
    const char* what;
    std::string config, result;  // empty: no such file
    bool taken;
  } cases[] = {{"only a result", "", result_of(1), false},
               {"another program's result", kConfig, "{\"score\": 3}", false},
               {"members of other types", kConfig,
                R"({"schema_version": "1", "version": "0.1.0", "seed": 1, "simulated_ps": 2})", false},
               {"no JSON", kConfig, "{\"schema_version\": 1", false},
               {"another program's configuration", "[sim]\nspeed = 1\n", result_of(1), false},
               {"no TOML", "sim:\n  seed: 1\n", result_of(1), false},
               {"no result", kConfig, "", false},
               {"a run", kConfig, result_of(1), true}};
  for (const auto& c : cases) {
    const test::TemporaryFolder root;
    fs::create_directory(root / "run");
    if (!c.config.empty()) root.file("run/config.toml", c.config);
    if (!c.result.empty()) root.file("run/result.json", c.result);
    EXPECT_EQ(error_of(root / "run") == "no error", c.taken) << c.what;
    if (c.result.empty()) continue;
    EXPECT_EQ(test::text_of(root / "run/result.json"), c.result) << c.what;
  }
}

// Nor does the name of a growing folder.
TEST(RunFolder, AFolderThatGrowsIsKnownByItsConfiguration) {
  const test::TemporaryFolder root;
  fs::create_directory(root / "run.partial");
  const std::string result = root.file("run.partial/result.json", result_of(1));
  EXPECT_NE(error_of(root / "run"), "no error");
  EXPECT_EQ(test::text_of(result), result_of(1));
}

TEST(RunFolder, SaysWhatCannotBeWritten) {
  const test::TemporaryFolder root;
  const RunFolder folder(root / "run");
  EXPECT_THROW(folder.write("no/such/folder", ""), OutputError);
  root.file("file", "");
  EXPECT_THROW(RunFolder(root / "file/run"), OutputError);
}

TEST(Result, SameBytesEverywhere) {
  nlohmann::ordered_json result = result_header(7, 1234567890123);
  result["zulu_gbps"] = 98.014;
  result["alpha"] = 1.0;
  EXPECT_EQ(to_text(result),
            "{\n"
            "  \"schema_version\": 1,\n"
            "  \"version\": \"0.1.0\",\n"
            "  \"seed\": 7,\n"
            "  \"simulated_ps\": 1234567890123,\n"
            "  \"zulu_gbps\": 98.014,\n"
            "  \"alpha\": 1.0\n"
            "}\n");
}

TEST(Result, HostReport) {
  const auto report = host_report(2, 5000000, 250000000);
  EXPECT_EQ(report["cycles_per_s"], 2500000.0);
  EXPECT_EQ(report["times_slower_than_hardware"], 100.0);
  EXPECT_FALSE(report["machine"].get<std::string>().empty());
  EXPECT_EQ(host_report(0, 0, 1)["cycles_per_s"], 0.0);
}

}  // namespace
}  // namespace sim
