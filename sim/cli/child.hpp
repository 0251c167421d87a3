// SystemC simulates once a process: a command that simulates several times does it in children.
#pragma once
#include <functional>
#include <string>

namespace sim {

// Runs `work` in a child process and returns the text that it returned. What it throws as InputError is thrown here;
// a child that dies otherwise throws std::runtime_error.
std::string run_in_child(const std::function<std::string()>& work);

}  // namespace sim
