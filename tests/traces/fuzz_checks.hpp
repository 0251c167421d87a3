#pragma once

#include <string>

#include "traces/bytes.hpp"

namespace traces::test {

/// Reads the file, decodes, formats, counts and repairs its packets, and reads it again merged with itself. Returns
/// what must not be, or nothing: any file gives packets and at most one error line.
std::string problem_of_capture(const std::string& file);

/// Decodes a frame of each link type. Returns what must not be, or nothing.
std::string problem_of_frame(ByteSpan frame);

}  // namespace traces::test
