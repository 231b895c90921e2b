// Packed data: what zip archives and gzip files hold, right and damaged.
#include "formats/inflate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "formats/hostile.hpp"
#include "formats/zip.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint32_t checksum(const std::string& text) {
  uint32_t crc = 0xffffffff;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

// Deflate's form for what it does not pack: one block of at most 65,535 bytes.
std::string block(const std::string& text) {
  const auto size = static_cast<uint16_t>(text.size());
  return "\x01" + little(size) + little(static_cast<uint16_t>(~size)) + text;
}
std::string gzip(const std::string& text, uint32_t crc) {
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + block(text) + little(crc) +
         little(static_cast<uint32_t>(text.size()));
}
std::string gzip(const std::string& text) { return gzip(text, checksum(text)); }

// 100,000 letters: a fixed code's letter, and matches of 258 letters before it.
std::string letters_packed() {
  std::string out;
  uint32_t bits = 0, count = 0;
  const auto put = [&](uint32_t value, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) {
      bits |= (value >> i & 1) << count;
      if (++count == 8) out += static_cast<char>(bits), bits = count = 0;
    }
  };
  const auto code = [&](uint32_t value, uint32_t n) {  // Huffman codes begin with their highest bit
    for (uint32_t i = n; i-- > 0;) put(value >> i & 1, 1);
  };
  put(1, 1), put(1, 2);                                     // the last block, fixed codes
  code(0x30 + 'a', 8);                                      // a letter
  for (int i = 0; i < 387; ++i) code(0xc5, 8), code(0, 5);  // length 258, distance 1
  for (int i = 0; i < 153; ++i) code(0x30 + 'a', 8);
  code(0, 7);  // the end
  if (count > 0) put(0, 8 - count);
  return out;
}
const std::string letters(100000, 'a');
const uint32_t letters_sum = checksum(letters);

#define NEEDS_ZLIB()                                                                \
  if (const auto probe = gunzip(bytes_of(gzip("")), 0); !probe) {                   \
    ASSERT_EQ(probe.error().code, ErrorCode::unsupported) << probe.error().message; \
    GTEST_SKIP() << probe.error().message;                                          \
  }

TEST(Inflate, UnpacksWhatWasPacked) {
  NEEDS_ZLIB();
  const auto packed = letters_packed();
  ASSERT_LT(packed.size(), 1000u);
  const auto out = inflate(bytes_of(packed), letters.size(), letters_sum);
  ASSERT_TRUE(out.ok()) << out.error().message;
  EXPECT_EQ(text_of(*out), letters);
}

TEST(Inflate, OtherSizesAndChecksumsAreRefused) {
  NEEDS_ZLIB();
  const auto packed = letters_packed();
  for (const uint64_t size : {uint64_t{0}, uint64_t{99999}, uint64_t{100001}, uint64_t{1} << 62}) {
    const auto out = inflate(bytes_of(packed), size, letters_sum);
    ASSERT_FALSE(out.ok()) << size;
    EXPECT_EQ(out.error().code, ErrorCode::invalid_data);
  }
  EXPECT_THAT(inflate(bytes_of(packed), letters.size(), 1).error().message, HasSubstr("checksum"));
  EXPECT_FALSE(inflate(bytes_of(packed + "x"), letters.size(), letters_sum).ok());
}

TEST(Inflate, EveryCutIsAnError) {
  NEEDS_ZLIB();
  const auto packed = letters_packed();
  for (size_t n = 0; n < packed.size(); ++n)
    EXPECT_FALSE(inflate(bytes_of(packed.substr(0, n)), letters.size(), letters_sum).ok()) << n;
}

TEST(Inflate, NoChangedByteGivesOtherText) {
  NEEDS_ZLIB();
  const auto packed = letters_packed();
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    auto changed = packed;
    changed[random() % changed.size()] ^= static_cast<char>(1u << random() % 8);
    const auto out = inflate(bytes_of(changed), letters.size(), letters_sum);
    if (out) {
      EXPECT_EQ(text_of(*out), letters);
    }
  }
}

TEST(Gunzip, OneAndSeveralParts) {
  NEEDS_ZLIB();
  const auto one = gunzip(bytes_of(gzip("text of a file")), 100);
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(text_of(*one), "text of a file");
  const auto two = gunzip(bytes_of(gzip("text ") + gzip("of a file")), 14);
  ASSERT_TRUE(two.ok()) << two.error().message;
  EXPECT_EQ(text_of(*two), "text of a file");
  EXPECT_TRUE(is_gzip(bytes_of(gzip(""))));
  EXPECT_FALSE(is_gzip(bytes_of("\x1f")));
}

TEST(Gunzip, NoMoreThanTheBound) {
  NEEDS_ZLIB();
  const auto packed = std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + letters_packed() + little(letters_sum) +
                      little(static_cast<uint32_t>(letters.size()));
  EXPECT_TRUE(gunzip(bytes_of(packed), letters.size()).ok());
  EXPECT_THAT(gunzip(bytes_of(packed), letters.size() - 1).error().message, HasSubstr("more than the 99999 bytes"));
  EXPECT_FALSE(gunzip(bytes_of(gzip("text ") + gzip("of a file")), 13).ok());
  EXPECT_FALSE(gunzip(bytes_of(gzip("text", 5)), 4).ok());
  EXPECT_FALSE(gunzip(bytes_of(gzip("text") + "rest"), 40).ok());
  EXPECT_FALSE(gunzip({}, 40).ok());
}

