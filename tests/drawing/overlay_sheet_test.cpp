// Overlays over a picture: every part is as orange as its weight, in both kinds of file.
#include "drawing/overlay_sheet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drawing/xml.hpp"
#include "image/stb.hpp"

namespace lapilli::drawing {
namespace {

using test::Element;
using test::XmlReader;

// 8 by 4 pixels of one grey, in 2 by 4 parts.
OverlaySheet sheet_of(std::vector<Overlay> overlays) {
  OverlaySheet sheet;
  sheet.title = U"a <title>";
  sheet.picture = {8, 4, std::vector<uint8_t>(8 * 4 * 3, 100)};
  sheet.rows = 2;
  sheet.columns = 4;
  sheet.overlays = std::move(overlays);
  return sheet;
}

std::vector<float> one_at(size_t part, float weight = 0.2f) {
  std::vector<float> weights(8);
  weights[part] = weight;
  return weights;
}

TEST(OverlaySheet, SvgHasEachOverlay) {
  auto half = one_at(5);
  half[0] = 0.1f;
  const auto svg = overlay_sheet_svg(sheet_of({{U"salt & pepper", one_at(2)}, {U"b", half}, {U"c", one_at(0, 0)}}));
  ASSERT_TRUE(svg.ok()) << svg.error().message;
  const auto elements = XmlReader::read(*svg);
  ASSERT_TRUE(elements) << *svg;
  std::vector<std::string> texts, covers;
  size_t uses = 0;
  for (const Element& e : *elements) {
    if (e.name == "text") texts.push_back(e.text);
    if (e.name == "use") ++uses;
    if (e.name == "rect" && e.attributes.contains("fill-opacity"))
      covers.push_back(e.attributes.at("x") + "," + e.attributes.at("y") + " " + e.attributes.at("width") + "x" +
                       e.attributes.at("height") + " " + e.attributes.at("fill-opacity"));
  }
  EXPECT_THAT(*svg, testing::HasSubstr("<title>a &lt;title&gt;</title>"));
  EXPECT_EQ(texts.size(), 4u);
  EXPECT_EQ(uses, 3u);
  EXPECT_THAT(covers, testing::ElementsAre("4,0 2x2 75%", "0,0 2x2 38%", "2,2 2x2 75%"));
}

TEST(OverlaySheet, PixelsAreAsOrangeAsTheirWeight) {
  Typeface typeface("", 14);
  auto weights = one_at(7);
  weights[0] = 0.1f;
  const OverlaySheet sheet = sheet_of({{U"a", weights}, {U"b", one_at(3)}});
  const auto drawn = draw_overlay_sheet(sheet, typeface);
  ASSERT_TRUE(drawn.ok()) << drawn.error().message;
  const auto at = lay_out(sheet, typeface.line_height() + 2);
  ASSERT_TRUE(at.ok());
  const auto pixel = [&](size_t overlay, int32_t x, int32_t y) {
    const size_t i =
        static_cast<size_t>(at->y(overlay) + at->line + y) * drawn->width + static_cast<size_t>(at->x(overlay) + x);
    return std::vector<int>(drawn->rgb.begin() + static_cast<ptrdiff_t>(3 * i),
                            drawn->rgb.begin() + static_cast<ptrdiff_t>(3 * i + 3));
  };
  const std::vector<int> grey{100, 100, 100}, orange{216, 108, 25}, half{158, 104, 63};
  EXPECT_EQ(pixel(0, 0, 0), half);
  EXPECT_EQ(pixel(0, 1, 1), half);
  EXPECT_EQ(pixel(0, 2, 1), grey);
  EXPECT_EQ(pixel(0, 7, 3), orange);
  EXPECT_EQ(pixel(1, 7, 3), grey);
  EXPECT_EQ(pixel(1, 6, 0), orange);
  EXPECT_EQ(pixel(1, 8, 0), (std::vector<int>{255, 255, 255}));  // beside the picture
}

TEST(OverlaySheet, RefusesWhatDoesNotAgree) {
  EXPECT_FALSE(overlay_sheet_svg(sheet_of({})).ok());
  EXPECT_FALSE(overlay_sheet_svg(sheet_of({{U"a", std::vector<float>(7)}})).ok());
  OverlaySheet sheet = sheet_of({{U"a", one_at(0)}});
  sheet.picture.rgb.pop_back();
  EXPECT_FALSE(overlay_sheet_svg(sheet).ok());
  sheet = sheet_of(std::vector<Overlay>(100'000, Overlay{U"a", one_at(0)}));
  sheet.picture = {1000, 1000, std::vector<uint8_t>(3'000'000)};
  const auto large = overlay_sheet_svg(sheet);
  ASSERT_FALSE(large.ok());
  EXPECT_THAT(large.error().message, testing::HasSubstr("too much"));
}

}  // namespace
}  // namespace lapilli::drawing
