// The file of vectors of lines: what is written comes back, and no damage goes unseen.
#include "vectors/line_index.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "support/temp_directory.hpp"
#include "vectors/file_part.hpp"

namespace lapilli::vectors {
namespace {

constexpr uint32_t kDimensions = 5;
const IndexAbout kAbout = {"settings", "a\t1\t2\n", kDimensions};

std::vector<Fingerprint> fingerprints(size_t count) {
  std::vector<Fingerprint> made;
  for (size_t i = 0; i < count; ++i) made.push_back(fingerprint_of("line " + std::to_string(i)));
  return made;
}

std::vector<float> vector_of(size_t line) {
  std::vector<float> values;
  for (uint32_t d = 0; d < kDimensions; ++d) values.push_back(static_cast<float>(line) + 0.25f * static_cast<float>(d));
  return values;
}

// Every third line has failed.
void write_lines(const std::string& path, size_t lines, size_t done) {
  const auto writer = IndexWriter::begin(path, kAbout, fingerprints(lines));
  ASSERT_TRUE(writer);
  for (size_t i = 0; i < done; ++i)
    ASSERT_TRUE(i % 3 == 2 ? writer->fail("why " + std::to_string(i)) : writer->add(vector_of(i)));
  ASSERT_TRUE(writer->finish());
}

std::string why_not(const std::string& path, const IndexAbout& about = kAbout) {
  std::string why;
  const auto index = LineIndex::open(path, about, why);
  EXPECT_EQ(index.has_value(), why.empty());
  return why;
}

TEST(LineIndex, WhatIsWrittenComesBack) {
  const TempDirectory folder;
  const std::string path = folder.path() + "/index";
  for (const auto& [lines, done] : {std::pair<size_t, size_t>{10, 10}, {10, 7}, {1, 1}, {0, 0}}) {
    write_lines(path, lines, done);
    std::string why;
    const auto index = LineIndex::open(path, kAbout, why);
    ASSERT_TRUE(index) << why;
    const auto all = fingerprints(done);
    ASSERT_TRUE(std::equal(all.begin(), all.end(), index->lines().begin(), index->lines().end()));
    size_t row = 0;
    for (size_t i = 0, failed = 0; i < done; ++i) {
      if (i % 3 == 2) {
        EXPECT_EQ(index->failures()[failed].line, i);
        EXPECT_EQ(index->failures()[failed++].why, "why " + std::to_string(i));
        continue;
      }
      const auto wanted = vector_of(i);
      const auto found = index->vectors().subspan(kDimensions * row++, kDimensions);
      EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), found.begin())) << i;
    }
    EXPECT_EQ(index->vectors().size(), row * kDimensions);
    EXPECT_EQ(index->failures().size(), done / 3);
  }
}

TEST(LineIndex, AnotherOrNoneSaysSo) {
  const TempDirectory folder;
  const std::string path = folder.path() + "/index";
  std::string why = "something";
  EXPECT_FALSE(LineIndex::open(path, kAbout, why));
  EXPECT_EQ(why, "");
  write_lines(path, 4, 4);
  EXPECT_NE(why_not(path, {"other settings", "", kDimensions}).find("other settings"), std::string::npos);
  EXPECT_NE(why_not(path, {"settings", "", kDimensions + 1}), "");
  EXPECT_EQ(why_not(path, {"settings", "other names", kDimensions}), "");
}

TEST(LineIndex, EveryBitCounts) {
  const TempDirectory folder;
  const std::string path = folder.path() + "/index";
  write_lines(path, 6, 6);
  const std::string whole = read_file(path);
  // Nothing reads the gap between the fingerprints and the vectors.
  const size_t gap = 128 + 16 + 6 * sizeof(Fingerprint);
  for (size_t at = 0; at < whole.size(); at = at + 1 == gap ? 4096 : at + 1) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    EXPECT_NE(why_not(folder.write("damaged", damaged)), "") << at;
  }
}

TEST(LineIndex, EveryLengthCounts) {
  const TempDirectory folder;
  const std::string path = folder.path() + "/index";
  write_lines(path, 6, 6);
  const std::string whole = read_file(path);
  for (size_t bytes = 0; bytes < whole.size(); bytes += bytes < 512 ? 1 : 37)
    EXPECT_NE(why_not(folder.write("cut", whole.substr(0, bytes))), "") << bytes;
  EXPECT_NE(why_not(folder.write("longer", whole + "x")), "");
  EXPECT_NE(why_not(folder.path()), "");
}

