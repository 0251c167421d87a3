#include "sim/extract/conversation.hpp"

#include <algorithm>

#include "hw/bus/wire.hpp"
#include "traces/psn.hpp"

namespace sim {
namespace {

using traces::distance24;
using traces::Verb;

constexpr uint8_t kRnr = 1;  // bits 7:5 of the syndrome of an RNR NAK

Verb verb_of(const HeldPacket& packet) {
  return traces::operation_of(packet.transport.opcode).verb;
}

MessageKind kind_of(Verb verb) {
  if (verb == Verb::kSend) return MessageKind::kSend;
  return verb == Verb::kReadRequest ? MessageKind::kRead : MessageKind::kWrite;
}

uint32_t last_psn(const ObservedMessage& m) {
  return (m.psn + m.psns - 1) & traces::kPsnMask;
}

}  // namespace

void Conversation::request(const HeldPacket& packet, bool line_was_idle) {
  const TransportPacket& t = packet.transport;
  if (!begun_) first_ = next_ = last_ = t.psn;
  begun_ = true;
  const bool is_late = distance24(t.psn, next_) < 0;
  if (packet.first_sight)
    note_late(packet);
  else if (packet.retry != traces::RetryCause::kNone)
    retry(packet);
  if (!is_late && traces::starts_message(t.opcode)) after_timeout_ = false;
  if (refused_ == t.psn) refused_.reset();
  if (packet.first_sight && traces::starts_message(t.opcode)) begin(packet, line_was_idle);
  note_end(packet);
  const bool wants_ack = t.ack_request && traces::ends_message(t.opcode) && verb_of(packet) != Verb::kReadRequest;
  if (packet.first_sight && wants_ack) asked_.push_back(t.psn);
  const uint32_t behind = (t.psn + packet.psns) & traces::kPsnMask;
  last_ = behind;
  if (distance24(behind, next_) > 0) next_ = behind;
}

// The end that arrived is the last one before the answer.
void Conversation::note_end(const HeldPacket& packet) {
  for (size_t i = completed_; i < messages_.size(); i++)
    if (last_psn(messages_[i]) == packet.transport.psn) messages_[i].sent_ns = packet.time_ns;
}

void Conversation::begin(const HeldPacket& packet, bool line_was_idle) {
  const TransportPacket& t = packet.transport;
  if (!packet.message.complete) {
    incomplete_++;
    return;
  }
  ObservedMessage m;
  m.kind = kind_of(verb_of(packet));
  m.psn = t.psn;
  m.psns = m.kind == MessageKind::kRead ? packet.psns : uint32_t(distance24(packet.message.last_psn, t.psn)) + 1;
  m.bytes = packet.message.length;
  if (packet.message.has_immediate) m.immediate = packet.message.immediate;
  m.begun_ns = m.sent_ns = packet.time_ns;
  m.follows_idle_line = line_was_idle && distance24(t.psn, next_) >= 0;
  messages_.push_back(m);
  if (m.kind != MessageKind::kRead) return;
  reads_.push_back({m.psn, m.psns, m.psn});
  if (reads_.size() > kReads) reads_.pop_front();
}

// A packet that the tap had not seen in its place: lost before, and named by a NAK, or found missing by a time-out, or
// sent again with all that follows an earlier loss.
void Conversation::note_late(const HeldPacket& packet) {
  const uint32_t psn = packet.transport.psn;
  const bool is_late = distance24(psn, next_) < 0;
  if (refused_ == psn || packet.out_of_order) return;
  if (is_late) return lose(LostKind::kRequest, psn, psn == last_ && packet.retry == traces::RetryCause::kNone);
  // The rest of a message that a time-out began again had been sent before.
  if (after_timeout_ && psn == next_ && !traces::starts_message(packet.transport.opcode))
    lose(LostKind::kRequest, psn, false);
}

void Conversation::retry(const HeldPacket& packet) {
  const uint32_t psn = packet.transport.psn;
  if (packet.retry == traces::RetryCause::kSequenceNak || packet.retry == traces::RetryCause::kRnrNak) return;
  // A READ is asked for again from the response that has not come: the tap misses it too, or saw it before it was lost.
  if (Read* read = read_with(psn); read != nullptr) {
    lose(LostKind::kResponse, distance24(psn, read->next) >= 0 ? read->next : psn, false);
    read->next = psn;
    return;
  }
  after_timeout_ = packet.retry == traces::RetryCause::kTimeout;
  if (!after_timeout_) return;
  for (const uint32_t asked : asked_) lose(LostKind::kAck, asked, false);
}

void Conversation::lose(LostKind kind, uint32_t psn, bool ahead) {
  ObservedLoss loss;
  loss.kind = kind;
  loss.psn = psn;
  loss.ahead = ahead;
  loss.copy = ahead ? 1 : ++copies_[{kind, psn}];
  losses_.push_back(loss);
}

Conversation::Read* Conversation::read_with(uint32_t psn) {
  for (auto read = reads_.rbegin(); read != reads_.rend(); ++read)
    if (((psn - read->psn) & traces::kPsnMask) < read->psns) return &*read;
  return nullptr;
}

void Conversation::read_response(const HeldPacket& packet) {
  const uint32_t psn = packet.transport.psn;
  Read* read = read_with(psn);
  if (read != nullptr && psn == read->next) read->next = (psn + 1) & traces::kPsnMask;
}

void Conversation::answer(const HeldPacket& packet) {
  const TransportPacket& t = packet.transport;
  const bool is_read = verb_of(packet) == Verb::kReadResponse;
  const bool is_nak = !is_read && t.syndrome >> 5 != 0;
  if (is_read) read_response(packet);
  if (is_nak && t.syndrome >> 5 == kRnr) not_ready_ = t.psn;
  if (is_nak && t.syndrome == hw::wire::aeth::kNakSequence && not_ready_ != t.psn && refused_ != t.psn) {
    lose(LostKind::kRequest, t.psn, false);
    refused_ = t.psn;
  }
  const uint32_t covered = is_nak ? (t.psn - 1) & traces::kPsnMask : t.psn;
  if (!answered_ || distance24(covered, acknowledged_) > 0) acknowledged_ = covered;
  answered_ = true;
  after_timeout_ = false;
  const auto is_answered = [&](uint32_t psn) { return distance24(psn, acknowledged_) <= 0; };
  asked_.erase(std::remove_if(asked_.begin(), asked_.end(), is_answered), asked_.end());
  complete(packet.time_ns);
}

bool Conversation::is_complete(const ObservedMessage& m) const {
  if (m.kind != MessageKind::kRead) return answered_ && distance24(last_psn(m), acknowledged_) <= 0;
  const auto read = std::find_if(reads_.rbegin(), reads_.rend(), [&](const Read& r) { return r.psn == m.psn; });
  return read == reads_.rend() || distance24(read->next, last_psn(m)) > 0;
}

// Messages complete in their order.
void Conversation::complete(int64_t time_ns) {
  for (; completed_ < messages_.size() && is_complete(messages_[completed_]); completed_++)
    messages_[completed_].completed_ns = time_ns;
}

std::vector<ObservedMessage> Conversation::messages() const {
  std::vector<ObservedMessage> sorted = messages_;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const ObservedMessage& a, const ObservedMessage& b) {
    return distance24(a.psn, first_) < distance24(b.psn, first_);
  });
  return sorted;
}

}  // namespace sim
