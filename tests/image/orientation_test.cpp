// Pictures that a turned camera took: each way in which EXIF says so, in both kinds of files, and EXIF data that lie.
#include "image/orientation.hpp"

#include <gtest/gtest.h>

#include "image/picture.hpp"
#include "image/png_bytes.hpp"
#include "image/stb.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::image {
namespace {

std::string number(uint32_t value, int bytes, bool high_first) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * (high_first ? bytes - 1 - i : i));
  return text;
}

// With an entry of something else in front.
std::string exif(uint32_t orientation, bool high_first, uint32_t type = 3, uint32_t directory = 8) {
  const auto n = [&](uint32_t value, int bytes) { return number(value, bytes, high_first); };
  const std::string value = type == 3 ? n(orientation, 2) + n(0, 2) : n(orientation, 4);
  return (high_first ? "MM" : "II") + n(42, 2) + n(directory, 4) + n(2, 2) + n(0x0100, 2) + n(4, 2) + n(1, 4) +
         n(6, 4) + n(0x0112, 2) + n(type, 2) + n(1, 4) + value + n(0, 4);
}

std::string segment(const std::string& data) {
  return "\xff\xe1" + number(static_cast<uint32_t>(data.size() + 2), 2, true) + data;
}

// Behind the file's first mark; another program's segment of that kind stands before it.
std::string jpeg_with(const std::string& tiff) {
  std::string file = *read_text_file(std::string(LAPILLI_TEST_DATA "/pictures/plain.jpg"));
  const std::string other = segment(std::string("http://ns.adobe.com/xap/1.0/\0<x/>", 33));
  return file.insert(2, other + segment(std::string("Exif\0\0", 6) + tiff));
}

std::string png_file() {
  std::vector<uint8_t> pixels(size_t{5} * 3 * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 5);
  const auto file = encode_png(5, 3, 3, pixels);
  return {file->begin(), file->end()};
}

std::string png_with(const std::string& chunk, const char* before = "IDAT") {
  std::string file = png_file();
  return file.insert(file.find(before) - 4, chunk);
}

Picture decoded(const std::string& file) {
  auto picture = decode_picture(std::as_bytes(std::span(file)), "a");
  EXPECT_TRUE(picture.ok()) << picture.error().message;
  return picture ? *picture : Picture();
}

// By the words of the standard: where the first stored row and the first stored column are to be seen.
Picture seen(const Picture& stored, uint32_t orientation) {
  const uint32_t w = stored.width, h = stored.height;
  const bool swapped = orientation >= 5;
  Picture to{swapped ? h : w, swapped ? w : h, std::vector<uint8_t>(stored.rgb.size())};
  for (uint32_t y = 0; y < h; ++y)
    for (uint32_t x = 0; x < w; ++x) {
      const uint32_t right = w - 1 - x, below = h - 1 - y;
      const std::pair<uint32_t, uint32_t> kSeen[] = {{x, y}, {right, y}, {right, below}, {x, below},
                                                     {y, x}, {below, x}, {below, right}, {y, right}};
      const auto [column, row] = kSeen[orientation - 1];
      std::copy_n(&stored.rgb[3 * (size_t{y} * w + x)], 3, &to.rgb[3 * (size_t{row} * to.width + column)]);
    }
  return to;
}

void expect_same(const Picture& a, const Picture& b, uint32_t orientation) {
  EXPECT_EQ(a.width, b.width) << orientation;
  EXPECT_EQ(a.height, b.height) << orientation;
  EXPECT_TRUE(a.rgb == b.rgb) << orientation;
}

TEST(PictureOrientation, TurnsPicturesUpright) {
  const Picture jpeg = decoded(*read_text_file(std::string(LAPILLI_TEST_DATA "/pictures/plain.jpg")));
  const Picture png = decoded(png_file());
  ASSERT_NE(jpeg.width, jpeg.height);
  for (uint32_t orientation = 1; orientation <= 8; ++orientation)
    for (const bool high_first : {false, true}) {
      const std::string tiff = exif(orientation, high_first), chunk = png_chunk("eXIf", tiff);
      expect_same(decoded(jpeg_with(tiff)), seen(jpeg, orientation), orientation);
      expect_same(decoded(png_with(chunk)), seen(png, orientation), orientation);
      expect_same(decoded(png_with(chunk, "IEND")), seen(png, orientation), orientation);
    }
}

uint32_t orientation_of(const std::string& file) {
  const std::vector<unsigned char> exact(file.begin(), file.end());  // nothing that may be read behind it
  return image::orientation_of(exact);
}

TEST(PictureOrientation, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(orientation_of(jpeg_with(exif(6, true, 4))), 6u);  // as a larger number
  EXPECT_EQ(orientation_of(png_with(png_chunk("eXIf", std::string("Exif\0\0", 6) + exif(6, false)))), 6u);
}

// An orientation that is damaged or impossible, in the wrong place, or another file's, turns nothing.
TEST(PictureOrientation, OfNonsenseIsNone) {
  for (const uint32_t none : {0u, 9u, 0xffffu}) EXPECT_EQ(orientation_of(jpeg_with(exif(none, true))), kUpright);
  EXPECT_EQ(orientation_of(jpeg_with(exif(6, true, 2))), kUpright);
  for (const uint32_t directory : {7u, 30u, 34u, 38u, 0xfffffff0u, 0xffffffffu})
    EXPECT_EQ(orientation_of(jpeg_with(exif(6, true, 3, directory))), kUpright) << directory;
  std::string damaged = png_chunk("eXIf", exif(6, true));
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_EQ(orientation_of(png_with(damaged)), kUpright);
  EXPECT_EQ(orientation_of(png_file() + png_chunk("eXIf", exif(6, true))), kUpright);
  EXPECT_EQ(orientation_of(exif(6, true)), kUpright);
  EXPECT_EQ(orientation_of(""), kUpright);
}

// Each byte with each value, and each length: the picture is there as a whole, whatever way up.
TEST(PictureOrientation, OfDamagedDataIsHarmless) {
  const std::string tiff = exif(6, true);
  for (size_t at = 0; at < tiff.size(); ++at) {
    const uint32_t cut = orientation_of(jpeg_with(tiff.substr(0, at)));
    EXPECT_TRUE(cut == kUpright || at > 30) << at;
    for (int value = 0; value < 256; ++value) {
      std::string mutant = tiff;
      mutant[at] = static_cast<char>(value);
      const uint32_t found = orientation_of(png_with(png_chunk("eXIf", mutant)));
      ASSERT_TRUE(found >= 1 && found <= 8) << at << " " << value;
      if (value % 16 != 0) continue;
      const Picture picture = decoded(png_with(png_chunk("eXIf", mutant)));
      ASSERT_EQ(picture.rgb.size(), size_t{3} * picture.width * picture.height);
    }
  }
}

}  // namespace
}  // namespace lapilli::image
