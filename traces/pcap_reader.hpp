#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "traces/error.hpp"

namespace traces {

/// One captured frame.
struct Packet {
  int64_t time_ns = 0;  ///< since the epoch of the capture (1970, or the start of a simulation); never negative
  uint32_t original_length = 0;  ///< bytes on the wire; more than bytes.size() when the snap length cut the frame
  std::vector<uint8_t> bytes;
  uint64_t index = 0;            ///< 1 for the first packet of its file, as tshark's frame.number
  int link_type = 0;             ///< LINKTYPE_* value as files carry it: see link_layer.hpp
  uint32_t interface_index = 0;  ///< of a pcapng file, counted through all its sections
  uint32_t file_index = 0;       ///< which of several merged files

  bool repaired = false;    ///< made whole again by repair(): bytes behind the first real_bytes are not of the capture
  uint32_t real_bytes = 0;  ///< of a repaired packet
};

class CaptureFormat;

/// Streams a capture file: pcap of either byte order with micro- or nanoseconds, the "modified" pcap of old Linux
/// tools, or pcapng, each plain or compressed by gzip or zstd. Memory does not depend on the size of the file.
class PcapReader {
 public:
  /// Opens `file`; "-" is standard input. Throws InputError when it cannot be opened or is no capture.
  explicit PcapReader(const std::string& file, uint32_t file_index = 0);
  ~PcapReader();
  PcapReader(PcapReader&&) noexcept;
  PcapReader& operator=(PcapReader&&) noexcept;

  /// Reads the next packet into `packet`, whose buffer is reused. Returns false at the end of the file. A file that is
  /// cut or malformed throws InputError once, after every whole packet before that place has been delivered.
  bool read(Packet& packet);

  /// As read(), with a buffer of its own for each packet.
  std::optional<Packet> next();

  /// Throws InputError unless the link type of a packet of this file is Ethernet.
  void require_ethernet(const Packet& packet) const;

  const std::string& file() const { return file_; }

 private:
  std::string file_;
  uint32_t file_index_ = 0;
  std::unique_ptr<CaptureFormat> format_;
  bool ended_ = false;
};

}  // namespace traces
