// Triage against what the ends of the connection counted themselves, on captures of soft-RoCE.
#include "sim/triage/triage.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>

#include "support.hpp"
#include "tap.hpp"
#include "traces/pcap_writer.hpp"

namespace {

using namespace sim;
using namespace traces::test;

TriageResult triage_of(const std::string& name) {
  TriageRun run;
  run.files = {(shared_folder() / "captures/rxe" / (name + ".pcap")).string()};
  return triage(run);
}

/// The counters of one end: "loss_write", 'c' for the client.
std::map<std::string, uint64_t> counters_of(const std::string& name, char end) {
  std::ifstream file(shared_folder() / "captures/rxe" / (name + "." + end + ".counters"));
  std::map<std::string, uint64_t> counters;
  std::string counter;
  uint64_t value = 0;
  while (file >> counter >> value) counters[counter] = value;
  return counters;
}

uint64_t retries_of(const TriageRow& row, traces::RetryCause cause) {
  return row.tally.retries[static_cast<size_t>(cause)];
}
uint64_t naks_of(const TriageRow& row, NakKind kind) {
  return row.tally.naks[static_cast<size_t>(kind)];
}

// The client's completer counts every retry, the server's responder every NAK, and the client's sent less the server's
// received packets is what was lost on the wire.
TEST(TriageOfRxe, LostWrites) {
  SKIP_WITHOUT_SHARED();
  for (const std::string name : {"loss_write", "corrupt_write"}) {
    const TriageResult result = triage_of(name + ".s");
    auto client = counters_of(name, 'c'), server = counters_of(name, 's');
    ASSERT_EQ(result.rows.size(), 1u);
    const TriageRow& row = result.rows[0];
    EXPECT_EQ(row.retries(), client["completer_retry_err"]) << name;
    EXPECT_EQ(naks_of(row, NakKind::kSequence), server["out_of_seq_request"]) << name;
    EXPECT_EQ(row.request_losses.tap + row.request_losses.behind + row.request_losses.unknown, 0u) << name;
    const uint64_t lost = client["sent_pkts"] - server["rcvd_pkts"];
    EXPECT_LE(row.request_losses.wire, lost) << name;
    EXPECT_GE(row.request_losses.wire, lost - 2) << "all but the last packets of a message, which no later one shows";
    EXPECT_EQ(row.tally.operations[static_cast<size_t>(OperationKind::kWrite)], 30u);
  }
}

TEST(TriageOfRxe, LostAcks) {
  SKIP_WITHOUT_SHARED();
  const TriageResult result = triage_of("loss_ack.s");
  const TriageRow& row = result.rows.at(0);
  EXPECT_EQ(retries_of(row, traces::RetryCause::kTimeout), counters_of("loss_ack", 'c')["completer_retry_err"]);
  EXPECT_EQ(row.tally.retransmitted, counters_of("loss_ack", 's')["duplicate_request"]);
  EXPECT_EQ(row.request_losses.ranges, 0u);
}

TEST(TriageOfRxe, LostReadResponses) {
  SKIP_WITHOUT_SHARED();
  const TriageResult result = triage_of("loss_read_resp.s");
  const TriageRow& row = result.rows.at(0);
  auto client = counters_of("loss_read_resp", 'c'), server = counters_of("loss_read_resp", 's');
  EXPECT_EQ(row.retries(), client["completer_retry_err"]);
  EXPECT_EQ(row.tally.retransmitted, server["duplicate_request"]);
  EXPECT_EQ(row.response_losses.wire, server["sent_pkts"] - client["rcvd_pkts"]);
  ASSERT_NE(row.tally.latencies, nullptr);
  EXPECT_EQ(row.tally.latencies->count(), 30u);
}

// Requests sent again while their answers were under way: nothing was lost.
TEST(TriageOfRxe, SpuriousRetries) {
  SKIP_WITHOUT_SHARED();
  for (const char end : {'c', 's'}) {
    const TriageResult result = triage_of(std::string("rc_wrap_spurious.") + end);
    const TriageRow& row = result.rows.at(0);
    EXPECT_EQ(row.retries(), counters_of("rc_wrap_spurious", 'c')["completer_retry_err"]);
    EXPECT_EQ(row.request_losses.ranges + row.response_losses.ranges, 0u) << end;
  }
}

TEST(TriageOfRxe, LostAtomicAcks) {
  SKIP_WITHOUT_SHARED();
  const TriageResult result = triage_of("loss_atomic_ack.s");
  EXPECT_EQ(result.rows.at(0).retries(), counters_of("loss_atomic_ack", 'c')["completer_retry_err"]);
  EXPECT_EQ(result.rows.at(0).tally.retransmitted, counters_of("loss_atomic_ack", 's')["duplicate_request"]);
}

TEST(TriageOfRxe, ReceiverNotReady) {
  SKIP_WITHOUT_SHARED();
  for (const char end : {'c', 's'}) {
    const TriageResult result = triage_of(std::string("rc_rnr_retry.") + end);
    const TriageRow& row = result.rows.at(0);
    auto server = counters_of("rc_rnr_retry", 's');
    EXPECT_EQ(naks_of(row, NakKind::kRnr), server["send_rnr_err"]);
    EXPECT_EQ(naks_of(row, NakKind::kSequence), server["out_of_seq_request"]);
    EXPECT_EQ(row.request_losses.ranges, 0u) << "nothing was lost, whatever was refused behind the RNR NAK";
    EXPECT_EQ(row.first_anomaly.kind, AnomalyKind::kRnrNak);
  }
}

TEST(TriageOfRxe, Deaths) {
  SKIP_WITHOUT_SHARED();
  const std::vector<std::pair<std::string, NakKind>> deaths = {{"rc_bad_rkey_write", NakKind::kRemoteAccess},
                                                               {"rc_bad_rkey_read", NakKind::kRemoteAccess},
                                                               {"rc_noperm_mr", NakKind::kRemoteAccess},
                                                               {"rc_noperm_qp_write", NakKind::kInvalidRequest},
                                                               {"rc_short_recv", NakKind::kRemoteOperation}};
  for (const auto& [name, nak] : deaths) {
    for (const char* end : {".c", ".s"}) {
      const TriageResult result = triage_of(name + end);
      const TriageRow& row = result.rows.at(0);
      EXPECT_EQ(row.ending, Ending::kFatalNak) << name;
      EXPECT_EQ(naks_of(row, nak), 1u) << name;
      EXPECT_EQ(row.first_anomaly.kind, AnomalyKind::kFatalNak) << name;
    }
  }
  const TriageResult silent = triage_of("rc_dead_peer.c");
  EXPECT_EQ(silent.rows.at(0).unanswered_retries, counters_of("rc_dead_peer", 'c')["completer_retry_err"]);
  EXPECT_EQ(silent.rows.at(0).ending, Ending::kRetrying) << "the capture ends with the last retry";
}

TEST(TriageOfRxe, NothingBreaksWhereNothingBroke) {
  SKIP_WITHOUT_SHARED();
  for (const std::string name : {"rc_mixed", "rc_mixed_mtu256", "rc_multiqp", "pt_read_bw", "nano_mixed", "vlan_mixed",
                                 "v6_mixed", "rc_zero", "snap96_mixed", "rc_wrap", "rc_atomics", "cm_rping"}) {
    for (const char* end : {".c", ".s"}) {
      const TriageResult result = triage_of(name + end);
      EXPECT_TRUE(result.broke_first(10).empty()) << name << end;
      for (const TriageRow& row : result.rows) {
        EXPECT_EQ(row.request_losses.ranges + row.response_losses.ranges, 0u) << name << end;
        EXPECT_EQ(row.ambiguous, "") << name << end;
        EXPECT_NE(row.responses, traces::kNoLane) << name << end;
      }
    }
  }
}

// A capture of a run without loss, as a tap that misses some packets would have it: from packet `from` on, without a
// share of the packets.
class DegradedView {
 public:
  DegradedView(const std::string& name, uint64_t from, double missed, uint32_t seed) {
    traces::PcapReader reader((shared_folder() / "captures/rxe" / (name + ".pcap")).string());
    std::mt19937 random(seed);
    traces::Packet packet;
    while (reader.read(packet)) {
      const bool misses = std::uniform_real_distribution<>()(random) < missed;
      if (packet.index < from || misses) continue;
      const traces::Observation seen = tracker.add(packet, traces::decode(packet));
      retransmissions += seen.packet_class == traces::PacketClass::kRetransmission && !seen.is_response;
    }
    tracker.finish();
  }

