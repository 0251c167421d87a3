#pragma once

#include <stdexcept>

namespace sim {

/// Input that cannot be used: a key, a value, a file, an option. what() is one line without a newline:
/// `WHERE: what is wrong and what is allowed`. The program ends with exit code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file or folder that cannot be written. what() is one line: `PATH: what the system said`.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace sim
