#include "generate/picture_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "generate/verbs.hpp"
#include "model/patches.hpp"
#include "search/network_on_device.hpp"

namespace lapilli {

namespace {

// The size of processed pictures, if it does not depend on them.
std::optional<image::Size> size_after(const image::Processor& p) {
  if (p.center_crop) return p.crop;
  if (p.pad || (p.resize && p.shortest_edge == 0 && !p.shrink)) return p.size;
  return std::nullopt;
}

}  // namespace

Status check_processor(const image::Processor& processor, const model::PatchInput& input, const Files& files) {
  if (input.channels != 3)
    return fail(ErrorCode::unsupported, "%s: pictures of %u channels are not supported; of three are", files,
                input.channels);
  const auto size = size_after(processor);
  if (!size || *size == image::Size{input.height, input.width}) return {};
  return fail(ErrorCode::invalid_data,
              "%s: preprocessor_config.json makes pictures of %u by %u, config.json wants %u by %u; one of the two is "
              "another model's",
              files, size->height, size->width, input.height, input.width);
}

Result<std::vector<std::string>> read_labels(const JsonView& config, uint32_t classes) {
  std::vector<std::string> labels(classes);
  const auto it = config.json.find("id2label");
  if (it == config.json.end() || !it->is_object()) return labels;
  for (const auto& [key, label] : it->items()) {
    uint32_t n = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), n);
    if (error != std::errc() || end != key.data() + key.size() || n >= classes || !label.is_string())
      return fail(ErrorCode::invalid_data, "%s: id2label is no list of names for %u classes", config.where, classes);
    labels[n] = label.get<std::string>();
  }
  return labels;
}

std::vector<ScoredClass> best_classes(std::span<const float> scores, uint32_t top,
                                      const std::vector<std::string>& labels) {
  std::vector<uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto better = [&](uint32_t a, uint32_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; };
  const size_t count = std::min<size_t>(top, scores.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(), better);
  double sum = 0;
  const double highest = scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
  for (const float s : scores) sum += std::exp(s - highest);
  std::vector<ScoredClass> best;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t index = order[i];
    best.push_back({index, labels[index], scores[index], std::exp(scores[index] - highest) / sum});
  }
  return best;
}

Result<PictureSettings> read_picture_settings(const Model& model, const Files& files) {
  const model::Config& c = model.on_device().config();
  LAPILLI_CHECK(check_reads_pictures(c));
  PictureSettings settings;
  LAPILLI_TRY(settings.processor, image::read_processor(files));
  LAPILLI_CHECK(check_processor(settings.processor, c.patches, files));
  if (c.kind().writes) return settings;
  const model::HeadConfig* head = c.head(model::HeadKind::classes);
  if (!head) return fail(ErrorCode::unsupported, "%s: the model has no classes; it serves %s", files, verbs_for(c));
  const FileName path = files / "config.json";
  LAPILLI_TRY(const auto json, read_json_file(path));
  LAPILLI_TRY(settings.labels, read_labels({json, path.path()}, head->columns));
  return settings;
}

bool PictureReader::classifies() const {
  return model_->on_device().config().head(model::HeadKind::classes) != nullptr;
}

Result<image::Picture> PictureReader::prepared(const image::Picture& picture) const {
  const model::PatchInput& input = model_->on_device().config().patches;
  const image::Size wanted{input.height, input.width};
  LAPILLI_TRY(auto prepared, image::prepare(settings_.processor, picture));
  if (image::Size{prepared.height, prepared.width} == wanted) return prepared;
  return fail(ErrorCode::unsupported,
              "becomes a picture of %u by %u pixels (width by height); the model reads %u by %u", prepared.width,
              prepared.height, wanted.width, wanted.height);
}

Result<std::shared_ptr<const model::Features>> PictureReader::source_of(const image::Picture& prepared) const {
  const auto pixels = image::pixels_of(settings_.processor, prepared);
  LAPILLI_TRY(auto features, model::patches_of(model_->on_device().config().patches, pixels.values));
  return std::make_shared<const model::Features>(std::move(features));
}

Result<std::shared_ptr<const model::Features>> PictureReader::source(const image::Picture& picture) const {
  LAPILLI_TRY(const auto now, prepared(picture));
  return source_of(now);
}

bool PictureReader::writes_fields() const { return model_->on_device().config().encoder.type == "donut-swin"; }

// As in the reference's examples: for Donut, start, ends and padding are removed, all other tokens stay.
Result<std::string> PictureReader::text_of(std::span<const int32_t> ids) const {
  if (!model_->tokenizer()) return std::string();
  const Tokenizer& tokenizer = *model_->tokenizer();
  if (!writes_fields()) return tokenizer.decode(ids);
  std::vector<int32_t> kept(ids.begin() + (ids.empty() ? 0 : 1), ids.end());
  std::erase_if(kept, [&](int32_t id) { return id == tokenizer.special().eos || id == tokenizer.special().pad; });
  return tokenizer.decode(kept, false);
}

}  // namespace lapilli
