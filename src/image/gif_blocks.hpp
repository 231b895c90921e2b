// The blocks of GIF files.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace lapilli::image {

// A GIF file up to the end of its first picture.
struct GifStart {
  bool whole = false;                  // the first picture is complete
  std::optional<size_t> transparency;  // the byte whose lowest bit marks one of the colours as transparent
};
GifStart look_at_gif(std::span<const unsigned char> file);

}  // namespace lapilli::image
