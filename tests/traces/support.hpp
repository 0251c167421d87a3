#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "traces/ip_address.hpp"
#include "traces/pcap_reader.hpp"

namespace traces::test {

/// The capture that comes with the repository: 80 WRITE packets from 10.77.0.2 to 10.77.0.1, and 5 ACKs.
std::filesystem::path sample_capture();

/// A file of traces/samples.
std::filesystem::path sample(const std::string& name);

/// Folder of captures and oracles: $BALBOA_SHARED, or `shared` beside the repository; empty when there is none.
std::filesystem::path shared_folder();

#define SKIP_WITHOUT_SHARED() \
  if (traces::test::shared_folder().empty()) GTEST_SKIP() << "no captures: set BALBOA_SHARED to their folder"

/// Capture files of shared_folder()/captures/FOLDER, ascending.
std::vector<std::filesystem::path> captures_in(const std::string& folder);

/// A file name in a folder of its own that is removed with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string name() const { return (folder_ / name_).string(); }

 private:
  std::filesystem::path folder_;
  std::string name_;
};

std::vector<uint8_t> read_bytes(const std::filesystem::path& file);
void write_bytes(const std::string& file, const std::vector<uint8_t>& bytes);

/// Appends numbers of `width` bytes in the byte order of a file.
void append(std::vector<uint8_t>& bytes, bool big_endian, size_t width, std::initializer_list<uint64_t> numbers);

/// Standard output of a shell command, line by line.
std::vector<std::string> lines_of(const std::string& command);

/// Whole packets of a capture, and the error line that ended it, if any.
struct Contents {
  std::vector<Packet> packets;
  std::string error;
};
Contents read_all(const std::string& file);

/// The message of the InputError that `action` throws; a failed expectation and "" when it throws none.
template <typename Action>
std::string input_error_of(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return "";
}

/// Expects the form of every error line: one line that starts with the file and says what is allowed.
void expect_error_line(const std::string& line, const std::string& file);

inline IpAddress ip(const std::string& text) {
  return parse_ip(text).value();
}

}  // namespace traces::test
