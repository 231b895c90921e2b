// The blocks of GIF files.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace lapilli::image {

// A file up to the end of its first picture.
struct GifStart {
  bool whole = false;                  // that is there to its end
  std::optional<size_t> transparency;  // the byte whose lowest bit says that one of the colours is none
};
GifStart look_at_gif(std::span<const unsigned char> file);

}  // namespace lapilli::image
