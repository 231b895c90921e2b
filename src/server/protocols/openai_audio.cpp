// POST /v1/audio/transcriptions and /v1/audio/translations: recordings to text, as `lapilli transcribe` writes it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "server/protocols/openai.hpp"
#include "server/protocols/openai_transcripts.hpp"
#include "server/protocols/recorded_sound.hpp"

namespace lapilli::server {

namespace {

constexpr Unserved kUnservedAudio[] = {
    {"chunking_strategy", "\"auto\"", "recordings run window by window"},
    {"known_speaker_names", "", "speakers are not told apart"},
    {"known_speaker_references", "", "speakers are not told apart"},
};

struct AudioRequest {
  const ModelFacts* model = nullptr;
  std::string_view file;  // within the body of the exchange
  std::string prompt, language;
  TranscriptStyle style;
  bool stream = false;

  // Whisper transcribes window by window; the other families take a recording as a whole and have no such options.
  [[nodiscard]] bool has_windows() const { return model->family == "whisper"; }
};

// The values of a list in a form, in all ways in which clients write it: NAME, NAME[], both several times, or a list in
// JSON in one field.
std::vector<std::string> form_list(Asked& from, const char* name) {
  constexpr size_t kMost = 16, kLongest = 1024;
  std::vector<std::string> all;
  const auto given = from.texts(name, kMost).value_or(Parameters::Texts());
  for (const std::string& value : given.all) {
    const auto list = nlohmann::json::parse(value.size() > kLongest ? "" : value, nullptr, false);
    const bool is_list = list.is_array() && list.size() <= kMost;
    if (!is_list && !value.empty()) all.push_back(value);
    for (size_t i = 0; is_list && i < list.size(); ++i)
      all.push_back(list[i].is_string() ? list[i].get<std::string>() : "?");
  }
  return all;
}

void read_granularities(Asked& from, TranscriptStyle& to) {
  const auto given = form_list(from, "timestamp_granularities");
  if (given.empty()) return;
  to.segments = false;
  for (const std::string& one : given) {
    if (one != "word" && one != "segment") return from.refuse("timestamp_granularities", "must be word or segment");
    to.words = to.words || one == "word";
    to.segments = to.segments || one == "segment";
  }
  if (to.format != "verbose_json")
    from.refuse("timestamp_granularities", "goes with response_format verbose_json alone, not with " + to.format);
}

void read_include(Asked& from, TranscriptStyle& to) {
  for (const std::string& one : form_list(from, "include")) {
    if (one != "logprobs") return from.refuse("include", "must be logprobs");
    to.log_probabilities = true;
    if (to.format != "json") return from.refuse("include", "logprobs go with response_format json alone");
  }
}

void read_format(Asked& from, AudioRequest& to) {
  static constexpr const char* kFormats[] = {"json", "text", "srt", "verbose_json", "vtt"};
  to.style.format = from.one_of("response_format", kFormats).value_or("json");
  to.stream = from.flag("stream").value_or(false);
  if (to.stream && to.style.format != "json" && to.style.format != "text")
    from.refuse("stream", "goes with response_format json or text, not with " + to.style.format);
  read_granularities(from, to.style);
  read_include(from, to.style);
}

void read_file(Asked& from, AudioRequest& to) {
  const FormField* file = from.part("file");
  if (!file) return from.refuse("file", "is missing: send the recording as a part of multipart/form-data");
  to.file = file->value();
  if (to.file.empty()) from.refuse("file", "is empty");
}

// Options of windows alone.
void check_windows(Asked& from, const AudioRequest& to) {
  if (to.has_windows()) return;
  const std::string whole = "is not served by " + to.model->name + ", which takes a recording as a whole";
  if (!to.prompt.empty()) from.refuse("prompt", whole);
  if (!to.language.empty()) from.refuse("language", whole);
  if (to.style.temperature > 0) from.refuse("temperature", whole);
  if (to.style.words) from.refuse("timestamp_granularities", "word " + whole);
  if (to.style.task == "translate") from.refuse("model", "translation " + whole);
}

void choose(const Desk& desk, Asked& from, AudioRequest& to) {
  static constexpr const char* kWhisper[] = {"whisper-1"};
  const ModelChoice choice = choose_model(desk, from.text("model").value_or(""), "transcribe", "sound", kWhisper);
  if (!choice.model) return from.refuse(choice.refusal);
  to.model = choice.model;
  check_windows(from, to);
}

// A Whisper without languages is one of English.
std::string language_without_detection(const AudioRequest& request) {
  const auto& known = request.model->sources;
  if (!request.language.empty()) return request.language;
  if (known.size() == 1) return known.front();
  return known.empty() && request.has_windows() ? "en" : "";
}

AudioRequest read_request(const Desk& desk, Asked& from, const char* task) {
  AudioRequest to;
  to.style.task = task;
  read_file(from, to);
  to.prompt = from.text("prompt").value_or("");
  to.language = from.text("language").value_or("");
  to.style.temperature = from.number("temperature", 0, 1).value_or(0);
  read_format(from, to);
  from.refuse_unserved(kUnservedAudio);
  if (!from.refusal()) choose(desk, from, to);
  if (to.model) to.style.language = language_without_detection(to);
  return to;
}

// As `lapilli transcribe` runs without options: windows are measured, once each. The probability of silence is measured
// where it is told, and leaves out nothing.
Options options_of(const AudioRequest& request) {
  constexpr float kNever = 2;
  Options options;
  if (!request.has_windows()) return options;
  if (request.style.task == "translate") options.task = request.style.task;  // models of one language know no tasks
  options.source_language = request.language;
  options.prompt = request.prompt;
  options.speech.word_times = request.style.words;
#ifdef LAPILLI_HAVE_ZLIB
  options.speech.compression_ratio_threshold = 2.4f;
#endif
  options.speech.logprob_threshold = -1.0f;
  if (request.style.format == "verbose_json") options.speech.no_speech_threshold = kNever;
  if (request.style.temperature > 0) options.speech.temperatures = {static_cast<float>(request.style.temperature)};
  return options;
}

// The options of the library by the names of the request's members.
std::string as_asked(std::string message) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"source_language:", "language:"}};
  for (const auto& [from, to] : kNames)
    if (const size_t at = message.find(from); at != std::string::npos) message.replace(at, from.size(), to);
  return message;
}

