// lapilli translate, summarize, generate: what is given, line by line or file by file, through the model.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/commands.hpp"
#include "cli/line_output.hpp"
#include "cli/line_reader.hpp"
#include "cli/model_names.hpp"
#include "cli/notes.hpp"
#include "cli/output.hpp"
#include "cli/progress_bar.hpp"
#include "cli/text_arguments.hpp"
#include "cli/text_model.hpp"
#include "cli/text_sources.hpp"

namespace lapilli::cli {

namespace {

// Lines that are sorted by length together. More make fuller batches, but an interruption may lose them.
constexpr uint32_t kBatchesPerWindow = 2;

class TextRun {
 public:
  TextRun(const TextCommand& about, const TextArguments& arguments, const Context& context)
      : about_(about), arguments_(arguments), context_(context), model_(about, arguments) {}

  int run() {
    std::vector<Source> sources;
    if (int code = prepare(sources)) return code;
    catch_interrupts();  // while it loads, an interruption ends the program at once
    for (const Source& source : sources) {
      if (int code = source.name.empty() ? translate_argument(source.text) : translate_file(source)) return code;
      if (interrupted()) break;
    }
    if (arguments_.stats) model_.statistics().print(model_.model().info().load_ms, arguments_.json);
    if (interrupted()) return 128 + interrupted();
    return failed_lines_ > 0 ? exit_some_failed : exit_ok;
  }

 private:
  // All that can be wrong with the arguments is said before the model is loaded.
  int prepare(std::vector<Source>& sources) {
    std::string wrong = contradiction(arguments_);
    if (wrong.empty()) wrong = model_.check();
    if (!wrong.empty()) return complain(exit_usage, wrong);
    std::string options;
    if (const int error = read_options(arguments_, options))
      return complain(exit_input, arguments_.options.substr(1) + ": " + std::strerror(error));
    if (const int code = find_sources(arguments_, sources)) return code;
    std::string directory = arguments_.model;
    if (const int code = find_model(directory)) return code;
    if (const auto error = model_.load(directory, options)) return complain(exit_code(error->status()), error->message());
    if (context_.verbose) {
      const auto info = model_.model().info();
      std::fprintf(stderr, "lapilli: %s, %s, %.1f million parameters, on %s, loaded in %.0f ms\n", info.directory,
                   info.family, static_cast<double>(info.parameters) / 1e6, info.device, info.load_ms);
    }
    return exit_ok;
  }

  [[nodiscard]] bool by_lines() const { return !about_.whole_files || arguments_.lines || arguments_.ids; }

  int translate_argument(const std::string& text) {
    const auto lines = lines_of_argument(text, by_lines());
    // To whoever reads messages the lines of all arguments are one text.
    shown_before_ = argument_lines_;
    const int code = translate_lines(lines, "", [](double) {});
    shown_before_ = 0;
    argument_lines_ += lines.size();
    lines_before_ += lines.size();
    return code;
  }

  int translate_file(const Source& source) {
    LineReader reader(source.standard_input() ? InputFile::standard_input() : InputFile::open(source.name));
    if (!reader.file().ok()) {
      if (interrupted()) return exit_ok;  // while nobody wrote to a pipe
      return complain(exit_input, source.name + ": " + std::strerror(errno));
    }
    if (source.standard_input()) ask_for_lines();
    // Lines that appear on the same terminal show well enough how far it is.
    ProgressBar bar(reader.file().size() > 0 && !context_.quiet && is_terminal(2) && !is_terminal(1));
    bar_ = &bar;
    const int code = translate_windows(reader, source.standard_input() ? "" : source.name);
    bar.clear();
    bar_ = nullptr;
    if (code != exit_ok || (reader.error() == 0 && reader.refusal().empty())) return code;
    const std::string why = reader.error() != 0 ? std::strerror(reader.error()) : std::string(reader.refusal());
    return complain(exit_input, (source.standard_input() ? "standard input" : source.name) + ": " + why);
  }

  // Who sits at a terminal learns what the program waits for.
  void ask_for_lines() const {
    if (context_.quiet || !is_terminal(0) || !is_terminal(2)) return;
    std::fprintf(
        stderr,
        by_lines() ? "lapilli: type lines to %s; Ctrl-D ends\n" : "lapilli: type a text to %s; Ctrl-D ends it\n",
        about_.name[0] == 'g' ? "go on from" : about_.name);
  }

