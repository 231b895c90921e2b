#include "cli/run/transcription.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/path.hpp"
#include "cli/arguments/model_names.hpp"
#include "cli/files/cache_folder.hpp"
#include "cli/files/output_names.hpp"
#include "cli/files/recording_identity.hpp"
#include "cli/files/target_file.hpp"
#include "cli/output.hpp"
#include "cli/progress/progress_bar.hpp"
#include "cli/run/drawing_file.hpp"
#include "cli/run/sound_input.hpp"
#include "cli/run/speech_output.hpp"
#include "cli/shards/file_shards.hpp"
#include "cli/shards/shard_run.hpp"
#include "cli/system.hpp"
#include "shards/model_hash.hpp"

namespace lapilli::cli {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

int sound_exit_code(const Error& error) {
  switch (error.code) {
    case ErrorCode::cancelled: return exit_interrupted;
    case ErrorCode::invalid_argument: return exit_usage;
    case ErrorCode::out_of_memory: return exit_memory;
    case ErrorCode::internal: return exit_internal;
    default: return exit_input;
  }
}

// Limits the model's times to the given sound, so that they do not extend into skipped parts beside it.
SpokenLine within(SpokenLine line, double begin, double end) {
  const auto clamp = [&](auto& part) {
    part.begin = std::clamp(part.begin, begin, end);
    part.end = std::clamp(part.end, begin, end);
  };
  clamp(line);
  for (SpokenWord& word : line.words) clamp(word);
  return line;
}

class Transcription {
 public:
  Transcription(const TranscribeArguments& arguments, const Context& context)
      : arguments_(arguments), context_(context), bar_(!context.quiet && is_terminal(2)) {}

  int run() {
    if (const int code = prepare()) return code;
    if (finished_) return *finished_;
    catch_interrupts();  // before, an interruption ends the program at once
    int code = exit_ok;
    for (size_t i = 0; i < sources_.size() && interrupted() == 0; ++i) {
      int ended = run_one(i);
      if (is_shard() && ended == exit_input) {
        ended = reject(sources_[i].name);
        if (ended == exit_ok) continue;
      }
      // One unreadable recording does not stop the others.
      if (ended != exit_ok && (ended != exit_input || sources_.size() == 1)) return finish(ended);
      if (ended != exit_ok) code = ended;
    }
    return finish(code);
  }

 private:
  // A recording on its way to its output.
  struct RecordingRun {
    SoundInput& sound;
    const std::string& name;
    SpeechOutput& output;
    SpeechRequest how;  // the language detected in the first part applies to all
    int written;        // an exit code: of the first output that could not be written
  };

  [[nodiscard]] bool is_shard() const { return arguments_.shard.wanted(); }

  // Leaves the recordings of the shard.
  int take_sources() {
    if (!is_shard()) return exit_ok;
    if (const int code = shard_.choose(arguments_.shard, arguments_.files.output, arguments_.force)) return code;
    std::vector<std::string> names;
    for (const SoundSource& source : sources_) names.push_back(source.name);
    std::vector<bool> taken;
    if (const int code = take_files(shard_.shard(), names, taken, planned_)) return code;
    sources_ = taken_of(std::move(sources_), taken);
    planned_.version = lapilli_version();
    planned_.settings = settings_of_transcripts(arguments_);
    planned_.settings.emplace_back("command", "transcribe");
    planned_.settings = shards::settled(planned_.settings);
    return exit_ok;
  }

  int begin_shard(const std::string& model) {
    planned_.model_hash = shards::hash_of_model(model);
    bool done = false;
    const int code = shard_.begin(planned_, context_.quiet, done);
    if (done) finished_ = code;
    if (done || code != exit_ok) return done ? int{exit_ok} : code;
    return shard_.begin_rows(0);  // what is wrong with a recording is found again
  }

  // An unreadable recording is a row of the shard.
  int reject(const std::string& name) {
    RejectedRows& rejected = shard_.rejected();
    if (const int code = rejected.add({name, 1, why_})) return code;
    if (const int code = rejected.flush()) return code;
    return rejected.are_too_many() ? shard_.stop_at_rejected() : int{exit_ok};
  }

