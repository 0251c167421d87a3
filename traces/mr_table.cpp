#include "traces/mr_table.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "traces/error.hpp"
#include "traces/text.hpp"

namespace traces {
namespace {

constexpr char kHeader[] = "address,rkey,va,length,rights";

// One line of the file, taken apart. Complains with file, line and column.
class RowReader {
 public:
  RowReader(const std::string& file, size_t line, const std::string& text)
      : where_(format("%s: line %zu", file.c_str(), line)) {
    std::istringstream stream(text);
    for (std::string cell; std::getline(stream, cell, ',');) cells_.push_back(trimmed(cell));
    if (cells_.size() != 5) {
      throw InputError(where_ + format(": %zu columns; allowed: 5, ", cells_.size()) + kHeader);
    }
  }

  IpAddress address() const {
    const std::optional<IpAddress> address = parse_ip(cells_[0]);
    if (!address) complain("address", 0, "an IPv4 or IPv6 address");
    return *address;
  }

  uint64_t number(const char* column, size_t cell, uint64_t least, uint64_t most) const {
    const std::string& text = cells_[cell];
    char* end = nullptr;
    errno = 0;
    const uint64_t value = std::strtoull(text.c_str(), &end, 0);
    const bool is_number = !text.empty() && text[0] != '-' && *end == '\0' && errno == 0;
    if (!is_number || value < least || value > most) {
      complain(column, cell,
               format("%llu to 0x%llx, decimal or 0x", static_cast<unsigned long long>(least),
                      static_cast<unsigned long long>(most)));
    }
    return value;
  }

  uint8_t rights() const {
    uint8_t rights = 0;
    for (const char letter : cells_[4] == "-" ? "" : cells_[4]) {
      const uint8_t right = letter == 'R'   ? kRemoteRead
                            : letter == 'W' ? kRemoteWrite
                            : letter == 'A' ? kRemoteAtomic
                                            : 0;
      if (right == 0) complain("rights", 4, "letters of RWA (remote read, write, atomic), or -");
      rights |= right;
    }
    return rights;
  }

  [[noreturn]] void complain(const char* column, size_t cell, const std::string& allowed) const {
    throw InputError(where_ + ": " + column + " \"" + cells_[cell] + "\"; allowed: " + allowed);
  }

 private:
  static std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
  }

  std::string where_;
  std::vector<std::string> cells_;
};

}  // namespace

MrTable MrTable::read(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw InputError(file + ": " + std::strerror(errno) + "; allowed: a CSV file of " + kHeader);
  MrTable table;
  size_t line = 0;
  for (std::string text; std::getline(stream, text);) {
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (++line == 1) {
      if (text != kHeader) throw InputError(file + ": line 1: \"" + text.substr(0, 80) + "\"; allowed: " + kHeader);
      continue;
    }
    if (text.empty() || text[0] == '#') continue;
    const RowReader row(file, line, text);
    MemoryRegion region;
    region.remote_key = static_cast<uint32_t>(row.number("rkey", 1, 0, 0xffffffff));
    region.first_address = row.number("va", 2, 0, std::numeric_limits<uint64_t>::max());
    const uint64_t room = std::numeric_limits<uint64_t>::max() - region.first_address;
    region.end_address = region.first_address + row.number("length", 3, 1, room);
    region.rights = row.rights();
    table.rows_.push_back({row.address(), region});
  }
  if (line == 0) throw InputError(file + ": the file is empty; allowed: a CSV file of " + kHeader);
  std::sort(table.rows_.begin(), table.rows_.end(), [](const Row& a, const Row& b) {
    return std::tie(a.host, a.region.remote_key) < std::tie(b.host, b.region.remote_key);
  });
  return table;
}

bool MrTable::has_host(const IpAddress& host) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) { return row.host == host; });
}

std::vector<MemoryRegion> MrTable::regions_of(const IpAddress& host) const {
  std::vector<MemoryRegion> regions;
  for (const Row& row : rows_) {
    if (row.host == host) regions.push_back(row.region);
  }
  return regions;
}

bool MrTable::permits(const IpAddress& host, const MemoryAccess& access) const {
  auto row =
      std::lower_bound(rows_.begin(), rows_.end(), std::tie(host, access.remote_key),
                       [](const Row& a, const auto& key) { return std::tie(a.host, a.region.remote_key) < key; });
  for (; row != rows_.end() && row->host == host && row->region.remote_key == access.remote_key; ++row) {
    const MemoryRegion& region = row->region;
    const bool inside = access.address >= region.first_address && access.address <= region.end_address &&
                        access.length <= region.end_address - access.address;
    if (inside && (region.rights & access.right)) return true;
  }
  return false;
}

}  // namespace traces
