#include "traces/pcap_reader.hpp"

#include <pcap/pcap.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "traces/text.hpp"

namespace traces {
namespace {

constexpr char kAllowedFiles[] = "; allowed: a pcap file (microseconds or nanoseconds, either byte order) or pcapng";

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, CloseFile>;

FileHandle open_file(const std::string& name) {
  struct stat status;
  if (stat(name.c_str(), &status) != 0) throw InputError(name + ": " + std::strerror(errno) + kAllowedFiles);
  if (S_ISDIR(status.st_mode)) throw InputError(name + ": is a directory" + kAllowedFiles);
  FileHandle file(std::fopen(name.c_str(), "rb"));
  if (!file) throw InputError(name + ": " + std::strerror(errno) + kAllowedFiles);
  return file;
}

// libpcap also takes patched formats ("modified", Navtel, ...) whose record headers have other sizes. Files exist that
// carry such a magic over ordinary records, and they would be misread without an error.
void check_magic(std::FILE* file, const std::string& name) {
  using Magic = std::array<uint8_t, 4>;
  constexpr Magic kKnown[] = {{0xa1, 0xb2, 0xc3, 0xd4},
                              {0xd4, 0xc3, 0xb2, 0xa1},
                              {0xa1, 0xb2, 0x3c, 0x4d},
                              {0x4d, 0x3c, 0xb2, 0xa1},
                              {0x0a, 0x0d, 0x0d, 0x0a}};
  Magic magic{};
  const size_t count = std::fread(magic.data(), 1, magic.size(), file);
  if (count == 0) throw InputError(name + ": the file is empty" + kAllowedFiles);
  if (count < magic.size())
    throw InputError(name + ": the file header is cut at byte " + std::to_string(count) + kAllowedFiles);
  std::rewind(file);
  for (const Magic& known : kKnown) {
    if (magic == known) return;
  }
  throw InputError(format("%s: file header (offset 0): unknown magic %02x%02x%02x%02x%s", name.c_str(), magic[0],
                          magic[1], magic[2], magic[3], kAllowedFiles));
}

int64_t nanoseconds(const pcap_pkthdr& header, const std::string& where) {
  // With nanosecond precision libpcap puts nanoseconds into tv_usec.
  int64_t time = 0;
  if (__builtin_mul_overflow(static_cast<int64_t>(header.ts.tv_sec), int64_t{1'000'000'000}, &time) ||
      __builtin_add_overflow(time, static_cast<int64_t>(header.ts.tv_usec), &time) || time < 0) {
    throw InputError(where + ": the timestamp of " + std::to_string(header.ts.tv_sec) +
                     " s is out of range; allowed: 0 to 2^63 - 1 ns");
  }
  return time;
}

}  // namespace

void PcapReader::Close::operator()(pcap* handle) const {
  pcap_close(handle);
}

PcapReader::PcapReader(const std::string& file) : file_(file) {
  FileHandle stream = open_file(file);
  check_magic(stream.get(), file);
  char message[PCAP_ERRBUF_SIZE] = "";
  handle_.reset(pcap_fopen_offline_with_tstamp_precision(stream.get(), PCAP_TSTAMP_PRECISION_NANO, message));
  if (!handle_) throw InputError(file + ": file header (offset 0): " + message + kAllowedFiles);
  static_cast<void>(stream.release());  // pcap_close() closes it
}

bool PcapReader::read(Packet& packet) {
  if (ended_) return false;
  const long offset = std::ftell(pcap_file(handle_.get()));
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  const int result = pcap_next_ex(handle_.get(), &header, &data);
  if (result == PCAP_ERROR_BREAK) {
    ended_ = true;
    return false;
  }
  const std::string where =
      file_ + ": packet " + std::to_string(packets_ + 1) + " (offset " + std::to_string(offset) + ")";
  if (result != 1) {
    ended_ = true;
    throw InputError(where + ": " + pcap_geterr(handle_.get()) + "; allowed: whole records up to the end of the file");
  }
  packet.time_ns = nanoseconds(*header, where);
  packet.original_length = header->len;
  packet.bytes.assign(data, data + header->caplen);
  packet.index = ++packets_;
  packet.link_type = link_type();
  return true;
}

std::optional<Packet> PcapReader::next() {
  Packet packet;
  if (!read(packet)) return std::nullopt;
  return packet;
}

int PcapReader::link_type() const {
  return pcap_datalink(handle_.get());
}

void PcapReader::require_ethernet() const {
  if (link_type() == DLT_EN10MB) return;
  const char* name = pcap_datalink_val_to_name(link_type());
  throw InputError(file_ + ": link type " + std::to_string(link_type()) + (name ? std::string(" (") + name + ")" : "") +
                   "; allowed: 1 (EN10MB, Ethernet)");
}

}  // namespace traces
