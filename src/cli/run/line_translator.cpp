#include "cli/run/line_translator.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "cli/files/text_input.hpp"
#include "cli/files/unread_records.hpp"
#include "cli/run/line_output.hpp"
#include "cli/run/score_output.hpp"
#include "cli/shards/rows_alone.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

// A record may hold other data besides its text.
constexpr size_t kMaxRecordBytes = size_t{1} << 26;

uint64_t bytes_of(const std::vector<Line>& lines) {
  uint64_t bytes = 0;
  for (const Line& line : lines) bytes += line.bytes;
  return bytes;
}

}  // namespace

LineTranslator::LineTranslator(RunState& run, Sink& sink, const Source& source, uint64_t index)
    : run_(run),
      sink_(sink),
      source_(source),
      index_(index),
      format_(record_format(source.format, run.arguments.files)),
      shown_name_(source.standard_input() ? "" : source.name) {}

bool LineTranslator::by_lines() const { return reads_lines(run_.about, run_.arguments, source_.format); }

int LineTranslator::translate(uint64_t units) { return source_.is_text() ? argument() : file(units); }

int LineTranslator::argument() {
  const auto lines = lines_of_argument(source_.text, by_lines());
  // In messages the lines of all arguments count as one text.
  shown_before_ = run_.argument_lines;
  run_.progress.begin_source(0);
  run_.progress.begin_window(lines.size(), 0);
  const int code = window(lines);
  run_.progress.clear();
  run_.argument_lines += lines.size();
  run_.lines_before += lines.size();
  if (code == exit_ok && !refusal().empty()) return complain(exit_input, refusal());
  return code;
}

int LineTranslator::file(uint64_t units) {
  const size_t longest = source_.format == Format::lines ? kMaxLineBytes : kMaxRecordBytes;
  LineReader reader = reader_of(longest);
  if (!reader.file().ok()) {
    if (interrupted()) return exit_ok;  // before anybody wrote to a pipe
    return complain(exit_input, source_.name + ": " + std::strerror(errno));
  }
  if (source_.standard_input()) ask_for_lines();
  const int code = windows(reader, units);
  run_.progress.clear();
  if (code != exit_ok || (reader.error() == 0 && reader.refusal().empty() && refusal().empty())) return code;
  const std::string why = reader.error() != 0         ? std::strerror(reader.error())
                          : !reader.refusal().empty() ? reader.refusal()
                                                      : refusal();
  return complain(exit_input, (source_.standard_input() ? "standard input" : source_.name) + ": " + why);
}

LineReader LineTranslator::reader_of(size_t longest) {
  TextInput input(source_.standard_input() ? InputFile::standard_input() : InputFile::open(source_.name));
  uint64_t lines_before = 0;
  if (source_.piece && by_lines() && input.ok()) {
    lines_before = source_.piece->lines_before;
    input.keep(source_.piece->begin, source_.piece->end);
    if (lines_before > 0) read_head(longest);
  }
  return LineReader(std::move(input), longest, run_.arguments.is_declared_text(), lines_before);
}

// The names of columns stand in the first line, which another shard has.
void LineTranslator::read_head(size_t longest) {
  if (!format_) return;
  LineReader head(InputFile::open(source_.name), longest, run_.arguments.is_declared_text());
  for (const Line& line : head.read(1)) (void)format_->text(line);
}

// Tells a user at a terminal that the program waits for input.
void LineTranslator::ask_for_lines() const {
  if (is_terminal(0)) run_.progress.be_silent();
  if (run_.context.quiet || !is_terminal(0) || !is_terminal(2)) return;
  std::fprintf(stderr,
               by_lines() ? "lapilli: type lines to %s; Ctrl-D ends\n" : "lapilli: type a text to %s; Ctrl-D ends it\n",
               run_.about.name[0] == 'g' ? "go on from" : run_.about.name);
}

int LineTranslator::windows(LineReader& reader, uint64_t units) {
  uint64_t done = 0, bytes = 0;
  int code = exit_ok;
  while (code == exit_ok && !interrupted()) {
    const std::vector<Line> lines = next_window(reader, units - std::min(units, done));
    if (lines.empty()) break;
    if (done == 0) tell_unread(lines);
    if (done == units) run_.progress.begin_source(reader.file().size(), bytes, done);
    done += lines.size();
    bytes += bytes_of(lines);
    if (done <= units) {  // in an earlier run
      if (format_) pass_over(lines);
    } else {
      run_.progress.begin_window(lines.size(), bytes_of(lines));
      code = window(lines);
      if (!refusal().empty()) break;
      run_.progress.end_window();
      if (code == exit_ok && !interrupted()) code = keep(done);
    }
    if (!by_lines()) break;
  }
  run_.lines_before += done;
  return code;
}

