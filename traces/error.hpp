#pragma once

#include <stdexcept>

namespace traces {

/// An input file that cannot be used. what() is one line without a newline:
/// `FILE: where (packet N, offset): what is wrong; allowed: what would have been right`.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An output file that cannot be written. what() is one line: `FILE: what the system said`.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace traces
