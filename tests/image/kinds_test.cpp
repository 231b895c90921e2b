// GIF, BMP, WebP and TIFF: what is read of them, what is refused before memory is asked for, and kinds that are named
// with the line that makes a PNG of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "image/mutants.hpp"
#include "image/other_files.hpp"
#include "image/picture.hpp"

namespace lapilli::image {
namespace {

using testing::HasSubstr;

Result<Picture> decode_as(const std::string& file, const std::string& name) {
  return decode_picture(std::as_bytes(std::span(file)), name);
}

std::vector<uint8_t> numbered(size_t count) {
  std::vector<uint8_t> pixels(count);
  for (size_t i = 0; i < count; ++i) pixels[i] = static_cast<uint8_t>(i * 5 % 128);
  return pixels;
}

std::vector<uint8_t> colours_of(const std::vector<uint8_t>& pixels) {
  std::string rgb;
  for (const uint8_t p : pixels) rgb += colour(p);
  return {rgb.begin(), rgb.end()};
}

void expect_picture(const std::string& file, uint32_t width, uint32_t height, const std::vector<uint8_t>& rgb) {
  const auto picture = decode_as(file, "a");
  ASSERT_TRUE(picture.ok()) << picture.error().message;
  EXPECT_EQ(picture->width, width);
  EXPECT_EQ(picture->height, height);
  EXPECT_EQ(picture->rgb, rgb);
}

void expect_refused(const std::string& file, const std::string& told) {
  const auto picture = decode_as(file, "a b.x");
  ASSERT_FALSE(picture.ok()) << told;
  EXPECT_THAT(picture.error().message, HasSubstr("a b.x"));
  EXPECT_THAT(picture.error().message, HasSubstr(told));
}

// Also the pixels of a colour that is said to be none, as of every other kind.
TEST(PictureKinds, GifIsItsFirstPicture) {
  const auto pixels = numbered(13 * 11), others = std::vector<uint8_t>(13 * 11, 3);
  expect_picture(gif_of(13, 11, pixels), 13, 11, colours_of(pixels));
  expect_picture(gif_of(13, 11, pixels, 5), 13, 11, colours_of(pixels));
  std::string two = gif_of(13, 11, pixels);
  two.pop_back();
  expect_picture(two + gif_picture(13, 11, others) + ";", 13, 11, colours_of(pixels));
}

TEST(PictureKinds, BmpHasRowsFromBelowOrAbove) {
  const std::string low("\1\2\3\4\5\6\0\0", 8), high("\x11\x12\x13\x14\x15\x16\0\0", 8);  // blue first, filled up
  const std::vector<uint8_t> seen{0x13, 0x12, 0x11, 0x16, 0x15, 0x14, 3, 2, 1, 6, 5, 4};
  expect_picture(bmp_of(2, 2, low + high), 2, 2, seen);
  expect_picture(bmp_of(2, -2, high + low), 2, 2, seen);
  expect_picture(bmp_of(2, 2, low + high.substr(0, 6)), 2, 2, seen);
}

TEST(PictureKinds, CutOffIsSaid) {
  const std::string gif = gif_of(13, 11, numbered(13 * 11)), bmp = bmp_of(2, 2, std::string(16, 'x'));
  for (const size_t size : {gif.size() - 2, gif.size() / 2, size_t{20}, size_t{6}})
    expect_refused(gif.substr(0, size), "cut off");
  for (const size_t size : {bmp.size() - 3, bmp.size() - 9, size_t{20}}) expect_refused(bmp.substr(0, size), "cut off");
}

TEST(PictureKinds, LargeOnesAreRefusedByTheirHeader) {
  const char* told = "is a picture of 20000 by 20000 pixels";
  expect_refused(gif_of(20'000, 20'000, {1}), told);
  for (const int32_t height : {20'000, -20'000}) expect_refused(bmp_of(20'000, height, "x"), told);
#ifdef LAPILLI_HAVE_TIFF
  expect_refused(tiff_of(20'000, 20'000, "x"), told);
  expect_refused(tiff_of(70'000, 1, "x"), "70000 by 1 pixels");
#endif
#ifdef LAPILLI_HAVE_WEBP
  expect_refused(webp_head(16'000, 16'000), "is a picture of 16000 by 16000 pixels");
#endif
}

TEST(PictureKinds, WhatIsNotReadIsNamedWithTheLineThatConvertsIt) {
  const std::string box("\0\0\0\x18", 4);
  const std::pair<std::string, std::string> cases[] = {
      {box + "ftypheic", "HEIF"}, {box + "ftypavif", "AVIF"}, {"%PDF-1.4", "PDF"}, {"<svg xmlns=\"\">", "SVG"}};
  for (const auto& [file, kind] : cases)
    expect_refused(
        file, "is a picture of the kind " + kind + ", which is not read; make a PNG of it: magick 'a b.x' 'a b.png'");
  expect_refused("no picture", "is no picture that can be read; PNG, JPEG, GIF");
#ifndef LAPILLI_HAVE_WEBP
  expect_refused(webp_head(4, 4), "WebP, which this Lapilli was built without; make a PNG of it");
#endif
#ifndef LAPILLI_HAVE_TIFF
  expect_refused(tiff_of(1, 1, "xxx"), "TIFF, which this Lapilli was built without; make a PNG of it");
#endif
}

constexpr int kFewMutants = 2000;

TEST(PictureMutation, Gif) { EXPECT_EQ(mutants_in_child(gif_of(13, 11, numbered(13 * 11), 5), kFewMutants), ""); }

TEST(PictureMutation, Bmp) {
  EXPECT_EQ(mutants_in_child(bmp_of(5, 4, std::string(64, 'x')), kFewMutants), "");
  EXPECT_EQ(mutants_in_child(bmp_of(5, -4, std::string(64, 'x')), kFewMutants), "");
}

#ifdef LAPILLI_HAVE_TIFF
const std::string kSixPixels("\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22", 18);

std::vector<uint8_t> one_to(uint8_t last) {
  std::vector<uint8_t> numbers;
  for (uint8_t i = 1; i <= last; ++i) numbers.push_back(i);
  return numbers;
}

TEST(PictureKinds, TiffIsReadUprightAndWithoutTransparency) {
  expect_picture(tiff_of(3, 2, kSixPixels), 3, 2, one_to(18));
  expect_picture(tiff_of(3, 2, kSixPixels, 3), 3, 2, {16, 17, 18, 13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3});
  expect_picture(tiff_of(3, 2, kSixPixels, 6), 2, 3, {10, 11, 12, 1, 2, 3, 13, 14, 15, 4, 5, 6, 16, 17, 18, 7, 8, 9});
  expect_picture(tiff_of(2, 1, std::string("\1\2\3\0\4\5\6\x80", 8), 1, 4), 2, 1, one_to(6));
}

TEST(PictureKinds, DamagedTiffIsRefusedWithWords) {
  expect_refused(tiff_of(3, 2, kSixPixels).substr(0, 100), "a b.x cannot be read: ");
  expect_refused(tiff_of(3, 2, kSixPixels.substr(0, 9)), "a b.x cannot be read: ");
}

TEST(PictureMutation, Tiff) {
  EXPECT_EQ(mutants_in_child(tiff_of(3, 2, kSixPixels, 6), kFewMutants), "");
  EXPECT_EQ(mutants_in_child(tiff_of(2, 2, std::string(16, 'x'), 1, 4), kFewMutants), "");
}
#endif

#ifdef LAPILLI_HAVE_WEBP
TEST(PictureKinds, WebpIsReadUprightAndOfAnAnimationTheFirst) {
  const auto rgb = colours_of(numbered(2));
  const std::string picture = webp_picture(2, 1, rgb);
  expect_picture(webp_file(picture), 2, 1, rgb);
  expect_picture(webp_animation(2, 1, picture), 2, 1, rgb);
  const std::string exif = std::string("II*\0", 4) + little(8, 4) + little(1, 2) + little(0x0112, 2) + little(3, 2) +
                           little(1, 4) + little(3, 4) + little(0, 4);
  expect_picture(webp_with_exif(2, 1, picture, exif), 2, 1, {rgb[3], rgb[4], rgb[5], rgb[0], rgb[1], rgb[2]});
}

TEST(PictureKinds, DamagedWebpIsRefusedWithWords) {
  const std::string whole = webp_file(webp_picture(13, 11, colours_of(numbered(13 * 11))));
  expect_refused(whole.substr(0, 20), "header is damaged or cut off");
  expect_refused(whole.substr(0, whole.size() - 20), "it is damaged or cut off");
}

TEST(PictureMutation, Webp) {
  const std::string picture = webp_picture(13, 11, colours_of(numbered(13 * 11)));
  EXPECT_EQ(mutants_in_child(webp_file(picture), kFewMutants), "");
  EXPECT_EQ(mutants_in_child(webp_animation(13, 11, picture), kFewMutants), "");
}
#endif

}  // namespace
}  // namespace lapilli::image
