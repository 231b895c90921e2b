// lapilli translate, summarize, generate: what is given, line by line or file by file, through the model.
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/attention_output.hpp"
#include "cli/blanks.hpp"
#include "cli/commands.hpp"
#include "cli/line_reader.hpp"
#include "cli/mistyped_names.hpp"
#include "cli/model_names.hpp"
#include "cli/notes.hpp"
#include "cli/output.hpp"
#include "cli/progress_bar.hpp"
#include "cli/text_arguments.hpp"
#include "cli/text_json.hpp"
#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

namespace {

// Lines that are sorted by length together. More make fuller batches, but an interruption may lose them.
constexpr uint32_t kBatchesPerWindow = 2;

// Where lines come from, and what to call it in messages.
struct Source {
  std::string name;  // "" for an argument, "-" for standard input
  std::string text;  // of an argument
};

// Ids between blanks; false if there is anything else.
bool parse_ids(const std::string& text, Ids& ids) {
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    while (at < end && (*at == ' ' || *at == '\t')) ++at;
    if (at == end) return true;
    int32_t id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc() || (next < end && *next != ' ' && *next != '\t')) return false;
    ids.push_back(id);
    at = next;
  }
}

std::string ids_text(const Ids& ids) {
  std::string text;
  for (int32_t id : ids) text += (text.empty() ? "" : " ") + std::to_string(id);
  return text;
}

// One text in, one line out, whatever the model says.
std::string in_one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

// What became of one line: nothing to do, an error, or an output of the model.
struct LineResult {
  std::string error;
  lapilli_status status = LAPILLI_OK;
  const Output* output = nullptr;
  std::vector<std::string> alignments;  // of each sequence, as it is printed behind it
};

class Translator {
 public:
  Translator(const TextCommand& about, const TextArguments& arguments, const Context& context)
      : about_(about), arguments_(arguments), context_(context), attention_(arguments.attention) {}

  int run() {
    std::vector<Source> sources;
    if (int code = find_sources(sources)) return code;
    if (int code = load()) return code;
    catch_interrupts();  // while it loads, an interruption ends the program at once
    for (const Source& source : sources) {
      if (int code = source.name.empty() ? translate_argument(source.text) : translate_file(source.name)) return code;
      if (interrupted()) break;
    }
    if (arguments_.stats) print_stats();
    if (interrupted()) return 128 + interrupted();
    return failed_lines_ > 0 ? exit_some_failed : exit_ok;
  }

 private:
  // Says what arguments are before anything is loaded, so that a file that is not there costs nothing.
  int find_sources(std::vector<Source>& sources) {
    std::string wrong = contradiction(arguments_);
    if (wrong.empty()) wrong = attention_.check(arguments_.ids);
    if (!wrong.empty()) return complain(exit_usage, wrong);
    if (const int error = read_options(arguments_, options_text_))
      return complain(exit_input, arguments_.options.substr(1) + ": " + std::strerror(error));
    for (const std::string& input : arguments_.inputs) {
      if (input == "-" && !arguments_.force_text) {
        sources.push_back({"-", ""});
      } else if (arguments_.force_file || (!arguments_.force_text && is_readable_file(input))) {
        if (const int error = check_input(input)) return complain(exit_input, input + ": " + std::strerror(error));
        sources.push_back({input, ""});
      } else {
        if (!arguments_.force_text) wrong = why_no_text(input);
        if (!wrong.empty()) return complain(exit_usage, wrong);
        sources.push_back({"", input});
      }
    }
    if (sources.empty()) sources.push_back({"-", ""});
    return exit_ok;
  }

