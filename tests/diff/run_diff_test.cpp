#include "sim/diff/run_diff.hpp"

#include <gtest/gtest.h>

#include "run_maker.hpp"
#include "sim/config/error.hpp"
#include "sim/diff/diff_report.hpp"
#include "traces/error.hpp"

namespace sim {
namespace {

using test::diff_of;
using test::MadeRun;
using Json = nlohmann::ordered_json;

// Every change of the result as "TOPIC PATH A B", a line each.
std::string moved(const RunDiff& diff) {
  std::string text;
  for (const WorkloadDiff& w : diff.workloads)
    for (size_t i = 0; i < kTopics; i++)
      for (const Change& c : w.changes[i])
        text += std::string(name_of(Topic(i))) + " " + c.path + " " + c.a.dump() + " " + c.b.dump() + "\n";
  return text;
}

std::string files(const RunDiff& diff) {
  std::string text;
  for (const FileDiff& f : diff.files) text += f.file + ": " + f.what + "\n";
  return text;
}

std::string refusal(const MadeRun& a, const MadeRun& b) {
  try {
    diff_of(a, b);
  } catch (const InputError& error) {
    return error.what();
  }
  return "compared";
}

TEST(RunDiff, OneCounter) {
  MadeRun b;
  b.workload()["counters"]["nic1"]["mac.tx.frames"] = 5;
  const RunDiff diff = diff_of({}, b);
  EXPECT_EQ(moved(diff), "counters nic1.mac.tx.frames 4 5\n");
  EXPECT_TRUE(diff.differ());
  EXPECT_FALSE(diff.moved_above(0));
}

TEST(RunDiff, EveryTopic) {
  MadeRun b;
  Json& w = b.workload();
  w["errors"] = 1;
  w["first_error"] = "IBV_WC_RETRY_EXC_ERR";
  w["steady_gbps"] = 9.5;
  w["steady_messages_per_s"] = 1.9e6;
  w["latency_ps"]["p99"] = 3300;
  w["frames"] = 9;
  w["end_ps"] = 2000004;
  EXPECT_EQ(moved(diff_of({}, b)),
            "latency latency_ps.p99 3000 3300\n"
            "throughput steady_gbps 10.0 9.5\n"
            "message rate steady_messages_per_s 2000000.0 1900000.0\n"
            "outcome errors 0 1\n"
            "outcome first_error null \"IBV_WC_RETRY_EXC_ERR\"\n"
            "time end_ps 2000000 2000004\n"
            "counters frames 8 9\n");
}

TEST(RunDiff, CountersByTheSizeOfTheirChange) {
  MadeRun b;
  b.workload()["counters"] = {{"nic0", {{"mac.tx.frames", 5}, {"mac.rx.frames", 2}}}, {"nic1", {{"mac.tx.frames", 4}}}};
  EXPECT_EQ(moved(diff_of({}, b)), "counters nic0.mac.rx.frames 4 2\ncounters nic0.mac.tx.frames 4 5\n");
}

TEST(RunDiff, ParametersAreToldAndAreNoDifference) {
  MadeRun b;
  b.config = "[nic]\nclock_hz = 250000000\npmtu = 1024\nnew = \"x\"\n[workload]\nsize = 64\n";
  const RunDiff diff = diff_of({}, b);
  ASSERT_EQ(diff.parameters.size(), 2u);
  EXPECT_EQ(diff.parameters[0].path, "nic.pmtu");
  EXPECT_EQ(diff.parameters[0].b, 1024);
  EXPECT_EQ(diff.parameters[1].path, "nic.new");
  EXPECT_FALSE(diff.differ());
}

// 0 stands for the depth of hw/timing.hpp: two of a stage that is not listed.
TEST(RunDiff, DepthsAreThoseThatTheRunUsed) {
  MadeRun a, b;
  a.config =
      "[nic]\nclock_hz = 250000000\nwidth = 512\n[timing]\nrx.bth = 0\nrx.header_split = 0\ntx.icrc_insert = 0\n";
  b.config =
      "[nic]\nclock_hz = 250000000\nwidth = 512\n[timing]\nrx.bth = 2\nrx.header_split = 1\ntx.icrc_insert = 1\n";
  const RunDiff diff = diff_of(a, b);
  ASSERT_EQ(diff.parameters.size(), 2u);
  EXPECT_EQ(diff.parameters[0].a, "3/4");
  EXPECT_EQ(diff.parameters[0].b, 1);
  EXPECT_EQ(diff.parameters[1].a, 6);
}

TEST(RunDiff, ARunWithoutASteadyStateIsComparedByItsAverages) {
  MadeRun b;
  b.workload()["steady_gbps"] = nullptr;
  b.workload()["steady_messages_per_s"] = nullptr;
  EXPECT_FALSE(diff_of({}, b).differ());
  b.workload()["average_gbps"] = 8.0;
  EXPECT_EQ(moved(diff_of({}, b)), "throughput average_gbps null 8.0\n");
}

TEST(RunDiff, TheVersionIsNoDifference) {
  MadeRun b;
  b.result["version"] = "0.2.0";
  EXPECT_FALSE(diff_of({}, b).differ());
}

TEST(RunDiff, AccountsWhenBothHaveOne) {
  const Json account = Json::parse(R"({"rows": [{"row": "wire", "service_ps": {"average": 100.0, "max": 100}},
                                               {"row": "nic0.rx.bth", "service_ps": {"average": 8.0, "max": 8}}]})");
  MadeRun a, b;
  b.workload()["account"] = account;
  RunDiff diff = diff_of(a, b);
  EXPECT_FALSE(diff.differ());
  EXPECT_EQ(diff.notes.back(), "account of write_bw, 64 bytes: only B has it; not compared");
  a.workload()["account"] = account;
  a.workload()["account"]["rows"][1]["service_ps"] = {{"average", 4.0}, {"max", 4}};
  diff = diff_of(a, b);
  EXPECT_EQ(moved(diff),
            "account rows.nic0.rx.bth.service_ps.average 4.0 8.0\naccount rows.nic0.rx.bth.service_ps.max 4 8\n");
  EXPECT_NE(diff_text(diff).find("rows.nic0.rx.bth.service_ps "), std::string::npos);
  EXPECT_NE(diff_text(diff).find("account: 1 more values differ"), std::string::npos);
}

