#include "fuzz_checks.hpp"

#include "traces/census.hpp"
#include "traces/merged_reader.hpp"
#include "traces/pcap_reader.hpp"
#include "traces/repair.hpp"
#include "traces/roce_line.hpp"

namespace traces::test {
namespace {

constexpr int kLinkTypes[] = {kLinkNull, kLinkEthernet, kLinkRaw,     kLinkLoop, kLinkCooked,
                              kLinkIpv4, kLinkIpv6,     kLinkCooked2, 147};

bool is_error_line(const std::string& line) {
  return !line.empty() && line.find('\n') == std::string::npos && line.find("; allowed: ") != std::string::npos;
}

std::string problem_of_packet(Packet& packet) {
  RocePacket roce = decode(packet);
  if (roce.payload(packet.bytes).size > packet.bytes.size()) return "payload outside of the frame";
  const bool shown = LineFormatter().line(packet, roce).has_value();
  if (shown != (roce.kind == FrameKind::kRoceV2)) return "a line of something else, or none of RoCEv2";
  if (repair(packet, roce) == Repair::kRepaired && !(roce.icrc_ok() && packet.repaired)) return "repaired without ICRC";
  if (roce.icrc == IcrcState::kCut) return "";
  const RocePacket alone = decode_frame(ethernet_frame(packet, roce));
  const bool same = alone.kind == roce.kind && alone.bth.psn == roce.bth.psn && alone.icrc == roce.icrc;
  return same ? "" : "the frame alone is another packet";
}

}  // namespace

std::string problem_of_frame(ByteSpan frame) {
  Packet packet;
  packet.original_length = static_cast<uint32_t>(frame.size + frame.size % 3 * 100);
  for (int link_type : kLinkTypes) {
    packet.link_type = link_type;
    packet.bytes.assign(frame.data, frame.data + frame.size);
    const std::string problem = problem_of_packet(packet);
    if (!problem.empty()) return "link type " + std::to_string(link_type) + ": " + problem;
  }
  return "";
}

std::string problem_of_capture(const std::string& file) {
  Census census;
  std::string error;
  try {
    PcapReader reader(file);
    for (Packet packet; reader.read(packet);) {
      if (packet.index != census.packets + 1 || packet.time_ns < 0) return "index or time of a packet";
      census.add(packet, decode(packet));
      const std::string problem = problem_of_packet(packet);
      if (!problem.empty()) return "packet " + std::to_string(packet.index) + ": " + problem;
    }
  } catch (const InputError& thrown) {
    error = thrown.what();
    if (!is_error_line(error)) return "error line: " + error;
  }
  uint64_t merged = 0;
  try {
    MergedReader reader({file, file});
    for (Packet packet; reader.read(packet);) ++merged;
    if (!error.empty()) return "merged without the error";
  } catch (const InputError& thrown) {
    if (error != thrown.what()) return std::string("another error merged: ") + thrown.what();
  }
  // A file whose header is refused gives no packet; what cannot be opened twice is not merged.
  return merged == 2 * census.packets ? "" : "merged, other packets";
}

}  // namespace traces::test
