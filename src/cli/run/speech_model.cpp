#include "cli/run/speech_model.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/arguments/dtype.hpp"
#include "cli/arguments/typed_names.hpp"
#include "cli/run/interruption.hpp"
#include "cli/run/model_kinds.hpp"
#include "cli/run/notes.hpp"
#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

namespace {
#ifdef LAPILLI_HAVE_ZLIB
constexpr bool kMeasuresRatio = true;
#else
constexpr bool kMeasuresRatio = false;
#endif
}  // namespace

struct SpeechModel::Impl {
  Device device;
  Model model;
  lapilli_model_info info{};

  Result<void> open(const SpeechModelRequest& request);
  [[nodiscard]] Result<void> check_kind() const;
  [[nodiscard]] Result<void> check(const SpeechRequest& request) const;
  [[nodiscard]] Result<void> check_offline(const SpeechRequest& request) const;
  static Error as_typed(const SpeechRequest& request, const Error& error);
  [[nodiscard]] Options options(const SpeechRequest& request) const;
  static void set_attempts(const SpeechRequest& request, SpeechOptions& o);
  [[nodiscard]] bool is_offline() const { return info.window_samples == 0; }
};

namespace {

Trouble trouble(const Result<void>& done) {
  if (done) return {};
  return {static_cast<lapilli_status>(done.error().status()), done.error().message()};
}

Error interrupted_error() { return Error(Status::cancelled, "it was interrupted"); }

// `offset`: seconds of the recording before the model's input.
SpokenLine line_of(const Segment& s, double offset) {
  SpokenLine line{s.begin + offset, s.end + offset, s.text, s.ids, {}};
  for (const Word& w : s.words)
    line.words.push_back({w.begin + offset, w.end + offset, w.text, w.ids, double{w.probability}});
  line.language = s.language;
  return line;
}

// Runs one recording through the model.
class Transcribing {
 public:
  Transcribing(const Model& model, const SpeechRequest& request) : info_(model.info().value()), request_(request) {}

  Result<void> run(const Model& model, const Options& options) {
    auto job = model.start_inputs(
        {request_.sound ? pulled_samples(*request_.sound, info_.sample_rate) : sample_stream(info_.sample_rate)},
        options);
    if (!job) return job.error();
    job_ = std::move(*job);
    if (auto done = follow(); !done) return done;
    return nothing_came_ ? Result<void>() : take();
  }

 private:
  // Follows the job to its end, or to the end of a pipe that gave nothing.
  Result<void> follow() {
    constexpr uint64_t kOften = 50'000;  // microseconds
    for (bool over = false; !over && !nothing_came_;) {
      over = job_.wait(kOften).value();  // returns at once when it needs more samples
      while (auto event = job_.next_event().value())
        if (auto done = tell(*event); !done) return done;
      if (over) break;
      if (request_.progress && !request_.progress(done_)) return interrupted_error();
      if (!job_.wants_samples().value()) continue;
      if (auto done = feed(); !done) return done;
    }
    return {};
  }

  Result<void> tell(const Event& event) {
    constexpr double kFramesASecond = 100;
    if (event.kind == EventKind::progress) done_ = static_cast<double>(event.done) / kFramesASecond;
    if (event.kind == EventKind::segment) return give(event.segment);
    if (event.kind != EventKind::interim || !request_.on_interim) return {};
    std::vector<SpokenLine> lines;
    for (const Segment& s : event.interim) lines.push_back(line_of(s, request_.offset));
    if (!request_.on_interim(lines)) return interrupted_error();
    return {};
  }

  Result<void> give(const Segment& segment) {
    std::string picture;
    if (!request_.pictures.empty()) {
      AttentionDrawing how;
      how.format = request_.pictures == "png" ? DrawingFormat::png : DrawingFormat::svg;
      const Interruption interruption;
      how.cancel_token = interruption.token();
      auto drawn = job_.draw_attention(how);
      if (!drawn && drawn.error().status() != Status::invalid_data) return drawn.error();  // else it has no words
      if (drawn) picture = std::move(*drawn);
    }
    if (!request_.on_segment(line_of(segment, request_.offset), picture)) return interrupted_error();
    return {};
  }

