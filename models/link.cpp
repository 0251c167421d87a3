#include "models/link.hpp"

namespace models {

void Link::receive(Frame&& frame) {
  frames++;
  bool lost = faults_.dropped.count(frames) != 0;
  if (faults_.packets) lost |= faults_.packets->loses(faults_.direction, frame.bytes, lost);
  if (lost) {
    dropped++;
    return;
  }
  frame.start += delay_;
  frame.delay += delay_;
  peer_.receive(std::move(frame));
}

}  // namespace models
