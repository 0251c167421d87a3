#include "sim/trace/recorder.hpp"

#include <algorithm>

namespace sim {

namespace {

// Tags: a message has the top bit and 24 bits of number, a packet 25 bits of number; the node lies between.
constexpr uint32_t kMessageBit = uint32_t(1) << 31;
constexpr unsigned kMessageBits = 24, kPacketBits = 25;
constexpr size_t kMostKept = 4;

uint32_t packet_number(uint32_t tag) {
  return tag & ((uint32_t(1) << kPacketBits) - 1);
}

}  // namespace

void Recorder::observe(const std::string& node, Domain& domain, const hw::Clock& clock,
                       const Elaboration& elaboration) {
  nodes_.push_back(std::make_unique<Node>(Node{node, &domain, clock, {}}));
  Node& n = *nodes_.back();
  for (size_t i = 0; i < elaboration.streams().size(); i++)
    n.streams.emplace_back(*elaboration.streams()[i], elaboration.lookers()[i]);
  stages_.resize(nodes_.size() * kStages);
  packets_.emplace_back(1);
  messages_made_.push_back(0);
  observers_.push_back(std::make_unique<Observer>());
  observers_.back()->recorder = this;
  observers_.back()->node = unsigned(nodes_.size() - 1);
  domain.observe(*observers_.back(), *this);
}

uint32_t Recorder::message_of(uint32_t tag) const {
  if (tag & kMessageBit) return tag;
  const uint32_t number = packet_number(tag);
  const size_t node = tag >> kPacketBits;
  return node < packets_.size() && number < packets_[node].size() ? packets_[node][number].message : 0;
}

uint32_t Recorder::request_of(uint32_t tag) const {
  if (tag & kMessageBit) return tag;
  const uint32_t number = packet_number(tag), node = tag >> kPacketBits;
  const bool known = node < packets_.size() && number < packets_[node].size();
  return known && packets_[node][number].request ? packets_[node][number].request : tag;
}

unsigned Recorder::node_of(uint32_t tag) {
  return tag & kMessageBit ? (tag & ~kMessageBit) >> kMessageBits : tag >> kPacketBits;
}

const StageRecord* Recorder::stage(unsigned number) const {
  if (number / kStages >= nodes_.size()) return nullptr;
  const auto& stages = nodes_[number / kStages]->domain->stages();
  return number % kStages < stages.size() ? &stages[number % kStages] : nullptr;
}

Recorder::Stage& Recorder::stage_of(unsigned number) {
  std::unique_ptr<Stage>& stage = stages_[number];
  if (stage) return *stage;
  stage = std::make_unique<Stage>();
  Node& node = *nodes_[number / kStages];
  const StageRecord& record = *this->stage(number);
  const auto track = [&node](const hw::StreamBase* s) {
    return &*std::find_if(node.streams.begin(), node.streams.end(),
                          [s](const StreamTrack& t) { return &t.stream() == s; });
  };
  for (const hw::StreamBase* s : record.inputs) stage->inputs.push_back(track(s));
  for (const hw::StreamBase* s : record.outputs) stage->outputs.push_back(track(s));
  stage->last_write.resize(stage->outputs.size());
  stage->takes_orders = record.name == node.name + ".host.port";
  return *stage;
}

// ------------------------------------------------------------------------------------------ what models tell

void Recorder::running() {
  const hw::World& world = hw::world();
  if (stepping_ || world.stage < 0) return;
  for (size_t node = 0; node < nodes_.size(); node++)
    if (nodes_[node]->domain == world.names_of) begin_step(unsigned(node * kStages) + unsigned(world.stage), world.now);
}

EventId Recorder::here(uint32_t tag) {
  running();
  if (!stepping_) return 0;
  take_inputs();
  const EventId known = event_of(tag);
  return known ? known : add_read(tag);
}

EventId Recorder::later(uint32_t tag, Picoseconds time, EventId cause, hw::Span spent) {
  return at_edge(tag, time, time, cause, spent);
}

EventId Recorder::at_edge(uint32_t tag, Picoseconds edge, Picoseconds ready, EventId cause, hw::Span spent) {
  running();
  if (!stepping_) return 0;
  if (cause == 0)
    cause = log_.time_of(step_.stage->wake) > log_.time_of(step_.stage->last) ? step_.stage->wake : step_.stage->last;
  Event event;
  event.time = edge;
  event.cause = cause;
  event.tag = tag;
  event.stage = uint16_t(step_.number);
  return log_.add(event, Spans{{spent, {}}, edge - ready});
}

void Recorder::held(EventId cause, Picoseconds ready, hw::Span first, hw::Span second) {
  running();
  held_ = {true, cause, ready, first, second};
}

void Recorder::woken(const hw::Scheduler* scheduler, int stage, uint64_t at) {
  running();
  for (size_t node = 0; node < nodes_.size(); node++) {
    if (&nodes_[node]->domain->scheduler() != scheduler) continue;
    const unsigned number = unsigned(node * kStages) + unsigned(stage);
    if (stepping_) return woken_.emplace_back(number, at), void();
  }
}

// The post is an event of its own: the CPU may post several in one step.
uint32_t Recorder::posts(uint32_t qpn, uint32_t index, uint64_t bytes, bool receives) {
  running();
  if (!stepping_) return 0;  // before the run
  const unsigned node = step_.number / kStages;
  const uint32_t number = ++messages_made_[node] & ((uint32_t(1) << kMessageBits) - 1);
  const uint32_t message = kMessageBit | uint32_t(node << kMessageBits) | number;
  TracedMessage m;
  m.node = uint16_t(node);
  m.qpn = qpn;
  m.index = index;
  m.bytes = bytes;
  m.receives = receives;
  m.begun = m.posted = here(message);
  const Event& post = *log_.find(m.posted);
  if (post.release == Release::spans) m.begun = post.cause;
  messages_[message] = m;
  step_.post = {message, m.posted};
  return message;
}

hw::Post Recorder::rings() {
  running();
  if (!stepping_) return {};
  const hw::Post post = step_.post.tag ? step_.post : hw::Post{0, here(0)};
  step_.post = {};
  return post;
}

void Recorder::takes_order(Picoseconds edge, Picoseconds ready, EventId cause, hw::Span spent) {
  running();
  step_.order = {edge, ready, cause, spent};
}

void Recorder::completed(uint32_t tag, hw::Completes what, EventId visible) {
  const uint32_t message = message_of(tag);
  const auto found = messages_.find(message);
  if (found == messages_.end()) return;
  if (what == hw::Completes::failure) return void(messages_.erase(found));
  (what == hw::Completes::send ? found->second.completed : found->second.received) = visible;
  finish_if_done(message);
}

void Recorder::placed(uint32_t tag, uint64_t bytes, EventId visible) {
  const uint32_t message = message_of(tag);
  const auto found = messages_.find(message);
  if (found == messages_.end()) return;
  found->second.placed += bytes;
  if (found->second.placed < found->second.bytes) return;
  found->second.visible = visible;
  finish_if_done(message);
}

// ------------------------------------------------------------------------------------------ a step

void Recorder::stepped(unsigned node, int stage, hw::Cycles cycle) {
  const unsigned number = node * kStages + unsigned(stage);
  Stage& s = stage_of(number);
  const auto taken = [cycle](const StreamTrack* t) { return t->was_read(cycle); };
  const auto given = [cycle](const StreamTrack* t) { return t->was_written(cycle); };
  const bool touched =
      std::any_of(s.inputs.begin(), s.inputs.end(), taken) || std::any_of(s.outputs.begin(), s.outputs.end(), given);
  if (!touched && !stepping_) return;
  if (!stepping_) begin_step(number, cycle);
  take_inputs();
  write_outputs();
  end_step();
}

void Recorder::begin_step(unsigned number, hw::Cycles cycle) {
  stepping_ = true;
  step_.cycle = cycle;
  step_.time = nodes_[number / kStages]->clock.edge(cycle);
  step_.number = number;
  step_.stage = &stage_of(number);
  step_.taken.clear();
  step_.events.clear();
  step_.parents.clear();
  step_.passed.clear();
  step_.post = {};
  Stage& s = *step_.stage;
  if (!s.inputs.empty() || !s.outputs.empty()) return;
  for (; !s.wakings.empty() && s.wakings.front().due <= cycle; s.wakings.pop_front()) s.wake = s.wakings.front().cause;
}

// What the step has read by now; all of one token of each stream before the first event, which may be released by any.
void Recorder::take_inputs() {
  const size_t before = step_.taken.size();
  for (StreamTrack* input : step_.stage->inputs) {
    const auto known = [input](const Step::Taken& t) { return t.from == input; };
    if (!input->was_read(step_.cycle) || std::any_of(step_.taken.begin(), step_.taken.end(), known)) continue;
    step_.taken.push_back({input, input->read(step_.cycle)});
    tell_moved(*input);
  }
  for (size_t i = before; i < step_.taken.size(); i++) {
    const Step::Taken& t = step_.taken[i];
    const EventId event = event_of(t.token.tag);
    t.from->read_by(event ? event : add_read(t.token.tag));
    if (t.token.look.grant) note_grant(t.token.look, event_of(t.token.tag));
  }
}

void Recorder::write_outputs() {
  const std::vector<StreamTrack*>& outputs = step_.stage->outputs;
  for (size_t i = 0; i < outputs.size(); i++)
    if (outputs[i]->was_written(step_.cycle)) write(i);
}

void Recorder::write(size_t output) {
  Stage& s = *step_.stage;
  const TokenLook look = s.outputs[output]->look();
  const Written written = tag_of_written(look);
  EventId event = event_of(written.tag);
  if (!event) {
    const EventId kept = s.kept.empty() ? 0 : s.kept.back().event;
    const EventId from = s.takes_orders ? arrival(written.tag) : written.parent ? cut_from(written.parent, look) : kept;
    event = add_write(written.tag, output, from);
  }
  if (written.parent) step_.parents.push_back({written.parent, event});
  if (look.tag) step_.passed.push_back(written.tag);
  TrackedToken token;
  token.written = event;
  token.tag = written.tag;
  token.look = look;
  s.outputs[output]->write(token, step_.cycle);
  tell_moved(*s.outputs[output]);
  s.last_write[output] = event;
}

void Recorder::tell_moved(const StreamTrack& stream) {
  for (TraceListener* listener : listeners_) listener->moved(step_.number / kStages, stream, step_.cycle);
}

// A packet that is new gets its tag here. What carries none belongs to what the stage has taken and not passed on.
Recorder::Written Recorder::tag_of_written(const TokenLook& look) {
  const Stage& s = *step_.stage;
  const uint32_t own = look.tag ? look.tag->id : 0;
  if (s.takes_orders) return {own, 0};
  const bool cut = look.packet && ((own & kMessageBit) || own == 0 || (look.response && request_of(own) == own));
  if (own != 0 && !cut) return {own, 0};
  uint32_t parent = own;
  if (own == 0 && !s.kept.empty())
    parent = s.kept.back().tag;
  else if (own == 0 && !step_.taken.empty())
    parent = step_.taken.front().token.tag;
  if (!cut) return {parent, 0};
  const unsigned node = step_.number / kStages;
  packets_[node].push_back({message_of(parent), look.response ? parent : 0});
  look.tag->id = uint32_t(node << kPacketBits) | uint32_t(packets_[node].size() - 1);
  return {look.tag->id, parent};
}

void Recorder::end_step() {
  Stage& s = *step_.stage;
  if (step_.events.empty() && s.inputs.empty() && s.outputs.empty()) add_read(0);
  for (const Touched& t : step_.events) {
    s.touched[t.tag % s.touched.size()] = t;
    for (TraceListener* listener : listeners_) listener->step(step_.number, t.tag, step_.time);
  }
  for (const Touched& t : step_.parents) s.touched[t.tag % s.touched.size()] = t;
  if (!step_.events.empty()) s.last = step_.events.front().event;
  const auto passed = [this](const Touched& t) {
    return std::find(step_.passed.begin(), step_.passed.end(), t.tag) != step_.passed.end();
  };
  for (const Step::Taken& t : step_.taken) s.kept.push_back({t.token.tag, event_of(t.token.tag)});
  s.kept.erase(std::remove_if(s.kept.begin(), s.kept.end(), passed), s.kept.end());
  if (s.kept.size() > kMostKept) s.kept.erase(s.kept.begin(), s.kept.end() - kMostKept);
  for (const auto& [number, cycle] : woken_) {
    Stage& other = stage_of(number);
    if (other.inputs.empty() && other.outputs.empty()) other.wakings.push_back({cycle, s.last});
  }
  woken_.clear();
  held_.named = false;
  stepping_ = false;
  if (log_.chunk_begins()) forget();
}

}  // namespace sim
