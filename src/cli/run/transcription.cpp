#include "cli/run/transcription.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/path.hpp"
#include "cli/arguments/model_names.hpp"
#include "cli/files/output_names.hpp"
#include "cli/files/target_file.hpp"
#include "cli/output.hpp"
#include "cli/progress/progress_bar.hpp"
#include "cli/run/drawing_file.hpp"
#include "cli/run/kept_folder.hpp"
#include "cli/system.hpp"
#include "recordings/recording.hpp"
#include "recordings/sample_pipe.hpp"

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

// What is heard, at the model's rate: a file, which is read twice, or what comes through a pipe, once.
struct Heard {
  std::unique_ptr<recordings::Recording> file;
  std::unique_ptr<recordings::SamplePipe> pipe;
  uint64_t samples = 0;  // of a pipe: that have come
  Status error;          // of reading it
  // A note on its samples, once they are all there.
  [[nodiscard]] std::vector<std::string> notes() const {
    if (pipe) return {pipe->shortage(), pipe->silence()};
    return {file->shortage(), file->silence()};
  }

  SoundPiece next(std::span<float> to, bool may_wait) {
    auto taken = pipe->take(to, std::chrono::milliseconds(may_wait ? 100 : 0));
    if (!taken) {
      error = std::move(taken).error();
      return {0, false, true};
    }
    samples += taken->count;
    return {taken->count, taken->ended, false};
  }

  static lapilli_status read(void* user, uint64_t first, float* to, uint64_t room, uint64_t* got) {
    auto& own = *static_cast<Heard*>(user);
    auto read = own.file->read(first, {to, static_cast<size_t>(room)});
    if (!read) {
      own.error = std::move(read).error();
      return static_cast<lapilli_status>(own.error.error().code);
    }
    *got = *read;
    return LAPILLI_OK;
  }
  lapilli_sample_source source() {
    lapilli_sample_source source = lapilli_default_sample_source();
    source.user = this;
    source.count = samples;
    source.read = &Heard::read;
    return source;
  }
};

class Transcription {
 public:
  Transcription(const TranscribeArguments& arguments, const Context& context)
      : arguments_(arguments), context_(context), bar_(!context.quiet && is_terminal(2)) {}

  int run() {
    if (const int code = prepare()) return code;
    catch_interrupts();  // while it loads, an interruption ends the program at once
    int code = exit_ok;
    for (size_t i = 0; i < arguments_.inputs.size() && interrupted() == 0; ++i) {
      const int ended = run_one(i);
      // A recording that cannot be read says nothing of the others.
      if (ended != exit_ok && (ended != exit_input || arguments_.inputs.size() == 1)) return finish(ended);
      if (ended != exit_ok) code = ended;
    }
    return finish(code);
  }

 private:
  // All that can be wrong with the arguments is said before the model is loaded.
  int prepare() {
    if (!arguments_.raw.empty()) {
      const auto raw = recordings::parse_raw_format(arguments_.raw);
      if (!raw) return complain(exit_usage, "--raw: " + raw.error().message);
      raw_ = *raw;
    }
    for (const std::string& name : arguments_.inputs)
      if (const int code = check_input(name)) return code;
    if (const int code = name_targets()) return code;
    if (const std::string wrong = obstacle_to_drawing(arguments_.attention); !wrong.empty())
      return complain(exit_usage, wrong);
    auto request = arguments_.model;
    if (const int code = find_model_with({"hears nothing", "hears", "openai/whisper-tiny"}, request.model)) return code;
    request.cache = kept_folder(arguments_.no_cache);
    Trouble opened = model_.open(request);
    if (opened.status == LAPILLI_OK) opened = model_.check(arguments_.how);
    return opened.status == LAPILLI_OK ? int{exit_ok} : complain(exit_code(opened.status), opened.message);
  }

