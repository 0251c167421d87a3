#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "traces/byte_source.hpp"
#include "traces/pcap_reader.hpp"

namespace traces {

/// One kind of capture file. Each packet or block that is asked for is read from a ByteSource that stands before it.
class CaptureFormat {
 public:
  CaptureFormat(std::string name, ByteSource source) : name_(std::move(name)), source_(std::move(source)) {}
  virtual ~CaptureFormat() = default;

  /// As PcapReader::read(), without its file index, and called no more once it has thrown or returned false.
  virtual bool read(Packet& packet) = 0;

 protected:
  /// Larger packets are taken for damage, as libpcap does.
  static constexpr uint32_t kLargestPacket = 262144;

  ByteSource& source() { return source_; }
  void deliver(Packet& packet, int64_t time_ns, ByteSpan bytes, uint32_t original_length, int link_type,
               uint32_t interface_index) {
    packet.time_ns = time_ns;
    packet.original_length = original_length;
    packet.bytes.assign(bytes.data, bytes.data + bytes.size);
    packet.index = ++packets_;
    packet.link_type = link_type;
    packet.interface_index = interface_index;
    packet.repaired = false;
    packet.real_bytes = 0;
  }

  /// `FILE: packet N (offset O): WHAT`, about the packet that follows those delivered. `what` says what is allowed.
  [[noreturn]] void fail_packet(const std::string& what) const;
  /// `FILE: PLACE: WHAT`.
  [[noreturn]] void fail(const std::string& place, const std::string& what) const;

 private:
  std::string name_;
  ByteSource source_;
  uint64_t packets_ = 0;
};

/// Tells the format by its magic number and reads the file header. Throws InputError.
std::unique_ptr<CaptureFormat> open_capture(const std::string& file);

}  // namespace traces
