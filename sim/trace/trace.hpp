// Everything that is traced of a run, behind one object: which of it is wanted, its files, and what to print.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/trace/account.hpp"
#include "sim/trace/ladder.hpp"
#include "sim/trace/options.hpp"
#include "sim/trace/recorder.hpp"
#include "sim/trace/timeline.hpp"
#include "sim/trace/waves.hpp"

namespace sim {

class Trace {
 public:
  explicit Trace(const TraceOptions& options);

  Recorder& recorder() { return recorder_; }
  // Null when none is asked for.
  Ladder* ladder() { return ladder_.get(); }

  // For when all stages are there: throws InputError when none of them fits --trace-stages.
  void begin() const;
  // For after the run, while its nodes are still there: writes the files, throws OutputError, and makes text and
  // result.
  void finish();
  // What to print, and members for result.json; empty without --account and --ladder.
  const std::string& text() const { return text_; }
  const nlohmann::ordered_json& result() const { return result_; }

 private:
  void warn_if_empty(const char* what, bool empty) const;

  TraceOptions options_;
  TraceWindow window_;
  Recorder recorder_;
  std::unique_ptr<Account> account_;
  std::unique_ptr<Timeline> timeline_;
  std::unique_ptr<Waves> waves_;
  std::unique_ptr<Ladder> ladder_;
  std::string text_;
  nlohmann::ordered_json result_ = nlohmann::ordered_json::object();
};

}  // namespace sim
