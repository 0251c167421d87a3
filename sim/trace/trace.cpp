#include "sim/trace/trace.hpp"

#include <fstream>

#include "sim/config/error.hpp"

namespace sim {

namespace {

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw OutputError(path + ": cannot be written");
}

}  // namespace

Trace::Trace(const TraceOptions& options) : options_(options) {
  if (options.account) account_ = std::make_unique<Account>(recorder_);
}

void Trace::finish() {
  if (account_) {
    text_ += account_->table();
    result_["account"] = account_->json();
  }
  if (options_.folder.empty()) return;
  if (account_) write_file(options_.folder + "/latency.csv", account_->latency_csv());
}

}  // namespace sim
