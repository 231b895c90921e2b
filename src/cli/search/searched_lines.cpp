#include "cli/search/searched_lines.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/path.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/blanks.hpp"
#include "cli/files/unread_records.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

constexpr size_t kMostRecordBytes = size_t{1} << 26, kLinesAtATime = 4096;
constexpr uint64_t kMarkBytes = 3;  // a byte order mark

}  // namespace

int SearchedLines::read(const std::vector<Source>& sources) {
  for (const Source& source : sources)
    if (const int code = read_source(source); code != exit_ok || interrupted()) return code;
  return exit_ok;
}

int SearchedLines::read_source(const Source& source) {
  const bool input = source.standard_input();
  LineReader reader(input ? InputFile::standard_input() : InputFile::open(source.name),
                    source.format == Format::lines ? kMaxLineBytes : kMostRecordBytes, arguments_.is_declared_text());
  if (!reader.file().ok()) return complain(exit_input, source.name + ": " + std::strerror(errno));
  sources_.push_back({source.name, !reader.file().regular() || input, record_format(source.format, arguments_.files)});
  uint64_t offset = 0;
  for (auto lines = reader.read(kLinesAtATime); !lines.empty(); lines = reader.read(kLinesAtATime)) {
    if (input && offset == 0) note_unread(lines);
    if (const std::string refusal = add_all(lines, offset); !refusal.empty())
      return complain(exit_input, (input ? "standard input" : source.name) + ": " + refusal);
  }
  const std::string why = reader.error() != 0 ? std::strerror(reader.error()) : reader.refusal();
  return why.empty() ? int{exit_ok} : complain(exit_input, source.name + ": " + why);
}

void SearchedLines::refuse(const Line& line, const std::string& why) {
  ++failed_;
  complain(exit_ok, sources_.back().name + ":" + std::to_string(line.number) + ": " + why);
}

void SearchedLines::note_unread(const std::vector<Line>& lines) {
  if (!sources_.back().format && !arguments_.is_declared_text()) unread_ = unread_records(lines);
}

// A table without the column is refused as a whole.
std::string SearchedLines::add_all(const std::vector<Line>& lines, uint64_t& offset) {
  const auto& format = sources_.back().format;
  std::vector<RecordFormat::Text> texts;
  for (const Line& line : lines)
    texts.push_back(format && !line.too_long ? format->text(line) : RecordFormat::Text{line.text, ""});
  std::string refusal = format ? format->refusal() : "";
  for (size_t i = 0; i < lines.size() && refusal.empty(); ++i) {
    add(lines[i], texts[i], offset);
    offset += lines[i].bytes;
  }
  return refusal;
}

void SearchedLines::add(const Line& line, const RecordFormat::Text& record, uint64_t offset) {
  if (line.too_long) return refuse(line, "the line is longer than " + std::to_string(kMaxLineBytes) + " bytes");
  if (!record.error.empty()) return refuse(line, record.error);
  if (!record.kept) add_text(line, record.text, offset);
}

void SearchedLines::add_text(const Line& line, const std::string& text, uint64_t offset) {
  if (is_blank(text)) return;
  Place place{offset + (line.marked ? kMarkBytes : 0), line.number, static_cast<uint32_t>(line.text.size()),
              static_cast<uint32_t>(sources_.size() - 1)};
  if (sources_.back().kept) {
    place.offset = kept_.size();
    kept_.push_back(text);
  }
  lines_.push_back(place);
  fingerprints_.push_back(vectors::fingerprint_of(text));
}

std::optional<std::string> SearchedLines::text(size_t line) {
  const Place& place = lines_[line];
  const Searched& source = sources_[place.source];
  if (source.kept) return kept_[static_cast<size_t>(place.offset)];
  auto read = parts_.read(source.name, place.offset, place.bytes);
  if (read && source.format) read = text_of(source, *read, place.number);
  return read && vectors::fingerprint_of(*read) == fingerprints_[line] ? read : std::nullopt;
}

std::optional<std::string> SearchedLines::text_of(const Searched& source, const std::string& line,
                                                  uint64_t number) const {
  Line record;
  record.text = line;
  record.number = number;
  const RecordFormat::Text found = source.format->text(record);
  return found.error.empty() ? std::optional(found.text) : std::nullopt;
}

bool SearchedLines::are_files() const {
  return std::none_of(sources_.begin(), sources_.end(), [](const Searched& source) { return source.kept; });
}

std::string SearchedLines::inputs() const {
  std::string text;
  for (const Searched& source : sources_)
    text += source.name + '\t' + std::to_string(source.kept ? 0 : file_size(source.name)) + '\t' +
            std::to_string(source.kept ? 0 : file_time(source.name)) + '\n';
  return text;
}

}  // namespace lapilli::cli