  int load() {
    std::string directory = arguments_.model;
    if (const int code = find_model(directory)) return code;
    DeviceOptions device;
    device.select = arguments_.device;
    device.caps = arguments_.caps;
    device.validation = arguments_.validation;
    ModelOptions limits;
    limits.memory_limit = arguments_.memory_limit << 20;
    auto model = Model::load(directory, device, limits);
    if (!model) return complain(exit_code(model.error().status()), model.error().message());
    model_.emplace(std::move(*model));
    if (context_.verbose) {
      const auto info = model_->info();
      std::fprintf(stderr, "lapilli: %s, %s, %.1f million parameters, on %s, loaded in %.0f ms\n", info.directory,
                   info.family, static_cast<double>(info.parameters) / 1e6, info.device, info.load_ms);
    }
    notes_about_.positions = model_->info().max_target_tokens;
    notes_about_.attention_file = !arguments_.attention.file.empty();
    if (arguments_.beam > 0) options_.num_beams = arguments_.beam;
    if (arguments_.max_length > 0) options_.max_length = arguments_.max_length;
    if (arguments_.nbest > 1) options_.num_return_sequences = arguments_.nbest;
    options_.batch = arguments_.batch;
    options_.deterministic = arguments_.deterministic;
    options_.json = options_json(arguments_, options_text_);
    options_.task = about_.task;
    options_.source_language = arguments_.from;
    options_.target_language = arguments_.to;
    if (arguments_.split || arguments_.no_split) options_.split_sentences = arguments_.split;
    return exit_ok;
  }

  [[nodiscard]] bool by_lines() const { return !about_.whole_files || arguments_.lines || arguments_.ids; }

  int translate_argument(const std::string& text) {
    std::vector<Line> lines(1);
    size_t start = 0;
    do {  // an argument may hold several lines
      const size_t end = by_lines() ? std::min(text.find('\n', start), text.size()) : text.size();
      lines.back().text = text.substr(start, end - start);
      if (by_lines() && !lines.back().text.empty() && lines.back().text.back() == '\r') lines.back().text.pop_back();
      lines.back().number = lines.size();
      lines.back().too_long = lines.back().text.size() > kMaxLineBytes;
      start = end + 1;
      if (start < text.size()) lines.emplace_back();
    } while (start < text.size());
    // To whoever reads messages the lines of all arguments are one text.
    shown_before_ = argument_lines_;
    const int code = translate_lines(lines, "", [](uint64_t) {});
    shown_before_ = 0;
    argument_lines_ += lines.size();
    lines_before_ += lines.size();
    return code;
  }

  int translate_file(const std::string& name) {
    const bool standard_input = name == "-";
    LineReader reader(standard_input ? InputFile::standard_input() : InputFile::open(name));
    if (!reader.file().ok()) {
      if (interrupted()) return exit_ok;  // while nobody wrote to a pipe
      return complain(exit_input, name + ": " + std::strerror(errno));
    }
    if (standard_input && !context_.quiet && is_terminal(0) && is_terminal(2)) {
      std::fprintf(
          stderr,
          by_lines() ? "lapilli: type lines to %s; Ctrl-D ends\n" : "lapilli: type a text to %s; Ctrl-D ends it\n",
          about_.name[0] == 'g' ? "go on from" : about_.name);
    }
    const uint64_t size = reader.file().size();
    // Lines that appear on the same terminal show well enough how far it is.
    ProgressBar bar(size > 0 && !context_.quiet && is_terminal(2) && !is_terminal(1));
    bar_ = &bar;
    uint64_t bytes = 0, done_lines = 0;
    int code = exit_ok;
    bool more = true;
    while (code == exit_ok && more && !interrupted()) {
      std::vector<Line> lines;
      if (by_lines()) {
        lines = reader.read(size_t{arguments_.batch} * kBatchesPerWindow);
      } else {
        lines.push_back(whole(reader));
        // Half a text is another one.
        if (reader.error() != 0 || interrupted() || !reader.refusal().empty()) break;
      }
      if (lines.empty()) break;
      more = by_lines();
      uint64_t window_bytes = 0;
      for (const Line& line : lines) window_bytes += line.bytes;
      code = translate_lines(lines, standard_input ? "" : name, [&](uint64_t done) {
        const double part = static_cast<double>(done) / static_cast<double>(lines.size());
        bar.show((static_cast<double>(bytes) + part * static_cast<double>(window_bytes)) / static_cast<double>(size),
                 done_lines + done);
      });
      bytes += window_bytes;
      done_lines += lines.size();
    }
    bar.clear();
    bar_ = nullptr;
    lines_before_ += done_lines;
    if (code != exit_ok || (reader.error() == 0 && reader.refusal().empty())) return code;
    const std::string why = reader.error() != 0 ? std::strerror(reader.error()) : std::string(reader.refusal());
    return complain(exit_input, (standard_input ? "standard input" : name) + ": " + why);
  }

