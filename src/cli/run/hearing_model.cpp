#include "cli/run/hearing_model.hpp"

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

struct HearingModel::Impl {
  std::optional<Device> device;
  std::optional<Model> model;
  lapilli_model_info info{};

  std::optional<Error> open(const HearingModelRequest& request);
  [[nodiscard]] std::optional<Error> check_kind() const;
  [[nodiscard]] std::optional<Error> check(const HearRequest& request) const;
  [[nodiscard]] std::optional<Error> check_offline(const HearRequest& request) const;
  static Error as_typed(const HearRequest& request, const Error& error);
  [[nodiscard]] Options options(const HearRequest& request) const;
  static void set_attempts(const HearRequest& request, Options& o);
  [[nodiscard]] bool is_offline() const { return info.window_samples == 0; }
};

namespace {

Trouble trouble(const std::optional<Error>& error) {
  return error ? Trouble{error->status(), error->message()} : Trouble();
}

Error interrupted_error() { return Error(LAPILLI_CANCELLED, "it was interrupted"); }

// `offset`: seconds of the recording before the model's input.
SpokenLine line_of(const Segment& s, double offset) {
  SpokenLine line{s.begin + offset, s.end + offset, s.text, s.ids, {}};
  for (const Word& w : s.words)
    line.words.push_back({w.begin + offset, w.end + offset, w.text, w.ids, double{w.probability}});
  line.language = s.language;
  return line;
}

// Runs one recording through the model.
class Hearing {
 public:
  Hearing(const Model& model, const HearRequest& request) : info_(model.info()), request_(request) {}

  std::optional<Error> run(const Model& model, const Options& options) {
    auto job = model.start_inputs(
        {request_.sound ? pulled_samples(*request_.sound, info_.sample_rate) : sample_stream(info_.sample_rate)},
        options);
    if (!job) return job.error();
    job_.emplace(std::move(*job));
    if (auto error = follow()) return error;
    return nothing_came_ ? std::nullopt : take();
  }

 private:
  // Follows the job to its end, or to the end of a pipe that gave nothing.
  std::optional<Error> follow() {
    constexpr uint64_t kOften = 50'000;  // microseconds
    for (bool over = false; !over && !nothing_came_;) {
      over = job_->wait(kOften);  // returns at once when all available samples are heard
      while (auto event = job_->next_event())
        if (auto error = tell(*event)) return error;
      if (over) break;
      if (request_.progress && !request_.progress(done_)) return interrupted_error();
      if (!job_->wants_samples()) continue;
      if (auto error = feed()) return error;
    }
    return std::nullopt;
  }

  std::optional<Error> tell(const Event& event) {
    constexpr double kFramesASecond = 100;
    if (event.kind == LAPILLI_EVENT_PROGRESS) done_ = static_cast<double>(event.done) / kFramesASecond;
    if (event.kind == LAPILLI_EVENT_SEGMENT) return give(event.segment);
    if (event.kind != LAPILLI_EVENT_DRAFT || !request_.on_draft) return std::nullopt;
    std::vector<SpokenLine> lines;
    for (const Segment& s : event.draft) lines.push_back(line_of(s, request_.offset));
    if (!request_.on_draft(lines)) return interrupted_error();
    return std::nullopt;
  }

  std::optional<Error> give(const Segment& segment) {
    std::string picture;
    if (!request_.pictures.empty()) {
      Drawing how;
      how.format = request_.pictures == "png" ? LAPILLI_DRAWING_PNG : LAPILLI_DRAWING_SVG;
      const Interruption interruption;
      how.cancel_token = interruption.token();
      auto drawn = job_->draw_looks(how);
      if (!drawn && drawn.error().status() != LAPILLI_INVALID_DATA) return drawn.error();  // else it has no words
      if (drawn) picture = std::move(*drawn);
    }
    if (!request_.on_segment(line_of(segment, request_.offset), picture)) return interrupted_error();
    return std::nullopt;
  }

