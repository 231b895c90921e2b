#include "generate/picture_overlays.hpp"

#include <algorithm>

#include "generate/forward_run.hpp"
#include "search/network_on_device.hpp"
#include "text/sentences/sentence_class.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

Status check_index(const char* what, int32_t index, uint32_t count) {
  if (index >= kAttentionMean && index < static_cast<int32_t>(count)) return {};
  return fail(ErrorCode::invalid_argument, "attention %s %d: the decoder has %ss 0 to %u", what, index, what,
              count - 1);
}

// Sums attention [1, heads, queries, keys] of a layer's heads, the chosen one or all.
class AttentionSum {
 public:
  AttentionSum(const PictureGrid& grid, size_t ids) : grid_(grid), sums_(ids, std::vector<double>(parts(), 0.0)) {}

  Status add(const ForwardTensor& layer, int32_t head) {
    const size_t heads = layer.shape.size() == 4 ? layer.shape[1] : 0, keys = grid_.front + parts();
    if (layer.shape != std::vector<uint64_t>{1, heads, sums_.size(), keys})
      return fail(ErrorCode::internal, "%s is not of %u ids and %u rows", layer.name, sums_.size(), keys);
    for (size_t h = 0; h < heads; ++h) {
      if (head >= 0 && h != static_cast<size_t>(head)) continue;
      for (size_t id = 0; id < sums_.size(); ++id) {
        const float* from = layer.values.data() + (h * sums_.size() + id) * keys + grid_.front;
        for (size_t part = 0; part < parts(); ++part) sums_[id][part] += static_cast<double>(from[part]);
      }
      ++count_;
    }
    return {};
  }

  [[nodiscard]] std::vector<std::vector<float>> means() const {
    std::vector<std::vector<float>> means;
    for (const auto& sum : sums_) {
      auto& mean = means.emplace_back();
      for (const double s : sum) mean.push_back(static_cast<float>(s / std::max(count_, 1u)));
    }
    return means;
  }

 private:
  [[nodiscard]] size_t parts() const { return size_t{grid_.rows} * grid_.columns; }
  PictureGrid grid_;
  std::vector<std::vector<double>> sums_;
  unsigned count_ = 0;
};

ForwardRequest request_of(const Model& model, std::shared_ptr<const model::Features> source,
                          std::span<const int32_t> decoder_ids, int32_t layer) {
  ForwardRequest request;
  request.features = {std::move(source)};
  request.targets = {{decoder_ids.begin(), decoder_ids.end() - 1}};
  request.want_logits = false;
  for (uint32_t l = 0; l < model.info().decoder_layers; ++l)
    if (layer < 0 || l == static_cast<uint32_t>(layer)) request.cross_layers.push_back(l);
  return request;
}

}  // namespace

PictureGrid grid_of(const model::Config& config) {
  const model::PatchInput& p = config.patches;
  PictureGrid grid{config.features.front, p.rows(), p.columns(), 0, 0};
  uint32_t height = p.patch_height, width = p.patch_width;  // of a part
  for (const model::StageConfig& stage : config.stages) {
    grid.rows = stage.height;
    grid.columns = stage.width;
    if (!stage.merges) continue;
    height *= 2;
    width *= 2;
  }
  grid.height = grid.rows * height;
  grid.width = grid.columns * width;
  return grid;
}

Status check_overlay_choice(const Model& model, const AttentionChoice& choice) {
  LAPILLI_CHECK(check_index("layer", choice.layer, model.info().decoder_layers));
  return check_index("head", choice.head, model.info().decoder_heads);
}

Result<std::vector<std::vector<float>>> attention_of_ids(const std::shared_ptr<Model>& model,
                                                         std::shared_ptr<const model::Features> source,
                                                         std::span<const int32_t> decoder_ids,
                                                         const AttentionChoice& choice,
                                                         const std::function<bool()>& go_on) {
  LAPILLI_CHECK(check_overlay_choice(*model, choice));
  if (decoder_ids.size() < 2) return std::vector<std::vector<float>>();
  LAPILLI_TRY(const auto job,
              ForwardRun::start(model, request_of(*model, std::move(source), decoder_ids, choice.layer)));
  for (;;) {
    if (!go_on()) return fail(ErrorCode::cancelled, "interrupted");
    LAPILLI_TRY(const bool done, job->poll());
    if (done) break;
    LAPILLI_CHECK(job->wait());
  }
  AttentionSum sum(grid_of(model->on_device().config()), decoder_ids.size() - 1);
  LAPILLI_CHECK(job->take([&](const ForwardTensor& t) -> Status {
    return t.name.starts_with("cross_attentions.") ? sum.add(t, choice.head) : Status();
  }));
  return sum.means();
}

// ---- words ---------------------------------------------------------------------------------------------------------

