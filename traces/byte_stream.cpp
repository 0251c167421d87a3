#include "traces/byte_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "traces/error.hpp"

namespace traces {
namespace {

constexpr size_t kCompressedBlock = size_t{256} << 10;

class FileStream : public ByteStream {
 public:
  static constexpr size_t kMagicSize = 4;

  explicit FileStream(const std::string& file) : name_(shown_name(file)), owned_(file != kStandardInput) {
    descriptor_ = owned_ ? open(file.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (descriptor_ < 0) fail(std::strerror(errno));
    struct stat status {};
    if (fstat(descriptor_, &status) == 0 && S_ISDIR(status.st_mode)) {
      close_owned();
      fail("is a directory");
    }
    while (magic_size_ < kMagicSize) {
      const size_t count = read_system(magic_.data() + magic_size_, kMagicSize - magic_size_);
      if (count == 0) break;
      magic_size_ += count;
    }
  }
  ~FileStream() override { close_owned(); }
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;

  // The first bytes of the file, which read() delivers too.
  bool begins_with(const std::array<uint8_t, kMagicSize>& magic, size_t count) const {
    return magic_size_ >= count && std::equal(magic.begin(), magic.begin() + count, magic_.begin());
  }
  const std::string& name() const { return name_; }

  size_t read(uint8_t* bytes, size_t capacity) override {
    if (magic_read_ == magic_size_) return read_system(bytes, capacity);
    const size_t count = std::min(capacity, magic_size_ - magic_read_);
    std::copy_n(magic_.data() + magic_read_, count, bytes);
    magic_read_ += count;
    return count;
  }

 private:
  size_t read_system(uint8_t* bytes, size_t capacity) {
    while (true) {
      const ssize_t count = ::read(descriptor_, bytes, capacity);
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) fail(std::strerror(errno));
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(name_ + ": " + what + "; allowed: a pcap or pcapng file, plain or compressed by gzip or zstd");
  }

  void close_owned() const {
    if (owned_ && descriptor_ >= 0) close(descriptor_);
  }

  std::string name_;
  bool owned_;
  int descriptor_ = -1;
  std::array<uint8_t, kMagicSize> magic_{};
  size_t magic_size_ = 0;
  size_t magic_read_ = 0;
};

// Feeds a decoder from a file. Decoders say what went wrong through fail(), which waits until the bytes decoded before
// the fault have been delivered.
class DecompressedStream : public ByteStream {
 public:
  DecompressedStream(std::unique_ptr<FileStream> file, const char* format)
      : file_(std::move(file)), format_(format), input_(kCompressedBlock) {}

  size_t read(uint8_t* bytes, size_t capacity) final {
    size_t produced = 0;
    while (produced == 0 && !ended_ && error_.empty()) {
      if (used_ == filled_) refill();
      if (filled_ == 0) {
        if (inside_) fail("the file ends inside the compressed data");
        ended_ = true;
        break;
      }
      produced = decode(bytes, capacity);
    }
    if (produced == 0 && !error_.empty()) {
      ended_ = true;
      throw InputError(std::exchange(error_, ""));
    }
    return produced;
  }

 protected:
  // Decodes from input() into `bytes`, tells consume() and set_inside(), and returns the bytes produced.
  virtual size_t decode(uint8_t* bytes, size_t capacity) = 0;

  const uint8_t* input() const { return input_.data() + used_; }
  size_t input_size() const { return filled_ - used_; }
  void consume(size_t count) { used_ += count; }
  // The data is in the middle of a gzip member or zstd frame, so that the file must not end here.
  void set_inside(bool inside) { inside_ = inside; }
  void fail(const std::string& what) {
    error_ = file_->name() + ": " + format_ + " data (compressed offset " + std::to_string(before_ + used_) +
             "): " + what + "; allowed: a whole " + format_ + " file";
  }

 private:
  void refill() {
    before_ += filled_;
    used_ = 0;
    filled_ = file_->read(input_.data(), input_.size());
  }

  std::unique_ptr<FileStream> file_;
  const char* format_;
  std::vector<uint8_t> input_;
  size_t used_ = 0;
  size_t filled_ = 0;
  uint64_t before_ = 0;
  bool inside_ = false;
  bool ended_ = false;
  std::string error_;
};

class GzipStream : public DecompressedStream {
 public:
  explicit GzipStream(std::unique_ptr<FileStream> file) : DecompressedStream(std::move(file), "gzip") {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&inflate_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipStream() override { inflateEnd(&inflate_); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

 protected:
  size_t decode(uint8_t* bytes, size_t capacity) override {
    inflate_.next_in = const_cast<uint8_t*>(input());
    inflate_.avail_in = static_cast<uInt>(input_size());
    inflate_.next_out = bytes;
    inflate_.avail_out = static_cast<uInt>(std::min<size_t>(capacity, UINT32_MAX));
    const int result = inflate(&inflate_, Z_NO_FLUSH);
    consume(input_size() - inflate_.avail_in);
    set_inside(result != Z_STREAM_END);
    if (result == Z_STREAM_END) {
      inflateReset(&inflate_);  // a gzip file may hold several members, one behind the other
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      fail(inflate_.msg ? inflate_.msg : "the data is damaged");
    }
    return static_cast<size_t>(inflate_.next_out - bytes);
  }

 private:
  z_stream inflate_{};
};

class ZstdStream : public DecompressedStream {
 public:
  explicit ZstdStream(std::unique_ptr<FileStream> file)
      : DecompressedStream(std::move(file), "zstd"), context_(ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc();
  }

 protected:
  size_t decode(uint8_t* bytes, size_t capacity) override {
    ZSTD_inBuffer in = {input(), input_size(), 0};
    ZSTD_outBuffer out = {bytes, capacity, 0};
    const size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
    consume(in.pos);
    set_inside(result != 0);
    if (ZSTD_isError(result)) fail(ZSTD_getErrorName(result));
    return out.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
};

}  // namespace

std::string shown_name(const std::string& file) {
  return file == kStandardInput ? "standard input" : file;
}

std::unique_ptr<ByteStream> open_byte_stream(const std::string& file) {
  auto stream = std::make_unique<FileStream>(file);
  if (stream->begins_with({0x1f, 0x8b}, 2)) return std::make_unique<GzipStream>(std::move(stream));
  if (stream->begins_with({0x28, 0xb5, 0x2f, 0xfd}, 4)) return std::make_unique<ZstdStream>(std::move(stream));
  return stream;
}

}  // namespace traces