// Rows are recorded as rejected before they are recorded as done.
int LineTranslator::keep(uint64_t done) {
  if (run_.rejected)
    if (const int code = run_.rejected->flush()) return code;
  const int code = sink_.keep(journal_record(run_.point(index_, done, sink_.bytes())));
  if (code == exit_ok && run_.rejected && run_.rejected->are_too_many()) return exit_some_failed;
  return code;
}

// A header and blank records give no numbers.
uint64_t LineTranslator::count_kept() {
  if (!format_ || !by_lines()) return 0;
  LineReader reader = reader_of(kMaxRecordBytes);
  uint64_t kept = 0;
  for (auto lines = reader.read(run_.window()); !lines.empty(); lines = reader.read(run_.window()))
    for (const Line& line : lines) kept += !line.too_long && format_->text(line).kept ? 1 : 0;
  return kept;
}

void LineTranslator::pass_over(const std::vector<Line>& lines) {
  for (const Line& line : lines) (void)format_->text(line);
}

// A file's name says what it is; what comes through a pipe has none.
void LineTranslator::tell_unread(const std::vector<Line>& lines) {
  const TextArguments& a = run_.arguments;
  const bool prompt = std::string_view(run_.about.task) == "generate";  // any kind of text
  if (!source_.standard_input() || source_.format != Format::lines || a.is_declared_text() || a.json || prompt) return;
  if (run_.context.quiet || is_terminal(0) || a.scoring.pairs) return;
  const std::string note = unread_records(by_lines() ? lines : lines_of_argument(lines.front().text, true));
  if (!note.empty()) run_.say("note: standard input: " + note);
}

// `skipped`: lines that an earlier run did come first. Its windows may have been others, with another number of
// devices.
std::vector<Line> LineTranslator::next_window(LineReader& reader, uint64_t skipped) const {
  const size_t window = run_.window();
  if (by_lines()) return reader.read(skipped > 0 ? static_cast<size_t>(std::min<uint64_t>(window, skipped)) : window);
  Line text = whole_text(reader);
  // An incomplete text is not translated.
  if (reader.error() != 0 || interrupted() || !reader.refusal().empty()) return {};
  return {std::move(text)};
}

// One line at a time if text is printed while it is generated.
int LineTranslator::window(const std::vector<Line>& lines) {
  if (!run_.arguments.stream) return together(lines, 0, 1);
  int code = exit_ok;
  for (size_t i = 0; i < lines.size() && code == exit_ok && !interrupted(); ++i)
    code = together({lines[i]}, i, lines.size());
  return code;
}

// The lines are part `at` of the `of` parts of their window.
int LineTranslator::together(const std::vector<Line>& lines, uint64_t at, uint64_t of) {
  std::string streamed;
  int printed = exit_ok;
  TextModel::Callbacks callbacks;
  callbacks.progress = [&](uint64_t done, uint64_t all) { run_.progress.show(at * all + done, of * all); };
  callbacks.stream = [&](std::string_view text) {
    streamed += text;
    printed = sink_.write(in_one_line(std::string(text)));
    return printed == exit_ok;
  };
  callbacks.before_files = [this] { run_.progress.clear(); };
  std::vector<std::string> errors(lines.size());
  auto texts = texts_of(lines, errors);
  if (!refusal().empty()) return exit_ok;  // the caller reports it
  auto known = run_.take_known(texts);
  LineResults results = run_.model.run(texts, run_.lines_before, callbacks);
  if (printed != exit_ok) return printed;
  run_.put_known(std::move(known), results);
  try_alone(run_, texts, results);
  restore(texts, results);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!errors[i].empty() && results.lines[i].status == Status::ok)
      results.lines[i] = {errors[i], Status::invalid_argument, nullptr, 0, {}};
  }
  const int written = write(lines, results, streamed);
  if (!results.fatal || written != exit_ok) return written;
  run_.progress.clear();
  return complain(results.fatal_code, results.fatal->message());
}

void LineTranslator::restore(const std::vector<Line>& texts, LineResults& results) const {
  for (size_t i = 0; i < texts.size(); ++i) {
    LineResult& result = results.lines[i];
    if (result.status != Status::ok || !result.output) continue;
    if (run_.kept) restore_line(texts[i].text, results, i);
    run_.remember(texts[i].text, result);
  }
}

