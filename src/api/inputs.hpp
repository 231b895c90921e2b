// The inputs of a call through the C interface, validated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generate/generate.hpp"
#include "image/picture.hpp"
#include "lapilli/lapilli.h"

namespace lapilli::api {

// A view of pixels: `channels` bytes each (1, 3 or 4), rows `stride` bytes apart.
struct PixelView {
  const uint8_t* pixels = nullptr;
  size_t stride = 0;
  uint32_t width = 0, height = 0, channels = 3;
};
image::Picture picture_of(const PixelView& view);

// Fields of other kinds are empty. Views refer to the caller's memory, or that of InputCopies.
struct Input {
  int32_t kind = 0;       // LAPILLI_INPUT_...
  std::string_view text;  // or the path of a picture file
  std::optional<std::string_view> pair;
  std::span<const int32_t> ids;
  std::span<const float> samples;
  uint32_t sample_rate = 0;
  bool more_samples = false;
  std::optional<lapilli_sample_source> source;  // instead of samples
  PixelView pixels;
};

// An error in one input's fields fails the whole call.
Result<std::vector<Input>> read_inputs(const char* function, const lapilli_input* inputs, size_t count);
// The first kind that the model takes: text, samples or pixels.
int32_t input_kind_of(const model::Config& config);
// An error if there are more than one input may have.
Status check_sample_count(const char* where, uint64_t count);
// An error if the model does not take inputs of these kinds.
Status check_kinds(const char* function, std::span<const Input> inputs, const Model& model);

// Owns copies of the inputs' second texts, ids, samples and pixels.
class InputCopies {
 public:
  // Copies the data; the input then refers to the copy.
  void keep(Input& input);

 private:
  std::vector<std::vector<float>> samples_;
  std::vector<std::vector<int32_t>> ids_;
  std::deque<std::string> pairs_;
  std::vector<image::Picture> pictures_;
};

}  // namespace lapilli::api