  int finish_shard() {
    shards::Record record = planned_;
    record.rows_in = record.inputs.size();
    record.rows_out = record.rows_in - shard_.rejected().count();
    for (const auto& targets : targets_)
      for (const auto& target : targets)
        if (file_exists(target->name())) record.files.push_back(shard_.below(target->name()));
    if (!sources_.empty()) record.device = model_.info().device;
    return shard_.finish(std::move(record));
  }

  [[nodiscard]] Identity identity_of(const std::string& name) const {
    if (!is_shard()) return identity_of_recording(arguments_, model_.info(), name);
    Identity all = planned_.settings;
    all.emplace_back("version of lapilli", planned_.version);
    all.emplace_back("model", planned_.model_hash);
    all.emplace_back("input " + std::string(last_part(name)), shards::hash_of_samples(name));
    return all;
  }

  // The fault of a recording, for people and for the record.
  int trouble_with_sound(int code, const std::string& message) {
    why_ = message;
    return complain(code, message);
  }

  // Reports everything that is wrong with the arguments before the model is loaded.
  int prepare() {
    if (!arguments_.raw.empty()) {
      const auto raw = recordings::parse_raw_format(arguments_.raw);
      if (!raw) return complain(exit_usage, "--raw: " + raw.error().message);
      raw_ = *raw;
    }
    std::vector<std::string> left_out;
    if (const int code = find_recordings(arguments_.files, sources_, left_out)) return code;
    if (const int code = take_sources()) return code;
    for (const SoundSource& source : sources_)
      if (const int code = check_input(source.name)) return code;
    if (const int code = check_targets()) return code;
    say_all(left_out);
    if (const std::string wrong = obstacle_to_drawing(arguments_.attention); !wrong.empty())
      return complain(exit_usage, wrong);
    auto request = arguments_.model;
    if (const int code = find_model_with({"takes no sound", "takes sound", "openai/whisper-tiny"}, request.model))
      return code;
    if (is_shard()) {
      const int code = begin_shard(request.model);
      if (code != exit_ok || finished_ || sources_.empty()) return code;
    }
    request.cache = cache_folder(arguments_.no_cache);
    Trouble opened = model_.open(request);
    if (opened.status == LAPILLI_OK) opened = model_.check(arguments_.how);
    return opened.status == LAPILLI_OK ? int{exit_ok} : complain(exit_code(opened.status), opened.message);
  }

  int check_input(const std::string& name) const {
    if (arguments_.live && (!is_pipe(name) || sources_.size() > 1))
      return complain(exit_usage, "--live is for one recording that comes through a pipe, and " + name + " is " +
                                      (is_pipe(name) ? "not alone" : "none"));
    if (arguments_.how.batch > 0 && is_pipe(name))
      return complain(exit_usage, "--batch cuts files where they are quiet, and " + name + " is a pipe");
    if (arguments_.vad && is_pipe(name))
      return complain(exit_usage,
                      "--vad looks through a file first, and " + name + " is a pipe; --no-vad transcribes it");
    if (arguments_.resume && !file_exists(name))
      return complain(exit_usage, "--resume reads the inputs again: all must be files, and " + name + " is none");
    return exit_ok;
  }

  int check_targets() {
    const SoundFiles& files = arguments_.files;
    const std::string& out = files.output;
    const bool many = sources_.size() > 1, one_place = !files.one_each();
    const bool subtitles = std::any_of(files.formats.begin(), files.formats.end(), is_subtitles);
    if (out.empty() && one_place && many && subtitles)
      return complain(exit_usage, "subtitles of several recordings need a folder: -o FOLDER/");
    if (!out.empty() && one_place && (many || files.formats.size() > 1))
      return complain(exit_usage, out + " is one file, for several " + (many ? "recordings" : "formats") +
                                      "; name a folder: -o " + out + "/");
    for (const SoundSource& source : sources_) {
      auto& targets = targets_.emplace_back();
      for (const std::string& name : source.targets) {
        targets.push_back(std::make_unique<TargetFile>(name));
        std::string obstacle = one_place ? missing_folder(name) : "";
        if (obstacle.empty()) obstacle = obstacle_to(*targets.back());
        if (!obstacle.empty()) return complain(exit_usage, obstacle);
      }
    }
    return exit_ok;
  }

