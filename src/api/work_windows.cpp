// Recordings window by window, by a TranscriptionTask, or in chunks, by a ChunksTask.
#include <algorithm>
#include <cmath>

#include "api/handles.hpp"
#include "api/work_recordings.hpp"
#include "search/network_on_device.hpp"
#include "search/search_options.hpp"
#include "speech/chunks_task.hpp"
#include "speech/prefix.hpp"
#include "speech/sound_frames.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli::api {

namespace {

// Stands for a recording whose samples were refused at the start: it appears to have a frame, but reading fails.
class BrokenFrames : public speech::FrameSource {
 public:
  explicit BrokenFrames(Status why) : why_(std::move(why)) {}
  [[nodiscard]] Extent extent() const override { return {1, true}; }
  Result<bool> read(uint64_t, std::span<float>) override { return why_.error(); }

 private:
  const Status why_;
};

Status read_thresholds(const lapilli_speech_options& o, speech::TranscribeRequest& to) {
  if (!o.temperatures && o.temperature_count != 0)
    return fail(ErrorCode::invalid_argument, "temperatures: %u of them at a null pointer", o.temperature_count);
  constexpr size_t kMostTemperatures = 64;
  if (o.temperature_count > kMostTemperatures)
    return fail(ErrorCode::invalid_argument, "temperatures: %u are too many; at most %u are tried", o.temperature_count,
                kMostTemperatures);
  for (size_t i = 0; i < o.temperature_count; ++i) {
    if (!(o.temperatures[i] >= 0) || std::isinf(o.temperatures[i]))
      return fail(ErrorCode::invalid_argument, "temperatures: number %u is %g; they are 0 or more", i,
                  static_cast<double>(o.temperatures[i]));
    to.temperatures.push_back(decimal_of(o.temperatures[i]));
  }
  const auto read = [](float from, std::optional<double>& threshold) {
    if (!std::isnan(from)) threshold = decimal_of(from);
  };
  read(o.compression_ratio_threshold, to.compression_ratio_threshold);
  read(o.logprob_threshold, to.logprob_threshold);
  read(o.no_speech_threshold, to.no_speech_threshold);
  return {};
}

// Encodes earlier text as the model expects it: its mark, then the words after a space.
Status read_prompt(const lapilli_options& o, const Model& model, speech::TranscribeRequest& to) {
  if (!o.prompt || !*o.prompt) return {};
  if (!model.tokenizer()) return model.tokenizer_error();
  const auto mark = model.speech().previous_start;
  if (!mark) return fail(ErrorCode::unsupported, "prompt: the model has no mark for earlier text (prev_sot_token_id)");
  LAPILLI_CHECK(check_utf8(o.prompt, "prompt"));
  EncodeOptions bare;
  bare.side = TextSide::target;
  bare.add_special = false;
  const std::string text = " " + std::string(strip_left(strip_right(o.prompt)));
  LAPILLI_TRY(auto ids, model.tokenizer()->encode(text, bare));
  // Special ids begin with the end token.
  const auto ends = model.generation_config().eos_token_id.value_or(std::vector<int32_t>());
  const int32_t marks = ends.empty() ? *mark : std::min(ends.front(), *mark);
  if (std::any_of(ids.begin(), ids.end(), [&](int32_t id) { return id >= marks; }))
    return fail(ErrorCode::invalid_argument, "prompt: it spells out one of the model's own marks; it is to be words");
  const size_t most = speech::most_ids_before(model.info().max_target_positions);
  if (ids.size() > most) ids.erase(ids.begin(), ids.end() - static_cast<ptrdiff_t>(most));
  to.prompt_ids = {*mark};
  to.prompt_ids.insert(to.prompt_ids.end(), ids.begin(), ids.end());
  return {};
}

Status read_task(const lapilli_options& o, const SpeechSettings& model, speech::TranscribeRequest& to) {
  const std::string task = o.task ? o.task : "";
  const std::string target = o.target_language ? o.target_language : "";
  if (!task.empty() && task != "transcribe" && task != "translate")
    return fail(ErrorCode::invalid_argument,
                "the task \"%.64s\" is not one of models for sound; they transcribe and translate", task);
  if (!target.empty() && (task != "translate" || target != "en"))
    return fail(ErrorCode::invalid_argument,
                "target_language is \"%.64s\": models for sound write the spoken language, or with the task "
                "\"translate\" English (\"en\")",
                target);
  if (o.source_language && *o.source_language) to.languages = {o.source_language};
  to.task = task;
  // Without a task a model of several may choose any. Forced ids set the task unless one is named.
  const bool named = !task.empty() || !model.task.empty() || !model.forced.empty();
  if (!named && model.tasks.contains("transcribe")) to.task = "transcribe";
  return {};
}

Result<speech::TranscribeRequest> windows_request(const WorkRequest& from) {
  const lapilli_options& o = from.options.general;
  const lapilli_speech_options& speech = from.options.speech;
  speech::TranscribeRequest to;
  LAPILLI_CHECK(refuse_for_sound(from.options));
  LAPILLI_CHECK(read_generation(o, to.options));
  LAPILLI_CHECK(resolve_options(from.model->generation_config(), to.options, from.model->on_device().config()));
  LAPILLI_CHECK(read_task(o, from.model->speech(), to));
  LAPILLI_CHECK(read_thresholds(speech, to));
  LAPILLI_CHECK(read_prompt(o, *from.model, to));
  to.timestamps = from.model->speech().no_timestamps.has_value();
  to.condition_on_previous = speech.condition_on_previous != 0;
  to.words = speech.word_times != 0;
  to.attention = o.keep_attention != 0;
  to.batch = o.batch;
  to.steps_in_flight = o.steps_in_flight;
  return to;
}

// 0: no interim results.
uint32_t interim_frames(uint32_t samples, uint32_t hop) { return samples == 0 ? 0 : std::max(samples / hop, 1u); }

Status check_complete(const WorkRequest& request) {
  for (size_t i = 0; i < request.inputs.size(); ++i)
    if (request.inputs[i].more_samples)
      return fail(ErrorCode::invalid_argument,
                  "%s: input %u continues, and lapilli_speech_options.chunks cuts only complete recordings",
                  request.function, i);
  return {};
}

class WindowedRecordings : public Recordings {
 public:
  explicit WindowedRecordings(WorkRequest& from) : Recordings(from) {}
  Status begin(const WorkRequest& from, speech::TranscribeRequest request);
  Status begin_cut(const WorkRequest& from, speech::TranscribeRequest request);
  Status append(size_t input, std::span<const float> samples) override;
  Status end_recording(size_t input) override;

