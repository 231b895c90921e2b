#include "speech/whole_recording.hpp"

#include <algorithm>

#include "search/network_on_device.hpp"

namespace lapilli::speech {

bool takes_whole_recordings(const Model& model) {
  const model::Config& c = model.on_device().config();
  return c.features.width != 0 && c.features.rows == 0 && c.patches.channels == 0 && c.decoder.layers != 0;
}

Result<std::unique_ptr<WholeRecordings>> WholeRecordings::create(const std::shared_ptr<Model>& model,
                                                                 SoundConfig config) {
  if (!takes_whole_recordings(*model))
    return fail(ErrorCode::invalid_argument, "%s models do not take recordings as a whole",
                model->info().family.c_str());
  std::unique_ptr<WholeRecordings> made(new WholeRecordings());
  if (config.kind != SoundKind::samples) {
    LAPILLI_TRY(made->features_, SoundFeatures::create(model->device(), config));
  }
  made->input_ = model->on_device().config().features;
  made->family_ = model->info().family;
  made->config_ = std::move(config);
  return made;
}

// Said in seconds, before anything is read.
Status WholeRecordings::check_length(uint64_t samples) const {
  const double rate = config_.sampling_rate, seconds = static_cast<double>(samples) / rate;
  const uint64_t rows = features_ ? config_.frames(samples) : samples;
  const uint64_t most = input_.most != 0 ? input_.most : model::kMaxFeatureRows;
  if (rows > most)
    return fail(
        ErrorCode::invalid_data,
        "%.1f s of sound, and models of the family %s take a recording as a whole: this one at most %.1f s. Cut "
        "the recording, or take a model of the Whisper family, which goes through it window by window",
        seconds, family_.c_str(), static_cast<double>(most) * (features_ ? config_.hop : 1) / rate);
  if (rows > 0 && model::level_rows(input_, static_cast<uint32_t>(rows)).back() > 0) return {};
  return fail(ErrorCode::invalid_data, "%.3f s of sound are too few for the model's convolutions", seconds);
}

Status WholeRecordings::begin(const Sound& sound) {
  LAPILLI_CHECK(check_length(sound.samples));
  sound_ = sound;
  made_ = std::make_shared<model::Features>();
  made_->width = features_ ? config_.mel_bins : 1;
  made_->rows = static_cast<uint32_t>(features_ ? config_.frames(sound.samples) : sound.samples);
  made_->values.assign(uint64_t{made_->rows} * made_->width, 0.0f);
  return features_ ? features_->begin_all(sound, made_->values) : Status();
}

// Silence stands where a source ends before.
Result<bool> WholeRecordings::poll() {
  if (features_) return features_->poll();
  auto& values = made_->values;
  LAPILLI_TRY(const uint64_t got, sound_.source->read(0, values));
  LAPILLI_CHECK(check_samples(std::span(values).first(std::min<uint64_t>(got, values.size())), 0));
  return true;
}

Status WholeRecordings::rest() { return features_ ? features_->rest() : Status(); }

Result<std::shared_ptr<const model::Features>> WholeRecordings::source(const Sound& sound) {
  LAPILLI_CHECK(begin(sound));
  for (;;) {
    LAPILLI_TRY(const bool done, poll());
    if (done) return features();
    LAPILLI_CHECK(rest());
  }
}

}  // namespace lapilli::speech
