#include "speech/look_picture.hpp"

#include <algorithm>
#include <cmath>

#include "text/unicode/utf8.hpp"

namespace lapilli::speech {

namespace {

constexpr uint32_t kAboutWide = 560, kAboutTall = 80;  // a spectrogram's approximate size in pixels

// One column per frame and one row per band, both several pixels wide. The loudest is dark.
image::Picture spectrogram(const SegmentLooks& looks) {
  const uint32_t across = std::clamp(kAboutWide / looks.frames, 1u, 8u), down = std::max(kAboutTall / looks.bands, 1u);
  image::Picture p{looks.frames * across, looks.bands * down, {}};
  const auto [least, most] = std::minmax_element(looks.features.begin(), looks.features.end());
  const float range = std::max(*most - *least, 1e-6f);
  p.rgb.reserve(size_t{p.width} * p.height * 3);
  for (uint32_t y = 0; y < p.height; ++y)
    for (uint32_t x = 0; x < p.width; ++x) {
      const uint32_t band = looks.bands - 1 - y / down;
      const float loud = (looks.features[size_t{x / across} * looks.bands + band] - *least) / range;
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

bool has_looks(const Segment& segment) { return segment.looks && segment.looks->frames > 0 && !segment.words.empty(); }

Result<drawing::LookSheet> look_sheet_of(const Segment& segment) {
  if (!has_looks(segment))
    return fail(ErrorCode::invalid_argument, "a segment from %.2f to %.2f s has nothing to draw", segment.begin,
                segment.end);
  drawing::LookSheet sheet;
  sheet.title = to_utf32(format("%.2f to %.2f s", segment.begin, segment.end));
  sheet.picture = spectrogram(*segment.looks);
  sheet.columns = segment.looks->positions;
  for (size_t i = 0; i < segment.words.size(); ++i)
    sheet.looks.push_back({label_of(segment.words[i]), segment.looks->words[i]});
  return sheet;
}

}  // namespace lapilli::speech
