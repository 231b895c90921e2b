#include "api/inputs.hpp"

#include <algorithm>

#include "api/handles.hpp"
#include "generate/verbs.hpp"
#include "search/network_on_device.hpp"

namespace lapilli::api {

namespace {

using ull = unsigned long long;

constexpr uint64_t kMostSamples = uint64_t{1} << 31;  // per input: 37 hours at 16,000 a second
constexpr uint64_t kMostPulled = uint64_t{1} << 40;   // per source: two years

// The input being read, for messages.
struct At {
  const char* function;
  size_t index;
};

Failure unknown_kind(const At& at, int32_t kind) {
  if (kind == 0)
    return fail(ErrorCode::invalid_argument,
                "%s: the kind of input %u is not set; lapilli_text(), lapilli_tokens(), lapilli_samples() and "
                "lapilli_pixels() make inputs",
                at.function, at.index);
  return fail(ErrorCode::unsupported,
              "%s: input %u is of a kind that is not known (%d); this version (%s) takes text (%d), ids (%d), samples "
              "(%d), pixels (%d) and files of pictures (%d)",
              at.function, at.index, kind, lapilli_version(), LAPILLI_INPUT_TEXT, LAPILLI_INPUT_IDS,
              LAPILLI_INPUT_SAMPLES, LAPILLI_INPUT_PIXELS, LAPILLI_INPUT_PICTURE_FILE);
}

std::string_view view_of(const char* text, size_t bytes) {
  return bytes == LAPILLI_ZERO_TERMINATED ? std::string_view(text) : std::string_view(text, bytes);
}

Status read_text(const At& at, const lapilli_input& from, Input& to) {
  if (!from.text) return fail(ErrorCode::invalid_argument, "%s: text of input %u is null", at.function, at.index);
  to.text = view_of(from.text, from.text_bytes);
  if (from.pair) to.pair = view_of(from.pair, from.pair_bytes);
  return {};
}

Status read_ids(const At& at, const lapilli_input& from, Input& to) {
  if (!from.ids.ids && from.ids.count != 0)
    return fail(ErrorCode::invalid_argument, "%s: ids of input %u are at a null pointer", at.function, at.index);
  to.ids = {from.ids.ids, from.ids.count};
  return {};
}

// Refuses a zero byte: system functions would take the part before it for the name.
Status read_path(const At& at, const lapilli_input& from, Input& to) {
  LAPILLI_CHECK(read_text(at, from, to));
  if (!to.text.empty() && to.text.find('\0') == std::string_view::npos) return {};
  return fail(ErrorCode::invalid_argument, "%s: the path that input %u names is empty or has a zero byte in it",
              at.function, at.index);
}

Status read_source(const At& at, const lapilli_input& from, Input& to) {
  if (from.samples || from.sample_count != 0 || from.more_samples)
    return fail(ErrorCode::invalid_argument, "%s: input %u has a source of samples, and samples or more_samples too",
                at.function, at.index);
  lapilli_sample_source source = lapilli_default_sample_source();
  LAPILLI_CHECK(read_struct(from.source, source, "lapilli_sample_source"));
  if (!source.read)
    return fail(ErrorCode::invalid_argument, "%s: the read function of input %u is null", at.function, at.index);
  if (source.count == 0 || source.count > kMostPulled)
    return fail(ErrorCode::invalid_argument, "%s: input %u says that it has %u samples; there are 1 to %u", at.function,
                at.index, ull{source.count}, ull{kMostPulled});
  to.source = source;
  to.sample_rate = from.sample_rate;
  return {};
}

Status read_samples(const At& at, const lapilli_input& from, Input& to) {
  if (from.source) return read_source(at, from, to);
  if (!from.samples && from.sample_count != 0)
    return fail(ErrorCode::invalid_argument, "%s: samples of input %u are at a null pointer", at.function, at.index);
  if (from.sample_count == 0 && !from.more_samples)
    return fail(ErrorCode::invalid_argument,
                "%s: input %u has no samples; lapilli_sample_stream() makes a recording that continues", at.function,
                at.index);
  LAPILLI_CHECK(check_sample_count(format("%s: input %u", at.function, at.index).c_str(), from.sample_count));
  to.samples = {from.samples, from.sample_count};
  to.sample_rate = from.sample_rate;
  to.more_samples = from.more_samples != 0;
  return {};
}

Status check_picture_size(const At& at, const lapilli_input& from) {
  if (from.width == 0 || from.height == 0)
    return fail(ErrorCode::invalid_argument, "%s: input %u is a picture of %u by %u pixels, which holds none",
                at.function, at.index, from.width, from.height);
  if (from.width <= image::kLongestSide && from.height <= image::kLongestSide &&
      uint64_t{from.width} * from.height <= image::kMostPixels)
    return {};
  return fail(ErrorCode::invalid_argument,
              "%s: input %u is a picture of %u by %u pixels; at most %u a side and %u in all are taken: make it "
              "smaller first, as the model would do",
              at.function, at.index, from.width, from.height, image::kLongestSide, ull{image::kMostPixels});
}

Status read_pixels(const At& at, const lapilli_input& from, Input& to) {
  if (!from.pixels)
    return fail(ErrorCode::invalid_argument, "%s: pixels of input %u are at a null pointer", at.function, at.index);
  LAPILLI_CHECK(check_picture_size(at, from));
  const uint32_t channels = from.channels == 0 ? 3 : from.channels;
  if ((channels != 1 && channels != 3 && channels != 4))
    return fail(ErrorCode::unsupported,
                "%s: input %u has %u channels; pixels have 1 byte (grey), 3 (red, green, blue) or 4 (the last of "
                "which is ignored)",
                at.function, at.index, channels);
  const size_t row = size_t{from.width} * channels;
  if (from.row_stride != 0 && from.row_stride < row)
    return fail(ErrorCode::invalid_argument, "%s: row_stride of input %u is %u, and a row of %u pixels has %u bytes",
                at.function, at.index, from.row_stride, from.width, row);
  if (from.row_stride > SIZE_MAX / from.height)
    return fail(ErrorCode::invalid_argument, "%s: row_stride of input %u is %u, which cannot be", at.function, at.index,
                from.row_stride);
  to.pixels = {from.pixels, from.row_stride == 0 ? row : from.row_stride, from.width, from.height, channels};
  return {};
}

Result<Input> read_input(const At& at, const lapilli_input& from) {
  Input to;
  to.kind = from.kind;
  switch (from.kind) {
    case LAPILLI_INPUT_TEXT: LAPILLI_CHECK(read_text(at, from, to)); return to;
    case LAPILLI_INPUT_IDS: LAPILLI_CHECK(read_ids(at, from, to)); return to;
    case LAPILLI_INPUT_SAMPLES: LAPILLI_CHECK(read_samples(at, from, to)); return to;
    case LAPILLI_INPUT_PIXELS: LAPILLI_CHECK(read_pixels(at, from, to)); return to;
    case LAPILLI_INPUT_PICTURE_FILE: LAPILLI_CHECK(read_path(at, from, to)); return to;
    default: return unknown_kind(at, from.kind);
  }
}

const char* name_of(int32_t kind) {
  switch (kind) {
    case LAPILLI_INPUT_TEXT: return "text";
    case LAPILLI_INPUT_IDS: return "ids";
    case LAPILLI_INPUT_SAMPLES: return "samples";
    case LAPILLI_INPUT_PICTURE_FILE: return "a picture's file";
    default: return "pixels";
  }
}

// The kinds of inputs that a model takes, and the functions that make them.
struct Taken {
  int32_t first, last;  // kinds
  const char* what;
  const char* helpers;
};
Taken taken_by(const model::Config& c) {
  if (c.kind().reads == model::Reads::pictures)
    return {LAPILLI_INPUT_PIXELS, LAPILLI_INPUT_PICTURE_FILE, "pictures",
            "lapilli_pixels() and lapilli_picture_file()"};
  if (c.kind().reads == model::Reads::sound)
    return {LAPILLI_INPUT_SAMPLES, LAPILLI_INPUT_SAMPLES, "sound",
            "lapilli_samples(), lapilli_sample_stream() and lapilli_pulled_samples()"};
  return {LAPILLI_INPUT_TEXT, LAPILLI_INPUT_IDS, "text", "lapilli_text() and lapilli_tokens()"};
}

}  // namespace

int32_t input_kind_of(const model::Config& config) { return taken_by(config).first; }

Status check_sample_count(const char* where, uint64_t count) {
  if (count <= kMostSamples) return {};
  return fail(ErrorCode::invalid_argument,
              "%s: %u samples are more than are taken at a time (%u): append them piece by piece "
              "(lapilli_sample_stream(), lapilli_job_append_samples)",
              where, ull{count}, ull{kMostSamples});
}

Result<std::vector<Input>> read_inputs(const char* function, const lapilli_input* inputs, size_t count) {
  std::vector<Input> all;
  const auto read_one = [&](size_t index, const lapilli_input& from) -> Status {
    LAPILLI_TRY(all.emplace_back(), read_input({function, index}, from));
    return {};
  };
  LAPILLI_CHECK(read_array(inputs, count, "lapilli_input", read_one));
  return all;
}

Status check_kinds(const char* function, std::span<const Input> inputs, const Model& model) {
  const model::Config& c = model.on_device().config();
  const Taken taken = taken_by(c);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int32_t kind = inputs[i].kind;
    if (kind >= taken.first && kind <= taken.last) continue;
    return fail(ErrorCode::unsupported,
                "%s: input %u is %s, and %s models read %s: %s make inputs for them; of the program's commands, what "
                "serves them is %s",
                function, i, name_of(kind), c.family, taken.what, taken.helpers, verbs_for(c));
  }
  return {};
}

