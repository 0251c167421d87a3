#include "sim/replay/read_data.hpp"

#include <algorithm>

#include "traces/psn.hpp"

namespace sim {
namespace {

using traces::Verb;

Verb verb_of(const HeldPacket& held) {
  return traces::operation_of(held.transport.opcode).verb;
}

uint32_t packets_between(uint32_t psn, uint32_t first) {
  return (psn - first) & traces::kPsnMask;
}

}  // namespace

void ReadData::Known::add(size_t first, size_t count) {
  for (size_t at = first; at < first + count;) {
    const size_t bits = std::min(64 - at % 64, first + count - at);
    const uint64_t ones = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
    words_[at / 64] |= ones << at % 64;
    at += bits;
  }
}

bool ReadData::Known::holds_all(size_t first, size_t count) const {
  for (size_t at = first; at < first + count;) {
    const size_t bits = std::min(64 - at % 64, first + count - at);
    const uint64_t ones = (bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1) << at % 64;
    if ((words_[at / 64] & ones) != ones) return false;
    at += bits;
  }
  return true;
}

ReadData::Host& ReadData::host_of(uint32_t host) {
  if (host >= hosts_.size()) hosts_.resize(host + 1);
  return hosts_[host];
}

void ReadData::request(uint32_t number, const HeldPacket& held, bool gap) {
  Host& host = host_of(number);
  if (gap || held.atomic) forget(host);  // what is not captured may have been written anywhere
  const TransportPacket& t = held.transport;
  const Verb verb = verb_of(held);
  if (verb == Verb::kSend) host.took_sends = true;
  if (verb == Verb::kWrite) write(host, number, held);
  if (verb != Verb::kReadRequest) return;
  host.reads.push_back({held.lane, {t.psn, held.psns, 0, t.remote_key, t.virtual_address, t.dma_length}, false});
  if (host.reads.size() > kReads) host.reads.erase(host.reads.begin());
}

void ReadData::write(Host& host, uint32_t number, const HeldPacket& held) {
  const TransportPacket& t = held.transport;
  if (held.lane >= writes_.size()) writes_.resize(held.lane + 1);
  std::vector<Access>& messages = writes_[held.lane];
  if (traces::starts_message(t.opcode)) {
    const uint32_t packets = t.payload_bytes == 0 ? 1 : (std::max(t.dma_length, 1u) - 1) / t.payload_bytes + 1;
    if (messages.size() == kMessages) messages.erase(messages.begin());
    messages.push_back({t.psn, packets, t.payload_bytes, t.remote_key, t.virtual_address, t.dma_length});
  }
  const auto message = std::find_if(messages.rbegin(), messages.rend(),
                                    [&](const Access& a) { return packets_between(t.psn, a.psn) < a.psns; });
  if (message == messages.rend() || held.repaired) return forget(host);  // somewhere, or something
  const uint64_t address = message->address + uint64_t(packets_between(t.psn, message->psn)) * message->packet_bytes;
  overlap(host, address, t.payload_bytes);
  store(number, message->remote_key, address, held.payload());
}

// READs that wait for their data while it is written over get the old bytes or the new ones.
void ReadData::overlap(Host& host, uint64_t address, uint64_t length) {
  for (PendingRead& read : host.reads)
    if (address < read.access.address + read.access.length && read.access.address < address + length)
      read.overlapped = true;
}

void ReadData::forget(Host& host) {
  host.epoch++;
  for (PendingRead& read : host.reads) read.overlapped = true;
}

// The newest one that takes the PSN.
ReadData::PendingRead* ReadData::find_read(Host& host, uint32_t lane, uint32_t psn) {
  for (auto r = host.reads.rbegin(); r != host.reads.rend(); ++r)
    if (r->lane == lane && packets_between(psn, r->access.psn) < r->access.psns) return &*r;
  return nullptr;
}

void ReadData::store(uint32_t host, uint32_t remote_key, uint64_t address, traces::ByteSpan bytes) {
  for (size_t done = 0; done < bytes.size;) {
    const size_t offset = (address + done) % kPageBytes,
                 count = std::min(bytes.size - done, size_t(kPageBytes - offset));
    if (pages_.size() >= kPages) pages_.clear();
    std::unique_ptr<Page>& page = pages_[key_of(host, address + done)];
    const bool is_fresh = !page || page->remote_key != remote_key || page->epoch != host_of(host).epoch;
    if (!page) page = std::make_unique<Page>();
    if (is_fresh) page->known.clear();
    page->remote_key = remote_key;
    page->epoch = host_of(host).epoch;
    std::copy_n(bytes.data + done, count, page->bytes.begin() + std::ptrdiff_t(offset));
    page->known.add(offset, count);
    done += count;
  }
}

const ReadData::Page* ReadData::find(uint32_t host, uint32_t remote_key, uint64_t address) const {
  const auto found = pages_.find(key_of(host, address));
  if (found == pages_.end() || found->second->remote_key != remote_key || found->second->epoch != hosts_[host].epoch)
    return nullptr;
  return found->second.get();
}

void ReadData::compare(uint32_t host, uint32_t remote_key, uint64_t address, traces::ByteSpan bytes,
                       ReadBytes& result) {
  for (size_t done = 0; done < bytes.size;) {
    const size_t count = std::min(bytes.size - done, size_t(kPageBytes - (address + done) % kPageBytes));
    compare_page(find(host, remote_key, address + done), address + done, bytes.slice(done, count), result);
    done += count;
  }
}

void ReadData::compare_page(const Page* page, uint64_t address, traces::ByteSpan bytes, ReadBytes& result) const {
  const size_t offset = address % kPageBytes;
  if (page == nullptr) {
    result.seeded += uint32_t(bytes.size);
    if (seed_) seed_(address, bytes);
    return;
  }
  if (page->known.holds_all(offset, bytes.size) &&
      std::equal(bytes.data, bytes.data + bytes.size, page->bytes.begin() + std::ptrdiff_t(offset))) {
    result.verified += uint32_t(bytes.size);
    return;
  }
  for (size_t i = 0; i < bytes.size; i++) {
    if (!page->known.holds(offset + i)) {
      result.seeded++;
      if (seed_) seed_(address + i, bytes.slice(i, 1));
    } else if (page->bytes[offset + i] == bytes.data[i]) {
      result.verified++;
    } else {
      result.different++;
    }
  }
}

void ReadData::response(uint32_t number, uint32_t lane, uint32_t path_mtu, HeldPacket& held) {
  Host& host = host_of(number);
  const traces::ByteSpan bytes = held.payload();
  held.read = ReadBytes();
  held.read.seeded = uint32_t(bytes.size);
  PendingRead* read = find_read(host, lane, held.transport.psn);
  if (read == nullptr) return;
  const uint32_t into = packets_between(held.transport.psn, read->access.psn);
  if (!read->overlapped && !held.repaired) {
    held.read.seeded = 0;
    compare(number, read->access.remote_key, read->access.address + uint64_t(into) * path_mtu, bytes, held.read);
  }
  if (host.took_sends) {  // which may have written there
    held.read.seeded += held.read.different;
    held.read.different = 0;
  }
  if (into + 1 == read->access.psns) host.reads.erase(host.reads.begin() + (read - host.reads.data()));
}

}  // namespace sim
