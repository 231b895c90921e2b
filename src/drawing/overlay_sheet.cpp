#include "drawing/overlay_sheet.hpp"

#include <algorithm>
#include <cmath>

#include "drawing/canvas.hpp"
#include "drawing/svg_text.hpp"
#include "image/stb.hpp"

namespace lapilli::drawing {
namespace {

constexpr int32_t kSheetMargin = 12, kWidest = 1200;  // of a sheet, unless its picture is wider
constexpr uint64_t kMostSheetPixels = uint64_t{1} << 27;

Status check(const OverlaySheet& sheet) {
  const image::Picture& p = sheet.picture;
  const uint64_t parts = uint64_t{sheet.rows} * sheet.columns;
  bool agree = p.width > 0 && p.height > 0 && parts > 0 && p.rgb.size() == uint64_t{p.width} * p.height * 3;
  for (const Overlay& overlay : sheet.overlays) agree = agree && overlay.weights.size() == parts;
  if (agree && !sheet.overlays.empty()) return {};
  return fail(ErrorCode::invalid_argument, "%u looks at a picture of %u by %u pixels", sheet.overlays.size(), p.width,
              p.height);
}

std::string in_base64(const std::vector<uint8_t>& bytes) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) three = three << 8 | (i + k < bytes.size() ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : kDigits[three >> (18 - 6 * k) & 63];
  }
  return out;
}

// The pixels of part number `part` when `pixels` are divided into `parts`.
struct Span {
  uint32_t begin, end;
};
Span span_of(uint32_t part, uint32_t parts, uint32_t pixels) {
  const auto at = [&](uint32_t n) { return static_cast<uint32_t>(uint64_t{n} * pixels / parts); };
  return {at(part), at(part + 1)};
}

// Parts that are hardly orange are omitted; whole percents look the same in every locale.
void append_cover(std::string& out, const OverlaySheet& sheet, const Overlay& overlay) {
  const auto shares = shares_of(overlay);
  for (uint32_t part = 0; part < sheet.rows * sheet.columns; ++part) {
    const auto percent = std::lround(100 * kMostCover * shares[part]);
    if (percent == 0) continue;
    const Span x = span_of(part % sheet.columns, sheet.columns, sheet.picture.width);
    const Span y = span_of(part / sheet.columns, sheet.rows, sheet.picture.height);
    out += format("<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill-opacity=\"%d%%\"/>", x.begin, y.begin,
                  x.end - x.begin, y.end - y.begin, percent);
  }
}

void paint_overlay(Canvas& canvas, const OverlaySheet& sheet, const Overlay& overlay, int32_t left, int32_t top) {
  const image::Picture& p = sheet.picture;
  const auto shares = shares_of(overlay);
  for (uint32_t part = 0; part < sheet.rows * sheet.columns; ++part) {
    const Span xs = span_of(part % sheet.columns, sheet.columns, p.width);
    const Span ys = span_of(part / sheet.columns, sheet.rows, p.height);
    const float cover = kMostCover * shares[part];
    for (uint32_t y = ys.begin; y < ys.end; ++y)
      for (uint32_t x = xs.begin; x < xs.end; ++x) {
        const uint8_t* from = p.rgb.data() + (size_t{y} * p.width + x) * 3;
        uint8_t rgb[3];
        for (int k = 0; k < 3; ++k)
          rgb[k] = static_cast<uint8_t>(
              std::lround(static_cast<float>(from[k]) * (1 - cover) + static_cast<float>(kOverlayColour[k]) * cover));
        canvas.set(left + static_cast<int32_t>(x), top + static_cast<int32_t>(y), rgb);
      }
  }
}

}  // namespace

