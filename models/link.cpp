#include "models/link.hpp"

namespace models {

void Link::receive(Frame&& frame) {
  frames++;
  if (faults_.dropped.count(frames) != 0) {
    dropped++;
    return;
  }
  frame.start += delay_;
  frame.delay += delay_;
  peer_.receive(std::move(frame));
}

}  // namespace models
