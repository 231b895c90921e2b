#include <algorithm>
#include <nlohmann/json.hpp>

#include "formats/quote.hpp"
#include "image/processor.hpp"

namespace lapilli::image {

namespace {

constexpr uint32_t kLargestSide = 8'192;

// Defaults for fields missing in the file.
struct Kind {
  const char* type;
  uint32_t height, width, crop;  // crop 0: none
  Filter filter;
  bool donut;   // Donut's steps
  bool nougat;  // Donut's steps, after cropping margins
};
constexpr Kind kKinds[] = {{"ViT", 224, 224, 0, Filter::bilinear, false, false},
                           {"DeiT", 256, 256, 224, Filter::bicubic, false, false},
                           {"Donut", 2560, 1920, 0, Filter::bilinear, true, false},
                           {"Nougat", 896, 672, 0, Filter::bilinear, true, true}};

// Finds "ViTImageProcessor", "ViTImageProcessorFast", "ViTFeatureExtractor"; a file that does not say means ViT.
Result<Kind> find_kind(const JsonView& v) {
  const char* key = has(v, "image_processor_type") ? "image_processor_type" : "feature_extractor_type";
  LAPILLI_TRY(const auto type, get_string(v, key, "ViTImageProcessor"));
  for (const Kind& kind : kKinds)
    for (const char* name : {"ImageProcessor", "ImageProcessorFast", "ImageProcessorPil", "FeatureExtractor"})
      if (type == std::string(kind.type) + name) return kind;
  return fail(ErrorCode::unsupported, "%s: %s %s is not supported; those of ViT, DeiT, Donut and Nougat are", v.where,
              key, quote_name(type, 60));
}

Result<uint32_t> side(const JsonView& v, const char* key) {
  LAPILLI_TRY(const uint32_t n, get_u32(v, key));
  if (n == 0 || n > kLargestSide)
    return fail(ErrorCode::invalid_data, "%s: %s %u is not between 1 and %u", v.where, key, n, kLargestSide);
  return n;
}

// Older Donut files have [width, height].
Result<Size> listed_size(const JsonView& v, const char* key, bool width_first) {
  const auto& list = v.json[key];
  if (list.size() != 2) return fail(ErrorCode::invalid_data, "%s: %s has %u numbers, not 2", v.where, key, list.size());
  const nlohmann::json named = {{"height", list[width_first ? 1 : 0]}, {"width", list[width_first ? 0 : 1]}};
  const JsonView both{named, v.where + ": " + key};
  Size s;
  LAPILLI_TRY(s.height, side(both, "height"));
  LAPILLI_TRY(s.width, side(both, "width"));
  return s;
}

Result<Size> read_size(const JsonView& v, const char* key, bool width_first) {
  const auto& value = v.json[key];
  if (value.is_array()) return listed_size(v, key, width_first);
  Size s;
  if (!value.is_object()) {
    LAPILLI_TRY(s.height, side(v, key));
    s.width = s.height;
    return s;
  }
  const JsonView both{value, v.where + ": " + key};
  for (const char* other : {"longest_edge", "max_height", "max_width"})
    if (has(both, other))
      return fail(ErrorCode::unsupported, "%s: %s is not supported; height and width, or shortest_edge, are",
                  both.where, other);
  LAPILLI_TRY(s.height, side(both, "height"));
  LAPILLI_TRY(s.width, side(both, "width"));
  return s;
}

Status read_target(const JsonView& v, const Kind& kind, Processor& p) {
  p.size = {kind.height, kind.width};
  p.crop = {kind.crop, kind.crop};
  if (has(v, "crop_size")) {
    LAPILLI_TRY(p.crop, read_size(v, "crop_size", false));
  }
  if (!has(v, "size")) return {};
  const auto& size = v.json["size"];
  if (size.is_object() && size.contains("shortest_edge") && !size.contains("longest_edge") && !kind.donut) {
    LAPILLI_TRY(p.shortest_edge, side({size, v.where + ": size"}, "shortest_edge"));
    p.size = {};
    return {};
  }
  LAPILLI_TRY(p.size, read_size(v, "size", kind.donut && !kind.nougat));
  return {};
}

Status read_filter(const JsonView& v, Processor& p) {
  if (!has(v, "resample")) return {};
  LAPILLI_TRY(const uint32_t filter, get_u32(v, "resample"));
  constexpr uint32_t kNearest = 0, kBilinear = 2, kBicubic = 3;
  if (filter != kNearest && filter != kBilinear && filter != kBicubic)
    return fail(ErrorCode::unsupported,
                "%s: resample %u is not supported; 0 (nearest), 2 (bilinear) and 3 (bicubic) are", v.where, filter);
  p.filter = filter == kNearest ? Filter::nearest : filter == kBilinear ? Filter::bilinear : Filter::bicubic;
  return {};
}

// Reads a number for all channels, or one for each.
Status read_channels(const JsonView& v, const char* key, std::array<float, 3>& to) {
  if (!has(v, key)) return {};
  const auto& value = v.json[key];
  if (value.is_array() && value.size() != to.size())
    return fail(ErrorCode::unsupported, "%s: %s has %u numbers; pictures have three channels", v.where, key,
                value.size());
  for (size_t i = 0; i < to.size(); ++i) {
    const nlohmann::json one = {{key, value.is_array() ? value[i] : value}};
    LAPILLI_TRY(to[i], get_float({one, v.where}, key));
  }
  return {};
}

Status read_scaling(const JsonView& v, Processor& p) {
  LAPILLI_TRY(p.rescale, get_bool(v, "do_rescale", true));
  LAPILLI_TRY(p.normalize, get_bool(v, "do_normalize", true));
  if (has(v, "rescale_factor")) {
    LAPILLI_TRY(const float checked, get_float(v, "rescale_factor"));
    p.rescale_factor = checked == 0 ? 0 : v.json["rescale_factor"].get<double>();
  }
  LAPILLI_CHECK(read_channels(v, "image_mean", p.mean));
  LAPILLI_CHECK(read_channels(v, "image_std", p.deviation));
  const bool zero = std::any_of(p.deviation.begin(), p.deviation.end(), [](float d) { return d == 0; });
  if ((p.rescale && p.rescale_factor == 0) || (p.normalize && zero))
    return fail(ErrorCode::invalid_data, "%s: %s of 0 leaves nothing of a picture", v.where,
                zero ? "an image_std" : "a rescale_factor");
  return {};
}

Status read_steps(const JsonView& v, const Kind& kind, Processor& p) {
  LAPILLI_TRY(p.resize, get_bool(v, "do_resize", true));
  LAPILLI_TRY(p.center_crop, get_bool(v, "do_center_crop", kind.crop != 0));
  LAPILLI_TRY(p.crop_margin, get_bool(v, "do_crop_margin", kind.nougat));
  p.crop_margin = p.crop_margin && kind.nougat;
  LAPILLI_TRY(p.turn, get_bool(v, "do_align_long_axis", false));
  LAPILLI_TRY(p.shrink, get_bool(v, "do_thumbnail", kind.donut));
  LAPILLI_TRY(p.pad, get_bool(v, "do_pad", kind.donut));
  if (!kind.donut && (p.turn || p.shrink || p.pad)) p.turn = p.shrink = p.pad = false;  // these have no such steps
  if (p.center_crop && p.crop.height == 0)
    return fail(ErrorCode::invalid_data, "%s: do_center_crop without crop_size", v.where);
  if (kind.donut) p.shortest_edge = std::min(p.size.height, p.size.width);
  return {};
}

}  // namespace

Result<Processor> parse_processor(const JsonView& v) {
  LAPILLI_TRY(const Kind kind, find_kind(v));
  Processor p;
  p.filter = kind.filter;
  if (kind.nougat) {
    p.mean = {0.485f, 0.456f, 0.406f};
    p.deviation = {0.229f, 0.224f, 0.225f};
  }
  LAPILLI_CHECK(read_target(v, kind, p));
  LAPILLI_CHECK(read_filter(v, p));
  LAPILLI_CHECK(read_scaling(v, p));
  LAPILLI_CHECK(read_steps(v, kind, p));
  return p;
}

Result<Processor> read_processor(const Files& files) {
  const FileName own = files / "preprocessor_config.json", joint = files / "processor_config.json";
  if (own.there() || !joint.there()) {
    LAPILLI_TRY(const auto json, read_json_file(own));
    return parse_processor({json, own.path()});
  }
  LAPILLI_TRY(const auto json, read_json_file(joint));
  const auto part = json.find("image_processor");
  if (part == json.end() || !part->is_object())
    return fail(ErrorCode::invalid_data, "%s lacks image_processor, and there is no preprocessor_config.json", joint);
  return parse_processor({*part, joint.path() + ": image_processor"});
}

}  // namespace lapilli::image