  int check_input(const std::string& name) const {
    if (arguments_.live && (!is_pipe(name) || arguments_.inputs.size() > 1))
      return complain(exit_usage, "--live is for one recording that comes through a pipe, and " + name + " is " +
                                      (is_pipe(name) ? "not alone" : "none"));
    if (arguments_.how.batch > 0 && is_pipe(name))
      return complain(exit_usage, "--batch cuts files where they are quiet, and " + name + " is a pipe");
    return exit_ok;
  }

  int name_targets() {
    const std::string& out = arguments_.output;
    const bool many = arguments_.inputs.size() > 1;
    const bool subtitles = arguments_.style.format == SpeechFormat::srt || arguments_.style.format == SpeechFormat::vtt;
    if (out.empty() && many && subtitles)
      return complain(exit_usage, "subtitles of several recordings need a folder: -o FOLDER/");
    if (out.empty()) return exit_ok;
    const bool folder = names_folder(out) || directory_exists(out);
    if (many && !folder)
      return complain(exit_usage, out + " is one file, for several recordings; name a folder: -o " + out + "/");
    for (const std::string& name : arguments_.inputs) {
      const std::string own = std::string(name == "-" ? "recording" : last_part(name));
      const std::string stem = own.substr(0, own.size() - extension(own).size());
      targets_.push_back(
          std::make_unique<TargetFile>(folder ? path_in(out, stem + ending_of(arguments_.style.format)) : out));
      const std::string missing = folder ? "" : missing_folder(out);
      if (!missing.empty()) return complain(exit_usage, missing);
      const std::string obstacle = targets_.back()->obstacle(arguments_.force, false, arguments_.inputs);
      if (!obstacle.empty()) return complain(exit_usage, obstacle);
      for (size_t i = 0; i + 1 < targets_.size(); ++i)
        if (targets_[i]->name() == targets_.back()->name())
          return complain(exit_usage, "two recordings would be written to " + targets_[i]->name());
    }
    return exit_ok;
  }

  recordings::Opener opener(const std::string& name) const {
    if (!arguments_.raw.empty()) return [raw = raw_, name] { return recordings::open_raw(name, raw); };
    return [name, rate = model_.rate()] { return recordings::open_recording(name, {.rate = rate}); };
  }

  Result<Heard> listen(const std::string& name) {
    Heard heard;
    if (is_pipe(name)) {
      LAPILLI_TRY(heard.pipe, recordings::SamplePipe::open(opener(name), name, model_.rate()));
      return heard;
    }
    LAPILLI_TRY(heard.file, recordings::Recording::open(opener(name), name, model_.rate()));
    LAPILLI_TRY(heard.samples, heard.file->count([&] { return show_reading("measuring the file", *heard.file, 0); }));
    if (heard.samples == 0) return no_sound(name);
    return heard;
  }

  static Error no_sound(const std::string& name) {
    return fail(ErrorCode::invalid_data, "%s: there is no sound in it", name.c_str());
  }

  int run_one(size_t index) {
    const std::string& name = arguments_.inputs[index];
    auto heard = listen(name);
    if (!heard) return interrupted() ? int{exit_ok} : complain(sound_exit_code(heard.error()), heard.error().message);
    if (targets_.empty()) return write_all(*heard, name, output_);
    TargetFile& target = *targets_[index];
    int code = target.begin();
    if (code == exit_ok) code = write_all(*heard, name, target);
    if (code == exit_ok && interrupted() == 0) return target.finish();
    if (target.stop()) say("what there is of it is in " + part_of(target.name()));
    return code;
  }