  // Everything that is left, as one line.
  static Line whole(LineReader& reader) {
    Line text;
    text.number = 1;
    while (true) {
      const std::vector<Line> lines = reader.read(256);
      if (lines.empty()) return text;
      for (const Line& line : lines) {
        text.bytes += line.bytes;
        text.too_long = text.too_long || line.too_long || text.text.size() + line.text.size() >= kMaxLineBytes;
        if (text.too_long) continue;
        if (line.number > 1) text.text += '\n';
        text.text += line.text;
      }
    }
  }

  // One at a time where text is printed as it comes.
  template <class Progress>
  int translate_lines(const std::vector<Line>& lines, const std::string& file, Progress&& progress) {
    if (!arguments_.stream) return translate_together(lines, file, progress);
    int code = exit_ok;
    for (size_t i = 0; i < lines.size() && code == exit_ok && !interrupted(); ++i)
      code = translate_together({lines[i]}, file, [&](uint64_t) { progress(i); });
    return code;
  }

  template <class Progress>
  int translate_together(const std::vector<Line>& lines, const std::string& file, Progress&& progress) {
    std::string streamed;
    int printed = exit_ok;
    if (arguments_.stream) {
      options_.stream = [&](size_t, std::string_view text, const Ids&) {
        streamed += text;
        printed = print(in_one_line(std::string(text)));
        return printed == exit_ok;
      };
    }
    std::vector<LineResult> results(lines.size());
    std::vector<size_t> owners;  // of each input of the model
    std::vector<std::string> texts;
    std::vector<Ids> ids;
    options_.input_numbers.clear();
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].too_long) {
        results[i].status = LAPILLI_INVALID_ARGUMENT;
        results[i].error = "the line is longer than " + std::to_string(kMaxLineBytes) + " bytes";
        continue;
      }
      if (is_blank(lines[i].text)) continue;
      if (arguments_.ids) {
        Ids parsed;
        if (!parse_ids(lines[i].text, parsed)) {
          results[i].status = LAPILLI_INVALID_ARGUMENT;
          results[i].error = "not a list of token ids (whole numbers with blanks between)";
          continue;
        }
        ids.push_back(std::move(parsed));
      } else {
        texts.push_back(lines[i].text);
      }
      owners.push_back(i);
      // So what is drawn for a line is a matter of its place alone, whatever is run together.
      options_.input_numbers.push_back(lines_before_ + lines[i].number - 1);
    }
    const uint64_t others = lines.size() - owners.size();
    options_.progress = [&](uint64_t done, uint64_t) {
      progress(others + done);
      return interrupted() == 0;
    };
    if (owners.empty()) return write(lines, file, results);
    auto made = arguments_.ids ? model_->generate(ids, options_) : model_->translate(texts, options_);
    options_.progress = {};
    options_.stream = {};
    if (printed != exit_ok) return printed;
    if (!made) {
      if (bar_) bar_->clear();
      if (!streamed.empty()) (void)print("\n");  // the line that was begun
      return complain(exit_code(made.error().status()), named_as_typed(arguments_, made.error().message()));
    }
    add_stats(made->stats());
    std::optional<Error> fatal;
    for (size_t i = 0; i < owners.size(); ++i) {
      LineResult& result = results[owners[i]];
      result.output = &(*made)[i];
      if (!result.output->ok()) {
        result.status = result.output->error->status();
        result.error = named_as_typed(arguments_, result.output->error->message());
      } else if (fatal || interrupted()) {
        if (arguments_.attention.wanted()) result.status = LAPILLI_CANCELLED;
      } else {
        attend(*made, i, lines[owners[i]].text, result, fatal);
      }
    }
    const int written = write(lines, file, results, streamed);
    if (!fatal || written != exit_ok) return written;
    const lapilli_status status = fatal->status();
    return complain(status == LAPILLI_NOT_FOUND ? exit_output : exit_code(status), fatal->message());
  }

  // What was asked for of attention and alignment. An error of the line is its own; one that all others would have,
  // too, is `fatal`, and from this line on none is finished.
  void attend(const Results& results, size_t input, const std::string& source, LineResult& result,
              std::optional<Error>& fatal) {
    if (!arguments_.attention.wanted()) return;
    if (bar_) bar_->clear();
    auto seen = attention_.attend(*model_, results, input, source, arguments_.json);
    result.alignments = std::move(seen.alignments);
    if (!seen.error) return;
    result.status = seen.of_all ? LAPILLI_CANCELLED : seen.error->status();
    result.error = seen.error->message();
    if (seen.of_all) fatal = std::move(seen.error);
  }

  // `streamed`: what was printed of the (then only) line already.
  int write(const std::vector<Line>& lines, const std::string& file, const std::vector<LineResult>& results,
            const std::string& streamed = "") {
    std::string out;
    for (size_t i = 0; i < lines.size(); ++i) {
      // After an interruption the lines up to the first unfinished one are written, so that they stay aligned.
      if (results[i].status == LAPILLI_CANCELLED) {
        if (!streamed.empty()) out += '\n';
        break;
      }
      std::string text = arguments_.json ? line_json(lines[i], results[i]) : line_text(results[i]);
      if (text.compare(0, streamed.size(), in_one_line(streamed)) == 0) text.erase(0, streamed.size());
      out += text + '\n';
      if (results[i].status == LAPILLI_OK) {
        note(results[i], file, lines[i].number);
        continue;
      }
      ++failed_lines_;
      say("", file, lines[i].number, results[i].error);
    }
    if (bar_ && is_terminal(1)) bar_->clear();
    return print(out);
  }

  // A message about a line.
  void say(const char* kind, const std::string& file, uint64_t line, const std::string& message) {
    if (bar_) bar_->clear();
    std::fprintf(stderr, "lapilli: %s%s%s%llu: %s\n", kind, file.c_str(), file.empty() ? "line " : ":",
                 static_cast<unsigned long long>(shown_before_ + line), message.c_str());
  }

  void note(const LineResult& result, const std::string& file, uint64_t line) {
    if (context_.quiet || !result.output) return;
    for (const std::string& text : notes_of(result.output->sequences.front(), notes_about_))
      say("note: ", file, line, text);
  }

  [[nodiscard]] std::string line_text(const LineResult& result) const {
    if (result.status != LAPILLI_OK || !result.output) return "";
    const std::string text = arguments_.ids ? ids_text(result.output->sequences.front().ids) : result.output->text();
    return in_one_line(text) + (result.alignments.empty() ? "" : result.alignments.front());
  }

  [[nodiscard]] std::string line_json(const Line& line, const LineResult& result) const {
    std::string out = "{\"line\":" + std::to_string(shown_before_ + line.number) + ",";
    if (result.status != LAPILLI_OK) {
      return out + "\"error\":{\"code\":" + json_string(lapilli_status_name(result.status)) +
             ",\"message\":" + json_string(result.error) + "}}";
    }
    if (!result.output) return out + "\"text\":\"\",\"score\":0,\"ids\":[],\"finish\":\"kept\"}";
    const auto& sequences = result.output->sequences;
    const auto sequence = [&](size_t i) {
      return sequence_json(sequences[i], arguments_.scores) +
             (i < result.alignments.size() ? result.alignments[i] : "") + "}";
    };
    if (arguments_.nbest == 1 && sequences.size() == 1) return out + sequence(0);
    out += "\"sequences\":[";
    for (size_t i = 0; i < sequences.size(); ++i) out += (i == 0 ? "{" : ",{") + sequence(i);
    return out + "]}";
  }

  void add_stats(const lapilli_stats& stats) {
    lapilli_stats sum = stats;
    sum.batches += stats_.batches;
    sum.encode_ms += stats_.encode_ms;
    sum.decode_ms += stats_.decode_ms;
    sum.total_ms += stats_.total_ms;
    sum.source_tokens += stats_.source_tokens;
    sum.generated_tokens += stats_.generated_tokens;
    sum.decoder_steps += stats_.decoder_steps;
    sum.submissions += stats_.submissions;
    stats_ = sum;
  }

  // Milliseconds and mebibytes.
  void print_stats() {
    if (stats_.load_ms == 0) stats_.load_ms = model_->info().load_ms;
    const lapilli_stats& s = stats_;
    const double per_token = s.generated_tokens ? s.decode_ms / static_cast<double>(s.generated_tokens) : 0;
    const double per_step = s.decoder_steps ? s.decode_ms / static_cast<double>(s.decoder_steps) : 0;
    auto n = [](uint64_t value) { return static_cast<unsigned long long>(value); };
    if (arguments_.json) {
      std::fprintf(stderr,
                   "{\"load_ms\":%.3f,\"encode_ms\":%.3f,\"decode_ms\":%.3f,\"total_ms\":%.3f,\"ms_per_token\":%.4f,"
                   "\"ms_per_step\":%.4f,\"batches\":%u,\"source_tokens\":%llu,\"generated_tokens\":%llu,"
                   "\"decoder_steps\":%llu,\"submissions\":%llu,\"pipelines\":%llu,\"device_bytes_peak\":%llu,"
                   "\"host_bytes_peak\":%llu}\n",
                   s.load_ms, s.encode_ms, s.decode_ms, s.total_ms, per_token, per_step, s.batches, n(s.source_tokens),
                   n(s.generated_tokens), n(s.decoder_steps), n(s.submissions), n(s.pipelines), n(s.device_bytes_peak),
                   n(s.host_bytes_peak));
      return;
    }
    constexpr double kMiB = 1 << 20;
    std::fprintf(stderr,
                 "load       %10.1f ms\n"
                 "encode     %10.1f ms for %llu source tokens in %u batches\n"
                 "decode     %10.1f ms for %llu tokens in %llu steps and %llu submissions\n"
                 "per token  %10.3f ms, per step %.3f ms\n"
                 "other      %10.1f ms: plans, pipelines, tokenizer\n"
                 "total      %10.1f ms without loading\n"
                 "pipelines  %10llu made\n"
                 "memory     %10.1f MiB of the device at most, %.1f MiB of the program\n",
                 s.load_ms, s.encode_ms, n(s.source_tokens), s.batches, s.decode_ms, n(s.generated_tokens),
                 n(s.decoder_steps), n(s.submissions), per_token, per_step, s.total_ms - s.encode_ms - s.decode_ms,
                 s.total_ms, n(s.pipelines), static_cast<double>(s.device_bytes_peak) / kMiB,
                 static_cast<double>(s.host_bytes_peak) / kMiB);
  }

  static int complain(int code, const std::string& message) {
    std::fprintf(stderr, "lapilli: %s\n", message.c_str());
    return code;
  }

  const TextCommand& about_;
  const TextArguments& arguments_;
  const Context& context_;
  std::optional<Model> model_;
  std::string options_text_;  // what --options gives
  Options options_;
  AttentionOutput attention_;
  ProgressBar* bar_ = nullptr;
  NotesAbout notes_about_;
  lapilli_stats stats_{};
  uint64_t failed_lines_ = 0;
  uint64_t lines_before_ = 0;    // of the sources that are done
  uint64_t argument_lines_ = 0;  // of the arguments among them
  uint64_t shown_before_ = 0;    // what messages add to the numbers of this source's lines
};

}  // namespace

int run_texts(const TextCommand& about, const TextArguments& arguments, const Context& context) {
  return Translator(about, arguments, context).run();
}

}  // namespace lapilli::cli
