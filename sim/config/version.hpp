#pragma once

namespace sim {

/// "0.1.0", from the project's CMakeLists.txt.
const char* version();

}  // namespace sim
