// The synthesizability check against a corpus: one violation per file in bad/, each at the lines that say
// `finding: KIND`, and good.cpp without any.
#include "check.hpp"

#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "frontend.hpp"

namespace {

namespace fs = std::filesystem;

using Lines = std::set<std::pair<unsigned, std::string>>;

Lines expected_in(const fs::path& file) {
  Lines lines;
  std::ifstream in(file);
  std::string text;
  const std::regex mark("finding: ([a-z]+)");
  for (unsigned number = 1; std::getline(in, text); number++)
    for (std::sregex_iterator i(text.begin(), text.end(), mark), end; i != end; ++i) lines.insert({number, (*i)[1]});
  return lines;
}

Lines found_in(const fs::path& file) {
  llvm::LLVMContext context;
  const auto module = synth::compile(context, synth::Source{file.string(), {}, {}});
  if (!module) return {{0, "clang refused"}};
  Lines lines;
  for (const synth::Finding& f : synth::check(*module).sorted())
    lines.insert({fs::path(f.file).filename() == file.filename() ? f.line : 0, f.kind});
  return lines;
}

class Corpus : public testing::TestWithParam<fs::path> {};

TEST_P(Corpus, IsFlaggedAtItsLines) {
  const Lines expected = expected_in(GetParam());
  ASSERT_FALSE(expected.empty()) << "the file names no finding";
  EXPECT_EQ(found_in(GetParam()), expected);
}

std::vector<fs::path> bad_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(BALBOA_SYNTH_TESTS "/bad")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Bad, Corpus, testing::ValuesIn(bad_files()),
                         [](const auto& info) { return info.param.stem().string(); });

TEST(Check, LegalCodeHasNoFinding) {
  EXPECT_EQ(found_in(BALBOA_SYNTH_TESTS "/good.cpp"), Lines{});
}

}  // namespace
