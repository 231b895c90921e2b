// What `lapilli transcribe` runs: a recording's samples to features, and these to segments of text.
#include "api/front_end.hpp"
#include "api/tools_guard.hpp"
#include "audio/samples.hpp"
#include "base/store.hpp"
#include "ops/shader_table.hpp"
#include "runtime/self_test.hpp"
#include "speech/sound_frames.hpp"
#include "speech/transcription_job.hpp"
#include "speech/whole_job.hpp"

namespace lapilli::tools {

struct Transcriber::Impl {
  std::shared_ptr<vulkan::Device> device;
  std::shared_ptr<Model> model;
  unsigned rate = 0;
  std::shared_ptr<speech::SoundFeatures> features;  // of models that hear in windows; or
  std::shared_ptr<speech::WholeRecordings> whole;

  Result<std::string> hear_whole(const HearRequest& request);
  Result<std::string> hear_windows(const HearRequest& request);
  static Status give(const HearRequest& request, const speech::Segment& s);
};

namespace {

Result<std::shared_ptr<vulkan::Device>> open_device(const TranscriberRequest& request) {
  vulkan::DeviceOptions options;
  options.select = request.select;
  options.mask = request.caps;
  if (!request.cache.empty()) options.keep = {folder_store(request.cache), shaders_checksum()};
  return vulkan::Device::create(options);
}

std::shared_ptr<audio::SampleSource> source_of(const HearRequest& request) {
  return {request.sound, [](audio::SampleSource*) {}};  // the caller's
}

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

// What only models of windows, languages and tasks do.
Status check_whole(const HearRequest& request, const std::string& family) {
  const char* what = !request.language.empty()     ? "--language: which language is spoken"
                     : request.task == "translate" ? "--to: whether it is translated"
                     : request.fallback            ? "--fallback: when a window is tried again"
                                                   : nullptr;
  if (!what) return {};
  return fail(ErrorCode::invalid_argument, "%s is not asked of models of the family %s, which have no such choice",
              what, family.c_str());
}

speech::WholeRequest asked_whole(const HearRequest& request, std::shared_ptr<audio::SampleSource> source) {
  speech::WholeRequest r;
  r.recordings.push_back({std::move(source), request.samples});
  if (request.beams > 0) r.options.num_beams = request.beams;
  if (request.new_tokens > 0) r.options.max_new_tokens = request.new_tokens;
  return r;
}

void note_cut(const HearRequest& request, const speech::Transcript& said) {
  if (!said.cut || !request.on_note) return;
  request.on_note(
      format("the text ends after %zu ids without an end, as long as it may be: a shorter recording, or "
             "more --max-new-tokens if the model has room for them, gives the rest",
             said.segments.front().ids.size()));
}

// To its end: what it says of its one recording.
template <class Job, class GoOn>
Result<speech::Transcript> follow(Job& job, GoOn&& go_on) {
  while (!job.pump()) {
    if (!go_on()) job.cancel();
    job.rest();
  }
  LAPILLI_CHECK(Status(job.status()));
  auto said = job.take();
  if (said.cancelled) return fail(ErrorCode::cancelled, "it was interrupted");
  LAPILLI_CHECK(std::move(said.transcripts[0].status));
  return std::move(said.transcripts[0]);
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
    LAPILLI_TRY(auto config, api::read_sound(*impl_->model, request.model));
    impl_->rate = config.sampling_rate;
    if (speech::takes_whole_recordings(*impl_->model)) {
      LAPILLI_TRY(impl_->whole, speech::WholeRecordings::create(impl_->model, std::move(config)));
    } else {
      LAPILLI_TRY(impl_->features, speech::SoundFeatures::create(impl_->device, std::move(config)));
    }
    if (!request.ids && !impl_->model->tokenizer()) return impl_->model->tokenizer_error();
    return impl_->model->info().family;
  });
}

unsigned Transcriber::rate() const { return impl_->rate; }

Outcome Transcriber::hear(const HearRequest& request) {
  return guarded("transcribe", [&]() -> Result<std::string> {
    auto said = impl_->whole ? impl_->hear_whole(request) : impl_->hear_windows(request);
    if (said) keep_between_runs(*impl_->device);
    return said;
  });
}

Status Transcriber::Impl::give(const HearRequest& request, const speech::Segment& s) {
  if (!request.on_segment || request.on_segment({s.begin, s.end, s.text, s.ids})) return {};
  return fail(ErrorCode::cancelled, "it was interrupted");
}

Result<std::string> Transcriber::Impl::hear_whole(const HearRequest& request) {
  LAPILLI_CHECK(check_whole(request, model->info().family));
  auto r = asked_whole(request, source_of(request));
  r.on_segment = [&](const speech::Segment& s) { return give(request, s); };
  LAPILLI_TRY(const auto job, speech::WholeJob::start(model, whole, std::move(r)));
  LAPILLI_TRY(const auto said, follow(*job, [&] { return !request.progress || request.progress(0, 0); }));
  note_cut(request, said);
  return std::string();
}

Result<std::string> Transcriber::Impl::hear_windows(const HearRequest& request) {
  auto r = asked(request, model->speech());
  const auto frames = std::make_shared<speech::SoundFrames>(features, source_of(request), request.samples);
  r.recordings.push_back({frames, {}});
  r.on_segment = [&](const speech::Segment& s) { return give(request, s); };
  LAPILLI_TRY(const auto job, speech::TranscriptionJob::start(model, std::move(r)));
  const auto& config = features->config();
  const double second = config.sampling_rate / static_cast<double>(config.hop);
  const auto go_on = [&] {
    return !request.progress || request.progress(static_cast<double>(job->frames_done()) / second,
                                                 static_cast<double>(job->frames()) / second);
  };
  LAPILLI_TRY(auto said, follow(*job, go_on));
  (void)go_on();
  return std::move(said.language);
}

}  // namespace lapilli::tools
