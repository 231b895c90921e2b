// Pictures of pixels: what is encoded can be read again, and every cell has the colour of its value.
#include "drawing/heat_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "image/stb.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace lapilli::drawing {
namespace {

std::vector<uint8_t> decode(const std::vector<uint8_t>& png, int& width, int& height) {
  int channels = 0;
  struct Free {
    void operator()(stbi_uc* p) const { stbi_image_free(p); }
  };
  const std::unique_ptr<stbi_uc, Free> pixels(
      stbi_load_from_memory(png.data(), static_cast<int>(png.size()), &width, &height, &channels, 3));
  if (!pixels) return {};
  return {pixels.get(), pixels.get() + static_cast<size_t>(width) * static_cast<size_t>(height) * 3};
}

TEST(Png, RoundTrip) {
  std::vector<uint8_t> pixels(37 * 21 * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 7 + i / 111);
  const auto png = image::encode_png(37, 21, 3, pixels);
  ASSERT_TRUE(png.ok());
  int width = 0, height = 0;
  EXPECT_EQ(decode(*png, width, height), pixels);
  EXPECT_EQ(width, 37);
  EXPECT_EQ(height, 21);
  EXPECT_FALSE(image::encode_png(37, 21, 3, std::span(pixels).first(100)).ok());
  EXPECT_FALSE(image::encode_png(0, 21, 3, {}).ok());
  EXPECT_FALSE(image::encode_png(1u << 31, 1u << 31, 4, {}).ok());
}

TEST(HeatMap, ColoursFollowValues) {
  int before = 3 * 255 + 1;
  for (int i = 0; i <= 100; ++i) {
    uint8_t rgb[3];
    heat_colour(static_cast<float>(i) / 100, rgb);
    const int light = rgb[0] + rgb[1] + rgb[2];
    EXPECT_LT(light, before) << i;
    before = light;
  }
  uint8_t rgb[3], white[3];
  heat_colour(0, white);
  heat_colour(std::nanf(""), rgb);
  EXPECT_EQ(rgb[0], white[0]);
  heat_colour(-3, rgb);
  EXPECT_EQ(rgb[0], white[0]);
  heat_colour(7, rgb);
  EXPECT_EQ(rgb[0], 8);
}

TEST(HeatMap, CellsStandWhereTheyBelong) {
  for (const bool with_fonts : {false, true}) {
    HeatMap map;
    map.title = U"title";
    map.rows = {U"Le", U"شكرا", U"你好 and a very long label that has to be cut off somewhere"};
    map.columns = {U"The", U"cat", U".", U"</s>"};
    for (int i = 0; i < 12; ++i) map.values.push_back(static_cast<float>(i) / 11);
    Typeface typeface(with_fonts ? find_font() : "", 15);
    HeatMapLayout layout;
    const auto picture = draw_heat_map(map, typeface, &layout);
    ASSERT_TRUE(picture.ok());
    ASSERT_EQ(picture->rgb.size(), size_t{picture->width} * picture->height * 3);
    const auto left_edge = static_cast<size_t>(layout.left), top_edge = static_cast<size_t>(layout.top),
               cell = static_cast<size_t>(layout.cell);
    for (uint32_t r = 0; r < 3; ++r) {
      for (uint32_t c = 0; c < 4; ++c) {
        uint8_t rgb[3];
        heat_colour(map.values[r * 4 + c], rgb);
        const size_t x = left_edge + c * cell + cell / 2, y = top_edge + r * cell + cell / 2;
        const uint8_t* p = &picture->rgb[(y * picture->width + x) * 3];
        EXPECT_TRUE(std::equal(rgb, rgb + 3, p)) << r << "," << c;
      }
    }
    // Labels leave ink to the left of the cells and above them.
    uint32_t left = 0, above = 0;
    for (size_t y = 0; y < picture->height; ++y) {
      for (size_t x = 0; x < picture->width; ++x) {
        const bool dark = picture->rgb[(y * picture->width + x) * 3] < 100;
        left += dark && x < left_edge - 2 && y > top_edge;
        above += dark && x > left_edge && y < top_edge - 2;
      }
    }
    EXPECT_GT(left, 50u);
    EXPECT_GT(above, 50u);
  }
}

TEST(HeatMap, RefusesWhatIsNoMatrixOrTooLarge) {
  Typeface typeface("", 15);
  HeatMap map;
  EXPECT_FALSE(draw_heat_map(map, typeface).ok());
  map.rows = {U"a"};
  map.columns = {U"b"};
  map.values = {1, 2};
  EXPECT_FALSE(draw_heat_map(map, typeface).ok());
  map.rows.assign(3000, U"a");
  map.columns.assign(3000, U"b");
  map.values.assign(9000000, 0.5f);
  const auto large = draw_heat_map(map, typeface);
  ASSERT_FALSE(large.ok());
  EXPECT_NE(large.error().message.find("JSON"), std::string::npos);
}

}  // namespace
}  // namespace lapilli::drawing