  // Feeds the available samples, at most a window of them, so that interim results are recent and memory is bounded.
  Result<void> feed() {
    std::vector<float> room(16384);
    const uint64_t enough = fed_ + info_.window_samples;
    for (bool may_wait = true;; may_wait = false) {
      const SampleBlock block = request_.next(room, may_wait);
      if (block.failed) return interrupted_error();
      if (auto done = job_.append_samples(0, room.data(), block.count); !done) return without_function(done.error());
      fed_ += block.count;
      if (block.ended) return end_of_sound();
      if (block.count < room.size() || fed_ >= enough) return {};
    }
  }

  Result<void> end_of_sound() {
    nothing_came_ = fed_ == 0;
    return nothing_came_ ? Result<void>() : job_.end_samples(0);
  }

  // The reader of the message has called no function.
  static Error without_function(const Error& error) {
    static const std::string function = "lapilli_job_append_samples: ";
    const std::string& message = error.message();
    return Error(error.status(), message.rfind(function, 0) == 0 ? message.substr(function.size()) : message);
  }

  Result<void> take() {
    const auto results = job_.take();
    if (!results) return results.error();
    if (results.value().cancelled()) return interrupted_error();
    const Output& output = results.value()[0];
    if (!output.ok()) return *output.error;
    auto segments = output.segments;
    for (Segment& s : segments) {
      s.begin += request_.offset;
      s.end += request_.offset;
    }
    if (const std::string doubt = request_.fallback ? "" : doubt_note(segments); !doubt.empty())
      request_.on_note(doubt);
    const std::string loop = loop_note(segments, {info_.window_samples > 0, request_.fallback});
    if (!loop.empty())
      request_.on_note(loop);
    else if (output.sequences.front().finish == Finish::length)
      note_cut(output.sequences.front().ids.size());
    return {};
  }

  void note_cut(size_t ids) const {
    request_.on_note("the text ends after " + std::to_string(ids) +
                     " ids without an end, as long as it may be: a shorter recording, or more --max-new-tokens if the "
                     "model has room for them, gives the rest");
  }

  const lapilli_model_info info_;
  const SpeechRequest& request_;
  Job job_;
  uint64_t fed_ = 0;  // samples
  double done_ = 0;   // seconds
  bool nothing_came_ = false;
};

// Every two seconds, or more often if a window has less than eight.
uint32_t interim_samples(const lapilli_model_info& info) {
  return std::min(2 * info.sample_rate, std::max(info.window_samples / 4, 1u));
}

}  // namespace

SpeechModel::SpeechModel() : impl_(std::make_unique<Impl>()) {}
SpeechModel::~SpeechModel() = default;

Trouble SpeechModel::open(const SpeechModelRequest& request) { return trouble(impl_->open(request)); }

unsigned SpeechModel::rate() const { return impl_->info.sample_rate; }

const lapilli_model_info& SpeechModel::info() const { return impl_->info; }

Result<void> SpeechModel::Impl::open(const SpeechModelRequest& request) {
  DeviceOptions how;
  how.select = request.select;
  how.refuse_cpu = request.require_gpu;
  how.caps = request.caps;
  how.cache_directory = request.cache;
  auto opened = Device::open(how);
  if (!opened) return opened.error();
  device = std::move(*opened);
  ModelOptions load;
  load.memory_limit = uint64_t{request.memory_mib} << 20;
  load.dtype = dtype_of(request.dtype);
  load.kv_dtype = dtype_of(request.kv_dtype);
  auto loaded = Model::load(device, request.model, load);
  if (!loaded) return loaded.error();
  model = std::move(*loaded);
  info = model.info().value();
  if (auto done = check_kind(); !done) return done;
  // A run without recordings reports errors in the model's files.
  if (const auto nothing = model.transcribe({}); !nothing) return nothing.error();
  if (!request.ids && info.tokenizer_error) return Error(Status::unsupported, info.tokenizer_error);
  return {};
}