  [[nodiscard]] std::string obstacle_to(const TargetFile& target) const {
    std::vector<std::string> inputs;
    if (file_exists(target.name()))
      for (const SoundSource& source : sources_) inputs.push_back(source.name);
    // A shard's may be finished, which its record tells.
    if (is_shard() && file_exists(target.name()) && !arguments_.force) return "";
    return target.obstacle(arguments_.force, resumes(), inputs);
  }

  [[nodiscard]] bool resumes() const { return arguments_.resume || (is_shard() && !arguments_.force); }

  recordings::Opener opener(const std::string& name) const {
    if (!arguments_.raw.empty()) return [raw = raw_, name] { return recordings::open_raw(name, raw); };
    return [name, rate = model_.rate()] { return recordings::open_recording(name, {.rate = rate}); };
  }

  Result<SoundInput> listen(const std::string& name) {
    if (is_pipe(name)) return SoundInput::of_pipe(opener(name), name, model_.rate(), arguments_.excerpt);
    const auto show = [&](const recordings::Recording& file) { return show_reading("measuring the file", file, 0); };
    return SoundInput::of_file(opener(name), name, model_.rate(), arguments_.excerpt, show);
  }

  int run_one(size_t index) {
    const std::string& name = sources_[index].name;
    SpeechOutput output(name);
    if (targets_[index].empty()) {
      SpeechStyle style = style_of(arguments_.files.formats.front());
      style.named = sources_.size() > 1;
      output.add(style, output_);
      return transcribe(name, output, !style.named || !std::exchange(has_head_, true));
    }
    std::vector<TargetFile*> begun;
    int code = begin_targets(index, output, begun);
    if (code == exit_ok && begun.empty()) ++resumed_;
    if (code == exit_ok && !begun.empty()) code = transcribe(name, output, true);
    return end_targets(begun, code);
  }

  [[nodiscard]] SpeechStyle style_of(SpeechFormat format) const {
    SpeechStyle style = arguments_.style;
    style.format = format;
    return style;
  }

  // Begins the targets that an earlier run has not written.
  int begin_targets(size_t index, SpeechOutput& output, std::vector<TargetFile*>& begun) {
    const auto& targets = targets_[index];
    for (size_t i = 0; i < targets.size(); ++i) {
      Journal from;
      const bool whole = file_exists(sources_[index].name);
      const int code = whole ? targets[i]->begin(identity_of(sources_[index].name), resumes(), arguments_.force, from)
                             : targets[i]->begin();
      if (code != exit_ok) return code;
      if (from.complete) continue;
      begun.push_back(targets[i].get());
      output.add(style_of(arguments_.files.formats[i]), *targets[i]);
    }
    return exit_ok;
  }

  int end_targets(const std::vector<TargetFile*>& begun, int code) {
    for (TargetFile* target : begun) {
      if (code == exit_ok && interrupted() == 0)
        code = target->finish();
      else if (target->stop() && target->bytes() > 0)
        say("what there is of it is in " + part_of(target->name()));
    }
    if (code == exit_ok && interrupted() == 0 && !begun.empty()) ++written_;
    return code;
  }