  int translate_windows(LineReader& reader, const std::string& name) {
    const auto size = static_cast<double>(reader.file().size());
    uint64_t bytes = 0, done_lines = 0;
    int code = exit_ok;
    while (code == exit_ok && !interrupted()) {
      const std::vector<Line> lines = next_window(reader);
      if (lines.empty()) break;
      uint64_t window_bytes = 0;
      for (const Line& line : lines) window_bytes += line.bytes;
      code = translate_lines(lines, name, [&](double share) {
        const auto count = static_cast<double>(lines.size());
        bar_->show((static_cast<double>(bytes) + share * static_cast<double>(window_bytes)) / size,
                   done_lines + static_cast<uint64_t>(share * count));
      });
      bytes += window_bytes;
      done_lines += lines.size();
      if (!by_lines()) break;
    }
    lines_before_ += done_lines;
    return code;
  }

  [[nodiscard]] std::vector<Line> next_window(LineReader& reader) const {
    if (by_lines()) return reader.read(size_t{arguments_.batch} * kBatchesPerWindow);
    Line text = whole_text(reader);
    // Half a text is another one.
    if (reader.error() != 0 || interrupted() || !reader.refusal().empty()) return {};
    return {std::move(text)};
  }

  // One at a time where text is printed as it comes. `progress` takes the share that is done.
  template <class Progress>
  int translate_lines(const std::vector<Line>& lines, const std::string& file, Progress&& progress) {
    if (!arguments_.stream) return translate_together(lines, file, progress);
    int code = exit_ok;
    for (size_t i = 0; i < lines.size() && code == exit_ok && !interrupted(); ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(lines.size());
      code = translate_together({lines[i]}, file, [&](double) { progress(share); });
    }
    return code;
  }

  template <class Progress>
  int translate_together(const std::vector<Line>& lines, const std::string& file, Progress&& progress) {
    std::string streamed;
    int printed = exit_ok;
    TextModel::Callbacks callbacks;
    callbacks.progress = [&](uint64_t done, uint64_t all) {
      progress(static_cast<double>(done) / static_cast<double>(all));
    };
    callbacks.stream = [&](std::string_view text) {
      streamed += text;
      printed = print(in_one_line(std::string(text)));
      return printed == exit_ok;
    };
    callbacks.before_files = [this] { clear_bar(); };
    const LineResults results = model_.run(lines, lines_before_, callbacks);
    if (printed != exit_ok) return printed;
    const int written = write(lines, file, results.lines, streamed);
    if (!results.fatal || written != exit_ok) return written;
    clear_bar();
    return complain(results.fatal_code, results.fatal->message());
  }

  void clear_bar() {
    if (bar_) bar_->clear();
  }

  // `streamed`: what was printed of the (then only) line already.
  int write(const std::vector<Line>& lines, const std::string& file, const std::vector<LineResult>& results,
            const std::string& streamed) {
    std::string out;
    for (size_t i = 0; i < lines.size(); ++i) {
      // After an interruption the lines up to the first unfinished one are written, so that they stay aligned.
      if (results[i].status == LAPILLI_CANCELLED) {
        if (!streamed.empty()) out += '\n';
        break;
      }
      std::string text = line_output(results[i], shown_before_ + lines[i].number, arguments_);
      if (text.compare(0, streamed.size(), in_one_line(streamed)) == 0) text.erase(0, streamed.size());
      out += text + '\n';
      if (results[i].status == LAPILLI_OK) {
        note(results[i], file, lines[i].number);
      } else {
        ++failed_lines_;
        say("", file, lines[i].number, results[i].error);
      }
    }
    if (is_terminal(1)) clear_bar();
    return print(out);
  }

  // A message about a line.
  void say(const char* kind, const std::string& file, uint64_t line, const std::string& message) {
    clear_bar();
    std::fprintf(stderr, "lapilli: %s%s%s%llu: %s\n", kind, file.c_str(), file.empty() ? "line " : ":",
                 static_cast<unsigned long long>(shown_before_ + line), message.c_str());
  }

  void note(const LineResult& result, const std::string& file, uint64_t line) {
    if (context_.quiet || !result.output) return;
    const NotesAbout about{model_.model().info().max_target_tokens, !arguments_.attention.file.empty()};
    for (const std::string& text : notes_of(result.output->sequences.front(), about)) say("note: ", file, line, text);
  }

  const TextCommand& about_;
  const TextArguments& arguments_;
  const Context& context_;
  TextModel model_;
  ProgressBar* bar_ = nullptr;
  uint64_t failed_lines_ = 0;
  uint64_t lines_before_ = 0;    // of the sources that are done
  uint64_t argument_lines_ = 0;  // of the arguments among them
  uint64_t shown_before_ = 0;    // what messages add to the numbers of this source's lines
};

}  // namespace

int run_texts(const TextCommand& about, const TextArguments& arguments, const Context& context) {
  return TextRun(about, arguments, context).run();
}

}  // namespace lapilli::cli