Result<void> SpeechModel::Impl::check_kind() const {
  if (info.input_kind == LAPILLI_INPUT_PIXELS) return other_kind(info, "read pictures and take no sound");
  if (info.input_kind != LAPILLI_INPUT_SAMPLES) return other_kind(info, "read text and take no sound");
  if (!info.writes_text) return other_kind(info, "have no decoder and write no text");
  return {};
}

// Rejects requests that only models of windows, languages and tasks can serve.
Result<void> SpeechModel::Impl::check_offline(const SpeechRequest& request) const {
  const char* what = !request.language.empty()     ? "--language"
                     : request.task == "translate" ? "--to"
                     : !request.prompt.empty()     ? "--prompt"
                     : request.words               ? "--words"
                     : !request.pictures.empty()   ? "--attention"
                     : request.batch > 0           ? "--batch"
                     : request.on_interim          ? "--live"
                     : request.fallback            ? "--fallback"
                                                   : nullptr;
  if (!what || !is_offline()) return {};
  return Error(Status::invalid_argument, std::string(what) + " is for models that transcribe in windows; the family " +
                                             info.family + " takes each recording as a whole");
}

Result<void> SpeechModel::Impl::check(const SpeechRequest& request) const {
  if (auto done = check_offline(request); !done) return done;
  // Otherwise windows would silently get fewer tokens.
  if (info.max_target_tokens != 0 && request.new_tokens > info.max_target_tokens)
    return Error(Status::invalid_argument, "--max-new-tokens: " + std::to_string(request.new_tokens) +
                                               " ids exceed the model's " + std::to_string(info.max_target_tokens) +
                                               " positions");
  const auto nothing = model.transcribe({}, options(request));  // a run without recordings reports errors
  if (nothing) return {};
  return as_typed(request, nothing.error());
}

Error SpeechModel::Impl::as_typed(const SpeechRequest& request, const Error& error) {
  return {error.status(),
          named_as_typed({{request.beams > 0, "num_beams:", "--beam:"},
                          {request.new_tokens > 0, "max_new_tokens:", "--max-new-tokens:"},
                          {request.new_tokens > 0, "max_length:", "--max-new-tokens, with what stands before it:"},
                          {!request.prompt.empty(), "prompt:", "--prompt:"}},
                         {}, error.message())};
}

Options SpeechModel::Impl::options(const SpeechRequest& request) const {
  Options o;
  if (request.beams > 0) o.num_beams = static_cast<int32_t>(request.beams);
  if (request.new_tokens > 0) o.max_new_tokens = static_cast<int32_t>(request.new_tokens);
  if (is_offline()) return o;
  o.source_language = request.language;
  o.task = request.task;
  o.prompt = request.prompt;
  o.speech.word_times = request.words;
  o.keep_attention = !request.pictures.empty();
  o.speech.chunks = request.batch;
  if (request.on_interim) o.speech.interim_samples = interim_samples(info);
  set_attempts(request, o.speech);
  return o;
}

// The values published with Whisper. Without --fallback, windows are measured for a note where that is cheap: with
// beams, probabilities take the scores of every step.
void SpeechModel::Impl::set_attempts(const SpeechRequest& request, SpeechOptions& o) {
  if (request.skip_silence) o.no_speech_threshold = 0.6f;
  if (request.fallback) o.temperatures = {0, 0.2f, 0.4f, 0.6f, 0.8f, 1};
  if (request.fallback || kMeasuresRatio) o.compression_ratio_threshold = 2.4f;
  if (request.fallback || request.skip_silence || request.beams <= 1) o.logprob_threshold = -1.0f;
}

Trouble SpeechModel::check(const SpeechRequest& request) const { return trouble(impl_->check(request)); }

Trouble SpeechModel::transcribe(const SpeechRequest& request) {
  auto done = impl_->check_offline(request);
  if (done) done = Transcribing(impl_->model, request).run(impl_->model, impl_->options(request));
  (void)impl_->device.store_cache();  // a failure to store is a warning in the log
  return done ? Trouble() : trouble(Impl::as_typed(request, done.error()));
}

}  // namespace lapilli::cli