// One transcript on its way; events come before the outcome.
class Transcribing {
 public:
  Transcribing(AudioRequest request, std::shared_ptr<Exchange> exchange)
      : request_(std::move(request)), exchange_(std::move(exchange)) {}

  Refusal decode(uint64_t most_seconds) {
    RecordedSound::Limits limits;
    limits.rate = request_.model->sampling_rate;
    limits.most_seconds = most_seconds;
    limits.go_on = [this] { return !exchange_->gone(); };
    const auto trouble = sound_.open(request_.file, limits);
    request_.style.duration = trouble.status == 0 ? sound_.seconds() : 0;
    source_ = sound_.source();
    return {trouble.status, trouble.status ? "file: " + trouble.message : "", "file"};
  }

  [[nodiscard]] lapilli_input input() const { return pulled_samples(source_, sound_.rate()); }
  [[nodiscard]] const AudioRequest& request() const { return request_; }

  void take_event(const Event& event) {
    if (event.kind != EventKind::text || event.text.empty()) return;
    std::string text = event.text;
    if (!has_text_) text.erase(0, text.find_first_not_of(' '));
    if (text.empty()) return;
    has_text_ = true;
    begin();
    exchange_->write(transcript_delta(text));
  }

  void finish(const Outcome& outcome) {
    Refusal why = failure_of(outcome, "file", false);
    why.message = as_asked(why.message);
    if (why) return fail(why);
    const Output& output = (*outcome.results)[0];
    if (!request_.stream)
      return exchange_->answer(
          {200, transcript(output, request_.style, *outcome.model), transcript_type(request_.style.format), {}});
    begin();
    exchange_->write(transcript_done(output, request_.style, *outcome.model));
    exchange_->end();
  }

 private:
  void begin() {
    if (!std::exchange(begun_, true)) exchange_->begin({200, "", "text/event-stream", {{"cache-control", "no-cache"}}});
  }
  void fail(const Refusal& why) {
    if (!begun_) return refuse_openai(*exchange_, why);
    exchange_->write("data: " + openai_error(why.status, why.message, why.parameter).body + "\n\n");
    exchange_->end();
  }

  AudioRequest request_;
  std::shared_ptr<Exchange> exchange_;
  RecordedSound sound_;
  lapilli_sample_source source_{};
  bool begun_ = false, has_text_ = false;
};

void run_audio(Desk& desk, const std::shared_ptr<Exchange>& exchange, const char* task) {
  Asked from(desk, *exchange);
  AudioRequest request = read_request(desk, from, task);
  if (from.refusal()) return refuse_openai(*exchange, from.refusal());
  auto run = std::make_shared<Transcribing>(std::move(request), exchange);
  if (const Refusal why = run->decode(from.limits.sound_seconds)) return refuse_openai(*exchange, why);
  auto work = std::make_shared<Work>();
  work->model = run->request().model->name;
  work->options = options_of(run->request());
  work->inputs = {run->input()};
  work->kept = run;
  if (run->request().stream) work->on_event = [run = run.get()](const Event& event) { run->take_event(event); };
  work->done = [run = run.get()](const Outcome& outcome) { run->finish(outcome); };
  desk.start(std::move(work), exchange);
}

}  // namespace

void openai_transcriptions(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  run_audio(desk, exchange, "transcribe");
}

void openai_translations(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  run_audio(desk, exchange, "translate");
}

}  // namespace lapilli::server