  // Feeds the available samples, at most a window of them, so that drafts are recent and memory is bounded.
  std::optional<Error> feed() {
    std::vector<float> room(16384);
    const uint64_t enough = fed_ + info_.window_samples;
    for (bool may_wait = true;; may_wait = false) {
      const SampleBlock block = request_.next(room, may_wait);
      if (block.failed) return interrupted_error();
      if (auto error = job_->append_samples(0, room.data(), block.count)) return without_function(*error);
      fed_ += block.count;
      if (block.ended) return end_of_sound();
      if (block.count < room.size() || fed_ >= enough) return std::nullopt;
    }
  }

  std::optional<Error> end_of_sound() {
    nothing_came_ = fed_ == 0;
    return nothing_came_ ? std::nullopt : job_->end_samples(0);
  }

  // The reader of the message has called no function.
  static Error without_function(const Error& error) {
    static const std::string function = "lapilli_job_append_samples: ";
    const std::string& message = error.message();
    return Error(error.status(), message.rfind(function, 0) == 0 ? message.substr(function.size()) : message);
  }

  std::optional<Error> take() {
    const auto results = job_->take();
    if (!results) return results.error();
    if (results.value().cancelled()) return interrupted_error();
    const Output& output = results.value()[0];
    if (!output.ok()) return output.error;
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
    else if (output.sequences.front().finish == LAPILLI_FINISH_LENGTH)
      note_cut(output.sequences.front().ids.size());
    return std::nullopt;
  }

  void note_cut(size_t ids) const {
    request_.on_note("the text ends after " + std::to_string(ids) +
                     " ids without an end, as long as it may be: a shorter recording, or more --max-new-tokens if the "
                     "model has room for them, gives the rest");
  }

  const lapilli_model_info info_;
  const HearRequest& request_;
  std::optional<Job> job_;
  uint64_t fed_ = 0;  // samples
  double done_ = 0;   // seconds
  bool nothing_came_ = false;
};

// Every two seconds, or more often if a window has less than eight.
uint32_t draft_samples(const lapilli_model_info& info) {
  return std::min(2 * info.sample_rate, std::max(info.window_samples / 4, 1u));
}

}  // namespace

HearingModel::HearingModel() : impl_(std::make_unique<Impl>()) {}
HearingModel::~HearingModel() = default;

Trouble HearingModel::open(const HearingModelRequest& request) { return trouble(impl_->open(request)); }

unsigned HearingModel::rate() const { return impl_->info.sample_rate; }

const lapilli_model_info& HearingModel::info() const { return impl_->info; }

std::optional<Error> HearingModel::Impl::open(const HearingModelRequest& request) {
  DeviceOptions how;
  how.select = request.select;
  how.caps = request.caps;
  how.cache_directory = request.cache;
  auto opened = Device::open(how);
  if (!opened) return opened.error();
  device.emplace(std::move(*opened));
  ModelOptions load;
  load.memory_limit = uint64_t{request.memory_mib} << 20;
  load.dtype = dtype_of(request.dtype);
  load.kv_dtype = dtype_of(request.kv_dtype);
  auto loaded = Model::load(*device, request.model, load);
  if (!loaded) return loaded.error();
  model.emplace(std::move(*loaded));
  info = model->info();
  if (auto error = check_kind()) return error;
  // A run without recordings reports errors in the model's files.
  if (const auto nothing = model->transcribe({}); !nothing) return nothing.error();
  if (!request.ids && info.tokenizer_error) return Error(LAPILLI_UNSUPPORTED, info.tokenizer_error);
  return std::nullopt;
}

std::optional<Error> HearingModel::Impl::check_kind() const {
  if (info.input_kind == LAPILLI_INPUT_PIXELS) return other_kind(info, "read pictures and hear nothing");
  if (info.input_kind != LAPILLI_INPUT_SAMPLES) return other_kind(info, "read text and hear nothing");
  if (!info.writes_text) return other_kind(info, "have no decoder and write no text");
  return std::nullopt;
}