std::vector<WrittenWord> written_words(std::string_view text, std::span<const ByteRange> bytes,
                                       const std::vector<bool>& fields) {
  std::vector<WrittenWord> words;
  uint64_t end = 0;  // of the last word
  bool whole = true;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const std::string_view given = text.substr(bytes[i].begin, bytes[i].end - bytes[i].begin);
    const std::string_view own = strip(given);
    if (own.empty()) continue;
    const auto begin = static_cast<uint64_t>(own.data() - text.data());
    const bool again = begin < end;  // several ids of one character
    if (!again && (whole || fields[i] || begin > end || unspaced_script(decode_utf8(text, begin).code)))
      words.emplace_back();
    if (!again) words.back().text += own;
    words.back().ids.push_back(i);
    end = std::max(end, begin + own.size());
    whole = fields[i];
  }
  return words;
}

namespace {

// Tokens that appear in the text by their own names.
std::vector<bool> fields_of(const Tokenizer& tokenizer, std::span<const int32_t> ids, std::string_view text,
                            std::span<const ByteRange> bytes) {
  std::vector<bool> fields;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string_view name = tokenizer.token(ids[i]);
    fields.push_back(name.size() > 2 && name.starts_with('<') && name.ends_with('>') &&
                     strip(text.substr(bytes[i].begin, bytes[i].end - bytes[i].begin)) == name);
  }
  return fields;
}

std::vector<float> mean_of(const std::vector<std::vector<float>>& attention, const std::vector<size_t>& ids) {
  std::vector<float> mean(attention[ids.front()].size());
  for (const size_t id : ids)
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += attention[id][i] / static_cast<float>(ids.size());
  return mean;
}

Result<std::vector<WrittenWord>> words_of(const PictureReader& reader, const PictureResult& result) {
  std::vector<int32_t> ids = {result.start};
  ids.insert(ids.end(), result.ids.begin(), result.ids.end());
  LAPILLI_TRY(auto bytes,
              decoded_bytes([&](std::span<const int32_t> some) { return reader.text_of(some); }, ids, result.text));
  bytes.erase(bytes.begin());
  return written_words(result.text, bytes, fields_of(*reader.model()->tokenizer(), result.ids, result.text, bytes));
}

// The part of the picture that the grid covers; black outside of it.
image::Picture cut_to(const image::Picture& p, uint32_t height, uint32_t width) {
  image::Picture out{width, height, std::vector<uint8_t>(size_t{3} * height * width)};
  const uint32_t columns = std::min(width, p.width);
  for (uint32_t y = 0; y < std::min(height, p.height); ++y)
    std::copy_n(p.rgb.begin() + static_cast<ptrdiff_t>(size_t{3} * y * p.width), 3 * columns,
                out.rgb.begin() + static_cast<ptrdiff_t>(size_t{3} * y * width));
  return out;
}

}  // namespace

// ---- the sheet -----------------------------------------------------------------------------------------------------

Result<image::Picture> picture_to_show(const ShownPicture& shown, const PictureGrid& grid, bool squeezed) {
  constexpr double kShortest = 200, kLongest = 560;  // pixels of the longer side
  const image::Picture covered = cut_to(shown.prepared, grid.height, grid.width);
  double height = grid.height, width = grid.width;
  if (squeezed) {
    height *= static_cast<double>(shown.original.height) / shown.prepared.height;
    width *= static_cast<double>(shown.original.width) / shown.prepared.width;
  }
  const double longer = std::max(height, width), scale = std::clamp(longer, kShortest, kLongest) / longer;
  const auto side = [scale](double pixels) { return std::max(static_cast<uint32_t>(pixels * scale + 0.5), 1u); };
  const image::Size size{side(height), side(width)};
  if (size == image::Size{covered.height, covered.width}) return covered;
  return image::resize(covered, size, image::Filter::bilinear);
}

Result<drawing::OverlaySheet> overlay_sheet_of(const PictureReader& reader, const ShownPicture& shown,
                                               const PictureResult& result,
                                               const std::vector<std::vector<float>>& attention) {
  LAPILLI_TRY(const auto words, words_of(reader, result));
  if (words.empty())
    return fail(ErrorCode::invalid_data, "the text has no words, and only words have attention to draw");
  const PictureGrid grid = grid_of(reader.model()->on_device().config());
  drawing::OverlaySheet sheet;
  sheet.rows = grid.rows;
  sheet.columns = grid.columns;
  LAPILLI_TRY(sheet.picture, picture_to_show(shown, grid, reader.settings().processor.squeezes()));
  for (const WrittenWord& word : words) sheet.overlays.push_back({to_utf32(word.text), mean_of(attention, word.ids)});
  return sheet;
}

}  // namespace lapilli