  int transcribe(const std::string& name, SpeechOutput& output, bool with_head) {
    auto sound = listen(name);
    if (!sound)
      return interrupted() ? int{exit_ok} : trouble_with_sound(sound_exit_code(sound.error()), sound.error().message);
    if (!sound->is_pipe()) say_all(sound->notes());
    RecordingRun recording{*sound, name, output, arguments_.how, with_head ? output.begin() : int{exit_ok}};
    bar_.begin();
    auto parts = parts_of(*sound, name);
    if (!parts)
      return interrupted() ? int{exit_ok} : trouble_with_sound(sound_exit_code(parts.error()), parts.error().message);
    Trouble trouble;
    for (size_t i = 0; i < parts->size() && trouble.status == LAPILLI_OK && recording.written == exit_ok; ++i)
      trouble = transcribe_part(recording, (*parts)[i]);
    bar_.clear();
    if (recording.written == exit_ok) recording.written = output.end();
    seconds_ += seconds_of(sound->stretch().count);
    if (sound->is_pipe()) say_all(sound->notes());
    if (recording.written != exit_ok) return recording.written;
    if (interrupted() != 0) return exit_ok;
    if (!sound->error())
      return trouble_with_sound(sound_exit_code(sound->error().error()), sound->error().error().message);
    if (trouble.status != LAPILLI_OK)
      return trouble_with_sound(exit_code(trouble.status), name + ": " + trouble.message);
    if (sound->stretch().count > 0) return exit_ok;
    return trouble_with_sound(
        exit_input, name + ": there is no sound in it" + (arguments_.excerpt.offset > 0 ? " from --offset on" : ""));
  }

  // With --vad only the parts in which somebody may be speaking.
  Result<std::vector<Stretch>> parts_of(SoundInput& sound, const std::string& name) {
    if (!arguments_.vad) return std::vector{sound.stretch()};
    const uint64_t end = sound.stretch().first + sound.stretch().count;
    const auto show = [&](const recordings::Recording& file) { return show_reading("looking for speech", file, end); };
    LAPILLI_TRY(auto parts, sound.speech(model_.rate(), show));
    if (parts.empty()) say(name + ": no speech was found in it; --no-vad transcribes all of it");
    return parts;
  }

  Trouble transcribe_part(RecordingRun& recording, const Stretch& part) {
    SoundInput& sound = recording.sound;
    SpeechOutput& output = recording.output;
    SpeechRequest& how = recording.how;
    int& written = recording.written;
    const lapilli_sample_source source = sound.source(part);
    std::string language;
    if (sound.is_pipe())
      how.next = [&](std::span<float> to, bool may_wait) { return sound.next(to, may_wait); };
    else
      how.sound = &source;
    how.offset = seconds_of(part.first);
    how.on_segment = [&](const SpokenLine& s, const std::string& picture) {
      bar_.clear();
      language = s.language;
      const double end = seconds_of(sound.is_pipe() ? part.first + sound.stretch().count : part.first + part.count);
      if (written == exit_ok) written = output.write(arguments_.vad ? within(s, how.offset, end) : s, end);
      if (written == exit_ok && !picture.empty()) written = write_drawing(arguments_.attention, ++pictures_, picture);
      return written == exit_ok;
    };
    how.pictures = drawing_format(arguments_.attention);
    if (arguments_.live)
      how.on_interim = [&](const std::vector<SpokenLine>& interim) {
        if (written == exit_ok) written = show_interim(interim, output);
        return written == exit_ok;
      };
    const double before = seconds_of(part.first - sound.stretch().first);
    how.progress = [&, before](double done) {
      if (!arguments_.live) show(before + done, sound);
      return interrupted() == 0;
    };
    how.on_note = [&](const std::string& note) { say(recording.name + ": " + note); };
    const Trouble trouble = model_.transcribe(how);
    if (how.language.empty()) how.language = language;
    return trouble;
  }

  // JSON marks it as not final; elsewhere it is shown until later text replaces it.
  int show_interim(const std::vector<SpokenLine>& interim, SpeechOutput& output) {
    const SubtitleLines plain(style_of(SpeechFormat::text), "");
    std::string text;
    int written = exit_ok;
    for (SpokenLine line : interim) {
      line.final = false;
      text += (text.empty() ? "" : " ") + plain.text_of(line);
      if (written == exit_ok) written = output.write_interim(line);
    }
    bar_.show_text("~ ", text);  // text behind the mark may change
    return written;
  }