// ---- copies --------------------------------------------------------------------------------------------------------

image::Picture picture_of(const PixelView& view) {
  image::Picture picture;
  picture.width = view.width;
  picture.height = view.height;
  picture.rgb.resize(size_t{view.width} * view.height * 3);
  uint8_t* to = picture.rgb.data();
  for (uint32_t y = 0; y < view.height; ++y) {
    const uint8_t* from = view.pixels + y * view.stride;
    for (uint32_t x = 0; x < view.width; ++x, from += view.channels, to += 3) {
      to[0] = from[0];
      to[1] = from[view.channels == 1 ? 0 : 1];
      to[2] = from[view.channels == 1 ? 0 : 2];
    }
  }
  return picture;
}

void InputCopies::keep(Input& input) {
  if (input.pair) input.pair = pairs_.emplace_back(*input.pair);
  if (input.kind == LAPILLI_INPUT_IDS) input.ids = ids_.emplace_back(input.ids.begin(), input.ids.end());
  if (input.kind == LAPILLI_INPUT_SAMPLES)
    input.samples = samples_.emplace_back(input.samples.begin(), input.samples.end());
  if (input.kind != LAPILLI_INPUT_PIXELS) return;
  const image::Picture& p = pictures_.emplace_back(picture_of(input.pixels));
  input.pixels = {p.rgb.data(), size_t{p.width} * 3, p.width, p.height, 3};
}

}  // namespace lapilli::api
