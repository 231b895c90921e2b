#include "speech/offline_recording.hpp"

#include <algorithm>

#include "search/network_on_device.hpp"

namespace lapilli::speech {

bool takes_offline_recordings(const Model& model) {
  const model::Config& c = model.on_device().config();
  return c.kind().reads == model::Reads::sound && c.features.rows == 0 && c.kind().writes;
}

OfflineLimits::OfflineLimits(const Model& model, SoundConfig config)
    : input_(model.on_device().config().features), family_(model.info().family), config_(std::move(config)) {}

uint64_t OfflineLimits::rows(uint64_t samples) const {
  return config_.kind == SoundKind::samples ? samples : config_.frames(samples);
}

uint64_t OfflineLimits::most_rows() const { return input_.most != 0 ? input_.most : model::kMaxFeatureRows; }

uint64_t OfflineLimits::most_samples() const {
  if (config_.kind == SoundKind::samples) return most_rows();
  return most_rows() * config_.hop + config_.frame_length - 1;
}

Failure OfflineLimits::too_long(const std::string& length) const {
  const double samples_a_row = config_.kind == SoundKind::samples ? 1 : config_.hop;
  return fail(ErrorCode::invalid_data,
              "%s of sound, and models of the family %s take a recording as a whole: this one at most %.1f s. Cut the "
              "recording, or take a model of the Whisper family, which goes through it window by window",
              length, family_, static_cast<double>(most_rows()) * samples_a_row / config_.sampling_rate);
}

Status OfflineLimits::check_longest(uint64_t samples) const {
  if (rows(samples) <= most_rows()) return {};
  return too_long(format("%.1f s", static_cast<double>(samples) / config_.sampling_rate));
}

Status OfflineLimits::check(uint64_t samples) const {
  LAPILLI_CHECK(check_longest(samples));
  const uint64_t n = rows(samples);
  if (n > 0 && model::level_rows(input_, static_cast<uint32_t>(n)).back() > 0) return {};
  return fail(ErrorCode::invalid_data, "%.3f s of sound are too few for the model's convolutions",
              static_cast<double>(samples) / config_.sampling_rate);
}

Result<std::unique_ptr<OfflineRecordings>> OfflineRecordings::create(const std::shared_ptr<Model>& model,
                                                                     SoundConfig config) {
  if (!takes_offline_recordings(*model))
    return fail(ErrorCode::invalid_argument, "%s models do not take recordings as a whole", model->info().family);
  std::unique_ptr<OfflineRecordings> made(new OfflineRecordings(OfflineLimits(*model, config)));
  if (config.kind != SoundKind::samples) {
    LAPILLI_TRY(made->features_, SoundFeatures::create(model->device(), std::move(config)));
  }
  return made;
}

Status OfflineRecordings::begin(const Sound& sound) {
  LAPILLI_CHECK(limits_.check(sound.samples));
  sound_ = sound;
  made_ = std::make_shared<model::Features>();
  made_->width = features_ ? limits_.config().mel_bins : 1;
  made_->rows = static_cast<uint32_t>(limits_.rows(sound.samples));
  made_->values.assign(uint64_t{made_->rows} * made_->width, 0.0f);
  return features_ ? features_->begin_all(sound, made_->values) : Status();
}

// Features stay 0, as silence, where the source ends early.
Result<bool> OfflineRecordings::poll() {
  if (features_) return features_->poll();
  auto& values = made_->values;
  LAPILLI_TRY(const uint64_t got, sound_.source->read(0, values));
  LAPILLI_CHECK(check_samples(std::span(values).first(std::min<uint64_t>(got, values.size())), 0));
  return true;
}

Status OfflineRecordings::wait() { return features_ ? features_->wait() : Status(); }

Result<std::shared_ptr<const model::Features>> OfflineRecordings::source(const Sound& sound) {
  LAPILLI_CHECK(begin(sound));
  for (;;) {
    LAPILLI_TRY(const bool done, poll());
    if (done) return features();
    LAPILLI_CHECK(wait());
  }
}

}  // namespace lapilli::speech
