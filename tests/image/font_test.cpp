// Fonts: lookups, outlines, boxes for what no font has, and damaged files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>

#include "image/font_file.hpp"
#include "image/shaping.hpp"
#include "image/typeface.hpp"

namespace lapilli::image {
namespace {

const char* const kDejaVu = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

uint64_t ink(const std::vector<uint8_t>& coverage) {
  return std::accumulate(coverage.begin(), coverage.end(), uint64_t{0});
}

class Font : public testing::Test {
 protected:
  void SetUp() override {
    bytes_ = read_file(kDejaVu);
    if (bytes_.empty()) GTEST_SKIP() << "SKIPPED: no " << kDejaVu << " (Debian: fonts-dejavu-core)";
  }
  std::vector<uint8_t> bytes_;
};

TEST_F(Font, FindsAndDrawsGlyphs) {
  auto font = FontFile::open(kDejaVu);
  ASSERT_TRUE(font.ok()) << font.error().message;
  for (const char32_t c : U"Aßőżжωאش€") {
    if (c == 0) continue;
    const uint32_t glyph = font->glyph(c);
    ASSERT_NE(glyph, 0u) << static_cast<uint32_t>(c);
    ASSERT_TRUE(font->sound(glyph));
    const GlyphImage image = font->draw(glyph, 20);
    EXPECT_GT(ink(image.coverage), 255u * 5) << static_cast<uint32_t>(c);
    EXPECT_GT(image.advance, 3);
    EXPECT_LT(image.advance, 30);
  }
  EXPECT_EQ(font->glyph(0x4F60), 0u);
  EXPECT_EQ(font->glyph(0x10FFFF), 0u);
  // A space has an advance and no ink; an I is taller than wide, and stands on the baseline.
  EXPECT_EQ(ink(font->draw(font->glyph(' '), 20).coverage), 0u);
  const GlyphImage i = font->draw(font->glyph('I'), 40);
  EXPECT_NEAR(-i.top, 30, 3);
  EXPECT_NEAR(i.top + i.height, 0, 2);
  EXPECT_LT(i.width, i.height / 2);
}

// Every glyph of a real font passes the check, or hardly any of them would ever be drawn.
TEST_F(Font, RealGlyphsAreSound) {
  auto font = FontFile::open(kDejaVu);
  ASSERT_TRUE(font.ok());
  uint32_t sound = 0, all = 0;
  for (; all < 6000 && (all == 0 || font->sound(all) || font->sound(all + 1)); ++all) sound += font->sound(all) ? 1 : 0;
  EXPECT_GT(all, 5000u);
  EXPECT_GE(sound + 5, all);
}

// Draws from damaged copies; gives how many glyphs came out.
uint32_t draw_damaged(const std::vector<uint8_t>& bytes, int rounds, const std::vector<size_t>& regions) {
  std::mt19937 random(5);
  const std::u32string sample = U"Aé ж ω ش ǆ ﬁ";
  uint32_t drawn = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<uint8_t> damaged = bytes;
    const size_t region = std::min(regions[static_cast<size_t>(round) % regions.size()], damaged.size());
    for (int n = 1 + static_cast<int>(random() % 30); n > 0; --n) {
      damaged[random() % region] = static_cast<uint8_t>(random());
    }
    if (random() % 8 == 0) damaged.resize(random() % damaged.size());
    damaged.shrink_to_fit();
    auto font = FontFile::read(damaged, "damaged");
    if (!font) continue;
    for (const char32_t c : sample) {
      const uint32_t glyph = font->glyph(c);
      if (glyph == 0 || !font->sound(glyph)) continue;
      const GlyphImage image = font->draw(glyph, 15);
      EXPECT_LE(image.width, 130);
      ++drawn;
    }
  }
  return drawn;
}

TEST_F(Font, DamagedFilesNeverCrash) {
  // Mostly in the tables that steer the reading: the directory and what follows it, the maps, the outlines.
  EXPECT_GT(draw_damaged(bytes_, 1500, {400, 60000, bytes_.size()}), 500u);
}

TEST(FontFile, DamagedPostScriptOutlinesNeverCrash) {
  const char* more = std::getenv("LAPILLI_TEST_FONTS");  // a directory
  auto directories = system_font_directories();
  if (more) directories.emplace_back(more);
  const auto files = find_fonts(directories);
  // Fonts of icons alone have no letters.
  const auto file = std::find_if(files.begin(), files.end(), [](const std::string& f) {
    if (!f.ends_with(".otf")) return false;
    auto font = FontFile::open(f);
    return font.ok() && font->glyph('A') != 0;
  });
  if (file == files.end())
    GTEST_SKIP() << "SKIPPED: no font with PostScript outlines (.otf) on this system (Debian: fonts-junction)";
  const auto bytes = read_file(*file);
  auto font = FontFile::open(*file);
  ASSERT_TRUE(font.ok()) << font.error().message;
  ASSERT_NE(font->glyph('A'), 0u) << *file;
  EXPECT_GT(ink(font->draw(font->glyph('A'), 20).coverage), 255u * 5);
  EXPECT_GT(draw_damaged(bytes, 1500, {400, 20000, bytes.size()}), 500u);
}

TEST(FontFile, RefusesWhatIsNoFont) {
  EXPECT_FALSE(FontFile::open("/nonexistent.ttf").ok());
  const std::vector<uint8_t> nothing, zeros(4096, 0);
  EXPECT_FALSE(FontFile::read(nothing, "empty").ok());
  EXPECT_FALSE(FontFile::read(zeros, "zeros").ok());
  std::vector<uint8_t> collection(64, 0xFF);
  std::copy_n("ttcf", 4, collection.begin());
  EXPECT_FALSE(FontFile::read(collection, "collection").ok());
}

TEST(Typeface, DrawsWithoutAnyFont) {
  Typeface typeface({}, 15);
  EXPECT_FALSE(typeface.has(U'A'));
  const TextImage ascii = typeface.draw(U"Hello", 1000);
  EXPECT_GT(ink(ascii.coverage), 255u * 30);
  // Boxes: as many as characters, all of one width; different numbers look different.
  const TextImage one = typeface.draw(U"你", 1000), two = typeface.draw(U"你好", 1000),
                  other = typeface.draw(U"好", 1000);
  EXPECT_GT(two.width, one.width + 10);
  EXPECT_EQ(one.width, other.width);
  EXPECT_NE(one.coverage, other.coverage);
  EXPECT_GT(ink(typeface.draw(U"😀", 1000).coverage), 255u * 30);
  EXPECT_EQ(ink(typeface.draw(U"\u200B\u202E", 1000).coverage), 0u);
}

TEST(Typeface, CutsLongText) {
  Typeface typeface({}, 15);
  const TextImage cut = typeface.draw(std::u32string(500, U'm'), 100);
  EXPECT_LE(cut.width, 103);
  EXPECT_GE(cut.width, 80);
  EXPECT_GT(typeface.draw(std::u32string(100000, U'i'), 1 << 30).width, 1000);
}

TEST(Typeface, TakesEachCharacterFromAFontThatHasIt) {
  const auto files = find_fonts(system_font_directories());
  if (files.empty()) GTEST_SKIP() << "SKIPPED: no fonts on this system";
  Typeface typeface(files, 15);
  EXPECT_TRUE(typeface.has(U'A'));
  EXPECT_FALSE(typeface.has(char32_t{0x10FFFD}));
  Typeface broken({"/nonexistent.ttf", "/dev/null", files.front()}, 15);
  EXPECT_TRUE(broken.has(U'A'));
}

TEST(Typeface, PrefersRegularFacesOfKnownFamilies) {
  const auto files = find_fonts(system_font_directories());
  for (const std::string& file : files) {
    EXPECT_EQ(file.find("Bold"), std::string::npos) << file;
    EXPECT_EQ(file.find("Oblique"), std::string::npos) << file;
  }
  if (std::find(files.begin(), files.end(), kDejaVu) != files.end()) {
    EXPECT_EQ(files.front(), kDejaVu);
  }
  EXPECT_TRUE(find_fonts({"/nonexistent"}).empty());
}

// ---- order and joined forms ----

TEST(Shaping, ArabicLettersTakeJoinedForms) {
  // سلام: seen initial, lam-alef ligature final, meem isolated behind the alef.
  EXPECT_EQ(join_arabic(U"\u0633\u0644\u0627\u0645"), U"\uFEB3\uFEFC\uFEE1");
  // بيت: initial, medial, final. دار: letters that do not join what follows.
  EXPECT_EQ(join_arabic(U"\u0628\u064A\u062A"), U"\uFE91\uFEF4\uFE96");
  EXPECT_EQ(join_arabic(U"\u062F\u0627\u0631"), U"\uFEA9\uFE8D\uFEAD");
  // Marks do not break the join.
  EXPECT_EQ(join_arabic(U"\u0628\u064E\u062A"), U"\uFE91\u064E\uFE96");
  // Persian: peh, farsi yeh.
  EXPECT_EQ(join_arabic(U"\u067E\u06CC"), U"\uFB58\uFBFD");
  EXPECT_EQ(join_arabic(U"abc"), U"abc");
}

TEST(Shaping, RightToLeftRunsAreTurned) {
  EXPECT_EQ(visual_order(U"abc"), U"abc");
  EXPECT_EQ(visual_order(U"\u05D0\u05D1\u05D2"), U"\u05D2\u05D1\u05D0");
  // Numbers within keep their order; brackets are mirrored.
  EXPECT_EQ(visual_order(U"\u05D0 12 \u05D1"), U"\u05D1 12 \u05D0");
  EXPECT_EQ(visual_order(U"(\u05D0)"), U"(\u05D0)");
  EXPECT_EQ(visual_order(U"x \u05D0\u05D1 y"), U"x \u05D1\u05D0 y");
  // A point stays behind its letter.
  EXPECT_EQ(visual_order(U"\u05D0\u05B8\u05D1"), U"\u05D1\u05D0\u05B8");
  EXPECT_EQ(visual_order(U""), U"");
}

}  // namespace
}  // namespace lapilli::image
