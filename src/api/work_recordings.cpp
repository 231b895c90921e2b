#include "api/work_recordings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "generate/batch.hpp"
#include "generate/repeats.hpp"
#include "speech/offline_recording.hpp"

namespace lapilli::api {

namespace {

// Turns "<|en|>" into "en".
std::string code_of(const std::string& token) {
  const bool framed = token.size() > 4 && token.starts_with("<|") && token.ends_with("|>");
  return framed ? token.substr(2, token.size() - 4) : token;
}

float mean(const std::vector<float>& values) {
  if (values.empty()) return NAN;
  return std::accumulate(values.begin(), values.end(), 0.0f) / static_cast<float>(values.size());
}

TranscriptSegment segment_of(const speech::Segment& segment) {
  TranscriptSegment result;
  result.segment = segment;
  result.segment.token_scores.resize(segment.ids.size(), NAN);
  result.language = code_of(segment.language);
  result.log_probability = mean(result.segment.token_scores);
  return result;
}

TextSequence joined(const std::vector<TranscriptSegment>& segments, bool cut) {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<float> scores;
  for (const TranscriptSegment& s : segments) {
    text += s.segment.text;
    ids.insert(ids.end(), s.segment.ids.begin(), s.segment.ids.end());
    scores.insert(scores.end(), s.segment.token_scores.begin(), s.segment.token_scores.end());
  }
  const float score = scores.empty() ? 0 : mean(scores);
  TextSequence s = sequence_of(std::move(text), std::move(ids), std::move(scores), cut ? Finish::length : Finish::stop);
  s.score = score;
  s.repeats = std::any_of(segments.begin(), segments.end(), [](const TranscriptSegment& h) { return h.repeats; });
  s.parts.front().repeats = s.repeats;
  return s;
}

Status check_rates(const WorkRequest& request) {
  const uint32_t rate = request.front->sound->sampling_rate;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.inputs[i].sample_rate == rate) continue;
    return fail(ErrorCode::invalid_argument,
                "%s: input %u has %u samples a second, and the model takes %u (lapilli_model_info.sample_rate): "
                "resample it first (libsamplerate, \"ffmpeg -ar %u\"), or record at that rate",
                request.function, i, request.inputs[i].sample_rate, rate, rate);
  }
  return {};
}

// Reads samples through the caller's function.
class PulledSamples : public audio::SampleSource {
 public:
  explicit PulledSamples(const lapilli_sample_source& from) : from_(from) {}
  Result<uint64_t> read(uint64_t first, std::span<float> to) override {
    const uint64_t room = first < from_.count ? std::min<uint64_t>(to.size(), from_.count - first) : 0;
    if (room == 0) return room;
    uint64_t got = 0;
    const lapilli_status status = from_.read(from_.user, first, to.data(), room, &got);
    if (status != LAPILLI_OK) return failed(status);
    if (got > room)
      return fail(ErrorCode::invalid_argument, "the program's read gave %u samples where there is room for %u", got,
                  room);
    std::fill(to.begin() + static_cast<ptrdiff_t>(got), to.begin() + static_cast<ptrdiff_t>(room), 0.0f);
    return room;
  }

 private:
  // The failure concerns this recording alone, whatever status the function returns.
  static Failure failed(lapilli_status status) {
    const Error error{static_cast<ErrorCode>(status), {}};
    const bool own = status > LAPILLI_OK && status <= LAPILLI_INTERNAL && concerns_one(error);
    return fail(own ? error.code : ErrorCode::invalid_data,
                "the samples cannot be read: the program's read failed with status %d (%s)", status,
                lapilli_status_name(status));
  }

  const lapilli_sample_source from_;
};

}  // namespace

std::shared_ptr<audio::SampleSource> source_of(const Input& input) {
  if (input.source) return std::make_shared<PulledSamples>(*input.source);
  return std::make_shared<audio::SamplesInMemory>(input.samples);
}

uint64_t samples_of(const Input& input) { return input.source ? input.source->count : input.samples.size(); }