TEST(RunDiff, Area) {
  const test::TemporaryFolder root;
  const std::string a = MadeRun{}.write(root / "a"), b = MadeRun{}.write(root / "b");
  std::ofstream(a + "/area.csv") << "stage,LUT,bram_ns,depth\nrx_bth,120,-,2/3\nrx_udp,40,1.50,2\n";
  EXPECT_EQ(files(compare_runs(a, b)), "area.csv: only A has it\n");
  std::ofstream(b + "/area.csv") << "stage,LUT,bram_ns,depth\nrx_bth,132,-,3/3\nrx_udp,40,1.5,2\n";
  const RunDiff diff = compare_runs(a, b);
  ASSERT_EQ(diff.area.size(), 2u);
  EXPECT_EQ(diff.area[0].path, "rx_bth.LUT");
  EXPECT_NEAR(diff.area[0].percent(), 10, 1e-9);
  EXPECT_EQ(diff.area[1].path, "rx_bth.depth");
  EXPECT_TRUE(diff.differ());
  std::ofstream(b + "/area.csv") << "stage,LUT\nrx_bth\n";
  try {
    compare_runs(a, b);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), b + "/area.csv:2: 1 columns; must be 2, as in the heading");
  }
}

// Two folders made alike and then changed; what is compared, or why it is not.
struct TwoRuns {
  test::TemporaryFolder root;
  const std::string a = MadeRun{}.write(root / "a"), b = MadeRun{}.write(root / "b");

  void put(const std::string& folder, const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/" + name) << text;
  }
  std::string compared() const {
    try {
      const RunDiff diff = compare_runs(a, b);
      EXPECT_EQ(diff.differ(), !diff.files.empty());
      std::string text = files(diff);
      for (const std::string& note : diff.notes) text += note + "\n";
      return text;
    } catch (const InputError& error) {
      return error.what();
    } catch (const traces::InputError& error) {
      return error.what();
    }
  }
};

