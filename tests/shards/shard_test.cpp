// Shards of inputs: names, ranges, and the lines that belong to each.
#include "shards/shard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace lapilli::shards {
namespace {

using Random = std::mt19937;

size_t below(Random& random, size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); }

std::string random_line(Random& random) {
  static const std::vector<std::string> kParts = {
      "a", "word ", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x9a\x80", "\r", "\0x", "\xff", ".", "\t"};
  std::string line;
  const size_t parts = below(random, 12) == 0 ? below(random, 400) : below(random, 12);
  for (size_t i = 0; i < parts; ++i) line += kParts[below(random, kParts.size())];
  return line;
}

// Files of all kinds: empty, one giant line, CRLF, no last newline, nothing but line ends, characters of several bytes.
std::string random_file(Random& random) {
  switch (below(random, 12)) {
    case 0: return "";
    case 1: return std::string(1 + below(random, 5000), 'x') + (below(random, 2) ? "\n" : "");
    case 2: return std::string(below(random, 60), '\n');
    default: break;
  }
  const std::string end = below(random, 3) == 0 ? "\r\n" : "\n";
  std::string file;
  for (size_t lines = 1 + below(random, 40); lines > 0; --lines) file += random_line(random) + end;
  if (below(random, 2)) file += random_line(random);
  return file;
}

// In parts, as a file is read.
Piece piece_of(const std::string& file, const ByteRange& range, Random& random) {
  PieceFinder finder(range);
  for (size_t at = 0; at < file.size() && !finder.is_over();) {
    const size_t part = 1 + below(random, 200);
    finder.add(std::string_view(file).substr(at, part));
    at += part;
  }
  return finder.finish();
}

uint64_t lines_in(const std::string& text) {
  const auto ends = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

// Joined shards are the inputs; each begins where a line begins, and knows how many lines came before.
void expect_every_line_once(const std::vector<std::string>& files, uint32_t count, Random& random) {
  uint64_t bytes = 0;
  for (const std::string& file : files) bytes += file.size();
  std::vector<std::string> joined(files.size());
  for (uint32_t number = 0; number < count; ++number) {
    const ByteRange range = range_of({number, count}, bytes);
    uint64_t first = 0;
    for (size_t i = 0; i < files.size(); first += files[i++].size()) {
      const ByteRange inside = within(range, first, files[i].size());
      if (inside.begin >= inside.end) continue;
      const Piece piece = piece_of(files[i], inside, random);
      const std::string text = files[i].substr(piece.begin, piece.end - piece.begin);
      ASSERT_EQ(piece.lines, lines_in(text));
      if (piece.lines == 0) continue;
      ASSERT_EQ(piece.begin, joined[i].size());
      ASSERT_EQ(piece.lines_before, lines_in(joined[i]));
      ASSERT_TRUE(piece.end == files[i].size() || text.back() == '\n');
      Hash hash;
      hash.add(text);
      ASSERT_EQ(piece.hash, hash.text());
      joined[i] += text;
    }
  }
  ASSERT_EQ(joined, files);
}

TEST(Shards, EveryLineIsInOne) {
  Random random(43);
  for (size_t i = 0; i < 2000; ++i) {
    std::vector<std::string> files;
    for (size_t n = below(random, 4) == 0 ? 1 + below(random, 6) : 1; n > 0; --n) files.push_back(random_file(random));
    const auto count = static_cast<uint32_t>(1 + (i < 50 ? i : below(random, 50)));
    ASSERT_NO_FATAL_FAILURE(expect_every_line_once(files, count, random)) << "file " << i << " in " << count;
  }
}

TEST(Shards, SmallFilesInAllNumbersOfShards) {
  Random random(44);
  for (const std::string file : {"", "\n", "a", "a\n", "a\r\nb", "\n\n", "ab\ncd\n", "\xf0\x9f\x9a\x80\n\xc3\xa9"})
    for (uint32_t count = 1; count <= 50; ++count) expect_every_line_once({file, "", file}, count, random);
}

TEST(Shards, RangesMeetAndHaveOneSize) {
  constexpr uint64_t kLarge = uint64_t{1} << 62;
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{999}, kLarge + 12345}) {
    for (const uint32_t count : {1u, 3u, 50u, 1'000'000u}) {
      uint64_t end = 0;
      const uint32_t step = count > 1000 ? 99'991 : 1;
      for (uint32_t i = 0; i < count; i += step) {
        const ByteRange range = range_of({i, count}, bytes);
        if (step == 1) {
          EXPECT_EQ(range.begin, end);
        }
        end = range.end;
        if (i + 1 < count) {
          EXPECT_LE(range.end - range.begin, bytes / count + 1);
        }
        EXPECT_LE(range.begin, bytes);
      }
      EXPECT_TRUE(range_of({count - 1, count}, bytes).holds(bytes));
    }
  }
}

TEST(Shards, NamesAreReadBack) {
  EXPECT_EQ(stem_of({3, 10}), "part-3-of-10");
  for (const char* name : {"part-3-of-10.txt", "part-3-of-10", "part-0-of-1.rejected.jsonl"}) {
    const auto found = part_name(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(stem_of(found->shard) + found->ending, name);
  }
  for (const char* name : {"part-10-of-10.txt", "part-03-of-10.txt", "part--of-10", "part-3-of-", "part-3-of-0",
                           "part-3.txt", "shards.json", "part-3-of-99999999999999999999", "part-+3-of-10", ""})
    EXPECT_FALSE(part_name(name)) << name;
}

}  // namespace
}  // namespace lapilli::shards
