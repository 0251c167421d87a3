#include "sim/cli/child.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>

#include "sim/config/error.hpp"

namespace sim {

namespace {

constexpr char kResult = 'r', kBadInput = 'i';

void write_all(int fd, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) _exit(1);
    if (n > 0) at += size_t(n);
  }
}

std::string read_all(int fd) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n == 0) return text;
    if (n > 0) text.append(buffer, size_t(n));
    if (n < 0 && errno != EINTR) throw std::runtime_error("cannot read from a child process");
  }
}

[[noreturn]] void child(int fd, const std::function<std::string()>& work) {
  try {
    write_all(fd, kResult + work());
  } catch (const InputError& error) {
    write_all(fd, kBadInput + std::string(error.what()));
  } catch (const std::exception& error) {
    fprintf(stderr, "balboa: %s\n", error.what());
    _exit(1);
  }
  fflush(stdout);
  _exit(0);
}

}  // namespace

std::string run_in_child(const std::function<std::string()>& work) {
  int ends[2];
  fflush(stdout);
  if (pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("cannot start a child process");
  if (pid == 0) {
    close(ends[0]);
    child(ends[1], work);
  }
  close(ends[1]);
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || text.empty())
    throw std::runtime_error("a simulation ended before its time");
  if (text[0] == kBadInput) throw InputError(text.substr(1));
  return text.substr(1);
}

}  // namespace sim
