#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/pcap_reader.hpp"

namespace traces {

/// Streams one or several captures of one network as one, in order of time. The clocks of several files are brought
/// together first: packets that two files share tell how far the clocks are apart.
class MergedReader {
 public:
  /// Opens the files, and reads as much of each as the estimate of the clocks needs. Throws InputError when one cannot
  /// be opened or is no capture.
  explicit MergedReader(const std::vector<std::string>& files);

  /// As PcapReader::read(), over all files: the packet's time has its file's correction added, its index counts in its
  /// file. Packets of one file stay in their order. Each damaged file throws its InputError once, after the last
  /// packet of all files.
  bool read(Packet& packet);

  /// A sentence for each file but the first about its clock: what was measured and is applied, or why nothing is.
  const std::vector<std::string>& notes() const { return notes_; }

  const std::vector<std::string>& files() const { return files_; }

 private:
  struct Source {
    PcapReader reader;
    int64_t correction_ns = 0;
    Packet head;
    bool has_head = false;
  };

  void advance(Source& source);

  std::vector<std::string> files_;
  std::vector<std::string> notes_;
  std::vector<Source> sources_;
  std::vector<std::string> errors_;
};

}  // namespace traces
