// What `lapilli transcribe` runs: a recording's samples to features, and these to segments of text.
#include <algorithm>

#include "api/front_end.hpp"
#include "api/tools_guard.hpp"
#include "audio/samples.hpp"
#include "base/store.hpp"
#include "ops/shader_table.hpp"
#include "runtime/self_test.hpp"
#include "speech/look_picture.hpp"
#include "speech/sound_frames.hpp"
#include "speech/transcribe_pieces.hpp"
#include "speech/transcription_job.hpp"
#include "speech/whole_job.hpp"

namespace lapilli::tools {

struct Transcriber::Impl {
  std::shared_ptr<vulkan::Device> device;
  std::shared_ptr<Model> model;
  unsigned rate = 0;
  std::shared_ptr<speech::SoundFeatures> features;  // of models that hear in windows; or
  std::shared_ptr<speech::WholeRecordings> whole;

  Result<std::string> hear_frames(const HearRequest& request);
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

HeardSegment heard(const speech::Segment& segment) {
  HeardSegment s{segment.begin, segment.end, segment.text, segment.ids, {}, {}};
  for (const speech::Word& w : segment.words) s.words.push_back({w.begin, w.end, w.text, w.ids, w.confidence});
  return s;
}

speech::TranscribeRequest asked(const HearRequest& request, const SpeechSettings& model) {
  speech::TranscribeRequest r;
  if (!request.language.empty()) r.languages = {request.language};
  r.task = request.task;
  // A model of several tasks that is not told which may choose any.
  if (r.task.empty() && model.task.empty() && model.tasks.contains("transcribe")) r.task = "transcribe";
  if (request.beams > 0) r.options.num_beams = request.beams;
  if (request.new_tokens > 0) r.options.max_new_tokens = request.new_tokens;
  r.words = request.words;
  r.looks = !request.pictures.empty();
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
                     : request.words               ? "--words: when each word is said"
                     : !request.pictures.empty()   ? "--attention: what each word looked at"
                     : request.batch > 0           ? "--batch: how many pieces are heard at a time"
                     : request.on_draft            ? "--live: what may be said before the end"
                     : request.fallback            ? "--fallback: when a window is tried again"
                                                   : nullptr;
  if (!what) return {};
  return fail(ErrorCode::invalid_argument,
              "%s is not asked of models of the family %s, which have nothing that says it", what, family.c_str());
}

Error interrupted() { return fail(ErrorCode::cancelled, "it was interrupted"); }

// All that comes, as long as the model takes it.
Result<std::vector<float>> gather(const HearRequest& request, const speech::WholeLimits& limits) {
  constexpr size_t kPiece = 16384;
  const uint64_t most = limits.most_samples();
  std::vector<float> all;
  for (HeardPiece piece; !piece.ended;) {
    const size_t before = all.size();
    all.resize(before + kPiece);
    piece = request.next(std::span(all).subspan(before), true);
    all.resize(before + piece.count);
    if (piece.failed || (request.progress && !request.progress(0, 0))) return interrupted();
    if (all.size() > most)
      return limits.too_long(format("more than %.1f s", static_cast<double>(most) / limits.config().sampling_rate));
  }
  return all;
}

// `go_on` is asked often, `more` when there is nothing to do without more samples.
struct Pumping {
  std::function<bool()> go_on;
  std::function<Status()> more;
};

// To its end: what it says of its one recording.
template <class Job>
Result<speech::Transcript> follow(Job& job, const Pumping& pumping) {
  while (!job.pump()) {
    if (!pumping.go_on()) job.cancel();
    if (job.is_hungry())
      LAPILLI_CHECK(pumping.more());
    else
      job.rest();
  }
  LAPILLI_CHECK(Status(job.status()));
  auto said = job.take();
  if (said.cancelled) return interrupted();
  LAPILLI_CHECK(std::move(said.transcripts[0].status));
  return std::move(said.transcripts[0]);
}

Status give(const HearRequest& request, const speech::Segment& segment) {
  if (!request.on_segment) return {};
  HeardSegment s = heard(segment);
  if (!request.pictures.empty() && speech::has_looks(segment)) {
    LAPILLI_TRY(const auto sheet, speech::look_sheet_of(segment));
    LAPILLI_TRY(s.picture, image::look_sheet_file(sheet, image::parse_look_format(request.pictures)));
  }
  return request.on_segment(s) ? Status() : interrupted();
}

void note_cut(const HearRequest& request, const speech::Transcript& said) {
  if (!said.cut || !request.on_note) return;
  request.on_note(
      format("the text ends after %zu ids without an end, as long as it may be: a shorter recording, or "
             "more --max-new-tokens if the model has room for them, gives the rest",
             said.segments.front().ids.size()));
}

Result<std::string> hear_whole(const std::shared_ptr<Model>& model,
                               const std::shared_ptr<speech::WholeRecordings>& whole, const HearRequest& request) {
  LAPILLI_CHECK(check_whole(request, model->info().family));
  speech::WholeRequest r;
  std::vector<float> all;
  if (request.next) {
    LAPILLI_TRY(all, gather(request, whole->limits()));
    if (all.empty()) return std::string();
    r.recordings = {{std::make_shared<audio::SamplesInMemory>(all), all.size()}};
  } else {
    r.recordings = {{source_of(request), request.samples}};
  }
  if (request.beams > 0) r.options.num_beams = request.beams;
  if (request.new_tokens > 0) r.options.max_new_tokens = request.new_tokens;
  r.on_segment = [&](const speech::Segment& s) { return give(request, s); };
  LAPILLI_TRY(const auto job, speech::WholeJob::start(model, whole, std::move(r)));
  LAPILLI_TRY(const auto said, follow(*job, {[&] { return !request.progress || request.progress(0, 0); }, {}}));
  note_cut(request, said);
  return std::string();
}

}  // namespace

Transcriber::Transcriber() : impl_(std::make_unique<Impl>()) {}
Transcriber::~Transcriber() = default;

Outcome Transcriber::open(const TranscriberRequest& request) {
  return guarded("transcribe", [&]() -> Result<std::string> {
    LAPILLI_TRY(impl_->device, open_device(request));
    LoadOptions load;
    LAPILLI_TRY(load.format, parse_format(request.dtype));
    LAPILLI_TRY(load.kv_format, parse_kv_format(request.kv_dtype));
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

namespace {

// What is there by now, up to a window of it: so that a draft is one of the latest, and memory bounded.
Status feed(speech::SampleStream& stream, const NextSamples& next, uint64_t window) {
  std::vector<float> room(16384);
  const uint64_t enough = stream.samples() + window;
  HeardPiece piece = next(room, true);
  for (;;) {
    if (piece.failed) return interrupted();
    LAPILLI_CHECK(stream.push(std::span(room).first(piece.count)));
    if (piece.ended) return stream.finish();
    if (piece.count < room.size() || stream.samples() >= enough) return {};
    piece = next(room, false);
  }
}

void give_segments(const HearRequest& request, speech::TranscribeRequest& r) {
  r.on_segment = [&](const speech::Segment& segment) { return give(request, segment); };
  if (!request.on_draft) return;
  r.on_draft = [&](size_t, std::span<const speech::Segment> segments) -> Status {
    std::vector<HeardSegment> all;
    for (const speech::Segment& s : segments) all.push_back(heard(s));
    return request.on_draft(all) ? Status() : interrupted();
  };
}

// Frames that are done, and how many there are; false ends it.
using FrameProgress = std::function<bool(uint64_t done, uint64_t all)>;

// Cut where it is quiet.
Result<std::string> hear_pieces(const std::shared_ptr<Model>& model, speech::TranscribeRequest r,
                                const HearRequest& request, const FrameProgress& go_on, uint32_t hop) {
  const uint64_t frames = r.recordings.front().frames->extent().frames;
  LAPILLI_TRY(auto energies,
              speech::frame_energies(*request.sound, request.samples, hop, [&] { return !go_on || go_on(0, frames); }));
  energies.resize(frames);  // silence, where it is filled up
  const auto pieces = speech::cut_at_silence(energies, model->info().feature_rows);
  r.progress = go_on;
  LAPILLI_TRY(const auto said, speech::transcribe_pieces(model, r, pieces, request.batch));
  return said.transcripts.front().language;
}

// One window after the other.
Result<std::string> hear_windows(const std::shared_ptr<Model>& model, speech::TranscribeRequest r,
                                 const FrameProgress& go_on, const std::function<Status()>& more) {
  LAPILLI_TRY(const auto job, speech::TranscriptionJob::start(model, std::move(r)));
  const auto ask = [&] { return go_on(job->frames_done(), job->frames()); };
  LAPILLI_TRY(auto said, follow(*job, {ask, more}));
  (void)ask();
  return std::move(said.language);
}

// Every two seconds, or oftener where a window has less than eight.
uint32_t draft_frames(uint32_t window) { return std::min(200u, std::max(window / 4, 1u)); }

}  // namespace

Outcome Transcriber::hear(const HearRequest& request) {
  return guarded("transcribe", [&]() -> Result<std::string> {
    auto said = impl_->whole ? hear_whole(impl_->model, impl_->whole, request) : impl_->hear_frames(request);
    if (said) keep_between_runs(*impl_->device);
    return said;
  });
}

Result<std::string> Transcriber::Impl::hear_frames(const HearRequest& request) {
  auto r = asked(request, model->speech());
  give_segments(request, r);
  const auto& config = features->config();
  const uint32_t window = model->info().feature_rows;
  const double second = config.sampling_rate / static_cast<double>(config.hop);
  const auto go_on = [&](uint64_t done, uint64_t all) {
    return !request.progress || request.progress(static_cast<double>(done) / second, static_cast<double>(all) / second);
  };
  if (request.next) {
    const auto stream = std::make_shared<speech::SampleStream>(features);
    r.draft_frames = draft_frames(window);
    r.recordings.push_back({stream, {}});
    const auto more = [&request, stream, most = uint64_t{window} * config.hop] {
      return feed(*stream, request.next, most);
    };
    return hear_windows(model, std::move(r), go_on, more);
  }
  r.recordings.push_back({std::make_shared<speech::SoundFrames>(features, source_of(request), request.samples), {}});
  if (request.batch > 0) return hear_pieces(model, std::move(r), request, go_on, config.hop);
  return hear_windows(model, std::move(r), go_on, {});
}

}  // namespace lapilli::tools