  [[nodiscard]] double seconds_of(uint64_t samples) const { return static_cast<double>(samples) / model_.rate(); }

  // Shows how far a file is read before its first window, which may happen several times. False: interrupted.
  bool show_reading(const char* what, const recordings::Recording& file, uint64_t samples) {
    char text[96];
    const int used = std::snprintf(text, sizeof text, "%s: %.0f", what, seconds_of(file.position()));
    std::snprintf(text + used, sizeof text - static_cast<size_t>(used),
                  samples > 0 ? " of %.0f s of sound" : " s of sound", seconds_of(samples));
    bar_.show_text("", text);
    return interrupted() == 0;
  }

  void show(double done, const SoundInput& sound) {
    const double all = seconds_of(sound.stretch().count);
    if (done <= 0) {
      if (!sound.is_pipe())
        show_reading("reading the file", sound.file(), sound.stretch().first + sound.stretch().count);
      return;
    }
    char text[64];
    std::snprintf(text, sizeof text, sound.is_pipe() ? "%.0f s of sound" : "%.0f of %.0f s of sound",
                  std::min(done, all), all);
    if (sound.is_pipe())
      bar_.show_text("", text);
    else
      bar_.show(done / all, text);
  }

  void say_all(const std::vector<std::string>& notes) {
    for (const std::string& note : notes)
      if (!note.empty()) say(note);
  }

  void say(const std::string& text) {
    bar_.clear();
    if (!context_.quiet) complain(exit_ok, text);
  }

  int finish(int code) {
    bar_.clear();
    if (code == exit_ok && interrupted() == 0 && is_shard()) code = finish_shard();
    if (code == exit_ok && interrupted() == 0) {
      for (const auto& targets : targets_)
        for (const auto& target : targets) target->forget_journal();
      shard_.leave();
    }
    if (arguments_.files.to_files() && (sources_.size() > 1 || interrupted() != 0)) say(tell_targets());
    if (arguments_.stats) {
      const double took = seconds_since(start_);
      std::fprintf(stderr,
                   "sound      %10.1f s in %zu recordings\ntotal      %10.1f s with loading, %.2f of the sound's\n",
                   seconds_, sources_.size(), took, seconds_ > 0 ? took / seconds_ : 0);
    }
    if (interrupted() != 0) return 128 + interrupted();
    return code == exit_ok && is_shard() && shard_.rejected().are_a_failure() ? int{exit_some_failed} : code;
  }

  [[nodiscard]] std::string tell_targets() const {
    const bool resumable =
        std::all_of(sources_.begin(), sources_.end(), [](const SoundSource& s) { return file_exists(s.name); });
    return std::to_string(written_) + " of " + std::to_string(sources_.size()) + " recordings written" +
           (resumed_ > 0 ? ", " + std::to_string(resumed_) + " by an earlier run" : "") +
           (interrupted() != 0 && resumable ? "; --resume goes on" : "");
  }

  const TranscribeArguments& arguments_;
  const Context& context_;
  ProgressBar bar_;
  recordings::RawFormat raw_;
  std::vector<SoundSource> sources_;
  std::vector<std::vector<std::unique_ptr<TargetFile>>> targets_;  // of each; none if standard output takes all
  StandardOutput output_;
  SpeechModel model_;
  ShardRun shard_;
  shards::Record planned_;       // of the shard
  std::optional<int> finished_;  // the exit code of an earlier run that finished the shard
  std::string why_;              // the last recording failed
  double seconds_ = 0;
  size_t written_ = 0, resumed_ = 0;  // recordings; by an earlier run
  size_t pictures_ = 0;               // written ones
  bool has_head_ = false;             // standard output has the first recording's
  Clock::time_point start_ = Clock::now();
};

}  // namespace

int run_transcription(const TranscribeArguments& arguments, const Context& context) {
  return Transcription(arguments, context).run();
}

}  // namespace lapilli::cli
