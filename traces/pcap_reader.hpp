#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "traces/error.hpp"

struct pcap;

namespace traces {

/// One captured frame.
struct Packet {
  int64_t time_ns = 0;  ///< since the epoch of the capture (1970, or the start of a simulation); never negative
  uint32_t original_length = 0;  ///< bytes on the wire; more than bytes.size() when the snap length cut the frame
  std::vector<uint8_t> bytes;
  uint64_t index = 0;  ///< 1 for the first packet of the file, as tshark's frame.number
  int link_type = 0;   ///< DLT_* value of libpcap; 1 is Ethernet
};

/// Streams a capture file: pcap of either byte order with micro- or nanoseconds, or pcapng.
class PcapReader {
 public:
  /// Throws InputError when the file cannot be opened or is no capture.
  explicit PcapReader(const std::string& file);

  /// Reads the next packet into `packet`, whose buffer is reused. Returns false at the end of the file. A file that is
  /// cut or malformed throws InputError once, after every whole packet before that place has been delivered.
  bool read(Packet& packet);

  /// As read(), with a buffer of its own for each packet.
  std::optional<Packet> next();

  /// Throws InputError unless the link type is Ethernet.
  void require_ethernet() const;

  const std::string& file() const { return file_; }
  int link_type() const;

 private:
  struct Close {
    void operator()(pcap* handle) const;
  };

  std::string file_;
  std::unique_ptr<pcap, Close> handle_;
  uint64_t packets_ = 0;
  bool ended_ = false;
};

}  // namespace traces
