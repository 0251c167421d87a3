// The events of a step: which earlier one released each (the order in sim/trace/recorder.hpp), and when a message is
// done.
#include <algorithm>

#include "sim/trace/recorder.hpp"

namespace sim {

namespace {

constexpr size_t kMostGrants = 16;

}  // namespace

EventId Recorder::event_of(uint32_t tag) const {
  for (const Touched& t : step_.events)
    if (t.tag == tag) return t.event;
  return 0;
}

EventId Recorder::add(uint32_t tag, EventId cause, Release release) {
  Event event;
  event.time = step_.time;
  event.cause = cause;
  event.tag = tag;
  event.stage = uint16_t(step_.number);
  event.release = release;
  const EventId id = log_.add(event);
  step_.events.push_back({tag, id});
  return id;
}

EventId Recorder::add_held(uint32_t tag) {
  Event event;
  event.time = step_.time;
  event.cause = held_.cause;
  event.tag = tag;
  event.stage = uint16_t(step_.number);
  const EventId id = log_.add(event, Spans{{held_.first, held_.second}, step_.time - held_.ready});
  step_.events.push_back({tag, id});
  return id;
}

EventId Recorder::touched(uint32_t tag) const {
  const Touched& t = step_.stage->touched[tag % step_.stage->touched.size()];
  return t.tag == tag ? t.event : 0;
}

// The event, if it lies in the cycle before.
EventId Recorder::just_before(EventId event) const {
  const hw::Clock& clock = nodes_[step_.number / kStages]->clock;
  return event && step_.cycle > 0 && log_.time_of(event) == clock.edge(step_.cycle - 1) ? event : 0;
}

EventId Recorder::gave_room() const {
  for (const StreamTrack* output : step_.stage->outputs)
    if (const EventId reader = output->gave_room(step_.cycle)) return reader;
  return 0;
}

EventId Recorder::add_read(uint32_t tag) {
  const Stage& s = *step_.stage;
  if (held_.named && s.outputs.empty()) return add_held(tag);
  for (const Step::Taken& t : step_.taken)
    if (t.token.tag == tag && t.token.ready == step_.cycle) return add(tag, t.token.written, Release::input);
  const EventId same = touched(tag);
  if (const EventId cause = just_before(same)) return add(tag, cause, Release::own);
  if (const EventId reader = gave_room()) return add(tag, reader, Release::room);
  return add(tag, log_.time_of(same) > log_.time_of(s.last) ? same : s.last, Release::own);
}

// `taken`: what the stage has taken and not passed on.
EventId Recorder::add_write(uint32_t tag, size_t output, EventId taken) {
  const Stage& s = *step_.stage;
  if (held_.named) return add_held(tag);
  const EventId same = touched(tag) ? touched(tag) : taken, other = s.last_write[output];
  if (s.takes_orders && same && log_.find(same)) {
    const Picoseconds arrival = log_.time_of(same);
    if (arrival == step_.time || arrival > log_.time_of(other)) return add(tag, same, Release::own);
  } else if (const EventId cause = just_before(same)) {
    return add(tag, cause, Release::own);
  }
  if (const EventId reader = s.outputs[output]->gave_room(step_.cycle)) return add(tag, reader, Release::room);
  if (const EventId reader = gave_room()) return add(tag, reader, Release::room);
  if (const EventId cause = just_before(other)) return add(tag, cause, Release::own);
  EventId latest = same;
  for (const EventId event : {other, taken})
    if (log_.time_of(event) > log_.time_of(latest)) latest = event;
  const EventId room = s.outputs[output]->last_room();
  if (log_.time_of(room) > log_.time_of(latest)) return add(tag, room, Release::room);
  return add(tag, latest ? latest : s.last, Release::own);
}

// The arrival of the order that the host's port takes in this step, for the message `tag` if it is a work request.
EventId Recorder::arrival(uint32_t tag) {
  const auto message = messages_.find(tag);
  const auto& order = step_.order;
  Event event;
  event.time = order.edge;
  event.cause = order.cause || message == messages_.end() ? order.cause : message->second.posted;
  event.tag = tag;
  event.stage = uint16_t(step_.number);
  return log_.add(event, Spans{{order.spent, {}}, order.edge - order.ready});
}

// What a new packet is cut from: the stage's step that took that or cut the packet before, or the one that took what
// lets its QP go on. Taking goes some cycles before.
EventId Recorder::cut_from(uint32_t parent, const TokenLook& look) {
  Stage& s = *step_.stage;
  const hw::Clock& clock = nodes_[step_.number / kStages]->clock;
  const EventId same = touched(parent);
  const Event* taken = log_.find(same);
  if (taken && taken->tag == parent)
    s.shortest = std::min(s.shortest, step_.cycle - clock.edge_at_or_after(taken->time));
  const auto granted = s.granted.find(look.qpn);
  if (granted == s.granted.end() || step_.cycle < s.shortest) return same;
  const Picoseconds newest = clock.edge(step_.cycle - s.shortest);
  const auto early = [this, newest](EventId grant) { return log_.time_of(grant) <= newest; };
  const auto grant = std::find_if(granted->second.rbegin(), granted->second.rend(), early);
  return grant != granted->second.rend() && log_.time_of(*grant) > log_.time_of(same) ? *grant : same;
}

void Recorder::note_grant(const TokenLook& look, EventId event) {
  std::deque<EventId>& grants = step_.stage->granted[look.qpn];
  grants.push_back(event);
  if (grants.size() > kMostGrants) grants.pop_front();
}

void Recorder::finish_if_done(uint32_t message) {
  const auto found = messages_.find(message);
  const TracedMessage& m = found->second;
  if (!m.completed || m.placed < m.bytes || (m.receives && !m.received)) return;
  if (finished_ && found->second.begun) finished_(found->second);
  messages_.erase(found);
}

// No walk goes back behind the begin of the oldest message on its way.
void Recorder::forget() {
  Picoseconds oldest = step_.time > 1000000 ? step_.time - 1000000 : 0;
  for (const auto& m : messages_) oldest = std::min(oldest, log_.time_of(m.second.begun));
  log_.forget_before(oldest);
}

}  // namespace sim
