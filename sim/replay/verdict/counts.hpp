// How often each verdict was given, and the first few cases of each.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/replay/replay_nic.hpp"
#include "sim/replay/verdict/quirks.hpp"
#include "sim/replay/verdict/verdict.hpp"

namespace sim {

constexpr size_t kExamplesOfAVerdict = 3;

// A packet as one side sent it; without its payload.
struct Sighting {
  TransportPacket packet;
  uint64_t index = 0;   // captured: of the packet in the capture; simulated: of the captured packet last seen
  int64_t time_ns = 0;  // of the captured packet
};

struct VerdictCase {
  std::optional<Sighting> captured, simulated;
  const char* reason = "";
  uint64_t packets = 1;  // that the case stands for
};

struct VerdictTally {
  uint64_t count = 0;
  std::vector<VerdictCase> examples;

  bool has_room() const { return examples.size() < kExamplesOfAVerdict; }
  void add(const VerdictTally& other);
};

struct VerdictCounts {
  std::array<VerdictTally, kVerdicts> verdicts;
  std::array<VerdictTally, kQuirks> departures;

  uint64_t operator[](Verdict verdict) const { return verdicts[size_t(verdict)].count; }
  uint64_t operator[](Quirk quirk) const { return departures[size_t(quirk)].count; }

  // Null stands for a side that sent nothing. `reason` is a literal.
  void give(Verdict verdict, const Sighting* captured, const Sighting* simulated, const char* reason,
            uint64_t packets = 1) {
    give(verdicts[size_t(verdict)], captured, simulated, reason, packets);
  }
  void depart(Quirk quirk, const Sighting* captured, const Sighting* simulated, uint64_t packets = 1) {
    give(departures[size_t(quirk)], captured, simulated, row_of(quirk).sentence, packets);
  }

  void add(const VerdictCounts& other);
  bool good() const;   // nothing different, missing or extra
  bool empty() const;  // nothing was judged

 private:
  static void give(VerdictTally& tally, const Sighting* captured, const Sighting* simulated, const char* reason,
                   uint64_t packets);
};

// The bytes that READ responses brought: the same as known to have been there (verified), the first that were seen of
// their place (seeded), or others.
struct DataVerdict {
  uint64_t verified_bytes = 0, seeded_bytes = 0, different_bytes = 0;
};

// Of one connection or of many.
struct Verdicts {
  VerdictCounts answers, exact_acks, requests, data;
  DataVerdict bytes;

  // Of a READ response.
  void add_data(const DataVerdict& data, const Sighting& response);

  void add(const Verdicts& other);
  bool good() const;
};

}  // namespace sim