  traces::ConnectionTracker tracker;
  uint64_t retransmissions = 0;
};

TEST(TriageOfRxe, ATapThatMissesPacketsSeesNoLossOnTheWire) {
  SKIP_WITHOUT_SHARED();
  for (const std::string name : {"rc_mixed.s", "rc_mixed_mtu256.c", "rc_multiqp.s", "pt_read_bw.s", "pt_write_bw.s",
                                 "v6_mixed.s", "rc_wrap.s", "rc_zero.s", "rc_atomics.c", "snap96_mixed.s"}) {
    for (uint32_t seed = 0; seed < 60; seed++) {
      const DegradedView view(name, 1 + seed % 20, seed < 20 ? 0 : 0.1, seed);
      for (const traces::Lane& lane : view.tracker.lanes()) {
        const traces::Losses &requests = lane.requests.losses(), &responses = lane.reads.losses();
        EXPECT_EQ(requests.wire + requests.behind + responses.wire, 0u) << name << " seed " << seed;
        if (lane.peer != traces::kNoLane && name != "rc_multiqp.s") {
          EXPECT_EQ(view.tracker.lanes()[lane.peer].peer, &lane - view.tracker.lanes().data());
        }
        const bool goes_on = lane.proof != traces::LifeProof::kMsnRestarts && lane.life == 0;
        EXPECT_TRUE(goes_on) << name << " seed " << seed;
      }
      EXPECT_EQ(view.retransmissions, 0u) << name << " seed " << seed;
    }
  }
}

// perftest over soft-RoCE, whose timer is short: the kernel counted the same.
TEST(TriageOfRxe, RetriesThatNobodyAskedFor) {
  SKIP_WITHOUT_SHARED();
  for (const char* end : {".c", ".s"}) {
    const TriageResult result = triage_of(std::string("pt_send_lat") + end);
    const TriageRow& row = *result.worst(1).at(0);
    EXPECT_EQ(row.retries(), counters_of("pt_send_lat", 's')["completer_retry_err"]);
    EXPECT_EQ(row.tally.retransmitted, counters_of("pt_send_lat", 'c')["duplicate_request"]);
  }
}

/// A capture file of frames ten microseconds apart.
class CaptureFile {
 public:
  explicit CaptureFile(const std::vector<FrameSpec>& specs) : file_("made.pcap") {
    traces::PcapWriter writer(file_.name());
    uint64_t time_ps = 0;
    for (const FrameSpec& spec : specs) writer.write(time_ps += 10'000'000, build_frame(spec));
  }
  TriageRun run() const {
    TriageRun run;
    run.files = {file_.name()};
    return run;
  }

