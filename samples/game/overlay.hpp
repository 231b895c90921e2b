// The text over the scene: the subtitle on its panel, the language, and the progress of a model that loads.
#pragma once

#include "renderer.hpp"
#include "story.hpp"
#include "text.hpp"

namespace game {

struct Overlay {
  std::string speaker, subtitle, language;
  double loading = -1;  // 0 to 1; below 0: nothing loads
};

std::vector<Quad> lay_out(const Overlay& overlay, const Font& font, VkExtent2D size);

// Height of a subtitle's letters in a picture of so many pixels' height.
float letter_height(uint32_t picture_height);

}  // namespace game
