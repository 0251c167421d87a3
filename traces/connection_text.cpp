// What ConnectionTracker assumes, in sentences.
#include <cinttypes>

#include "traces/connections.hpp"
#include "traces/text.hpp"

namespace traces {
namespace {

std::string mtu_sentence(const Lane& lane) {
  const std::string mtu = format("path MTU %u: ", lane.path_mtu);
  const std::string index = format("packet %" PRIu64, lane.mtu_index);
  switch (lane.mtu_source) {
    case MtuSource::kGiven:
      return mtu + "given";
    case MtuSource::kPacket:
      return mtu + index + ", a First or Middle one, is that long";
    case MtuSource::kCm:
      return mtu + "agreed on by CM; no First or Middle packet shows what is used";
    case MtuSource::kPsnStep:
      return mtu + index + " follows a READ, whose length divided by that gives the step of the PSN";
    case MtuSource::kLargestPayload:
      return mtu + "the smallest that holds the payload of " + index;
    case MtuSource::kDefault:
      break;
  }
  return mtu + "the default; no packet shows it";
}

std::string pairing_sentence(const Lane& lane, const Lane* peer) {
  if (peer == nullptr) return lane.responses == 0 ? "" : "peer QPN unknown";
  const std::string qpn = format("peer QPN 0x%x: ", peer->qpn);
  switch (lane.paired_by) {
    case PairedBy::kCm:
      return qpn + "CM says so";
    case PairedBy::kQpTable:
      return qpn + "the QP table says so";
    default:
      return qpn + "the PSNs of the responses to it fit only here";
  }
}

std::string life_sentence(const Lane& lane) {
  if (lane.begin == LifeBegin::kCm) return format("life %u of the QPN: CM announces it", lane.life + 1);
  if (lane.proof == LifeProof::kMsnGoesOn) return "a jump of the PSN is a hole of the tap: the MSN goes on";
  if (lane.begin == LifeBegin::kFirstSeen) return "";
  const std::string life = format("life %u of the QPN: the PSN jumps", lane.life + 1);
  return lane.proof == LifeProof::kMsnRestarts ? life + " and the MSN restarts"
                                               : life + "; no ACK shows whether the MSN restarts";
}

std::string msn_sentence(const Lane& lane) {
  if (!lane.starting_msn) return "starting MSN unknown: no ACK whose messages were all captured";
  const std::string msn = format("starting MSN %u: ", *lane.starting_msn);
  if (lane.msn_index == 0) return msn + "a new connection";
  return msn + format("the ACK of packet %" PRIu64 " less the messages that it completes", lane.msn_index);
}

std::string psn_sentence(const Lane& lane) {
  const std::string psn = format("first PSN %u: ", lane.requests.first());
  if (lane.begin == LifeBegin::kCm) return psn + "CM says so";
  return psn + format("first captured request (packet %" PRIu64 ")", lane.request_index);
}

std::string boundary_sentence(const Lane& lane) {
  if (!lane.adopted) return "the capture holds no begin of a message: the responder's state is unknown";
  if (lane.adopted_psn == lane.requests.first()) return "";
  return format("the capture begins inside a message: state is known from packet %" PRIu64 ", PSN %u, on",
                lane.adopted_index, lane.adopted_psn);
}

}  // namespace

std::vector<std::string> ConnectionTracker::assumptions(uint32_t id) const {
  const Lane& lane = lanes_[id];
  const Lane* peer = lane.peer == kNoLane ? nullptr : &lanes_[lane.peer];
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line) {
    if (!line.empty()) lines.push_back(line);
  };
  add(life_sentence(lane));
  add(pairing_sentence(lane, peer));
  if (!lane.requests.started()) return lines;
  add(psn_sentence(lane));
  add(boundary_sentence(lane));
  add(mtu_sentence(lane));
  if (peer != nullptr) add(msn_sentence(lane));
  for (const MemoryRegion& region : lane.memory.regions()) {
    add(format("rkey 0x%x covers [0x%" PRIx64 ", 0x%" PRIx64 ") with rights %s: what its requests touch",
               region.remote_key, region.first_address, region.end_address, rights_text(region.rights).c_str()));
  }
  if (lane.memory.forgotten() != 0) {
    add(format("%" PRIu64 " accesses with further rkeys: only the first %zu are kept", lane.memory.forgotten(),
               TouchedMemory::kRegions));
  }
  return lines;
}

std::string ConnectionTracker::ambiguity(uint32_t id) const {
  const OverlapPairing::Result& result = overlap_result_[id];
  const Lane& lane = lanes_[id];
  if (lane.peer != kNoLane || (result.candidates.empty() && !result.too_many)) return "";
  std::string qpns;
  for (const uint32_t candidate : result.candidates) {
    qpns += format("%s0x%x", qpns.empty() ? "" : ", ", lanes_[candidate].qpn);
  }
  return format("responses to QPN 0x%x fit the requests to several QPNs: %s%s", lane.qpn, qpns.c_str(),
                result.too_many ? " and more" : "");
}

InputError no_connection(const std::vector<std::string>& files, const Census& census, const TrackerCounts& counts) {
  std::string names, kinds;
  for (const std::string& file : files) names += (names.empty() ? "" : ", ") + file;
  for (const std::string& line : census.lines()) kinds += (kinds.empty() ? "" : ", ") + line;
  const auto add = [&](uint64_t count, const char* what) {
    if (count != 0) kinds += format(", of rocev2, %s %" PRIu64, what, count);
  };
  add(counts.untrusted, "wrong or missing ICRC");
  add(counts.without_bth, "cut before the BTH");
  add(counts.cm, "CM");
  uint64_t others = 0;
  for (const uint64_t count : counts.other_transports) others += count;
  add(others, "another transport or a reserved opcode");
  return InputError(names + format(": no RoCEv2 packet of a reliable connection in %" PRIu64
                                   " packets (%s); allowed: a "
                                   "capture with some",
                                   census.packets, kinds.empty() ? "the file is empty" : kinds.c_str()));
}

}  // namespace traces
