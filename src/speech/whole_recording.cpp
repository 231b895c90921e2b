#include "speech/whole_recording.hpp"

#include <algorithm>

#include "search/network_on_device.hpp"

namespace lapilli::speech {
namespace {

const model::FeatureInput& input_of(const Model& model) { return model.on_device().config().features; }

}  // namespace

bool takes_whole_recordings(const Model& model) {
  const model::Config& c = model.on_device().config();
  return c.features.width != 0 && c.features.rows == 0 && c.patches.channels == 0 && c.decoder.layers != 0;
}

Result<std::unique_ptr<WholeRecordings>> WholeRecordings::create(std::shared_ptr<Model> model, SoundConfig config) {
  if (!takes_whole_recordings(*model))
    return fail(ErrorCode::invalid_argument, "%s models do not take recordings as a whole",
                model->info().family.c_str());
  std::unique_ptr<WholeRecordings> made(new WholeRecordings());
  if (config.kind != SoundKind::samples) {
    LAPILLI_TRY(made->features_, SoundFeatures::create(model->device(), config));
  }
  made->model_ = std::move(model);
  made->config_ = std::move(config);
  return made;
}

uint64_t WholeRecordings::most_rows() const {
  const uint32_t most = input_of(*model_).most;
  return most != 0 ? most : model::kMaxFeatureRows;
}

uint64_t WholeRecordings::most_samples() const {
  return features_ ? most_rows() * config_.hop + config_.frame_length - 1 : most_rows();
}

Error WholeRecordings::too_long(const std::string& length) const {
  const double most = static_cast<double>(most_rows()) * (features_ ? config_.hop : 1) / config_.sampling_rate;
  return fail(ErrorCode::invalid_data,
              "%s of sound, and models of the family %s take a recording as a whole: this one at most %.1f s. Cut the "
              "recording, or take a model of the Whisper family, which goes through it window by window",
              length.c_str(), model_->info().family.c_str(), most);
}

// Said in seconds, before anything is read.
Status WholeRecordings::check_length(const Sound& sound) const {
  const model::FeatureInput& input = input_of(*model_);
  const double rate = config_.sampling_rate, seconds = static_cast<double>(sound.samples) / rate;
  const uint64_t rows = features_ ? features_->frames(sound.samples) : sound.samples;
  if (rows > most_rows()) return too_long(format("%.1f s", seconds));
  if (rows > 0 && model::level_rows(input, static_cast<uint32_t>(rows)).back() > 0) return {};
  return fail(ErrorCode::invalid_data, "%.3f s of sound are too few for the model's convolutions", seconds);
}

Result<std::shared_ptr<const model::Features>> WholeRecordings::source(const Sound& sound) {
  LAPILLI_CHECK(check_length(sound));
  auto f = std::make_shared<model::Features>();
  if (features_) {
    f->width = config_.mel_bins;
    LAPILLI_TRY(f->values, features_->make_all(sound));
  } else {
    f->width = 1;
    f->values.assign(sound.samples, 0.0f);  // silence where the source ends before
    LAPILLI_TRY(const uint64_t got, sound.source->read(0, f->values));
    LAPILLI_CHECK(check_samples(std::span(f->values).first(std::min<uint64_t>(got, f->values.size())), 0));
  }
  f->rows = static_cast<uint32_t>(f->values.size() / f->width);
  return std::shared_ptr<const model::Features>(std::move(f));
}

Result<WholeTranscript> WholeRecordings::transcript(const WholeRequest& request, const Hypothesis& said) const {
  WholeTranscript t;
  Segment& s = t.segment;
  s.end = static_cast<double>(request.sound.samples) / config_.sampling_rate;
  s.ids.assign(said.ids.begin() + std::min<ptrdiff_t>(1, static_cast<ptrdiff_t>(said.ids.size())), said.ids.end());
  s.token_scores = said.token_scores;
  t.cut = said.finish == Finish::length;
  if (!t.cut && !s.ids.empty()) s.ids.pop_back();
  if (s.token_scores.size() > s.ids.size()) s.token_scores.resize(s.ids.size());
  if (const Tokenizer* tokenizer = model_->tokenizer()) {
    LAPILLI_TRY(s.text, tokenizer->decode(s.ids));
  }
  return t;
}

Result<WholeTranscript> WholeRecordings::transcribe(const WholeRequest& request) {
  GenerateRequest search;
  LAPILLI_TRY(auto features, source(request.sound));
  search.features.push_back(std::move(features));
  search.options = request.options;
  search.deterministic = true;
  const auto merged = merge(request.options, model_->generation_config());
  // Nobody says how long a text may be: as long as the decoder has positions.
  if (!merged.max_length && !merged.max_new_tokens && model_->info().max_target_positions != 0)
    search.options.max_length = model_->info().max_target_positions;
  const auto go_on = [&](uint64_t, uint64_t) { return !request.go_on || request.go_on(); };
  LAPILLI_TRY(const auto out, generate(model_, search, go_on));
  LAPILLI_CHECK(Status(out.errors.at(0)));
  return transcript(request, out.hypotheses.at(0).at(0));
}

}  // namespace lapilli::speech
