// The preparation of a picture as preprocessor_config.json describes it, and the resulting numbers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/hf_config.hpp"
#include "image/picture.hpp"
#include "image/resample.hpp"

namespace lapilli::image {

struct Processor {
  bool crop_margin = false;  // to the pixels darker than a paper's margin (Nougat)
  bool turn = false;  // by 90 degrees to the right, where that brings the long side to the size's long side (Donut)
  bool resize = true;
  Size size;                   // the target size; if height is 0, the picture keeps its shape,
  uint32_t shortest_edge = 0;  // and this is its shorter side
  Filter filter = Filter::bilinear;
  bool shrink = false;       // then fit into `size`, keeping its shape (Donut)
  bool pad = false;          // then centre on black of that size (Donut)
  bool center_crop = false;  // crop the result to `crop`, or centre it on black of that size
  Size crop;
  bool rescale = true, normalize = true;
  double rescale_factor = 1.0 / 255;
  std::array<float, 3> mean{0.5f, 0.5f, 0.5f}, deviation{0.5f, 0.5f, 0.5f};
  // True if the whole picture is kept, in another shape.
  [[nodiscard]] bool squeezes() const {
    return !crop_margin && resize && shortest_edge == 0 && !shrink && !pad && !center_crop;
  }
};

// The processors of ViT, DeiT, Donut and Nougat, also under their former names. Errors name file and key: another
// processor, a field that requests an unsupported step, sizes beyond 8,192.
Result<Processor> parse_processor(const JsonView& view);
// preprocessor_config.json, or image_processor of processor_config.json.
Result<Processor> read_processor(const Files& files);

// Red, green, blue: three planes of height * width, as models take them.
struct Pixels {
  Size size;
  std::vector<float> values;
};
Result<Pixels> process(const Processor& processor, const Picture& picture);
// The same in two steps: the cropped and resized picture, and its numbers.
Result<Picture> prepare(const Processor& processor, const Picture& picture);
Pixels pixels_of(const Processor& processor, const Picture& prepared);

}  // namespace lapilli::image
