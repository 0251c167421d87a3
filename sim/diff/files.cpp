#include "sim/diff/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "sim/config/error.hpp"

namespace sim {
namespace {

bool has(const RunFiles& run, const std::string& file) {
  return std::find(run.names.begin(), run.names.end(), file) != run.names.end();
}

bool is_decimal(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Reads a text file and refuses what is none of its kind.
class LineReader {
 public:
  explicit LineReader(const std::string& file) : file_(file), stream_(file, std::ios::binary) {
    if (!stream_) throw InputError(file + ": cannot be read");
  }
  virtual ~LineReader() = default;

  bool next() {
    if (!std::getline(stream_, line_)) {
      if (number_ == 0) refuse("no line", "one and more");
      return false;
    }
    number_++;
    if (stream_.eof()) refuse("a line that is cut off", "whole lines");
    check();
    return true;
  }
  const std::string& line() const { return line_; }

 protected:
  virtual void check() = 0;
  [[noreturn]] void refuse(const std::string& what, const std::string& allowed) const {
    throw InputError(fmt::format("{}:{}: {}; must be {}", file_, std::max<uint64_t>(number_, 1), what, allowed));
  }
  uint64_t number_ = 0;
  std::string line_;

 private:
  std::string file_;
  std::ifstream stream_;
};

class CounterReader : public LineReader {
 public:
  using LineReader::LineReader;

 private:
  void check() override {
    const size_t space = line_.find(' ');
    if (space == 0 || space == std::string::npos || !is_decimal(line_.substr(space + 1)))
      refuse("no counter", "a name, a space and a decimal number");
  }
};

class LatencyReader : public LineReader {
 public:
  using LineReader::LineReader;

 private:
  // Columns are numbers, or empty where there is nothing to tell, but for the name of the NIC.
  void check() override {
    constexpr const char* kHeading = "message,nic,qpn,index,bytes,post_ps,";
    if (number_ == 1) {
      columns_ = std::count(line_.begin(), line_.end(), ',');
      if (line_.rfind(kHeading, 0) != 0) refuse("another heading", std::string(kHeading) + "...");
      return;
    }
    const auto columns = std::count(line_.begin(), line_.end(), ',');
    if (columns != columns_)
      refuse(fmt::format("{} columns", columns + 1), fmt::format("{}, as in the heading", columns_ + 1));
    const size_t nic = line_.find(','), behind = line_.find(',', nic + 1);
    if (!is_decimal(line_.substr(0, nic)) || line_.find_first_not_of("0123456789,", behind) != std::string::npos)
      refuse("a cell that is no number", "decimal numbers but for the NIC");
  }
  std::ptrdiff_t columns_ = 0;
};

template <class Reader>
void compare_lines(const RunFiles& a, const RunFiles& b, const std::string& file, std::vector<FileDiff>& list) {
  Reader in_a(a.file(file)), in_b(b.file(file));
  uint64_t line = 0, first = 0, different = 0;
  for (;;) {
    const bool more_a = in_a.next(), more_b = in_b.next();
    if (!more_a && !more_b) break;
    line++;
    if (more_a == more_b && in_a.line() == in_b.line()) continue;
    if (different++ == 0) first = line;
  }
  if (different != 0)
    list.push_back({file, fmt::format("{} of {} lines differ, the first is line {}", different, line, first)});
}

template <class Reader>
void check_lines(const RunFiles& run, const std::string& file) {
  for (Reader reader(run.file(file)); reader.next();) {
  }
}

template <class Reader>
void compare_text(const RunFiles& a, const RunFiles& b, const std::string& file, std::vector<FileDiff>& list) {
  if (has(a, file) && has(b, file)) return compare_lines<Reader>(a, b, file, list);
  check_lines<Reader>(has(a, file) ? a : b, file);
}

}  // namespace

std::vector<FileDiff> compare_files(const RunFiles& a, const RunFiles& b) {
  std::vector<std::string> all = a.names;
  for (const std::string& name : b.names)
    if (!has(a, name)) all.push_back(name);
  std::sort(all.begin(), all.end());
  std::vector<FileDiff> list;
  for (const std::string& name : all) {
    if (has(a, name) != has(b, name)) list.push_back({name, fmt::format("only {} has it", has(a, name) ? "A" : "B")});
    if (name == "counters.txt") compare_text<CounterReader>(a, b, name, list);
    if (name.rfind("latency", 0) == 0) compare_text<LatencyReader>(a, b, name, list);
  }
  return list;
}

}  // namespace sim