Status refuse_for_sound(const CallOptions& given) {
  const lapilli_options& o = given.general;
  const char* field = o.decoder_prompt.ids         ? "lapilli_options.decoder_prompt"
                      : o.num_return_sequences > 1 ? "lapilli_options.num_return_sequences"
                                                   : given.picture_field();
  if (!field) return {};
  return fail(ErrorCode::invalid_argument, "%s is not for models of sound%s", field,
              o.decoder_prompt.ids ? "; lapilli_options.prompt sets the text before a recording" : "");
}

Failure not_continuing(size_t input) {
  return fail(ErrorCode::invalid_argument, "input %u is no recording that continues (lapilli_sample_stream())", input);
}

Result<std::unique_ptr<Work>> start_recordings(WorkRequest request) {
  LAPILLI_CHECK(check_rates(request));
  return speech::takes_offline_recordings(*request.model) ? start_offline(std::move(request))
                                                          : start_windows(std::move(request));
}

Recordings::Recordings(WorkRequest& from)
    : sinks_(std::move(from.sinks)),
      timestamp_begin_(int64_t{from.model->speech().no_timestamps.value_or(std::numeric_limits<int32_t>::max())} + 1),
      segments_(from.inputs.size()),
      reported_(from.inputs.size()),
      tails_(from.inputs.size()) {}

void Recordings::report_interim(size_t input, std::span<const speech::Segment> segments) {
  if (!sinks_.interim) return;
  std::vector<TranscriptSegment> interim;
  for (const speech::Segment& s : segments) interim.push_back(segment_of(s));
  sinks_.interim(input, std::move(interim));
}

// A model that has gone astray repeats itself across segments, with different timestamps.
bool Recordings::repeats(const speech::Segment& segment) {
  constexpr size_t kEnough = size_t{kLoopPhrase} * kLoopTimes + 1;  // one id may follow a loop
  std::vector<int32_t>& tail = tails_[segment.recording];
  const size_t before = tail.size();
  for (const int32_t id : segment.ids)
    if (id < timestamp_begin_) tail.push_back(id);
  const bool is_longer = tail.size() > before;
  if (tail.size() > kEnough) tail.erase(tail.begin(), tail.end() - static_cast<ptrdiff_t>(kEnough));
  return is_longer && ends_in_loop(tail);
}

// Attention is reported with the segment but not kept: a recording of hours has too many.
Status Recordings::report(const speech::Segment& segment) {
  TranscriptSegment result = segment_of(segment);
  result.repeats = repeats(segment);
  const size_t i = segment.recording;
  if (sinks_.text && !sinks_.text(i, segment.text, segment.ids)) task().cancel();
  if (sinks_.segment) sinks_.segment(i, segments_[i].size(), result);
  result.segment.attention.reset();
  segments_[i].push_back(std::move(result));
  return {};
}

// Reports only once.
void Recordings::report_end(size_t input, const Status& status) {
  if (!reported_[input] && sinks_.input_ended) sinks_.input_ended(input, status);
  reported_[input] = true;
}

// Keeps the segments of a recording that has not ended, but gives it no text.
Result<WorkOutput> Recordings::take() {
  LAPILLI_CHECK(Status(task_->status()));
  const uint64_t tokens = task_->progress().tokens;
  const auto from = task_->take();
  WorkOutput out;
  out.text.cancelled = from.cancelled;
  out.text.stats = stats_of(from.stats, tokens, ms_since(started_));
  for (size_t i = 0; i < segments_.size(); ++i) {
    TextOutput& text = out.text.outputs.emplace_back();
    text.status = from.transcripts[i].status;
    if (text.status && !reported_[i]) text.status = fail(ErrorCode::cancelled, "cancelled before it was finished");
    report_end(i, text.status);
    if (text.status) text.sequences.push_back(joined(segments_[i], from.transcripts[i].cut));
  }
  out.segments = std::move(segments_);
  return out;
}

}  // namespace lapilli::api
