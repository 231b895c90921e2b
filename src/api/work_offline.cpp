// Recordings transcribed as a whole, by a OfflineTask.
#include <cmath>

#include "api/handles.hpp"
#include "api/work_recordings.hpp"
#include "speech/offline_task.hpp"

namespace lapilli::api {

namespace {

// Samples that are appended over time; all are kept.
class GrowingSamples : public audio::SampleSource {
 public:
  Result<uint64_t> read(uint64_t first, std::span<float> to) override {
    return audio::SamplesInMemory(samples_).read(first, to);
  }
  void push(std::span<const float> samples) { samples_.insert(samples_.end(), samples.begin(), samples.end()); }
  [[nodiscard]] uint64_t size() const { return samples_.size(); }

 private:
  std::vector<float> samples_;
};

// Refuses options that only models with windows, languages and tasks take.
Status refuse_for_offline(const CallOptions& given_options, const std::string& family) {
  const lapilli_options& o = given_options.general;
  const auto given = [](const char* text) { return text && *text; };
  const bool task = given(o.task) && std::string_view(o.task) != "transcribe";
  const char* field = task                       ? "lapilli_options.task"
                      : given(o.source_language) ? "lapilli_options.source_language"
                      : given(o.target_language) ? "lapilli_options.target_language"
                      : given(o.prompt)          ? "lapilli_options.prompt"
                      : o.keep_attention != 0    ? "lapilli_options.keep_attention"
                                                 : given_options.speech_field();
  if (!field) return {};
  return fail(ErrorCode::invalid_argument,
              "%s is for models that transcribe recordings window by window; the family %s takes each as a whole",
              field, family);
}

class OfflineWork : public Recordings {
 public:
  explicit OfflineWork(WorkRequest& from) : Recordings(from), limits_(*from.model, *from.front->sound) {}
  Status begin(const WorkRequest& from, speech::OfflineRequest request);
  Status append(size_t input, std::span<const float> samples) override;
  Status end_recording(size_t input) override;

 private:
  struct Stream {
    std::shared_ptr<GrowingSamples> samples;  // null: the input is complete
    bool ended = false;
  };
  speech::OfflineSound sound_of(const Input& input);
  Result<Stream*> stream_of(size_t input);
  [[nodiscard]] Status check_growing(uint64_t samples) const;

  const speech::OfflineLimits limits_;
  std::vector<Stream> streams_;         // by input
  speech::OfflineTask* job_ = nullptr;  // the task
};

Status OfflineWork::begin(const WorkRequest& from, speech::OfflineRequest request) {
  for (const Input& input : from.inputs) request.recordings.push_back(sound_of(input));
  request.on_segment = [this](const speech::Segment& segment) { return report(segment); };
  request.on_end = [this](size_t input, const Status& status) { report_end(input, status); };
  LAPILLI_TRY(auto reader, speech::OfflineRecordings::create(from.model, *from.front->sound));
  LAPILLI_TRY(auto job, speech::OfflineTask::start(from.model, std::move(reader), std::move(request)));
  job_ = job.get();
  start(std::move(job));
  return {};
}

speech::OfflineSound OfflineWork::sound_of(const Input& input) {
  Stream& stream = streams_.emplace_back();
  if (!input.more_samples) return {source_of(input), samples_of(input)};
  stream.samples = std::make_shared<GrowingSamples>();
  stream.samples->push(input.samples);
  return {stream.samples, std::nullopt};
}

Result<OfflineWork::Stream*> OfflineWork::stream_of(size_t input) {
  if (input >= streams_.size() || !streams_[input].samples) return not_continuing(input);
  Stream& stream = streams_[input];
  if (stream.ended) return fail(ErrorCode::invalid_argument, "input %u: the recording has ended already", input);
  return &stream;
}

// The final length is unknown: the error can only say that it is too long.
Status OfflineWork::check_growing(uint64_t samples) const {
  if (limits_.check_longest(samples)) return {};
  const double most = static_cast<double>(limits_.most_samples()) / limits_.config().sampling_rate;
  return limits_.too_long(format("more than %.1f s", most));
}

Status OfflineWork::append(size_t input, std::span<const float> samples) {
  LAPILLI_TRY(Stream* const stream, stream_of(input));
  LAPILLI_CHECK(check_growing(stream->samples->size() + samples.size()));
  LAPILLI_CHECK(speech::check_samples(samples, stream->samples->size()));
  stream->samples->push(samples);
  return {};
}

Status OfflineWork::end_recording(size_t input) {
  LAPILLI_TRY(Stream* const stream, stream_of(input));
  stream->ended = true;
  job_->end_recording(input, stream->samples->size());
  return {};
}

}  // namespace

Result<std::unique_ptr<Work>> start_offline(WorkRequest request) {
  const lapilli_options& o = request.options.general;
  speech::OfflineRequest r;
  LAPILLI_CHECK(refuse_for_sound(request.options));
  LAPILLI_CHECK(refuse_for_offline(request.options, request.model->info().family));
  LAPILLI_CHECK(read_generation(o, r.options));
  r.batch = o.batch;
  r.steps_in_flight = o.steps_in_flight;
  auto work = std::make_unique<OfflineWork>(request);
  LAPILLI_CHECK(work->begin(request, std::move(r)));
  return std::unique_ptr<Work>(std::move(work));
}

}  // namespace lapilli::api
