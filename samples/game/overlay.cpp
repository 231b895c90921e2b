#include "overlay.hpp"

#include <algorithm>

namespace game {
namespace {

constexpr Ink kPanel{0.04f, 0.03f, 0.10f, 0.62f};
constexpr Ink kEdge{0.98f, 0.72f, 0.42f, 0.9f};
constexpr Ink kSpeaker{1.0f, 0.80f, 0.52f};
constexpr Ink kWords{1.0f, 0.98f, 0.95f};
constexpr Ink kNote{1.0f, 0.96f, 0.90f, 0.85f};
constexpr Ink kShadow{0.02f, 0.01f, 0.05f, 0.75f};

void with_shadow(std::vector<Quad>& quads, const Font& font, const std::string& text, Place at, Ink ink) {
  const float offset = std::max(1.0f, font.height() * 0.05f);
  font.draw(quads, text, {at.x + offset, at.y + offset, at.scale}, kShadow);
  font.draw(quads, text, at, ink);
}

// Two lines' room at the foot, so that the panel stays as it is while words come.
void add_subtitle(std::vector<Quad>& quads, const Overlay& o, const Font& font, VkExtent2D size) {
  const float wide = float(size.width), high = float(size.height), h = font.height();
  const float left = wide * 0.12f, right = wide * 0.88f, top = high - 4.1f * h, bottom = high - 0.7f * h;
  quads.push_back(plain(left, top, right, bottom, kPanel));
  quads.push_back(plain(left, top, left + std::max(2.0f, h * 0.1f), bottom, kEdge));
  with_shadow(quads, font, o.speaker, {left + 0.7f * h, top + 0.85f * h, 0.72f}, kSpeaker);
  float y = top + 1.85f * h;
  for (const std::string& line : font.wrap(o.subtitle.empty() ? "…" : o.subtitle, right - left - 1.4f * h)) {
    with_shadow(quads, font, line, {left + 0.7f * h, y}, kWords);
    y += 1.1f * h;
  }
}

void add_progress(std::vector<Quad>& quads, const Overlay& o, const Font& font, VkExtent2D size) {
  const float wide = float(size.width), high = float(size.height), h = font.height();
  const float left = wide * 0.3f, right = wide * 0.7f, y = high * 0.78f;
  const std::string text = "Loading the translation";
  with_shadow(quads, font, text, {(wide - font.width(text, 0.8f)) / 2, y - 0.6f * h, 0.8f}, kWords);
  quads.push_back(plain(left, y, right, y + 0.2f * h, kPanel));
  quads.push_back(plain(left, y, left + (right - left) * float(o.loading), y + 0.2f * h, kEdge));
}

}  // namespace

float letter_height(uint32_t picture_height) { return std::clamp(float(picture_height) / 20, 8.0f, 56.0f); }

std::vector<Quad> lay_out(const Overlay& overlay, const Font& font, VkExtent2D size) {
  std::vector<Quad> quads;
  const float h = font.height();
  with_shadow(quads, font, overlay.language, {0.7f * h, 1.3f * h, 0.7f}, kNote);
  if (!overlay.speaker.empty()) add_subtitle(quads, overlay, font, size);
  if (overlay.loading >= 0) add_progress(quads, overlay, font, size);
  return quads;
}

}  // namespace game