// Sizes that overflow, order and version: each field of the head with values that lie.
TEST(LineIndex, HostileHeads) {
  const TempDirectory folder;
  const std::string path = folder.path() + "/index";
  write_lines(path, 6, 6);
  const std::string whole = read_file(path);
  for (size_t at = 0; at < 128; at += 4) {
    for (const uint64_t value :
         {~uint64_t{0}, uint64_t{1} << 63, uint64_t{1} << 60, uint64_t{0x04030201}, uint64_t{7}}) {
      for (const size_t bytes : {4, 8}) {
        std::string lying = whole;
        if (at + bytes > 128) continue;
        std::memcpy(lying.data() + at, &value, bytes);
        if (lying == whole) continue;
        EXPECT_NE(why_not(folder.write("lying", lying)), "") << at << " " << value;
      }
    }
  }
  std::string other = whole;
  std::swap(other[8], other[11]);
  std::swap(other[9], other[10]);
  EXPECT_NE(why_not(folder.write("other", other)).find("byte order"), std::string::npos);
}

TEST(LineIndex, AFileThatIsNotCompleteIsNone) {
  const TempDirectory folder;
  const std::string path = folder.path() + "/index";
  write_lines(path, 3, 3);
  const std::string before = read_file(path);
  {
    const auto writer = IndexWriter::begin(path, kAbout, fingerprints(9));
    ASSERT_TRUE(writer);
    EXPECT_TRUE(writer->add(vector_of(0)));
    EXPECT_TRUE(std::filesystem::exists(path + ".part"));
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  EXPECT_EQ(read_file(path), before);
  EXPECT_FALSE(IndexWriter::begin(folder.path() + "/missing/index", kAbout, fingerprints(1)));
}

TEST(LineIndex, OtherFilesAreNotWrittenOver) {
  const TempDirectory folder;
  write_lines(folder.path() + "/index", 3, 3);
  EXPECT_TRUE(may_be_written(folder.path() + "/index"));
  EXPECT_TRUE(may_be_written(folder.path() + "/none"));
  EXPECT_TRUE(may_be_written(folder.write("empty", "")));
  EXPECT_FALSE(may_be_written(folder.write("notes", "a note\n")));
  EXPECT_FALSE(may_be_written(folder.path()));
}

TEST(LineIndex, OneHolderAtATime) {
  const TempDirectory folder;
  const std::string path = folder.path() + "/index";
  auto held = hold_index(path);
  ASSERT_TRUE(held);
  EXPECT_FALSE(hold_index(path));
  EXPECT_EQ(errno, EWOULDBLOCK);
  held.reset();
  EXPECT_TRUE(hold_index(path));
}

TEST(Fingerprints, PartsDoNotMatterAndEachBitDoes) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (size_t size = 0; size <= text.size(); ++size) {
    const std::string_view part = std::string_view(text).substr(0, size);
    Fingerprinter made;
    for (size_t at = 0; at < size; at += 1 + at % 9) made.add(part.substr(at, 1 + at % 9));
    EXPECT_EQ(made.result(), fingerprint_of(part)) << size;
    EXPECT_NE(fingerprint_of(part), fingerprint_of("x" + std::string(part)));
    EXPECT_NE(fingerprint_of(part), fingerprint_of(std::string(part) + '\0'));
  }
  // The same bit of two words, which sums that merely add would not see.
  for (size_t at = 0; at + 64 < text.size(); ++at) {
    std::string other = text;
    other[at] = static_cast<char>(other[at] ^ 0x80);
    EXPECT_NE(fingerprint_of(other), fingerprint_of(text));
    other[at + 64] = static_cast<char>(other[at + 64] ^ 0x80);
    EXPECT_NE(fingerprint_of(other), fingerprint_of(text));
  }
  EXPECT_EQ(fingerprint_of("a").hex().size(), 32u);
}

TEST(FileParts, ReadsWhatIsThere) {
  const TempDirectory folder;
  const std::string a = folder.write("a", "0123456789"), b = folder.write("b", "abc");
  FileParts parts;
  EXPECT_EQ(parts.read(a, 3, 4).value_or(""), "3456");
  EXPECT_EQ(parts.read(b, 0, 3).value_or(""), "abc");
  EXPECT_EQ(parts.read(a, 9, 1).value_or(""), "9");
  EXPECT_FALSE(parts.read(a, 9, 2));
  EXPECT_FALSE(parts.read(folder.path() + "/none", 0, 1));
}

}  // namespace
}  // namespace lapilli::vectors
