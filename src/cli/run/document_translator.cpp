#include "cli/run/document_translator.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "cli/files/foreign_files.hpp"
#include "cli/files/text_input.hpp"
#include "cli/shards/rows_alone.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

constexpr size_t kMostBytes = size_t{64} << 20;  // the limit of a document

}  // namespace

int DocumentTranslator::open() {
  std::string bytes;
  if (source_.is_text()) {
    bytes = source_.text;
  } else if (const int code = read(bytes); code != exit_ok || interrupted()) {
    return code;
  }
  const std::string_view head = std::string_view(bytes).substr(0, kTellingBytes);
  const ForeignKind* foreign = is_text(source_.format) ? foreign_file("", head, true) : nullptr;
  if (foreign) return complain(exit_input, name() + ": " + refusal_of(*foreign));
  const std::string wrong = document_.parse(format_name(source_.format), std::move(bytes), run_.document_options);
  return wrong.empty() ? int{exit_ok} : complain(exit_input, name() + ": " + wrong);
}

int DocumentTranslator::translate(std::vector<SavedSegment> done) {
  if (const int code = open(); code != exit_ok || interrupted()) return code;
  tell_notes();
  done_ = std::move(done);
  if (done_.size() > document_.size()) done_.clear();
  const int code = windows();
  run_.progress.clear();
  if (code != exit_ok || interrupted()) return code;
  run_.lines_before += document_.size();
  std::string out;
  if (const std::string wrong = document_.render(done_, out); !wrong.empty())
    return complain(exit_internal, name() + ": " + wrong);
  return sink_.write(out);
}

int DocumentTranslator::read(std::string& bytes) const {
  TextInput file(source_.standard_input() ? InputFile::standard_input() : InputFile::open(source_.name));
  if (!file.ok()) return interrupted() ? exit_ok : complain(exit_input, name() + ": " + std::strerror(errno));
  char part[1 << 16];
  while (!interrupted()) {
    const long got = file.read(part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return complain(exit_input, name() + ": " + std::strerror(errno));
    if (got == 0 && !file.wrong().empty()) return complain(exit_input, name() + ": " + file.wrong());
    if (got == 0) break;
    bytes.append(part, static_cast<size_t>(got));
    if (bytes.size() > kMostBytes)
      return complain(exit_input, name() + ": it has more than 64 MiB; split it, or take it with --format lines");
  }
  return exit_ok;
}

int DocumentTranslator::windows() {
  uint64_t all = 0, done = 0;
  for (size_t i = 0; i < document_.size(); ++i) {
    if (i < done_.size()) done += document_.text(i).size();
    all += document_.text(i).size();
  }
  run_.progress.begin_source(all, done, done_.size());
  while (done_.size() < document_.size() && !interrupted()) {
    std::vector<Line> lines;
    const size_t end = std::min(document_.size(), done_.size() + run_.window());
    for (size_t i = done_.size(); i < end; ++i) {
      Line& line = lines.emplace_back();
      line.text = document_.text(i);
      line.number = i + 1;
      line.bytes = line.text.size();
      line.too_long = line.bytes > kMaxLineBytes;
    }
    if (const int code = window(lines); code != exit_ok) return code;
  }
  return exit_ok;
}

int DocumentTranslator::window(const std::vector<Line>& lines) {
  uint64_t bytes = 0;
  for (const Line& line : lines) bytes += line.bytes;
  run_.progress.begin_window(lines.size(), bytes);
  TextModel::Callbacks callbacks;
  callbacks.progress = [&](uint64_t done, uint64_t all) { run_.progress.show(done, all); };
  std::vector<Line> texts = lines;
  auto known = run_.take_known(texts);
  LineResults results = run_.model.run(texts, run_.lines_before, callbacks);
  run_.put_known(std::move(known), results);
  try_alone(run_, texts, results);
  if (results.fatal) {
    run_.progress.clear();
    return complain(results.fatal_code, results.fatal->message());
  }
  std::string records;
  std::vector<SavedSegment> made;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (results.lines[i].status == Status::cancelled || interrupted()) return exit_ok;  // the window is repeated
    if (const int code = run_.reject(source_.name, document_.line(lines[i].number - 1), results.lines[i])) return code;
    made.push_back(segment_of(results, i, lines[i]));
    records += journal_record(made.back());
  }
  done_.insert(done_.end(), made.begin(), made.end());
  run_.progress.end_window();
  if (const int code = run_.save_memory(); code != exit_ok) return code;
  if (run_.rejected)
    if (const int code = run_.rejected->flush()) return code;
  const int code = sink_.keep(records + journal_record(run_.point(index_, done_.size(), sink_.bytes())));
  return code == exit_ok && run_.rejected && run_.rejected->are_too_many() ? int{exit_some_failed} : code;
}

SavedSegment DocumentTranslator::segment_of(const LineResults& results, size_t line, const Line& segment) {
  const LineResult& result = results.lines[line];
  SavedSegment made;
  made.failed = result.status != Status::ok;
  const bool keeps_lost = result.output && !result.output->sequences.empty() &&
                          document_.keeps(segment.number - 1, result.output->sequences.front().lost_address);
  run_.tell([&] { return name() + ":" + std::to_string(document_.line(segment.number - 1)); }, result, keeps_lost);
  if (made.failed) return made;
  made.text = result.is_made() ? result.text() : segment.text;
  run_.remember(segment.text, result);
  if (!result.output || !document_.needs_links(segment.number - 1)) return made;
  if (!run_.model.aligns()) {
    tell_unaligned();
    return made;
  }
  for (const lapilli_word_link& l : run_.model.word_links(results, line))
    made.links.push_back({l.source_begin, l.source_end, l.target_begin, l.target_end, static_cast<float>(l.weight)});
  return made;
}

// The document's own notes: parts that were left alone.
void DocumentTranslator::tell_notes() {
  if (run_.context.quiet) return;
  for (const std::string& note : document_.notes()) run_.say("note: " + name() + ": " + note);
}

void DocumentTranslator::tell_unaligned() {
  if (std::exchange(told_unaligned_, true) || run_.context.quiet) return;
  run_.say("note: " + name() +
           ": this model's words are not aligned; tags within a line stand in proportion to where they "
           "stood");
}

}  // namespace lapilli::cli
