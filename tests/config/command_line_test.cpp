// The options of every subcommand as structs, and the program itself: output, exit code, one line on standard error.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "sim/cli/options.hpp"
#include "sim/config/error.hpp"
#include "sim/config/show.hpp"
#include "temporary_folder.hpp"

namespace sim {
namespace {

template <class Options>
Options parsed(const std::string& arguments) {
  CLI::App app;
  Options options;
  add_options(app, options);
  app.parse(arguments);
  return options;
}

Config configured(const std::string& arguments) {
  return resolve(parsed<PerfOptions>(arguments).config);
}

TEST(Options, PerfDefaultsArePerftests) {
  const WorkloadConfig bandwidth = configured("").workload;
  EXPECT_EQ(bandwidth.test, "bw");
  EXPECT_EQ(bandwidth.size_bytes, 65536u);
  EXPECT_EQ(bandwidth.iterations, 5000u);
  EXPECT_EQ(bandwidth.tx_depth, 128u);
  EXPECT_EQ(bandwidth.rx_depth, 512u);
  const WorkloadConfig latency = configured("--test lat").workload;
  EXPECT_EQ(latency.test, "lat");
  EXPECT_EQ(latency.size_bytes, 2u);
  EXPECT_EQ(latency.iterations, 1000u);
  EXPECT_EQ(configured("--test lat -s 64").workload.size_bytes, 64u);
}

TEST(Options, PerfInFull) {
  const auto perf = parsed<PerfOptions>(
      "--op read --test bw -s 4096 -n 100 -q 16 -t 1024 -r 77 --outs 4 -m 1024 -b -H --profile ideal --set sim.seed=3 "
      "--set nic.tos=0 --config c.toml --report_gbits -o out --pcap --json --quiet");
  EXPECT_EQ(perf.config.profile, "ideal");
  EXPECT_EQ(perf.config.file, "c.toml");
  EXPECT_EQ(perf.output, "out");
  EXPECT_TRUE(perf.report_gbits && perf.pcap && perf.json && perf.quiet && perf.all_results);
  auto source = perf.config;
  source.file.clear();
  const Config config = resolve(source);
  EXPECT_EQ(config.workload.operation, "read");
  EXPECT_EQ(config.workload.size_bytes, 4096u);
  EXPECT_EQ(config.workload.iterations, 100u);
  EXPECT_EQ(config.workload.qps, 16u);
  EXPECT_EQ(config.workload.tx_depth, 1024u);
  EXPECT_EQ(config.workload.rx_depth, 77u);
  EXPECT_TRUE(config.workload.bidirectional);
  EXPECT_FALSE(config.workload.immediate);
  EXPECT_EQ(config.nic.max_reads, 4u);
  EXPECT_EQ(config.nic.pmtu_bytes, 1024u);
  EXPECT_EQ(config.sim.seed, 3u);
  EXPECT_EQ(config.nic.tos, 0u);
  EXPECT_TRUE(configured("--imm").workload.immediate);
}

TEST(Options, AllSizesAreThePowersOfTwoTo8MiB) {
  const auto sizes = parsed<PerfOptions>("-a").sizes({});
  ASSERT_EQ(sizes.size(), 23u);
  for (size_t i = 0; i < sizes.size(); i++) EXPECT_EQ(sizes[i], uint64_t(2) << i);
}

TEST(Options, RefusedByTheParser) {
  for (const char* bad : {"-a -s 4", "--pcap", "--unknown", "stray"}) {
    EXPECT_THROW(parsed<PerfOptions>(bad), CLI::ParseError) << bad;
  }
  EXPECT_THROW(parsed<ReplayOptions>("c.pcap"), CLI::ParseError) << "--as is missing";
  EXPECT_THROW(parsed<RunOptions>(""), CLI::ParseError) << "the scenario is missing";
}

// The schema says what is allowed, whichever way a parameter is set.
TEST(Options, RefusedByTheSchema) {
  for (const char* bad : {"-s -1", "-s 2147483649", "-n 0", "-q 0", "-q 16385", "-t 0", "-t 1025", "-r 0", "--outs 17",
                          "-m 1000", "--test x", "--op atomic"})
    EXPECT_THROW(configured(bad), InputError) << bad;
}

TEST(Options, TwoValuesForOneParameterAreRefused) {
  try {
    configured("-m 1024 --set nic.pmtu=4096");
    ADD_FAILURE() << "accepted";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "nic.pmtu: set to 1024 and to 4096; allowed is one value");
  }
  EXPECT_EQ(configured("-m 1024 --set nic.pmtu=1024").nic.pmtu_bytes, 1024u);
}

TEST(Options, ReplayExtractAndRun) {
  const auto replay = parsed<ReplayOptions>("c.pcap --as 10.77.0.1 -o d");
  EXPECT_EQ(replay.capture.files, std::vector<std::string>{"c.pcap"});
  EXPECT_EQ(replay.as, "10.77.0.1");
  EXPECT_EQ(replay.output, "d");
  const auto extract = parsed<ExtractOptions>("a.pcap b.pcap --hosts 10.0.0.1,10.0.0.2 -o s.toml");
  EXPECT_EQ(extract.capture.files, (std::vector<std::string>{"a.pcap", "b.pcap"}));
  EXPECT_EQ(extract.hosts, "10.0.0.1,10.0.0.2");
  EXPECT_EQ(extract.scenario, "s.toml");
  EXPECT_EQ(parsed<RunOptions>("s.toml --set sim.seed=2").config.file, "s.toml");
}

struct Outcome {
  int exit_code;
  std::string output, error;
};

Outcome balboa(const std::string& arguments) {
  const test::TemporaryFolder folder;
  const std::string command = std::string(BALBOA_PROGRAM) + " " + arguments + " >" + (folder / "out").string() + " 2>" +
                              (folder / "error").string();
  const int status = std::system(command.c_str());
  return {WEXITSTATUS(status), test::text_of(folder / "out"), test::text_of(folder / "error")};
}

TEST(Program, ConfigShowPrintsTheResolvedConfiguration) {
  const Outcome outcome = balboa("config show --profile ideal --set nic.pmtu=1024");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, to_toml(resolve({"ideal", "", {"nic.pmtu=1024"}, {}})));
  EXPECT_EQ(outcome.error, "");
}

TEST(Program, ConfigSchema) {
  Config config;
  Schema schema;
  declare(schema, config);
  EXPECT_EQ(balboa("config schema").output, schema_table(schema));
  EXPECT_EQ(balboa("config schema --json").output, schema_json(schema).dump(2) + "\n");
}

TEST(Program, BadInputAndBadUsageAreOneLineAndExitCode2) {
  const Outcome key = balboa("config show --set nic.qp_cuont=3");
  EXPECT_EQ(key.exit_code, 2);
  EXPECT_EQ(key.error, "balboa: --set nic.qp_cuont: unknown key; did you mean nic.qp_count?\n");
  const Outcome usage = balboa("perf --test x");
  EXPECT_EQ(usage.exit_code, 2);
  EXPECT_EQ(usage.error, "balboa: --set workload.test = \"x\": must be one of \"bw\", \"lat\"\n");
  EXPECT_EQ(balboa("").exit_code, 2);
  EXPECT_EQ(balboa("config").exit_code, 2);
}

TEST(Program, HelpAndVersion) {
  EXPECT_EQ(balboa("--version").output, "0.1.0\n");
  const Outcome help = balboa("perf --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.output.find("-s BYTES"), std::string::npos);
  EXPECT_EQ(help.error, "");
}

}  // namespace
}  // namespace sim
