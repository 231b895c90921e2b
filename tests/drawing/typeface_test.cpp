// Labels in pixels: from a font of the system, or without any.
#include "drawing/typeface.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <numeric>

#include "base/files.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::drawing {
namespace {

uint64_t ink(const std::vector<uint8_t>& coverage) {
  return std::accumulate(coverage.begin(), coverage.end(), uint64_t{0});
}

class SystemFont : public testing::Test {
 protected:
  void SetUp() override {
    if (find_font().empty()) GTEST_SKIP() << "SKIPPED: no font at the known places (Debian: fonts-dejavu-core)";
  }
};

TEST_F(SystemFont, DrawsGlyphs) {
  const auto font = image::Font::open(find_font());
  ASSERT_TRUE(font.ok()) << font.error().message;
  for (const char32_t c : std::u32string_view(U"Aßőżжω€")) {
    ASSERT_TRUE(font->has(c)) << static_cast<uint32_t>(c);
    const image::GlyphImage image = font->draw(c, 20);
    EXPECT_GT(ink(image.coverage), 255u * 5) << static_cast<uint32_t>(c);
    EXPECT_GT(image.advance, 3);
    EXPECT_LT(image.advance, 30);
  }
  for (const char32_t c : {char32_t{0x10FFFD}, char32_t{0x110000}, char32_t{0xFFFFFFFF}}) EXPECT_FALSE(font->has(c));
  // A space has an advance and no ink; an I is taller than wide, and stands on the baseline.
  EXPECT_EQ(ink(font->draw(U' ', 20).coverage), 0u);
  EXPECT_GT(font->draw(U' ', 20).advance, 3);
  const image::GlyphImage i = font->draw(U'I', 40);
  EXPECT_NEAR(-i.top, 30, 3);
  EXPECT_NEAR(i.top + i.height, 0, 2);
  EXPECT_LT(i.width, i.height / 2);
}

// Wherever a font ends too early it is refused: stb_truetype would read on behind it.
TEST_F(SystemFont, CutOffFilesAreRefused) {
  const auto bytes = read_text_file(find_font());
  ASSERT_TRUE(bytes.ok());
  const TempDirectory folder;
  for (const size_t kept :
       {size_t{0}, size_t{3}, size_t{15}, size_t{16}, size_t{100}, size_t{400}, bytes->size() / 2, bytes->size() - 4}) {
    EXPECT_FALSE(image::Font::open(folder.write("cut.ttf", bytes->substr(0, kept))).ok()) << kept;
  }
  EXPECT_TRUE(image::Font::open(folder.write("cut.ttf", *bytes)).ok());
}

TEST_F(SystemFont, TakesWhatItHasAndSpellsTheRest) {
  Typeface typeface(find_font(), 15);
  EXPECT_TRUE(typeface.has(U'é'));
  EXPECT_FALSE(typeface.has(char32_t{0x10FFFD}));
  EXPECT_EQ(typeface.draw(U"a\U0010FFFD", 1000).coverage, typeface.draw(U"a[10FFFD]", 1000).coverage);
}

TEST(Font, RefusesWhatIsNone) {
  const TempDirectory folder;
  EXPECT_FALSE(image::Font::open("").ok());
  EXPECT_FALSE(image::Font::open("/nonexistent.ttf").ok());
  EXPECT_FALSE(image::Font::open(folder.write("zeros.ttf", std::string(4096, '\0'))).ok());
  EXPECT_FALSE(image::Font::open(folder.write("ones.ttf", std::string(4096, '\xff'))).ok());
  EXPECT_FALSE(image::Font::open(folder.write("collection.ttc", "ttcf" + std::string(60, '\xff'))).ok());
}

TEST(Typeface, DrawsWithoutAnyFont) {
  Typeface typeface("/nonexistent.ttf", 15);
  EXPECT_TRUE(typeface.has(U'A'));
  EXPECT_FALSE(typeface.has(U'é'));
  EXPECT_GT(ink(typeface.draw(U"Hello", 1000).coverage), 255u * 30);
  EXPECT_NE(typeface.draw(U"l", 1000).coverage, typeface.draw(U"i", 1000).coverage);
  EXPECT_EQ(typeface.draw(U"\u4F60", 1000).coverage, typeface.draw(U"[4F60]", 1000).coverage);
  EXPECT_EQ(typeface.draw(U"\n", 1000).coverage, typeface.draw(U"[000A]", 1000).coverage);
}

TEST(Typeface, CutsLongText) {
  for (const std::string& font : {std::string(), find_font()}) {
    Typeface typeface(font, 15);
    const TextImage cut = typeface.draw(std::u32string(500, U'm'), 100);
    EXPECT_LE(cut.width, 103);
    EXPECT_GE(cut.width, 80);
    EXPECT_GT(typeface.draw(std::u32string(100000, U'i'), 1 << 30).width, 1000);
  }
}

}  // namespace
}  // namespace lapilli::drawing
