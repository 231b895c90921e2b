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

// What pictures become, where that does not depend on them.
std::optional<pictures::Size> size_after(const pictures::Processor& p) {
  if (p.center_crop) return p.crop;
  if (p.pad || (p.resize && p.shortest_edge == 0 && !p.shrink)) return p.size;
  return std::nullopt;
}

Status check_processor(const pictures::Processor& processor, const model::PatchInput& input, const Files& files) {
  if (input.channels != 3)
    return fail(ErrorCode::unsupported, "%s: pictures of %u channels are not supported; of three are", files.c_str(),
                input.channels);
  const auto size = size_after(processor);
  if (!size || *size == pictures::Size{input.height, input.width}) return {};
  return fail(ErrorCode::invalid_data,
              "%s: preprocessor_config.json makes pictures of %u by %u, config.json wants %u by %u; one of the two is "
              "another model's",
              files.c_str(), size->height, size->width, input.height, input.width);
}

}  // namespace

Result<std::vector<std::string>> read_labels(const JsonView& v, uint32_t classes) {
  std::vector<std::string> labels(classes);
  const auto it = v.json.find("id2label");
  if (it == v.json.end() || !it->is_object()) return labels;
  for (const auto& [key, label] : it->items()) {
    uint32_t n = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), n);
    if (error != std::errc() || end != key.data() + key.size() || n >= classes || !label.is_string())
      return fail(ErrorCode::invalid_data, "%s: id2label is no list of names for %u classes", v.where.c_str(), classes);
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

Result<PictureReader> PictureReader::make(std::shared_ptr<Model> model, const Files& files) {
  const model::Config& c = model->on_device().config();
  LAPILLI_CHECK(check_reads_pictures(c));
  PictureReader reader;
  reader.model_ = std::move(model);
  LAPILLI_TRY(reader.processor_, pictures::read_processor(files));
  LAPILLI_CHECK(check_processor(reader.processor_, c.patches, files));
  if (c.decoder.layers > 0) {
    if (!reader.model_->tokenizer()) return reader.model_->tokenizer_error();
    return reader;
  }
  if (c.head.classes == 0)
    return fail(ErrorCode::unsupported, "%s: the model has no classes; it serves %s", files.c_str(),
                verbs_for(c).c_str());
  const FileName path = files / "config.json";
  LAPILLI_TRY(const auto json, read_json_file(path));
  LAPILLI_TRY(reader.labels_, read_labels({json, path.path()}, c.head.classes));
  return reader;
}

bool PictureReader::classifies() const { return model_->on_device().config().head.classes > 0; }

Result<std::shared_ptr<const model::Features>> PictureReader::source(const image::Picture& picture) const {
  const model::PatchInput& input = model_->on_device().config().patches;
  const bool as_it_is = !processor_.resize && !processor_.pad && !processor_.center_crop;
  const pictures::Size wanted{input.height, input.width};
  LAPILLI_TRY(const auto pixels, as_it_is && (picture.height != wanted.height || picture.width != wanted.width)
                                     ? Result<pictures::Pixels>(pictures::Pixels{{picture.height, picture.width}, {}})
                                     : pictures::process(processor_, picture));
  if (pixels.size != wanted)
    return fail(ErrorCode::unsupported,
                "becomes a picture of %u by %u pixels (width by height); the model reads %u by %u", pixels.size.width,
                pixels.size.height, wanted.width, wanted.height);
  LAPILLI_TRY(auto features, model::patches_of(input, pixels.values));
  return std::make_shared<const model::Features>(std::move(features));
}

Result<std::vector<PictureResult>> PictureReader::run(const Sources& sources, const PictureOptions& options,
                                                      const std::function<bool()>& go_on) {
  if (sources.empty()) return std::vector<PictureResult>();
  return classifies() ? classify(sources, options, go_on) : write(sources, options, go_on);
}

bool PictureReader::writes_fields() const { return model_->on_device().config().encoder.type == "donut-swin"; }

// As the reference's examples do it: of Donut the start, ends and padding go, all other tokens stay.
Result<std::string> PictureReader::text_of(std::span<const int32_t> ids) const {
  const Tokenizer& tokenizer = *model_->tokenizer();
  if (!writes_fields()) return tokenizer.decode(ids);
  std::vector<int32_t> kept(ids.begin() + (ids.empty() ? 0 : 1), ids.end());
  std::erase_if(kept, [&](int32_t id) { return id == tokenizer.special().eos || id == tokenizer.special().pad; });
  return tokenizer.decode(kept, false);
}

Result<std::vector<PictureResult>> PictureReader::write(const Sources& sources, const PictureOptions& options,
                                                        const std::function<bool()>& go_on) const {
  GenerateRequest request;
  request.features = sources;
  request.options = options.generation;
  if (!options.prompt.empty()) {
    EncodeOptions bare;
    bare.side = TextSide::target;
    bare.add_special = false;
    LAPILLI_TRY(const auto ids, model_->tokenizer()->encode(options.prompt, bare));
    request.decoder_ids.assign(sources.size(), ids);
    request.exact_decoder_ids = writes_fields();
  }
  LAPILLI_TRY(auto out, generate(model_, request, [&](uint64_t, uint64_t) { return !go_on || go_on(); }));
  std::vector<PictureResult> results(sources.size());
  for (size_t i = 0; i < results.size(); ++i) {
    PictureResult& r = results[i];
    if (i < out.errors.size() && !out.errors[i]) r.status = std::move(out.errors[i]);
    if (!r.status || out.hypotheses[i].empty()) continue;
    const Hypothesis& best = out.hypotheses[i].front();
    r.score = best.score;
    auto text = text_of(best.ids);
    if (text)
      r.text = std::move(*text);
    else
      r.status = std::move(text).error();
  }
  return results;
}

// A pass serves all batches; the last one is filled up with its last picture.
Status PictureReader::classify_batch(std::span<const std::shared_ptr<const model::Features>> sources,
                                     const PictureOptions& options, std::vector<PictureResult>& results) {
  ForwardRequest request;
  request.features.assign(sources.begin(), sources.end());
  if (!pass_ || sources.size() > pass_sources_) {
    pass_.reset();
    LAPILLI_TRY(auto pass, ForwardPass::make(model_, request));
    pass_.emplace(std::move(pass));
    pass_sources_ = sources.size();
  }
  request.features.resize(pass_sources_, request.features.back());
  LAPILLI_TRY(const auto outputs, pass_->run(request));
  for (const ForwardTensor& f : outputs) {
    if (f.name != "logits") continue;
    const size_t classes = f.shape[1];
    for (size_t i = 0; i < sources.size(); ++i)
      results.emplace_back().classes =
          best_classes(std::span(f.values).subspan(i * classes, classes), options.top, labels_);
  }
  return {};
}

Result<std::vector<PictureResult>> PictureReader::classify(const Sources& sources, const PictureOptions& options,
                                                           const std::function<bool()>& go_on) {
  std::vector<PictureResult> results;
  const size_t batch = std::max<size_t>(options.batch, 1);
  for (size_t i = 0; i < sources.size(); i += batch) {
    if (go_on && !go_on()) return fail(ErrorCode::cancelled, "cancelled");
    LAPILLI_CHECK(classify_batch(std::span(sources).subspan(i, std::min(batch, sources.size() - i)), options, results));
  }
  return results;
}

}  // namespace lapilli