Result<OverlayLayout> lay_out(const OverlaySheet& sheet, int32_t line) {
  LAPILLI_CHECK(check(sheet));
  const auto width = static_cast<int32_t>(std::min(sheet.picture.width, image::kLongestSide));
  const auto height = static_cast<int32_t>(std::min(sheet.picture.height, image::kLongestSide));
  OverlayLayout at;
  at.line = line;
  at.left = kSheetMargin;
  at.top = kSheetMargin + line + kSheetMargin;
  at.step_x = width + kSheetMargin;
  at.step_y = line + height + kSheetMargin;
  at.across = std::clamp(kWidest / at.step_x, 1, static_cast<int32_t>(std::min<size_t>(sheet.overlays.size(), 64)));
  const uint64_t down = (sheet.overlays.size() + static_cast<size_t>(at.across) - 1) / static_cast<size_t>(at.across);
  at.width = at.left + at.across * at.step_x;
  const uint64_t tall = static_cast<uint64_t>(at.top) + down * static_cast<uint64_t>(at.step_y);
  if (tall * static_cast<uint64_t>(at.width) > kMostSheetPixels)
    return fail(ErrorCode::unsupported, "%u looks at a picture of %d by %d pixels are too much for one sheet",
                sheet.overlays.size(), width, height);
  at.height = static_cast<int32_t>(tall);
  return at;
}

std::vector<float> shares_of(const Overlay& overlay) {
  const float most = *std::max_element(overlay.weights.begin(), overlay.weights.end());
  std::vector<float> shares;
  for (const float w : overlay.weights) shares.push_back(most > 0 ? std::clamp(w / most, 0.0f, 1.0f) : 0.0f);
  return shares;
}

Result<std::string> overlay_sheet_svg(const OverlaySheet& sheet) {
  LAPILLI_TRY(const auto at, lay_out(sheet, kSvgLine));
  const image::Picture& p = sheet.picture;
  LAPILLI_TRY(const auto png, image::encode_png(p.width, p.height, 3, p.rgb));
  std::string out = svg_head(at.width, at.height, sheet.title);
  out += format("<defs><image id=\"picture\" width=\"%u\" height=\"%u\" href=\"data:image/png;base64,", p.width,
                p.height) +
         in_base64(png) + "\"/></defs>\n" +
         text_at(kSheetMargin, kSheetMargin + kSvgBaseline, shortened(sheet.title, at.width - 2 * kSheetMargin));
  for (size_t i = 0; i < sheet.overlays.size(); ++i) {
    const Overlay& overlay = sheet.overlays[i];
    out += text_at(at.x(i), at.y(i) + kSvgBaseline, shortened(overlay.label, static_cast<int32_t>(p.width)));
    out += format("<g transform=\"translate(%d %d)\" fill=\"#%02x%02x%02x\"><use href=\"#picture\"/>", at.x(i),
                  at.y(i) + at.line, kOverlayColour[0], kOverlayColour[1], kOverlayColour[2]);
    append_cover(out, sheet, overlay);
    out += "</g>\n";
  }
  return out + "</svg>\n";
}

Result<image::Picture> draw_overlay_sheet(const OverlaySheet& sheet, Typeface& typeface) {
  LAPILLI_TRY(const auto at, lay_out(sheet, typeface.line_height() + 2));
  Canvas canvas(static_cast<uint32_t>(at.width), static_cast<uint32_t>(at.height));
  canvas.text(typeface.draw(sheet.title, at.width - 2 * kSheetMargin), kSheetMargin, kSheetMargin);
  for (size_t i = 0; i < sheet.overlays.size(); ++i) {
    canvas.text(typeface.draw(sheet.overlays[i].label, static_cast<int32_t>(sheet.picture.width)), at.x(i), at.y(i));
    paint_overlay(canvas, sheet, sheet.overlays[i], at.x(i), at.y(i) + at.line);
  }
  return std::move(canvas).take();
}

Result<std::string> overlay_sheet_file(const OverlaySheet& sheet, OverlayFormat format) {
  constexpr float kTextPixels = 14;
  if (format == OverlayFormat::svg) return overlay_sheet_svg(sheet);
  Typeface typeface(find_font(), kTextPixels);
  LAPILLI_TRY(const auto drawn, draw_overlay_sheet(sheet, typeface));
  LAPILLI_TRY(const auto png, image::encode_png(drawn.width, drawn.height, 3, drawn.rgb));
  return std::string(png.begin(), png.end());
}

}  // namespace lapilli::drawing