void LineTranslator::restore_line(const std::string& source, LineResults& results, size_t line) const {
  LineResult& result = results.lines[line];
  std::vector<std::string> texts;
  bool changed = false;
  for (const Sequence& sequence : result.output->sequences) {
    const bool best = texts.empty();
    const auto links = [&] { return best ? links_of(results, line) : documents::KeptText::Links(); };
    const std::string& made = best && !result.put.empty() ? result.texts.front() : sequence.text;
    texts.push_back(run_.kept->restored(source, made, links));
    changed |= texts.back() != made;
  }
  if (changed) result.texts = std::move(texts);
}

documents::KeptText::Links LineTranslator::links_of(const LineResults& results, size_t line) const {
  documents::KeptText::Links links;
  if (!run_.model.aligns()) return links;
  for (const lapilli_word_link& l : run_.model.word_links(results, line))
    links.push_back({l.source_begin, l.source_end, l.target_begin, l.target_end, static_cast<float>(l.weight)});
  return links;
}

std::vector<Line> LineTranslator::texts_of(const std::vector<Line>& lines, std::vector<std::string>& errors) {
  std::vector<Line> texts;
  texts.reserve(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    Line& text = texts.emplace_back();
    text.number = lines[i].number;
    text.too_long = lines[i].too_long;
    if (text.too_long) continue;
    RecordFormat::Text found = format_ ? format_->text(lines[i]) : RecordFormat::Text{lines[i].text, ""};
    text.text = std::move(found.text);
    text.kept = found.kept;
    errors[i] = std::move(found.error);
    text.too_long = text.text.size() > kMaxLineBytes;
  }
  return texts;
}

std::string LineTranslator::output(const Line& line, const LineResult& result) const {
  const Makes makes = run_.about.makes;
  if (makes == Makes::classes && !format_)
    return classes_output(result, shown_before_ + line.number, run_.arguments.json) + '\n';
  const bool spans = makes == Makes::tags || makes == Makes::answers || makes == Makes::fills;
  if (spans && !format_) return spans_output(result, shown_before_ + line.number, makes, run_.arguments.json) + '\n';
  if (makes == Makes::scores && !format_)
    return scores_output(result, shown_before_ + line.number, run_.arguments) + '\n';
  const bool numbers = makes == Makes::vectors && run_.vector_format() != VectorFormat::json;
  if (numbers && result.status == Status::ok && !result.output) return "";  // no record
  if (numbers || (makes == Makes::vectors && !format_))
    return vector_output(result, shown_before_ + line.number, run_.vector_format(), run_.model.dimensions());
  if (!format_)
    return line_output(result, shown_before_ + line.number, run_.arguments, run_.model.unsure_below()) + '\n';
  RecordFormat::Result made;
  made.nothing = !result.is_made();
  if (result.status != Status::ok) {
    made.error = result.error;
  } else if (!made.nothing) {
    made.json = makes != Makes::text;
    made.text = makes == Makes::vectors   ? vector_json(result.output->vector)
                : makes == Makes::classes ? classes_json(result.output->classes)
                : makes == Makes::scores  ? scores_json(*result.output, run_.arguments.scores)
                : spans                   ? spans_json(result.output->spans, makes)
                                          : result.text();
  }
  return whole_row(format_->output(line, made));
}

// Behind the last line of a file another shard's rows may follow, or another file's.
std::string LineTranslator::whole_row(std::string row) const {
  if (source_.piece && !row.ends_with('\n')) row += '\n';
  return row;
}

// True if what the output lost is back.
bool LineTranslator::keeps_lost(const LineResult& result) {
  if (!result.output || result.texts.empty() || result.output->sequences.empty()) return false;
  return result.text().find(result.output->sequences.front().lost_address) != std::string::npos;
}

// `streamed`: the text already printed for the (then only) line.
int LineTranslator::write(const std::vector<Line>& lines, const LineResults& results, const std::string& streamed) {
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    const LineResult& result = results.lines[i];
    // After an interruption the lines up to the first unfinished one are written, so that they stay aligned.
    if (result.status == Status::cancelled) {
      if (!streamed.empty()) out += '\n';
      break;
    }
    std::string text = output(lines[i], result);
    if (text.compare(0, streamed.size(), in_one_line(streamed)) == 0) text.erase(0, streamed.size());
    out += text;
    run_.tell([&] { return where(lines[i].number); }, result, keeps_lost(result));
    if (const int code = run_.reject(source_.name, lines[i].number, result)) return code;
  }
  const int written = sink_.write(out);
  return written == exit_ok ? run_.save_memory() : written;
}

std::string LineTranslator::where(uint64_t line) const {
  const std::string number = std::to_string(shown_before_ + line);
  return shown_name_.empty() ? "line " + number : shown_name_ + ":" + number;
}

}  // namespace lapilli::cli
