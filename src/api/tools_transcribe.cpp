// What `lapilli transcribe` runs: a recording's samples to features, and these to segments of text.
#include "api/tools_guard.hpp"
#include "audio/samples.hpp"
#include "base/store.hpp"
#include "formats/sound_config.hpp"
#include "ops/shader_table.hpp"
#include "runtime/self_test.hpp"
#include "speech/sound_features.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::tools {

struct Transcriber::Impl {
  std::shared_ptr<vulkan::Device> device;
  std::shared_ptr<Model> model;
  std::unique_ptr<speech::SoundFeatures> features;
};

namespace {

constexpr uint64_t kFramesAtATime = 4096;

Result<std::shared_ptr<vulkan::Device>> open_device(const TranscriberRequest& request) {
  vulkan::DeviceOptions options;
  options.select = request.select;
  options.mask = request.caps;
  if (!request.cache.empty()) options.keep = {folder_store(request.cache), shaders_checksum()};
  return vulkan::Device::create(options);
}

// The model hears, and its files agree on what.
Result<SoundConfig> sound_of(const Model& model, const std::string& directory) {
  const ModelInfo& info = model.info();
  if (info.feature_width == 0)
    return fail(ErrorCode::unsupported,
                "%s is a model of the family %s, which reads text and hears nothing: lapilli translate, summarize or "
                "generate runs it; transcribe takes models of the Whisper family",
                directory.c_str(), info.family.c_str());
  LAPILLI_TRY(auto config, read_sound_config(directory));
  LAPILLI_CHECK(check_sound_config(config, {info.feature_width, info.feature_rows}));
  return config;
}

// The power of the loudest band, part by part, so that it can be interrupted.
Result<float> find_loudest(speech::SoundFeatures& features, const speech::Sound& sound, const HearRequest& request) {
  const uint64_t frames = features.frames(sound.samples);
  float most = 0;
  for (uint64_t first = 0; first < frames; first += kFramesAtATime) {
    if (request.progress && !request.progress(0, 0)) return fail(ErrorCode::cancelled, "it was interrupted");
    LAPILLI_TRY(const float part, features.loudest(sound, first, std::min(kFramesAtATime, frames - first)));
    most = std::max(most, part);
  }
  return most;
}

HeardSegment heard(const speech::Segment& segment) { return {segment.begin, segment.end, segment.text, segment.ids}; }

speech::TranscribeRequest asked(const HearRequest& request, const SpeechSettings& model) {
  speech::TranscribeRequest r;
  if (!request.language.empty()) r.languages = {request.language};
  r.task = request.task;
  // A model of several tasks that is not told which may choose any.
  if (r.task.empty() && model.task.empty() && model.tasks.contains("transcribe")) r.task = "transcribe";
  if (request.beams > 0) r.options.num_beams = request.beams;
  if (request.new_tokens > 0) r.options.max_new_tokens = request.new_tokens;
  if (request.fallback) {  // what is published with Whisper
    r.temperatures = {0, 0.2, 0.4, 0.6, 0.8, 1.0};
    r.compression_ratio_threshold = 2.4;
    r.logprob_threshold = -1;
  }
  return r;
}

}  // namespace

Transcriber::Transcriber() : impl_(std::make_unique<Impl>()) {}
Transcriber::~Transcriber() = default;

Outcome Transcriber::open(const TranscriberRequest& request) {
  return guarded("transcribe", [&]() -> Result<std::string> {
    LAPILLI_TRY(impl_->device, open_device(request));
    LoadOptions load;
    LAPILLI_TRY(load.format, parse_format(request.dtype));
    LAPILLI_TRY(impl_->model, Model::load(impl_->device, request.model, load));
    LAPILLI_TRY(auto config, sound_of(*impl_->model, request.model));
    LAPILLI_TRY(impl_->features, speech::SoundFeatures::create(impl_->device, std::move(config)));
    if (!request.ids && !impl_->model->tokenizer()) return impl_->model->tokenizer_error();
    return impl_->model->info().family;
  });
}

unsigned Transcriber::rate() const { return impl_->features->config().sampling_rate; }

Outcome Transcriber::hear(const HearRequest& request) {
  return guarded("transcribe", [&]() -> Result<std::string> {
    speech::SoundFeatures& features = *impl_->features;
    // What is shorter than a chunk is filled up with silence, as the model was trained.
    const speech::Sound sound{request.sound, std::max<uint64_t>(request.samples, features.config().chunk_samples)};
    LAPILLI_TRY(const float loudest, find_loudest(features, sound, request));
    auto r = asked(request, impl_->model->speech());
    r.recordings.push_back({features.frames(sound.samples), [&](uint64_t first, std::span<float> rows) {
                              return features.make(sound, first, loudest, rows);
                            }});
    r.on_segment = [&](const speech::Segment& segment) -> Status {
      if (!request.on_segment || request.on_segment(heard(segment))) return {};
      return fail(ErrorCode::cancelled, "it was interrupted");
    };
    const double second = features.config().sampling_rate / static_cast<double>(features.config().hop);
    r.progress = [&](uint64_t done, uint64_t total) {
      return !request.progress ||
             request.progress(static_cast<double>(done) / second, static_cast<double>(total) / second);
    };
    LAPILLI_TRY(const auto said, speech::transcribe(impl_->model, r));
    keep_between_runs(*impl_->device);
    return said.transcripts.empty() ? std::string() : said.transcripts[0].language;
  });
}

}  // namespace lapilli::tools
