#include "traces/qp_table.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "traces/error.hpp"
#include "traces/text.hpp"

namespace traces {
namespace {

using Json = nlohmann::json;

constexpr char kAllowed[] = "; allowed: the JSON array that `rdma res show qp -j` prints";

uint32_t qpn_of(const Json& entry, const char* key, const std::string& where) {
  const auto value = entry.find(key);
  if (value == entry.end() || !value->is_number_unsigned() || value->get<uint64_t>() > 0xffffff) {
    const std::string found = value == entry.end() ? "missing" : value->dump();
    throw InputError(where + ": " + key + " is " + found + "; allowed: 0 to 16777215");
  }
  return value->get<uint32_t>();
}

}  // namespace

void QpTable::read(const IpAddress& host, const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw InputError(file + ": " + std::strerror(errno) + kAllowed);
  const Json table = Json::parse(stream, nullptr, false);
  if (!table.is_array()) throw InputError(file + ": is no JSON array" + kAllowed);
  for (size_t i = 0; i < table.size(); ++i) {
    const std::string where = format("%s: entry %zu", file.c_str(), i + 1);
    const Json& entry = table[i];
    if (!entry.is_object()) throw InputError(where + ": is no JSON object" + kAllowed);
    // Only a connected queue pair has a remote QPN; SMI, GSI and UD ones have not.
    if (entry.value("type", Json()) != "RC" || !entry.contains("rqpn")) continue;
    const uint32_t local = qpn_of(entry, "lqpn", where);
    const uint32_t remote = qpn_of(entry, "rqpn", where);
    const auto [peer, is_new] = peers_.try_emplace({host, local}, remote);
    if (!is_new && peer->second != remote) {
      throw InputError(where + format(": lqpn %u is connected to %u and to %u; allowed: one entry a QPN of a host",
                                      local, peer->second, remote));
    }
  }
}

std::optional<uint32_t> QpTable::peer_of(const IpAddress& host, uint32_t qpn) const {
  const auto peer = peers_.find({host, qpn});
  if (peer == peers_.end()) return std::nullopt;
  return peer->second;
}

}  // namespace traces
