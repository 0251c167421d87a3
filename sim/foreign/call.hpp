// A function that may be left in the middle and resumed: a stage's code that blocks on a stream.
#pragma once
#include <boost/context/fiber.hpp>
#include <functional>
#include <utility>

#include "hw/bus/beat.hpp"

namespace foreign {

class Call {
 public:
  explicit Call(std::function<void()> code) : code_(std::move(code)) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Runs the code from its beginning, or from where it waits, to its end or its next wait.
  void run() {
    if (!inside_)
      inside_ = boost::context::fiber([this](boost::context::fiber&& caller) { return loop(std::move(caller)); });
    inside_ = std::move(inside_).resume();
  }
  hw::Tag tag;  // of the token that the code read last

  // Called by the code: back to the caller, until it runs the call again.
  void wait() { caller_ = std::move(caller_).resume(); }

 private:
  boost::context::fiber loop(boost::context::fiber&& caller) {
    caller_ = std::move(caller);
    for (;;) {
      code_();
      wait();
    }
  }

  std::function<void()> code_;
  boost::context::fiber inside_, caller_;
};

}  // namespace foreign