 private:
  std::shared_ptr<speech::FrameSource> frames_of(const Input& input,
                                                 const std::shared_ptr<speech::SoundFeatures>& features);
  [[nodiscard]] Result<speech::SampleStream*> stream_of(size_t input) const;

  std::vector<std::shared_ptr<speech::SampleStream>> streams_;  // by input; null: the input is complete
};

Status WindowedRecordings::begin(const WorkRequest& from, speech::TranscribeRequest request) {
  LAPILLI_TRY(const auto features, speech::make_features(*from.model, *from.front));
  for (const Input& input : from.inputs) request.recordings.push_back({frames_of(input, features), {}});
  request.on_segment = [this](const speech::Segment& segment) { return report(segment); };
  request.on_end = [this](size_t input, const Status& status) { report_end(input, status); };
  request.interim_frames = interim_frames(from.options.speech.interim_samples, from.front->sound->hop);
  request.on_interim = [this](size_t input, std::span<const speech::Segment> segments) -> Status {
    report_interim(input, segments);
    return {};
  };
  LAPILLI_TRY(auto job, speech::TranscriptionTask::start(from.model, std::move(request)));
  start(std::move(job));
  return {};
}

// Cuts recordings at silence (lapilli_speech_options.chunks).
Status WindowedRecordings::begin_cut(const WorkRequest& from, speech::TranscribeRequest request) {
  LAPILLI_CHECK(check_complete(from));
  LAPILLI_TRY(const auto features, speech::make_features(*from.model, *from.front));
  speech::ChunksRequest wanted;
  for (const Input& input : from.inputs)
    wanted.recordings.push_back({frames_of(input, features), {}, source_of(input), samples_of(input)});
  request.on_segment = [this](const speech::Segment& segment) { return report(segment); };
  request.on_end = [this](size_t input, const Status& status) { report_end(input, status); };
  wanted.how = std::move(request);
  wanted.at_a_time = from.options.speech.chunks;
  wanted.hop = from.front->sound->hop;
  LAPILLI_TRY(auto job, speech::ChunksTask::start(from.model, std::move(wanted)));
  start(std::move(job));
  return {};
}

std::shared_ptr<speech::FrameSource> WindowedRecordings::frames_of(
    const Input& input, const std::shared_ptr<speech::SoundFeatures>& features) {
  if (!input.more_samples) {
    streams_.emplace_back();
    return std::make_shared<speech::SoundFrames>(features, source_of(input), samples_of(input));
  }
  auto& stream = streams_.emplace_back(std::make_shared<speech::SampleStream>(features));
  auto pushed = stream->push(input.samples);
  if (pushed) return stream;
  stream = nullptr;
  return std::make_shared<BrokenFrames>(std::move(pushed));
}

Result<speech::SampleStream*> WindowedRecordings::stream_of(size_t input) const {
  if (input >= streams_.size() || !streams_[input]) return not_continuing(input);
  return streams_[input].get();
}

Status WindowedRecordings::append(size_t input, std::span<const float> samples) {
  LAPILLI_TRY(speech::SampleStream* const stream, stream_of(input));
  return stream->push(samples);
}

Status WindowedRecordings::end_recording(size_t input) {
  LAPILLI_TRY(speech::SampleStream* const stream, stream_of(input));
  return stream->finish();
}

}  // namespace

Result<std::unique_ptr<Work>> start_windows(WorkRequest request) {
  LAPILLI_TRY(auto r, windows_request(request));
  auto work = std::make_unique<WindowedRecordings>(request);
  LAPILLI_CHECK(request.options.speech.chunks != 0 ? work->begin_cut(request, std::move(r))
                                                   : work->begin(request, std::move(r)));
  return std::unique_ptr<Work>(std::move(work));
}

}  // namespace lapilli::api
