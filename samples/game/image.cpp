#include "image.hpp"

#include <cmath>
#include <stdexcept>

#include "files.hpp"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb_image_write.h>

namespace game {

Image::Image(int wide, int high, Ink background)
    : width_(wide), height_(high), rgb_(size_t{3} * static_cast<size_t>(wide) * static_cast<size_t>(high)) {
  background.opacity = 1;
  for (int y = 0; y < high; ++y)
    for (int x = 0; x < wide; ++x) blend(x, y, background);
}

Image::Image(int wide, int high, const std::vector<uint8_t>& pixels) : Image(wide, high, Ink{0, 0, 0}) {
  for (size_t i = 0; i < rgb_.size(); ++i) rgb_[i] = pixels[i / 3 * 4 + i % 3];
}

void Image::blend(int x, int y, Ink ink) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  uint8_t* pixel = &rgb_[3 * (static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x))];
  const float parts[3] = {ink.red, ink.green, ink.blue};
  for (int i = 0; i < 3; ++i) {
    const float mixed = static_cast<float>(pixel[i]) * (1 - ink.opacity) + 255 * parts[i] * ink.opacity;
    pixel[i] = static_cast<uint8_t>(std::lround(mixed));
  }
}

void Image::draw(const std::vector<Quad>& quads, const Font& font) {
  constexpr float kSize = Font::kAtlasSize;
  for (const Quad& q : quads)
    for (int y = static_cast<int>(std::lround(q.top)); static_cast<float>(y) < q.bottom; ++y)
      for (int x = static_cast<int>(std::lround(q.left)); static_cast<float>(x) < q.right; ++x) {
        const float across = (static_cast<float>(x) + 0.5f - q.left) / (q.right - q.left);
        const float down = (static_cast<float>(y) + 0.5f - q.top) / (q.bottom - q.top);
        const auto u = static_cast<size_t>(kSize * (q.u_left + across * (q.u_right - q.u_left)));
        const auto v = static_cast<size_t>(kSize * (q.v_top + down * (q.v_bottom - q.v_top)));
        const size_t at = v * Font::kAtlasSize + u;
        const float coverage = at < font.atlas().size() ? static_cast<float>(font.atlas()[at]) / 255 : 0;
        blend(x, y, {q.ink[0], q.ink[1], q.ink[2], q.ink[3] * coverage});
      }
}

void Image::write_png(const std::string& path) const {
  std::vector<uint8_t> png;
  const auto receive = [](void* to, void* bytes, int count) {
    const uint8_t* first = static_cast<uint8_t*>(bytes);
    static_cast<std::vector<uint8_t>*>(to)->insert(static_cast<std::vector<uint8_t>*>(to)->end(), first, first + count);
  };
  if (!stbi_write_png_to_func(receive, &png, width_, height_, 3, rgb_.data(), 3 * width_))
    throw std::runtime_error("no memory for " + path);
  write_file(path, png.data(), png.size());
}

}  // namespace game
