// Files of pictures: what is read, what is refused before memory is asked for, and damaged ones.
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <memory>

#include "image/mutants.hpp"
#include "image/picture.hpp"
#include "image/png_bytes.hpp"
#include "image/stb.hpp"
#include "support/limited_child.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::image {
namespace {

std::vector<uint8_t> gradient(uint32_t width, uint32_t height, uint32_t channels) {
  std::vector<uint8_t> pixels(size_t{width} * height * channels);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 7);
  return pixels;
}

Result<Picture> decode(const std::string& file) { return decode_picture(std::as_bytes(std::span(file)), "a.png"); }

std::string png(uint32_t width, uint32_t height, uint32_t channels) {
  const auto file = encode_png(width, height, channels, gradient(width, height, channels));
  return {file->begin(), file->end()};
}

TEST(PictureFile, ReadsWhatIsThere) {
  const auto picture = decode(png(5, 3, 3));
  ASSERT_TRUE(picture.ok()) << picture.error().message;
  EXPECT_EQ(picture->width, 5u);
  EXPECT_EQ(picture->height, 3u);
  EXPECT_EQ(picture->rgb, gradient(5, 3, 3));
}

TEST(PictureFile, GreyHasThreeChannelsAndTransparencyIsDropped) {
  const auto grey = decode(png(2, 2, 1)), clear = decode(png(1, 1, 4));
  ASSERT_TRUE(grey.ok() && clear.ok());
  EXPECT_EQ(grey->rgb, (std::vector<uint8_t>{0, 0, 0, 7, 7, 7, 14, 14, 14, 21, 21, 21}));
  EXPECT_EQ(clear->rgb, (std::vector<uint8_t>{0, 7, 14}));
}

// The header alone says it: nothing follows that would unpack to so much.
TEST(PictureFile, RefusesLargeOnesByTheirHeader) {
  for (const auto& [width, height] : {std::pair{20'000u, 20'000u}, {70'000u, 1u}, {1u, 16'000'000u}}) {
    const auto picture = decode(png_of(width, height, ""));
    ASSERT_FALSE(picture.ok());
    EXPECT_EQ(picture.error().code, ErrorCode::unsupported) << picture.error().message;
    EXPECT_NE(picture.error().message.find("make it smaller"), std::string::npos) << picture.error().message;
  }
}

// 256 MiB of zeros behind a header of 4 by 4 pixels.
TEST(PictureFile, StopsUnpackingABomb) {
  const auto picture = decode(png_of(4, 4, zlib_zeros(uint64_t{1} << 28)));
  ASSERT_FALSE(picture.ok());
  EXPECT_NE(picture.error().message.find("a.png cannot be read: outofmem"), std::string::npos)
      << picture.error().message;
}

TEST(PictureFile, SaysWhatIsNoPicture) {
  for (const std::string& file :
       {std::string(), std::string("no picture"), std::string("\x89PNG\r\n\x1a\n"), std::string("GIF89a")}) {
    const auto picture = decode(file);
    ASSERT_FALSE(picture.ok());
    EXPECT_EQ(picture.error().code, ErrorCode::invalid_data);
    EXPECT_NE(picture.error().message.find("a.png"), std::string::npos);
  }
  const std::string good = png(40, 40, 3);
  EXPECT_FALSE(decode(good.substr(0, good.size() / 2)).ok());
}

TEST(PictureFile, ReadsFilesAndNamesThem) {
  const TempDirectory dir;
  const auto picture = read_picture(dir.write("one.png", png(1, 1, 3)));
  ASSERT_TRUE(picture.ok()) << picture.error().message;
  EXPECT_EQ(picture->rgb.size(), 3u);
  const auto missing = read_picture(dir.path() + "/none.png");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("none.png"), std::string::npos);
}

constexpr int kMutants = 3500;  // of each of three files of a kind: over 10,000

TEST(PictureMutation, Png) {
  for (const uint32_t channels : {1u, 3u, 4u})
    EXPECT_EQ(mutants_in_child(png(13, 11, channels), kMutants, true), "") << channels;
}

// The child has the limit, and what goes wrong in it is told.
TEST(PictureMutation, TheChildIsLimited) {
  const auto nothing_opens = [] { return try_mutants("no picture", 200); };
  EXPECT_EQ(test::in_limited_child(kMemory, 60, nothing_opens), "exit code 4");
  EXPECT_EQ(test::in_limited_child(kMemory, 60, [] { return raise(SIGKILL); }), "ended by signal 9");
  if (!test::kMemoryLimited) return;
  // By a pointer that compilers do not see through: an allocation that nobody uses they may leave out.
  const auto greedy = [] {
    void* (*volatile allocate)(size_t) = std::malloc;
    return std::unique_ptr<void, decltype(&std::free)>(allocate(2 * kMemory), std::free) ? 0 : 5;
  };
  EXPECT_EQ(test::in_limited_child(kMemory, 60, greedy), "exit code 5");
}

// 67 million pixels are more than the memory that there is.
TEST(PictureMutation, LargePicturesWithoutMemory) {
  const auto large = [] {
    const auto picture = decode(png_of(8192, 8192, zlib_zeros(uint64_t{8192} * (8192 + 1))));
    if (picture) return 2;
    return picture.error().message.find("a.png") == std::string::npos ? 3 : 0;
  };
  if (!test::kMemoryLimited) return;
  EXPECT_EQ(test::in_limited_child(uint64_t{256} << 20, 60, large), "");
}

TEST(PictureMutation, Jpeg) {
  for (const char* name : {"plain.jpg", "passes.jpg", "cmyk.jpg"}) {
    const auto good = read_text_file(std::string(LAPILLI_TEST_DATA "/pictures/") + name);
    ASSERT_TRUE(good.ok()) << good.error().message;
    EXPECT_EQ(mutants_in_child(*good, kMutants), "") << name;
  }
}

// Each byte of a file that is damaged is noticed, in data, checksums, types and lengths: up to the end's mark (12
// bytes), before which the picture is whole.
TEST(PictureFile, RefusesWhatCameOverDamaged) {
  const std::string good = png(13, 11, 3);
  for (size_t at = 8; at < good.size() - 12; ++at) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_FALSE(decode(damaged).ok()) << at;
  }
  std::string data = good;
  data[good.find("IDAT") + 6] = static_cast<char>(~data[good.find("IDAT") + 6]);
  const auto picture = decode(data);
  ASSERT_FALSE(picture.ok());
  EXPECT_NE(picture.error().message.find("does not match its checksum"), std::string::npos);
}