 private:
  TemporaryFile file_;
};

TEST(Triage, SilenceAfterRetriesIsADeath) {
  const Ends dead, alive{"10.0.0.3", "10.0.0.1", 0x31, 0x32};
  std::vector<FrameSpec> specs = {dead.write(0), dead.answer(0, 1), dead.write(1)};
  for (uint32_t i = 0; i < 3; i++) {
    for (uint32_t j = 0; j < 50; j++) {
      specs.push_back(alive.write(i * 50 + j));
      specs.push_back(alive.answer(i * 50 + j, i * 50 + j + 1));
    }
    specs.push_back(dead.write(1));
  }
  for (uint32_t j = 150; j < 400; j++) specs.push_back(alive.write(j));
  const CaptureFile file(specs);
  const TriageResult result = triage(file.run());
  ASSERT_EQ(result.rows.size(), 2u);
  const TriageRow& worst = *result.worst(1).at(0);
  EXPECT_EQ(worst.ending, Ending::kSilent);
  EXPECT_EQ(worst.unanswered_retries, 3u);
  EXPECT_EQ(worst.requester_qpn, dead.requester_qpn);
  ASSERT_EQ(result.broke_first(10).size(), 1u);
  EXPECT_EQ(worst.first_anomaly.kind, AnomalyKind::kTimeout);
  EXPECT_EQ(worst.first_anomaly.index, 104u);
}

// Two taps of one path.
TEST(Triage, TwoTapsOfOneRunAreNoRetransmissions) {
  const Ends ends;
  std::vector<FrameSpec> specs;
  for (uint32_t i = 0; i < 100; i++) {
    specs.push_back(ends.write(i));
    specs.push_back(ends.answer(i, i + 1));
  }
  const CaptureFile near(specs), far(specs);
  TriageRun run = near.run();
  run.files.push_back(far.run().files[0]);
  const TriageResult result = triage(run);
  EXPECT_EQ(result.counts.mirrored_other_path, 200u);
  EXPECT_EQ(result.rows.at(0).tally.retransmitted, 0u);
  EXPECT_EQ(result.rows.at(0).tally.request_packets, 100u);
}

TEST(Triage, CongestionIsCountedOfBothDirections) {
  const Ends ends;
  FrameSpec cnp = ends.answer(0, 0, 0, traces::kOpcodeCnp);
  cnp.aeth.reset();
  cnp.payload = 0;
  const CaptureFile file({ends.write(0), cnp, cnp, ends.answer(0, 1)});
  const TriageResult result = triage(file.run());
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.rows[0].tally.cnps, 2u);
}