  // A file's note is known before, a pipe's behind its end.
  int write_all(Heard& heard, const std::string& name, Sink& sink) {
    SpeechStyle style = arguments_.style;
    style.named = targets_.empty() && arguments_.inputs.size() > 1;
    SubtitleLines lines(style, name);
    if (heard.file) say_all(heard.notes());
    int written = style.named && has_head_ ? int{exit_ok} : sink.write(lines.head());
    has_head_ = true;
    bar_.begin();
    auto how = arguments_.how;
    const lapilli_sample_source source = heard.source();
    if (heard.pipe)
      how.next = [&](std::span<float> to, bool may_wait) { return heard.next(to, may_wait); };
    else
      how.sound = &source;
    how.on_segment = [&](const SpokenLine& s, const std::string& picture) {
      bar_.clear();
      if (written == exit_ok) written = sink.write(lines.line(s, seconds_of(heard.samples)));
      if (written == exit_ok && !picture.empty()) written = write_drawing(arguments_.attention, ++pictures_, picture);
      return written == exit_ok;
    };
    how.pictures = drawing_format(arguments_.attention);
    if (arguments_.live)
      how.on_draft = [&](const std::vector<SpokenLine>& draft) {
        if (written == exit_ok) written = show_draft(draft, lines, sink);
        return written == exit_ok;
      };
    how.progress = [&](double done) {
      if (!arguments_.live) show(done, heard);
      return interrupted() == 0;
    };
    how.on_note = [&](const std::string& note) { say(name + ": " + note); };
    const Trouble said = model_.hear(how);
    bar_.clear();
    seconds_ += seconds_of(heard.samples);
    if (heard.pipe) say_all(heard.notes());
    if (written != exit_ok) return written;
    if (interrupted() != 0) return exit_ok;
    if (!heard.error) return complain(sound_exit_code(heard.error.error()), heard.error.error().message);
    if (said.status != LAPILLI_OK) return complain(exit_code(said.status), name + ": " + said.message);
    return heard.samples > 0 ? int{exit_ok} : complain(exit_input, no_sound(name).message);
  }

  // JSON says that it may change; elsewhere it is shown while there is nothing later.
  int show_draft(const std::vector<SpokenLine>& draft, SubtitleLines& lines, Sink& sink) {
    std::string text, objects;
    for (SpokenLine line : draft) {
      line.settled = false;
      text += (text.empty() ? "" : " ") + lines.text_of(line);
      if (arguments_.style.format == SpeechFormat::json) objects += lines.line(line);
    }
    bar_.show_text("~ ", text);  // what follows the mark may change
    return sink.write(objects);
  }

  [[nodiscard]] double seconds_of(uint64_t samples) const { return static_cast<double>(samples) / model_.rate(); }

  // A file before its first window: it is read from first to last, and not once only. False: it was interrupted.
  bool show_reading(const char* what, const recordings::Recording& file, uint64_t samples) {
    char text[96];
    const int used = std::snprintf(text, sizeof text, "%s: %.0f", what, seconds_of(file.position()));
    std::snprintf(text + used, sizeof text - static_cast<size_t>(used),
                  samples > 0 ? " of %.0f s of sound" : " s of sound", seconds_of(samples));
    bar_.show_text("", text);
    return interrupted() == 0;
  }

  void show(double done, const Heard& heard) {
    const double all = seconds_of(heard.samples);
    if (done <= 0) {
      if (heard.file) show_reading("reading the file", *heard.file, heard.samples);
      return;
    }
    char text[64];
    std::snprintf(text, sizeof text, heard.pipe ? "%.0f s of sound" : "%.0f of %.0f s of sound", std::min(done, all),
                  all);
    if (heard.pipe)
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
    if (arguments_.stats) {
      const double took = seconds_since(start_);
      std::fprintf(stderr,
                   "sound      %10.1f s in %zu recordings\ntotal      %10.1f s with loading, %.2f of the sound's\n",
                   seconds_, arguments_.inputs.size(), took, seconds_ > 0 ? took / seconds_ : 0);
    }
    return interrupted() != 0 ? 128 + interrupted() : code;
  }

  const TranscribeArguments& arguments_;
  const Context& context_;
  ProgressBar bar_;
  recordings::RawFormat raw_;
  std::vector<std::unique_ptr<TargetFile>> targets_;  // of each input; none where standard output takes all
  StandardOutput output_;
  HearingModel model_;
  double seconds_ = 0;
  size_t pictures_ = 0;    // that were written
  bool has_head_ = false;  // standard output, of the first recording
  Clock::time_point start_ = Clock::now();
};

}  // namespace

int run_transcription(const TranscribeArguments& arguments, const Context& context) {
  return Transcription(arguments, context).run();
}

}  // namespace lapilli::cli