// Also of sizes that stb refuses before it says them.
TEST(PictureFile, SaysHowLargeAPictureIs) {
  for (const uint32_t side : {9000u, 60000u, 70000u, 0xffffffffu}) {
    const auto picture = decode(png_of(side, side, ""));
    ASSERT_FALSE(picture.ok());
    const std::string size = std::to_string(side);
    EXPECT_NE(picture.error().message.find("is a picture of " + size + " by " + size + " pixels; at most"),
              std::string::npos)
        << picture.error().message;
  }
}

// 16 lengths of 255 codes each: four thousand where 256 have room.
TEST(PictureFile, RefusesTablesThatAreTooLong) {
  auto file = *read_text_file(std::string(LAPILLI_TEST_DATA "/pictures/plain.jpg"));
  const size_t at = file.find("\xff\xc4");
  ASSERT_NE(at, std::string::npos);
  for (size_t i = 0; i < 16; ++i) file[at + 5 + i] = '\xff';
  const auto picture = decode(file);
  ASSERT_FALSE(picture.ok());
  EXPECT_NE(picture.error().message.find("tables of codes"), std::string::npos) << picture.error().message;
}

// Against what the reference's decoder says, which rounds elsewhere.
TEST(PictureFile, ReadsJpegWithinFewLevels) {
  for (const char* name : {"plain", "passes", "cmyk", "grey"}) {
    const std::string stem = std::string(LAPILLI_TEST_DATA "/pictures/") + name;
    const auto ours = read_picture(stem + ".jpg"), expected = read_picture(stem + ".png");
    ASSERT_TRUE(ours.ok() && expected.ok()) << name;
    ASSERT_EQ(ours->rgb.size(), expected->rgb.size()) << name;
    int worst = 0;
    for (size_t i = 0; i < ours->rgb.size(); ++i) worst = std::max(worst, std::abs(ours->rgb[i] - expected->rgb[i]));
    EXPECT_LE(worst, 4) << name;
  }
}

}  // namespace
}  // namespace lapilli::image
