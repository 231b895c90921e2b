#include "server/protocols/wyoming.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "server/protocols/answers.hpp"
#include "server/protocols/recorded_sound.hpp"
#include "server/protocols/wire_events.hpp"

namespace lapilli::server {

namespace {

constexpr size_t kMostPcmBytes = size_t{128} << 20;  // of a recording: an hour at 16 kHz
constexpr size_t kMostRecordings = 16;               // of a connection that wait

struct PcmFormat {
  uint32_t rate = 16000, width = 2, channels = 1;  // width: bytes of a sample
};

// A recording with what was said in front of it.
struct SpokenRecording {
  std::string model, language;
  PcmFormat format;
  std::string pcm;
};

std::string little_endian(uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 255);
  return text;
}

// The samples as a WAV file, which every reader of recordings takes.
std::string wav_of(const SpokenRecording& recording) {
  const PcmFormat& f = recording.format;
  const auto size = static_cast<uint32_t>(recording.pcm.size());
  return "RIFF" + little_endian(36 + size, 4) + "WAVEfmt " + little_endian(16, 4) + little_endian(1, 2) +
         little_endian(f.channels, 2) + little_endian(f.rate, 4) + little_endian(f.rate * f.channels * f.width, 4) +
         little_endian(f.channels * f.width, 2) + little_endian(8 * f.width, 2) + "data" + little_endian(size, 4) +
         recording.pcm;
}

Json asr_model(const ModelFacts& model) {
  return {{"name", model.name}, {"attribution", {{"name", model.family}, {"url", ""}}},
          {"installed", true},  {"description", model.name},
          {"version", nullptr}, {"languages", model.sources.empty() ? std::vector<std::string>{"en"} : model.sources}};
}

Json info_json(const Desk& desk) {
  Json models = Json::array();
  for (const ModelFacts& model : desk.models())
    if (model.does("transcribe") && model.input == "sound") models.push_back(asr_model(model));
  Json asr = {{"name", "lapilli"},
              {"attribution", {{"name", "Lapilli"}, {"url", ""}}},
              {"installed", true},
              {"description", "Lapilli: speech to text on any Vulkan device"},
              {"version", lapilli_version()},
              {"models", std::move(models)},
              {"supports_transcript_streaming", true}};
  Json all = {{"asr", Json::array({std::move(asr)})}};
  for (const char* other : {"tts", "handle", "intent", "wake", "mic", "snd"}) all[other] = Json::array();
  return all;
}

// The recordings of a connection, one after the other. Any thread may use it.
class WyomingTalk : public std::enable_shared_from_this<WyomingTalk> {
 public:
  WyomingTalk(Desk& desk, std::shared_ptr<StreamLink> link) : desk_(desk), link_(std::move(link)) {}

  // False: too many wait.
  bool add(SpokenRecording recording) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMostRecordings) return false;
    waiting_.push_back(std::move(recording));
    if (!std::exchange(busy_, true)) desk_.run_long([self = shared_from_this()] { self->next(); });
    return true;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    waiting_.clear();
    if (const auto work = work_.lock()) work->cancelled = true;
  }
  [[nodiscard]] bool busy() const {
    const std::lock_guard lock(mutex_);
    return busy_;
  }
  void send(std::string_view type, const Json& data) { link_->send(wire_event(type, data)); }
  void send_error(const std::string& why) { link_->send(error_event(why)); }
  static std::string error_event(const std::string& why) {
    return wire_event("error", {{"text", why}, {"code", nullptr}});
  }

 private:
  // One recording while it runs. The work keeps it.
  struct Running {
    SpokenRecording recording;
    std::string file;
    RecordedSound sound;
    lapilli_sample_source source{};
    bool begun = false;
  };

  void next() {
    SpokenRecording recording;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) busy_ = false;
      if (!busy_) return;
      recording = std::move(waiting_.front());
      waiting_.pop_front();
    }
    begin(std::move(recording));
  }

  // The last bytes of a recording. A server that stops waits for a connection that is busy, so it is no longer busy
  // when they leave, unless the next recording waits.
  void conclude(const std::string& events) {
    bool more = false;
    {
      const std::lock_guard lock(mutex_);
      busy_ = more = !waiting_.empty();
      link_->send(events);
    }
    if (more) desk_.run_long([self = shared_from_this()] { self->next(); });
  }

  void begin(SpokenRecording recording) {
    const auto run = std::make_shared<Running>();
    run->recording = std::move(recording);
    if (run->recording.pcm.empty()) return conclude(wire_event("transcript", {{"text", ""}}));
    const ModelChoice choice = choose_model(desk_, run->recording.model, "transcribe", "sound");
    if (!choice.model) return conclude(error_event(choice.refusal.message));
    run->file = wav_of(run->recording);
    const uint64_t most_seconds = desk_.limits().sound_seconds;
    const auto gone = [this] {
      const std::lock_guard lock(mutex_);
      return gone_;
    };
    const auto trouble =
        run->sound.open(run->file, {choice.model->sampling_rate, most_seconds, [&] { return !gone(); }});
    if (trouble.status != 0) return conclude(error_event(trouble.message));
    start(run, *choice.model);
  }

  void start(const std::shared_ptr<Running>& run, const ModelFacts& model) {
    run->source = run->sound.source();
    const auto work = std::make_shared<Work>();
    work->model = model.name;
    work->inputs = {pulled_samples(run->source, run->sound.rate())};
    work->kept = run;
    work->account = desk_.account("wyoming");
    if (model.sources.size() > 1) work->options.source_language = run->recording.language;
    if (model.family == "whisper") work->options.speech.logprob_threshold = -1.0f;
    work->on_event = [self = shared_from_this(), run = run.get()](const Event& event) { self->stream(*run, event); };
    work->done = [self = shared_from_this(), run = run.get()](const Outcome& outcome) { self->finish(*run, outcome); };
    {
      const std::lock_guard lock(mutex_);
      work_ = work;
      if (gone_) work->cancelled = true;
    }
    desk_.start(work, nullptr);
  }

  void stream(Running& run, const Event& event) {
    if (event.kind != EventKind::text || event.text.empty()) return;
    if (!std::exchange(run.begun, true)) send("transcript-start", Json::object());
    send("transcript-chunk", {{"text", event.text}});
  }

  void finish(const Running& run, const Outcome& outcome) {
    const Refusal why = failure_of(outcome, "audio", false);
    if (why) return conclude(error_event(why.message));
    const Output& output = (*outcome.results)[0];
    std::string text = output.text();
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    Json said = {{"text", text}};
    if (!output.segments.empty() && !output.segments[0].language.empty())
      said["language"] = output.segments[0].language;
    conclude(wire_event("transcript", said) + (run.begun ? wire_event("transcript-stop", Json::object()) : ""));
  }

  Desk& desk_;
  const std::shared_ptr<StreamLink> link_;
  mutable std::mutex mutex_;  // guards the rest
  std::deque<SpokenRecording> waiting_;
  std::weak_ptr<Work> work_;
  bool busy_ = false, gone_ = false;
};

