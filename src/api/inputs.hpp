// The inputs of a call, as the C interface has them, checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "generate/generate.hpp"
#include "image/picture.hpp"
#include "lapilli/lapilli.h"

namespace lapilli::api {

// Pixels as somebody has them: `channels` bytes each (1, 3 or 4), rows `stride` bytes apart.
struct PixelView {
  const uint8_t* pixels = nullptr;
  size_t stride = 0;
  uint32_t width = 0, height = 0, channels = 3;
};
image::Picture picture_of(const PixelView& view);

// Fields of other kinds are empty. What the views show is the caller's, or that of InputCopies.
struct Input {
  int32_t kind = 0;       // LAPILLI_INPUT_...
  std::string_view text;  // or the path of a picture's file
  std::span<const int32_t> ids;
  std::span<const float> samples;
  uint32_t sample_rate = 0;
  bool more_samples = false;
  std::optional<lapilli_sample_source> source;  // instead of samples
  PixelView pixels;
};

// What is wrong with the fields of one of them is an error of all.
Result<std::vector<Input>> read_inputs(const char* function, const lapilli_input* inputs, size_t count);
// Of those that a model takes, the one that a program makes first: text, samples or pixels.
int32_t input_kind_of(const model::Config& config);
// No more than are taken at a time.
Status check_sample_count(const char* where, uint64_t count);
// The model takes inputs of these kinds.
Status check_kinds(const char* function, std::span<const Input> inputs, const Model& model);

// Holds what inputs of ids, samples and pixels show.
class InputCopies {
 public:
  // From then on the input shows what is held here.
  void keep(Input& input);

 private:
  std::vector<std::vector<float>> samples_;
  std::vector<std::vector<int32_t>> ids_;
  std::vector<image::Picture> pictures_;
};

}  // namespace lapilli::api