TEST(Gunzip, StartsAreReadWhateverFollows) {
  NEEDS_ZLIB();
  const std::string whole = std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + letters_packed();
  const auto start = gunzip_start(bytes_of(whole), 32);
  ASSERT_TRUE(start.ok()) << start.error().message;
  EXPECT_EQ(start->size(), 32u);
  EXPECT_EQ(gunzip_start(bytes_of(gzip("text")), 32)->size(), 4u);
  EXPECT_TRUE(gunzip_start(bytes_of(whole), 0)->empty());
  EXPECT_FALSE(gunzip_start(bytes_of("no gzip"), 32).ok());
  EXPECT_EQ(inflate_start(bytes_of(letters_packed()), 20000)->size(), 20000u);
}

// ---- archives -------------------------------------------------------------------------------------------------------

class ZipFiles : public ::testing::Test {
 protected:
  TempDirectory dir_;
  Result<Files> open(const std::string& archive, const std::string& folder = "") {
    (void)dir_.write("archive", archive);
    LAPILLI_TRY(const auto file, File::open(dir_.path() + "/archive"));
    LAPILLI_TRY(auto source, make_zip_source(file, folder));
    return Files(std::move(source), "archive");
  }
  static ZipPart packed(const std::string& name) {
    return {.name = name, .data = letters_packed(), .method = 8, .unpacked = 100000, .crc = letters_sum};
  }
};

TEST_F(ZipFiles, StoredAndPackedOnesInAFolder) {
  NEEDS_ZLIB();
  const auto files = open(zip({{"f/", ""}, {"f/stored", "text"}, packed("f/packed")}), "f/");
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(*read_text_file(*files / "stored"), "text");
  EXPECT_EQ(*read_text_file(*files / "packed"), letters);
  EXPECT_FALSE((*files / "f/stored").there());
  EXPECT_FALSE((*files / "").there());
}

TEST_F(ZipFiles, SizesThatLieAreErrorsBeforeMemoryIsAsked) {
  NEEDS_ZLIB();
  for (const int64_t size : {99999L, 100001L}) {
    auto part = packed("packed");
    part.unpacked = size;
    const auto files = open(zip({part}));
    ASSERT_TRUE(files.ok()) << files.error().message;
    const auto file = File::open(*files / "packed");
    ASSERT_TRUE(file.ok());
    std::byte last[16];
    const auto read = file->read(static_cast<uint64_t>(size) - 16, last);
    ASSERT_FALSE(read.ok()) << size;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_data) << read.error().message;
    EXPECT_THAT(read.error().message, HasSubstr("packed"));
  }
}

TEST_F(ZipFiles, StartsAreUnpackedAlone) {
  NEEDS_ZLIB();
  auto part = packed("packed");
  part.crc = 0;
  const auto files = open(zip({part}));
  ASSERT_TRUE(files.ok()) << files.error().message;
  const auto file = File::open(*files / "packed");
  ASSERT_TRUE(file.ok());
  char first[16];
  ASSERT_TRUE(file->read(100, std::as_writable_bytes(std::span(first))).ok());
  EXPECT_EQ(std::string(first, 16), std::string(16, 'a'));
  EXPECT_THAT(file->read(50000, std::as_writable_bytes(std::span(first))).error().message, HasSubstr("checksum"));
}

// All members count together.
TEST_F(ZipFiles, NothingIsUnpackedOfWhatIsMadeToGrow) {
  auto part = packed("packed");
  part.unpacked = int64_t{65} << 20;
  EXPECT_THAT(open(zip({part})).error().message, HasSubstr("as no model's do"));
  part.unpacked = int64_t{40} << 20;
  EXPECT_TRUE(open(zip({part})).ok());
  auto other = part;
  other.name = "other";
  EXPECT_THAT(open(zip({part, other})).error().message, HasSubstr("as no model's do"));
}

TEST(MostUnpacked, IsAFactorAndSomeRoom) {
  EXPECT_EQ(most_unpacked(0), uint64_t{64} << 20);
  EXPECT_EQ(most_unpacked(1 << 20), uint64_t{164} << 20);
  EXPECT_EQ(most_unpacked(UINT64_MAX / 2), UINT64_MAX);
}

TEST_F(ZipFiles, NamesThatLeadElsewhere) {
  for (const std::string name : {"../x", "a/../../x", "/x", "a/..", "..\\x"}) {
    const auto files = open(zip({{name, "text"}}));
    ASSERT_FALSE(files.ok()) << name;
    EXPECT_THAT(files.error().message, HasSubstr("outside the archive"));
  }
  EXPECT_TRUE(open(zip({{"a..b/..c", "text"}})).ok());
}

TEST_F(ZipFiles, OtherMethodsAreNamed) {
  EXPECT_THAT(open(zip({{.name = "x", .data = "text", .method = 14}})).error().message, HasSubstr("method 14"));
}

TEST_F(ZipFiles, TheFolderOfAll) {
  const auto folder = [&](const std::string& archive) {
    (void)dir_.write("archive", archive);
    const auto file = File::open(dir_.path() + "/archive");
    const auto entries = read_zip(*file);
    return entries ? folder_of_all(*entries) : entries.error().message;
  };
  EXPECT_EQ(folder(zip({{"f/a", ""}, {"f/b/c", ""}})), "f/");
  EXPECT_EQ(folder(zip({{"f/a", ""}, {"g/c", ""}})), "");
  EXPECT_EQ(folder(zip({{"f", ""}})), "");
  EXPECT_EQ(folder(zip({})), "");
}

}  // namespace
}  // namespace lapilli