TEST(RunDiff, AFileThatOnlyOneHasIsADifference) {
  for (const std::string name : {"nic0.pcap", "counters.txt"})
    for (const bool in_a : {true, false}) {
      const TwoRuns runs;
      std::filesystem::remove((in_a ? runs.b : runs.a) + "/" + name);
      EXPECT_EQ(runs.compared(), name + ": only " + (in_a ? "A" : "B") + " has it\n");
    }
  const TwoRuns runs;
  runs.put(runs.b, "latency.csv", "message,nic,qpn,index,bytes,post_ps,x\n1,nic0,17,0,64,0,\n");
  EXPECT_EQ(runs.compared(), "latency.csv: only B has it\n");
  runs.put(runs.a, "latency.csv", "message,nic,qpn,index,bytes,post_ps,x\n1,nic0,17,0,64,5,\n2,nic0,17,0,64,5,\n");
  EXPECT_EQ(runs.compared(), "latency.csv: 2 of 3 lines differ, the first is line 2\n");
  runs.put(runs.a, "notes.txt", "mine");
  std::filesystem::remove(runs.a + "/latency.csv");
  std::filesystem::remove(runs.b + "/latency.csv");
  EXPECT_EQ(runs.compared(), "") << "what no run writes is not compared";
}

TEST(RunDiff, FilesThatNeitherHasAreTold) {
  const TwoRuns runs;
  for (const std::string& folder : {runs.a, runs.b})
    for (const std::string name : {"nic0.pcap", "counters.txt"}) std::filesystem::remove(folder + "/" + name);
  EXPECT_EQ(runs.compared(),
            "packets: neither run has captures, which --pcap leaves; not compared\n"
            "counters.txt: neither run has it; not compared\n");
}

TEST(RunDiff, GarbageIsRefusedInEitherAndInBoth) {
  const std::string counter = "; must be a name, a space and a decimal number";
  const struct {
    const char *file, *text;
    std::string says;
  } cases[] = {{"counters.txt", "a.b 1\nnonsense\n", ":2: no counter" + counter},
               {"counters.txt", "a.b -1\n", ":1: no counter" + counter},
               {"counters.txt", "a.b 1\na.c 2", ":2: a line that is cut off; must be whole lines"},
               {"counters.txt", "", ":1: no line; must be one and more"},
               {"latency.csv", "a,b\n", ":1: another heading; must be message,nic,qpn,index,bytes,post_ps,..."},
               {"latency.csv", "message,nic,qpn,index,bytes,post_ps,x\n1,nic0,2\n", ":2: 3 columns; must be 7, as in"},
               {"latency.csv", "message,nic,qpn,index,bytes,post_ps,x\n1,nic0,2,0,x,5,6\n", ":2: a cell that is no"},
               {"nic0.pcap", "", "nic0.pcap: "},
               {"nic0.pcap", "garbage, and more of it than a header has", "nic0.pcap: "}};
  for (const auto& c : cases)
    for (const unsigned where : {1u, 2u, 3u}) {
      const TwoRuns runs;
      if (where & 1) runs.put(runs.a, c.file, c.text);
      if (where & 2) runs.put(runs.b, c.file, c.text);
      const std::string said = runs.compared();
      EXPECT_NE(said.find(c.says), std::string::npos) << c.file << ": " << said;
      EXPECT_EQ(said.find('\n'), std::string::npos) << said;
      std::filesystem::remove((where & 1 ? runs.b : runs.a) + "/" + c.file);
      if (where == 3) continue;
      EXPECT_NE(runs.compared().find(c.says), std::string::npos) << "only one has it: " << c.file;
    }
}

TEST(RunDiff, ABoundForRatesAndLatencies) {
  MadeRun up, down, broken;
  up.workload()["latency_ps"]["median"] = 2200;      // + 10 %
  down.workload()["steady_messages_per_s"] = 1.8e6;  // - 10 %
  broken.workload()["memory_equal"] = false;
  for (const MadeRun& run : {up, down}) {
    EXPECT_TRUE(diff_of({}, run).moved_above(9.9));
    EXPECT_FALSE(diff_of({}, run).moved_above(10.1));
  }
  EXPECT_TRUE(diff_of({}, broken).moved_above(1e9));
}

