// Unpacking of gzip and zstd in small steps, of whole and of damaged inputs.
#include "shards/unpacker.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#if defined(LAPILLI_HAVE_ZLIB)
#include <zlib.h>
#endif
#if defined(LAPILLI_HAVE_ZSTD)
#include <zstd.h>
#endif

namespace lapilli::shards {
namespace {

struct Unpacked {
  std::string text, wrong;
};

// `step`: bytes that come at a time, and that there is room for.
Unpacked unpack(const std::string& packed, size_t step) {
  Unpacked result;
  const auto unpacker = unpacker_for(packed, result.wrong);
  if (!unpacker) return result;
  std::vector<char> room(step);
  for (size_t at = 0; at < packed.size() && result.wrong.empty(); at += step) {
    std::string_view part = std::string_view(packed).substr(at, step);
    while (const size_t made = unpacker->unpack(part, room.data(), room.size())) result.text.append(room.data(), made);
    result.wrong = unpacker->wrong();
    EXPECT_TRUE(part.empty() || !result.wrong.empty());
  }
  if (result.wrong.empty() && !unpacker->may_end()) result.wrong = "cut off";
  return result;
}

std::string some_text(size_t lines) {
  std::mt19937 random(7);
  std::string text;
  for (size_t i = 0; i < lines; ++i) text += "line " + std::to_string(random() % 1000) + "\n";
  return text;
}

// Whole ones in steps of all sizes; cut off ones are an error; others with a byte changed end, in whatever way.
void expect_unpacked(const std::string& packed, const std::string& text) {
  ASSERT_TRUE(is_packed(packed));
  for (const size_t step : {1u, 7u, 100u, 65536u}) {
    const Unpacked whole = unpack(packed, step);
    EXPECT_EQ(whole.wrong, "");
    EXPECT_TRUE(whole.text == text) << step;
  }
  for (const size_t cut : {packed.size() - 1, packed.size() / 2, size_t{5}})
    EXPECT_NE(unpack(packed.substr(0, cut), 64).wrong, "") << cut;
  std::mt19937 random(8);
  for (size_t i = 0; i < 300; ++i) {
    std::string damaged = packed;
    damaged[4 + random() % (damaged.size() - 4)] ^= static_cast<char>(1 + random() % 255);
    (void)unpack(damaged, 4096);
  }
}

#if defined(LAPILLI_HAVE_ZLIB)
std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(Unpacker, Gzip) {
  const std::string text = some_text(3000);
  expect_unpacked(gzip(text), text);
  // Members one behind the other, an empty one, and zeros at the end.
  expect_unpacked(gzip(text) + gzip("") + gzip("last"), text + "last");
  EXPECT_EQ(unpack(gzip(text) + std::string(512, '\0'), 100).text, text);
  EXPECT_EQ(unpack(gzip(text) + std::string(512, '\0'), 100).wrong, "");
  EXPECT_NE(unpack(gzip(text) + "and more", 100).wrong, "");
  // Content that unpacks to a thousand times as much comes in parts.
  const std::string much(size_t{1} << 24, 'x');
  EXPECT_TRUE(unpack(gzip(much), 1000).text == much);
}
#endif

#if defined(LAPILLI_HAVE_ZSTD)
std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

TEST(Unpacker, Zstd) {
  const std::string text = some_text(3000);
  expect_unpacked(zstd(text), text);
  expect_unpacked(zstd(text) + zstd("") + zstd("last"), text + "last");
  const std::string much(size_t{1} << 24, 'x');
  EXPECT_TRUE(unpack(zstd(much), 1000).text == much);
}

// A frame that asks for a window of gigabytes is refused before memory is taken.
TEST(Unpacker, HugeWindows) {
  EXPECT_NE(unpack(std::string("\x28\xb5\x2f\xfd\x00\xf8", 6) + some_text(10), 4096).wrong, "");
}
#endif

TEST(Unpacker, NamesWithoutTheirEnding) {
  EXPECT_EQ(unpacked_name("a/letter.txt.gz"), "a/letter.txt");
  EXPECT_EQ(unpacked_name("letter.jsonl.zst"), "letter.jsonl");
  EXPECT_EQ(unpacked_name("letter.txt"), "letter.txt");
  EXPECT_EQ(unpacked_name(".gz"), ".gz");
  EXPECT_FALSE(is_packed("plain"));
  EXPECT_FALSE(is_packed(""));
}

}  // namespace
}  // namespace lapilli::shards
