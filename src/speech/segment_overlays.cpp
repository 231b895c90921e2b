#include "speech/segment_overlays.hpp"

#include <algorithm>
#include <cmath>

#include "text/unicode/utf8.hpp"

namespace lapilli::speech {

namespace {

constexpr uint32_t kAboutWide = 560, kAboutTall = 80;  // a spectrogram's approximate size in pixels

// One column per frame and one row per band, both several pixels wide. The loudest is dark.
image::Picture spectrogram(const SegmentAttention& attention) {
  const uint32_t across = std::clamp(kAboutWide / attention.frames, 1u, 8u),
                 down = std::max(kAboutTall / attention.bands, 1u);
  image::Picture p{attention.frames * across, attention.bands * down, {}};
  const auto [least, most] = std::minmax_element(attention.features.begin(), attention.features.end());
  const float range = std::max(*most - *least, 1e-6f);
  p.rgb.reserve(size_t{p.width} * p.height * 3);
  for (uint32_t y = 0; y < p.height; ++y)
    for (uint32_t x = 0; x < p.width; ++x) {
      const uint32_t band = attention.bands - 1 - y / down;
      const float loud = (attention.features[size_t{x / across} * attention.bands + band] - *least) / range;
      p.rgb.insert(p.rgb.end(), 3, static_cast<uint8_t>(std::lround(255 - 215 * loud)));
    }
  return p;
}

std::u32string label_of(const Word& word) {
  std::string text = word.text;
  for (size_t i = 0; text.empty() && i < word.ids.size(); ++i) text += "#" + std::to_string(word.ids[i]);
  return to_utf32(std::string(strip(text)) + format("  %.2f s", word.begin));
}

}  // namespace

bool has_overlays(const Segment& segment) {
  return segment.attention && segment.attention->frames > 0 && !segment.words.empty();
}

Result<drawing::OverlaySheet> overlay_sheet_of(const Segment& segment) {
  if (!has_overlays(segment))
    return fail(ErrorCode::invalid_argument, "a segment from %.2f to %.2f s has nothing to draw", segment.begin,
                segment.end);
  drawing::OverlaySheet sheet;
  sheet.title = to_utf32(format("%.2f to %.2f s", segment.begin, segment.end));
  sheet.picture = spectrogram(*segment.attention);
  sheet.columns = segment.attention->positions;
  for (size_t i = 0; i < segment.words.size(); ++i)
    sheet.overlays.push_back({label_of(segment.words[i]), segment.attention->words[i]});
  return sheet;
}

}  // namespace lapilli::speech
