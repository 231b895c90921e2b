// What a model wants a picture to be, as its preprocessor_config.json says, and the numbers that it becomes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/hf_config.hpp"
#include "image/picture.hpp"
#include "pictures/resample.hpp"

namespace lapilli::pictures {

struct Processor {
  bool crop_margin = false;  // to what is darker than a paper's margin (Nougat)
  bool turn = false;  // by 90 degrees to the right, where that brings the long side to the size's long side (Donut)
  bool resize = true;
  Size size;                   // what the picture is brought to; height 0: it keeps its shape,
  uint32_t shortest_edge = 0;  // and its shorter side becomes so long
  Filter filter = Filter::bilinear;
  bool shrink = false;       // then into `size`, keeping its shape (Donut)
  bool pad = false;          // then into the middle of black of that size (Donut)
  bool center_crop = false;  // what is left is cut to `crop`, or stands in the middle of black of that size
  Size crop;
  bool rescale = true, normalize = true;
  double rescale_factor = 1.0 / 255;
  std::array<float, 3> mean{0.5f, 0.5f, 0.5f}, deviation{0.5f, 0.5f, 0.5f};
  // All of the picture is there, in another shape.
  [[nodiscard]] bool squeezes() const {
    return !crop_margin && resize && shortest_edge == 0 && !shrink && !pad && !center_crop;
  }
};

// The processors of ViT, DeiT, Donut and Nougat, and the names that they had before. Errors name file and key: another
// processor, a field that asks for what none of these does, sizes beyond 8,192.
Result<Processor> parse_processor(const JsonView& view);
// preprocessor_config.json, or image_processor of processor_config.json.
Result<Processor> read_processor(const Files& files);

// Red, green, blue: three planes of height * width, as models have them.
struct Pixels {
  Size size;
  std::vector<float> values;
};
Result<Pixels> process(const Processor& processor, const image::Picture& picture);
// The same in two steps: the picture as it is cut, and the numbers of it.
Result<image::Picture> prepare(const Processor& processor, const image::Picture& picture);
Pixels pixels_of(const Processor& processor, const image::Picture& prepared);

}  // namespace lapilli::pictures