TEST(Triage, WindowAndQpn) {
  const Ends a, b{"10.0.0.3", "10.0.0.1", 0x31, 0x32};
  std::vector<FrameSpec> specs;
  for (uint32_t i = 0; i < 10; i++) {
    for (const Ends& ends : {a, b}) specs.push_back(ends.write(i));
  }
  const CaptureFile file(specs);
  TriageRun run = file.run();
  run.qpn = 0x32;
  run.from_s = 45e-6;  // the first five are before it
  run.to_s = 105e-6;   // the last nine behind it
  const TriageResult result = triage(run);
  EXPECT_EQ(result.outside_window, 5u + 9u);
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.rows[0].responder_qpn, 0x32u);
  EXPECT_EQ(result.rows[0].tally.request_packets, 3u);
}

TEST(Triage, AccessesOutsideOfTheMrTable) {
  const Ends ends;
  const CaptureFile file({ends.write(0), ends.write(1)});
  const TemporaryFile table("mr.csv");
  TriageRun run = file.run();
  run.mr_table = table.name();
  std::ofstream(table.name()) << "address,rkey,va,length,rights\n10.0.0.1,0x77,0x1000,0x1000,W\n";
  EXPECT_EQ(triage(run).rows.at(0).tally.denied, 0u);
  std::ofstream(table.name()) << "address,rkey,va,length,rights\n10.0.0.1,0x77,0x1000,0xfff,W\n";
  EXPECT_EQ(triage(run).rows.at(0).tally.denied, 2u);
}

TEST(Triage, ReuseOfAQpnIsTwoRows) {
  const Ends ends;
  std::vector<FrameSpec> specs;
  for (const uint32_t start : {1000u, 0x800000u}) {
    for (uint32_t i = 0; i < 5; i++) {
      specs.push_back(ends.write(start + i));
      specs.push_back(ends.answer(start + i, i + 1));
    }
  }
  const CaptureFile file(specs);
  const TriageResult result = triage(file.run());
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(result.rows[0].ending, Ending::kReused);
  EXPECT_EQ(result.rows[1].life, 1u);
  for (const TriageRow& row : result.rows) EXPECT_EQ(row.tally.operations[1], 5u);
}

}  // namespace