class WyomingSession final : public StreamSession {
 public:
  WyomingSession(Desk& desk, std::shared_ptr<StreamLink> link)
      : desk_(desk), talk_(std::make_shared<WyomingTalk>(desk, std::move(link))) {}

  bool received(std::string_view bytes) override {
    reader_.append(bytes);
    while (auto event = reader_.next())
      if (!take(*event)) return false;
    if (!reader_.wrong().empty()) talk_->send_error(reader_.wrong());
    return reader_.wrong().empty();
  }
  [[nodiscard]] bool working() const override { return talk_->busy(); }
  void ended() override { talk_->leave(); }

 private:
  // False ends the connection. Events of kinds that nothing here serves are left aside.
  bool take(WireEvent& event) {
    if (event.type == "describe") talk_->send("info", info_json(desk_));
    if (event.type == "ping") talk_->send("pong", {{"text", text_of(event, "text")}});
    if (event.type == "transcribe") recording_ = {text_of(event, "name"), text_of(event, "language"), {}, ""};
    if (event.type == "audio-start") return set_format(event);
    if (event.type == "audio-chunk") return take_chunk(event);
    return event.type != "audio-stop" || end_recording();
  }

  static std::string text_of(const WireEvent& event, const char* name) {
    const auto it = event.data.find(name);
    return it != event.data.end() && it->is_string() ? it->get<std::string>() : "";
  }
  static uint32_t number_of(const WireEvent& event, const char* name, uint32_t otherwise) {
    const auto it = event.data.find(name);
    return it != event.data.end() && it->is_number_unsigned() ? it->get<uint32_t>() : otherwise;
  }

  bool refuse(const std::string& why) { return talk_->send_error(why), false; }

  bool set_format(const WireEvent& event) {
    const PcmFormat format = {number_of(event, "rate", 16000), number_of(event, "width", 2),
                              number_of(event, "channels", 1)};
    const bool known = format.rate >= 1000 && format.rate <= 384000 && format.width >= 1 && format.width <= 4 &&
                       format.channels >= 1 && format.channels <= 16;
    if (!known) return refuse("audio: a rate from 1000 to 384000, a width from 1 to 4 and 1 to 16 channels are served");
    recording_.format = format;
    return true;
  }

  // Each chunk says its format, too; the first one counts where nothing came before it.
  bool take_chunk(const WireEvent& event) {
    if (recording_.pcm.empty() && !set_format(event)) return false;
    if (recording_.pcm.size() + event.payload.size() > kMostPcmBytes)
      return refuse("audio: a recording has at most " + std::to_string(kMostPcmBytes) + " bytes");
    recording_.pcm += event.payload;
    return true;
  }

  bool end_recording() {
    if (talk_->add(std::exchange(recording_, {}))) return true;
    return refuse("too many recordings wait on this connection");
  }

  Desk& desk_;
  const std::shared_ptr<WyomingTalk> talk_;
  WireReader reader_;
  SpokenRecording recording_;
};

}  // namespace

std::unique_ptr<StreamSession> Wyoming::connected(std::shared_ptr<StreamLink> link) {
  return std::make_unique<WyomingSession>(desk_, std::move(link));
}

}  // namespace lapilli::server