// Rejects requests that only models of windows, languages and tasks can serve.
std::optional<Error> HearingModel::Impl::check_offline(const HearRequest& request) const {
  const char* what = !request.language.empty()     ? "--language: which language is spoken"
                     : request.task == "translate" ? "--to: whether it is translated"
                     : !request.prompt.empty()     ? "--prompt: the text that each window is to go on from"
                     : request.words               ? "--words: when each word is said"
                     : !request.pictures.empty()   ? "--attention: what each word looked at"
                     : request.batch > 0           ? "--batch: how many pieces are heard at a time"
                     : request.on_draft            ? "--live: what may be said before the end"
                     : request.fallback            ? "--fallback: when a window is tried again"
                                                   : nullptr;
  if (!what || !is_offline()) return std::nullopt;
  return Error(LAPILLI_INVALID_ARGUMENT, std::string(what) + " is not asked of models of the family " + info.family +
                                             ", which have nothing that says it");
}

std::optional<Error> HearingModel::Impl::check(const HearRequest& request) const {
  if (auto error = check_offline(request)) return error;
  // Otherwise windows would silently get fewer tokens.
  if (info.max_target_tokens != 0 && request.new_tokens > info.max_target_tokens)
    return Error(LAPILLI_INVALID_ARGUMENT, "--max-new-tokens: " + std::to_string(request.new_tokens) +
                                               " ids exceed the model's " + std::to_string(info.max_target_tokens) +
                                               " positions");
  const auto nothing = model->transcribe({}, options(request));  // a run without recordings reports errors
  if (nothing) return std::nullopt;
  return as_typed(request, nothing.error());
}

Error HearingModel::Impl::as_typed(const HearRequest& request, const Error& error) {
  return {error.status(),
          named_as_typed({{request.beams > 0, "num_beams:", "--beam:"},
                          {request.new_tokens > 0, "max_new_tokens:", "--max-new-tokens:"},
                          {request.new_tokens > 0, "max_length:", "--max-new-tokens, with what stands before it:"},
                          {!request.prompt.empty(), "prompt:", "--prompt:"}},
                         {}, error.message())};
}

Options HearingModel::Impl::options(const HearRequest& request) const {
  Options o;
  if (request.beams > 0) o.num_beams = static_cast<int32_t>(request.beams);
  if (request.new_tokens > 0) o.max_new_tokens = static_cast<int32_t>(request.new_tokens);
  if (is_offline()) return o;
  o.source_language = request.language;
  o.task = request.task;
  o.prompt = request.prompt;
  o.word_times = request.words;
  o.looks = !request.pictures.empty();
  o.pieces = request.batch;
  if (request.on_draft) o.draft_samples = draft_samples(info);
  set_attempts(request, o);
  return o;
}

// The values published with Whisper. Without --fallback, windows are measured for a note where that is cheap: with
// beams, probabilities take the scores of every step.
void HearingModel::Impl::set_attempts(const HearRequest& request, Options& o) {
  if (request.skip_silence) o.no_speech_threshold = 0.6f;
  if (request.fallback) o.temperatures = {0, 0.2f, 0.4f, 0.6f, 0.8f, 1};
  if (request.fallback || kMeasuresRatio) o.compression_ratio_threshold = 2.4f;
  if (request.fallback || request.skip_silence || request.beams <= 1) o.logprob_threshold = -1.0f;
}

Trouble HearingModel::check(const HearRequest& request) const { return trouble(impl_->check(request)); }

Trouble HearingModel::hear(const HearRequest& request) {
  auto error = impl_->check_offline(request);
  if (!error) error = Hearing(*impl_->model, request).run(*impl_->model, impl_->options(request));
  (void)impl_->device->store_cache();  // a failure to store is a warning in the log
  return error ? trouble(Impl::as_typed(request, *error)) : Trouble();
}

}  // namespace lapilli::cli
