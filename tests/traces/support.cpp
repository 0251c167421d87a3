#include "support.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

namespace traces::test {

namespace fs = std::filesystem;

fs::path sample(const std::string& name) {
  return fs::path(BALBOA_SOURCE_DIR) / "traces/samples" / name;
}

fs::path sample_capture() {
  return sample("pt_write_bw.pcap");
}

fs::path shared_folder() {
  const char* variable = std::getenv("BALBOA_SHARED");
  const fs::path folder = variable ? fs::path(variable) : fs::path(BALBOA_SOURCE_DIR) / "../shared";
  return fs::is_directory(folder / "captures") ? fs::canonical(folder) : fs::path();
}

std::vector<fs::path> captures_in(const std::string& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(shared_folder() / "captures" / folder)) {
    const std::string extension = entry.path().extension();
    if (extension == ".pcap" || extension == ".pcapng") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TemporaryFile::TemporaryFile(const std::string& name) : name_(name) {
  std::string pattern = (fs::temp_directory_path() / "balboa-traces-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("cannot create a folder like " + pattern);
  folder_ = pattern;
}

TemporaryFile::~TemporaryFile() {
  fs::remove_all(folder_);
}

std::vector<uint8_t> read_bytes(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void write_bytes(const std::string& file, const std::vector<uint8_t>& bytes) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void append(std::vector<uint8_t>& bytes, bool big_endian, size_t width, std::initializer_list<uint64_t> numbers) {
  for (uint64_t number : numbers) {
    for (size_t i = 0; i < width; ++i)
      bytes.push_back(static_cast<uint8_t>(number >> (8 * (big_endian ? width - 1 - i : i))));
  }
}

std::vector<std::string> lines_of(const std::string& command) {
  const auto close = [](std::FILE* pipe) { pclose(pipe); };
  std::unique_ptr<std::FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  std::string output;
  char block[65536];
  while (const size_t count = std::fread(block, 1, sizeof block, pipe.get())) output.append(block, count);
  std::vector<std::string> lines;
  for (size_t start = 0; start < output.size();) {
    const size_t end = std::min(output.find('\n', start), output.size());
    lines.push_back(output.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

Contents read_all(const std::string& file) {
  Contents contents;
  try {
    PcapReader reader(file);
    while (std::optional<Packet> packet = reader.next()) contents.packets.push_back(std::move(*packet));
  } catch (const InputError& error) {
    contents.error = error.what();
  }
  return contents;
}

void expect_error_line(const std::string& line, const std::string& file) {
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  EXPECT_EQ(line.rfind(file + ": ", 0), 0u) << line;
  EXPECT_NE(line.find("; allowed: "), std::string::npos) << line;
}

}  // namespace traces::test
