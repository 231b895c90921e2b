#include "image/typeface.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <tuple>

#include "image/shaping.hpp"

namespace lapilli::image {
namespace {

namespace fs = std::filesystem;

// Beginnings of file names without blanks, dashes and underscores, small letters; in the order of preference: first
// what covers many scripts with even metrics, then what covers what those lack.
constexpr std::string_view kFamilies[] = {
    "dejavusans.",
    "notosansregular.",
    "notosans.",
    "robotoregular.",
    "segoeui.",
    "arial.",
    "helveticaneue.",
    "helvetica.",
    "liberationsansregular.",
    "freesans.",
    "arialunicode.",
    "notosanscjk",
    "sourcehansans",
    "droidsansfallbackfull.",
    "droidsansfallback.",
    "pingfang.",
    "hiraginosansgb.",
    "applesdgothicneo.",
    "msyh.",
    "yugothr.",
    "msgothic.",
    "malgun.",
    "wqymicrohei.",
    "wqyzenhei.",
    "nanumgothic.",
    "notosansarabic",
    "notonaskharabic",
    "geezapro.",
    "notosanshebrew",
    "nirmala.",
    "kohinoor",
    "notosansdevanagari",
    "notosansbengali",
    "notosanstamil",
    "notosanstelugu",
    "lohit",
    "leelawui.",
    "thonburi.",
    "notosansthai",
    "notosans",
    "droidsans",
    "ebrima.",
    "gadugi.",
    "notoserif",
    "seguisym.",
    "symbola.",
    "unifont.",
};
constexpr std::string_view kOtherStyles[] = {"bold",  "italic", "oblique", "mono", "condensed",
                                             "light", "thin",   "black",   "emoji"};

size_t rank(const std::string& name) {
  for (size_t i = 0; i < std::size(kFamilies); ++i) {
    if (name.starts_with(kFamilies[i])) return i;
  }
  return std::size(kFamilies);
}

bool regular(const std::string& name) {
  return std::none_of(std::begin(kOtherStyles), std::end(kOtherStyles),
                      [&](std::string_view style) { return name.find(style) != std::string::npos; });
}

std::string plain_name(const fs::path& path) {
  std::string plain;
  for (const char c : path.filename().string()) {
    if (c != ' ' && c != '-' && c != '_') plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return plain;
}

// Puts `image` with its pen at (x, baseline); the darker of both where they overlap.
void paint(TextImage& onto, const GlyphImage& image, int32_t x) {
  for (int32_t row = 0; row < image.height; ++row) {
    const int32_t y = onto.baseline + image.top + row;
    if (y < 0 || y >= onto.height) continue;
    for (int32_t column = 0; column < image.width; ++column) {
      const int32_t at = x + image.left + column;
      if (at < 0 || at >= onto.width) continue;
      uint8_t& pixel =
          onto.coverage[static_cast<size_t>(y) * static_cast<size_t>(onto.width) + static_cast<size_t>(at)];
      pixel = std::max(
          pixel,
          image.coverage[static_cast<size_t>(row) * static_cast<size_t>(image.width) + static_cast<size_t>(column)]);
    }
  }
}

}  // namespace

std::vector<std::string> system_font_directories() {
#if defined(_WIN32)
  const char* windows = std::getenv("SystemRoot");
  return {std::string(windows ? windows : "C:\\Windows") + "\\Fonts"};
#elif defined(__APPLE__)
  return {"/System/Library/Fonts", "/Library/Fonts"};
#elif defined(__ANDROID__)
  return {"/system/fonts", "/product/fonts"};
#else
  return {"/usr/share/fonts", "/usr/local/share/fonts"};
#endif
}

namespace {

struct FoundFont {
  size_t rank;
  std::string name, path;
};

void look_through(const std::string& directory, int& entries, std::vector<FoundFont>& found) {
  constexpr int kMostEntries = 20000, kDeepest = 6;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator() && entries < kMostEntries; at.increment(error), ++entries) {
    if (at.depth() >= kDeepest) at.disable_recursion_pending();
    const std::string name = plain_name(at->path());
    if (!name.ends_with(".ttf") && !name.ends_with(".otf") && !name.ends_with(".ttc")) continue;
    std::error_code not_file;
    if (regular(name) && at->is_regular_file(not_file)) found.push_back({rank(name), name, at->path().string()});
  }
}

}  // namespace

std::vector<std::string> find_fonts(const std::vector<std::string>& directories) {
  std::vector<FoundFont> found;
  int entries = 0;
  for (const std::string& directory : directories) {
    try {
      look_through(directory, entries, found);
    } catch (const std::exception&) {
      // A name that this system's narrow strings cannot hold: the fonts found so far will do.
    }
  }
  std::sort(found.begin(), found.end(), [](const FoundFont& a, const FoundFont& b) {
    return std::tie(a.rank, a.name, a.path) < std::tie(b.rank, b.name, b.path);
  });
  std::vector<std::string> paths;
  for (FoundFont& f : found) paths.push_back(std::move(f.path));
  return paths;
}

Typeface::Typeface(std::vector<std::string> files, float pixels)
    : files_(std::move(files)),
      pixels_(std::clamp(pixels, 6.0f, 96.0f)),
      ascent_(static_cast<int32_t>(std::ceil(pixels_ * 1.05f))),
      descent_(static_cast<int32_t>(std::ceil(pixels_ * 0.35f))) {}

const FontFile* Typeface::font_of(char32_t code) {
  constexpr size_t kMostFonts = 96;
  for (size_t i = 0;; ++i) {
    if (i == fonts_.size()) {
      if (next_file_ == files_.size() || fonts_.size() == kMostFonts) return nullptr;
      // Files that are no usable font are passed over: another one will do.
      auto opened = FontFile::open(files_[next_file_++]);
      if (!opened) {
        --i;
        continue;
      }
      fonts_.push_back(std::make_unique<FontFile>(std::move(*opened)));
    }
    const uint32_t glyph = fonts_[i]->glyph(code);
    if (glyph != 0 && fonts_[i]->sound(glyph)) return fonts_[i].get();
  }
}

const GlyphImage& Typeface::glyph(char32_t code) {
  if (const auto known = glyphs_.find(code); known != glyphs_.end()) return known->second;
  GlyphImage image;
  if (const FontFile* font = font_of(code)) {
    image = font->draw(font->glyph(code), pixels_);
    if (combining(code)) {
      if (image.advance == 0 && image.left >= 0) image.left -= image.width;
      image.advance = 0;
    }
  } else {
    image = code < 0x7F ? without_font(code) : box(code);
  }
  return glyphs_.emplace(code, std::move(image)).first->second;
}

GlyphImage Typeface::without_font(char32_t code) const {
  GlyphImage image =
      draw_plain(std::string(1, static_cast<char>(code)), static_cast<uint32_t>(std::max(1.0f, pixels_ / 10)));
  image.advance += std::max(1.0f, pixels_ / 10) - 1;
  return image;
}

// Four or six hexadecimal digits in two rows, in a frame.
GlyphImage Typeface::box(char32_t code) const {
  char digits[9];
  std::snprintf(digits, sizeof digits, code > 0xFFFF ? "%06X" : "%04X", static_cast<unsigned>(code));
  const std::string all = digits;
  const size_t half = all.size() / 2;
  const GlyphImage rows[] = {draw_plain(all.substr(0, half), 1), draw_plain(all.substr(half), 1)};
  GlyphImage image;
  image.width = std::max(rows[0].width, rows[1].width) + 5;
  image.height = 23;
  image.top = -static_cast<int32_t>(std::min<float>(20, pixels_ * 1.2f));
  image.advance = static_cast<float>(image.width + 1);
  TextImage canvas{image.width, image.height, 0,
                   std::vector<uint8_t>(static_cast<size_t>(image.width) * static_cast<size_t>(image.height), 0)};
  for (int32_t y = 0; y < canvas.height; ++y) {
    for (int32_t x = 0; x < canvas.width; ++x) {
      if (x == 0 || y == 0 || x == canvas.width - 1 || y == canvas.height - 1)
        canvas.coverage[static_cast<size_t>(y) * static_cast<size_t>(canvas.width) + static_cast<size_t>(x)] = 160;
    }
  }
  for (int32_t row = 0; row < 2; ++row) {
    canvas.baseline = 9 + row * 10;
    paint(canvas, rows[row], 3);
  }
  image.coverage = std::move(canvas.coverage);
  return image;
}

TextImage Typeface::draw(std::u32string_view text, int32_t max_width) {
  constexpr size_t kMostCharacters = 1000;  // no label is read further
  std::u32string shown = visual_order(text.substr(0, kMostCharacters));
  // Joined forms that no font has go back to the letters themselves.
  if (std::any_of(shown.begin(), shown.end(), [this](char32_t c) { return c >= 0xFB50 && c <= 0xFEFC && !has(c); })) {
    shown = std::u32string(text.substr(0, kMostCharacters));
    if (std::any_of(shown.begin(), shown.end(), right_to_left)) std::reverse(shown.begin(), shown.end());
  }
  std::erase_if(shown, invisible);
  float width = 0;
  size_t end = 0;
  const float dots = glyph(U'.').advance * 3;
  size_t room_for_dots = 0;
  for (; end < shown.size(); ++end) {
    width += glyph(shown[end]).advance;
    if (width > static_cast<float>(max_width)) break;
    if (width + dots <= static_cast<float>(max_width)) room_for_dots = end + 1;
  }
  if (end < shown.size()) shown = shown.substr(0, room_for_dots) + U"...";
  width = 0;
  for (const char32_t c : shown) width += glyph(c).advance;
  TextImage out;
  out.width = static_cast<int32_t>(std::ceil(width)) + 2;
  out.height = line_height();
  out.baseline = ascent_;
  out.coverage.assign(static_cast<size_t>(out.width) * static_cast<size_t>(out.height), 0);
  float x = 1;
  for (const char32_t c : shown) {
    const GlyphImage& image = glyph(c);
    paint(out, image, static_cast<int32_t>(std::lround(x)));
    x += image.advance;
  }
  return out;
}

}  // namespace lapilli::image
