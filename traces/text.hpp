#pragma once

#include <string>

namespace traces {

/// printf into a string.
__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...);

}  // namespace traces