TEST(RunDiff, OtherWorkloadsAreRefused) {
  MadeRun size, iterations, more, replay, schema;
  size.config = "[nic]\nclock_hz = 250000000\npmtu = 4096\n[workload]\nsize = 128\n";
  iterations.workload()["iterations"] = 5;
  more.result["results"].push_back(more.workload());
  replay.result["command"] = "replay";
  schema.result["schema_version"] = 2;
  EXPECT_NE(refusal({}, size).find("different workloads: workload.size is 64 in one and 128 in the other"),
            std::string::npos);
  EXPECT_NE(refusal({}, iterations).find("iterations is 4 in one and 5 in the other"), std::string::npos);
  EXPECT_NE(refusal({}, more).find("number of results is 1 in one and 2"), std::string::npos);
  EXPECT_NE(refusal({}, replay).find("command is \"perf\" in one and \"replay\""), std::string::npos);
  EXPECT_NE(refusal({}, schema).find("schema_version is 1 in one and 2"), std::string::npos);
}

TEST(RunDiff, FoldersThatAreNoRuns) {
  const test::TemporaryFolder root;
  const std::string good = MadeRun{}.write(root / "good");
  const auto error = [&good](const std::string& folder) -> std::string {
    try {
      compare_runs(good, folder);
    } catch (const InputError& e) {
      return e.what();
    }
    return "compared";
  };
  const std::string absent = (root / "absent").string();
  EXPECT_EQ(error(absent), absent + ": no such folder; must be a run folder, which -o leaves");
  const std::string b = MadeRun{}.write(root / "b");
  std::ofstream(b + "/result.json") << "{\"command\": ";
  EXPECT_EQ(error(b).rfind(b + "/result.json: [json.exception.parse_error", 0), 0u) << error(b);
  EXPECT_EQ(error(b).find('\n'), std::string::npos);
  std::ofstream(b + "/result.json") << "[1]";
  EXPECT_EQ(error(b), b + "/result.json: has no `command`; must be the result.json of a run folder");
  std::filesystem::remove(b + "/result.json");
  EXPECT_EQ(error(b), b + "/result.json: cannot be read; must be the result.json of a run folder");
  MadeRun clockless;
  clockless.config = "[nic]\npmtu = 4096\n";
  const std::string c = clockless.write(root / "c");
  EXPECT_EQ(error(c), c + "/config.toml: nic.clock_hz: missing; must be the clock of the NIC in Hz");
}

TEST(DiffReport, TextNamesTheFirstDifference) {
  MadeRun b;
  b.frames[5].time_ps += 4000;
  const std::string text = diff_text(diff_of({}, b));
  EXPECT_NE(text.find("first difference: packet 3 of nic1 in nic0.pcap: only the time\n"
                      "     A  frame 6, 1500000 ps, NIC cycle 375: 10.0.0.1>10.0.0.2 ROCEV2 qpn=0x000007 psn=102 "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("     B  frame 6, 1504000 ps, NIC cycle 376: "), std::string::npos) << text;
  EXPECT_NE(text.find(" the runs differ\n"), std::string::npos);
}

TEST(DiffReport, TheSame) {
  const RunDiff diff = diff_of({}, {});
  EXPECT_EQ(diff_text(diff), " A: " + diff.folder_a + "\n B: " + diff.folder_b + "\n the runs are the same\n");
  const Json json = diff_json(diff);
  EXPECT_EQ(json["differ"], false);
  EXPECT_TRUE(json["first"].is_null());
  EXPECT_EQ(json["packets"].size(), 2u);
}

TEST(DiffReport, Json) {
  MadeRun b;
  b.frames.pop_back();
  b.workload()["counters"]["nic0"]["mac.rx.frames"] = 3;
  const Json json = diff_json(diff_of({}, b));
  EXPECT_EQ(json["differ"], true);
  EXPECT_EQ(json["first"]["first"]["what"], "absent");
  EXPECT_EQ(json["first"]["first"]["a"]["time_ps"], 1700000);
  EXPECT_TRUE(json["first"]["first"]["b"].is_null());
  EXPECT_EQ(json["workloads"][0]["counters"], Json::parse(R"([{"path": "nic0.mac.rx.frames", "a": 4, "b": 3,
                                                              "percent": -25.0}])"));
  EXPECT_EQ(json["workloads"][0]["message_rate"], Json::array());
}

}  // namespace
}  // namespace sim
