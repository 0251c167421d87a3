// Compressed captures are read as the plain ones are, whole or damaged.

#include <zlib.h>
#include <zstd.h>

#include "support.hpp"
#include "traces/byte_source.hpp"

namespace traces {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes gzip(const Bytes& plain) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  Bytes packed(deflateBound(&stream, plain.size()) + 64);
  stream.next_in = const_cast<uint8_t*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

Bytes zstd(const Bytes& plain) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  Bytes packed(ZSTD_compressBound(plain.size()));
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), plain.data(), plain.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

struct Compression {
  const char* name;
  Bytes (*pack)(const Bytes&);
};

class Compressed : public testing::TestWithParam<Compression> {
 protected:
  Bytes plain_ = test::read_bytes(test::sample_capture());
  test::TemporaryFile file_{"packed"};
};
INSTANTIATE_TEST_SUITE_P(Formats, Compressed, testing::Values(Compression{"gzip", gzip}, Compression{"zstd", zstd}),
                         [](const auto& info) { return info.param.name; });

void expect_same(const test::Contents& contents, const test::Contents& expected) {
  ASSERT_EQ(contents.packets.size(), expected.packets.size());
  for (size_t i = 0; i < expected.packets.size(); ++i) {
    EXPECT_EQ(contents.packets[i].time_ns, expected.packets[i].time_ns);
    EXPECT_EQ(contents.packets[i].bytes, expected.packets[i].bytes);
  }
}

TEST_P(Compressed, IsReadAsThePlainFile) {
  test::write_bytes(file_.name(), GetParam().pack(plain_));
  const test::Contents contents = test::read_all(file_.name());
  EXPECT_EQ(contents.error, "");
  expect_same(contents, test::read_all(test::sample_capture()));
}

// As the tools write them when told to append, or with several threads.
TEST_P(Compressed, HoldsSeveralParts) {
  const auto middle = plain_.begin() + 100'000;
  Bytes packed = GetParam().pack({plain_.begin(), middle});
  const Bytes second = GetParam().pack({middle, plain_.end()});
  packed.insert(packed.end(), second.begin(), second.end());
  test::write_bytes(file_.name(), packed);
  const test::Contents contents = test::read_all(file_.name());
  EXPECT_EQ(contents.error, "");
  expect_same(contents, test::read_all(test::sample_capture()));
}

TEST_P(Compressed, DeliversWholePacketsBeforeEveryCut) {
  const Bytes packed = GetParam().pack(plain_);
  size_t previous = 0;
  for (size_t size = 5; size < packed.size(); size += 1009) {
    SCOPED_TRACE(size);
    test::write_bytes(file_.name(), {packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size)});
    const test::Contents contents = test::read_all(file_.name());
    EXPECT_GE(contents.packets.size(), previous);
    previous = contents.packets.size();
    test::expect_error_line(contents.error, file_.name());
    const std::string place =
        std::string(GetParam().name) + " data (compressed offset " + std::to_string(size) + "): the file ends inside";
    EXPECT_NE(contents.error.find(place), std::string::npos) << contents.error;
  }
  EXPECT_GT(previous, 0u);
}

TEST_P(Compressed, NamesDamage) {
  Bytes packed = GetParam().pack(plain_);
  for (size_t i = packed.size() / 2; i < packed.size() / 2 + 64; ++i) packed[i] ^= 0xa5;
  test::write_bytes(file_.name(), packed);
  test::expect_error_line(test::read_all(file_.name()).error, file_.name());
}

TEST_P(Compressed, NamesWhatFollowsTheData) {
  Bytes packed = GetParam().pack(plain_);
  packed.insert(packed.end(), {'t', 'r', 'a', 'i', 'l', 'e', 'r', '!', '.', '.', '.', '.'});
  test::write_bytes(file_.name(), packed);
  const test::Contents contents = test::read_all(file_.name());
  EXPECT_EQ(contents.packets.size(), 85u);
  test::expect_error_line(contents.error, file_.name());
}

TEST(ByteSource, SlidesAWindowOverALongFile) {
  test::TemporaryFile file("long");
  Bytes bytes(3 << 20);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 2654435761u >> 24);
  test::write_bytes(file.name(), bytes);
  ByteSource source(file.name());
  size_t offset = 0;
  for (size_t step = 1; offset < bytes.size(); step = step * 5 % 700'001) {
    const ByteSpan view = source.peek(step);
    ASSERT_GE(view.size, std::min(step, bytes.size() - offset));
    const size_t there = std::min(step, view.size);
    ASSERT_TRUE(std::equal(view.data, view.data + there, bytes.begin() + static_cast<std::ptrdiff_t>(offset)));
    ASSERT_EQ(source.skip(step), offset + step <= bytes.size());
    offset += there;
    ASSERT_EQ(source.offset(), offset);
  }
  EXPECT_EQ(source.peek(1).size, 0u);
}

TEST(ByteSource, SkipsFurtherThanItsWindow) {
  test::TemporaryFile file("long");
  test::write_bytes(file.name(), Bytes(3 << 20, 7));
  ByteSource source(file.name());
  EXPECT_TRUE(source.skip((3 << 20) - 1));
  EXPECT_EQ(source.peek(10).size, 1u);
  EXPECT_FALSE(source.skip(2));
}

}  // namespace
}  // namespace traces
