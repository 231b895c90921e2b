#include "cli/files/record_format.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <sstream>
#include <string_view>
#include <utility>

#include "cli/files/blanks.hpp"
#include "cli/files/foreign_files.hpp"
#include "cli/files/json_object.hpp"
#include "cli/output.hpp"

namespace lapilli::cli {

namespace {

constexpr std::string_view kRecordMark = "\xef\xbb\xbf";

// Restores the bytes around the text that a line reader strips.
std::string as_it_stood(const Line& line, const std::string& text) {
  return std::string(line.marked ? kRecordMark : "") + text + std::string(line.end);
}

class JsonLines : public RecordFormat {
 public:
  JsonLines(std::string field, std::string to_field) : field_(std::move(field)), to_field_(std::move(to_field)) {}

  Text text(const Line& line) override {
    if (is_blank(line.text)) return {"", "", true};
    const JsonObject object(line.text);
    if (!object.error().empty()) return {"", std::string(object.error())};
    Text found;
    switch (object.find(field_, found.text)) {
      case JsonObject::Found::string: return found;
      case JsonObject::Found::other: return {"", "\"" + field_ + "\" holds no string"};
      default: return {"", "there is no \"" + field_ + "\" in it (--field says which one is read)"};
    }
  }

  std::string output(const Line& line, const Result& result) override {
    const JsonObject object(line.text);
    if (!object.error().empty()) return as_it_stood(line, line.text);
    const bool ok = result.error.empty();
    if (ok && result.json) return as_it_stood(line, object.with_json(to_field_, result.text));
    return as_it_stood(line, object.with(ok ? to_field_ : "error", ok ? result.text : result.error));
  }

 private:
  std::string field_, to_field_;
};

class TabColumns : public RecordFormat {
 public:
  explicit TabColumns(const std::string& column) : name_(column) {
    uint64_t number = 0;
    const char* end = column.data() + column.size();
    const auto [stop, error] = std::from_chars(column.data(), end, number);
    if (error == std::errc() && stop == end && number > 0) column_ = number;
  }

  Text text(const Line& line) override {
    const bool names = line.number == 1 && column_ == 0;
    if (names) find_name(line);
    if (names || column_ == 0 || is_blank(line.text)) return {"", "", true};
    most_ = std::max(most_, columns_in(line.text));
    std::string_view cell;
    if (!find(line.text, cell)) return {"", "there is no column " + std::to_string(column_)};
    return {std::string(cell), ""};
  }

  [[nodiscard]] std::string refusal() const override {
    if (looked_ && column_ == 0)
      return "no column of its first line is called \"" + name_ + "\" (--column); it begins with " +
             json_string(names_.substr(0, 120));
    if (most_ == 0 || most_ >= column_) return "";
    return "there is no column " + name_ + " (--column); its first lines have " +
           (most_ == 1 ? "one, for there is no tab in them" : std::to_string(most_) + " columns");
  }

  std::string output(const Line& line, const Result& result) override {
    std::string_view cell;
    if (!result.error.empty() || result.nothing || !find(line.text, cell)) return as_it_stood(line, line.text);
    std::string translated = result.text;
    for (char& c : translated) c = c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
    const auto begin = static_cast<size_t>(cell.data() - line.text.data());
    return as_it_stood(line, line.text.substr(0, begin) + translated + line.text.substr(begin + cell.size()));
  }

 private:
  // Finds the column with the name.
  void find_name(const Line& line) {
    looked_ = true;
    names_ = line.text;
    std::replace(names_.begin(), names_.end(), '\t', ' ');
    uint64_t number = 1;
    for (size_t at = 0; at <= line.text.size(); ++number) {
      const size_t end = std::min(line.text.find('\t', at), line.text.size());
      if (std::string_view(line.text).substr(at, end - at) == name_) {
        column_ = number;
        return;
      }
      at = end + 1;
    }
  }

  static uint64_t columns_in(std::string_view line) {
    return static_cast<uint64_t>(std::count(line.begin(), line.end(), '\t')) + 1;
  }

  bool find(std::string_view line, std::string_view& cell) const {
    size_t at = 0;
    for (uint64_t i = 1; i < column_; ++i) {
      at = line.find('\t', at);
      if (at == std::string_view::npos) return false;
      ++at;
    }
    cell = line.substr(at, line.find('\t', at) - at);
    return true;
  }

  std::string name_, names_;  // the wanted column's, and all of the first line
  uint64_t column_ = 0;       // from 1; 0: unknown
  uint64_t most_ = 0;         // columns of a line so far; 0: there was none but the names
  bool looked_ = false;
};

}  // namespace

std::unique_ptr<RecordFormat> json_lines(const std::string& field, const std::string& to_field) {
  return std::make_unique<JsonLines>(field, to_field);
}

std::string missing_column(const std::string& column, const std::string& beginning) {
  const size_t end = beginning.rfind('\n');
  if (end == std::string::npos && beginning.size() >= kTellingBytes) return "";  // a part of a line
  const auto format = tab_columns(column);
  std::istringstream lines(beginning.substr(0, end));
  Line line;
  while (std::getline(lines, line.text)) {
    if (line.number++ == 0 && line.text.starts_with(kRecordMark)) line.text.erase(0, kRecordMark.size());
    if (line.text.ends_with('\r')) line.text.pop_back();
    (void)format->text(line);
  }
  return format->refusal();
}

std::unique_ptr<RecordFormat> record_format(Format format, const FileArguments& files) {
  if (format == Format::jsonl) return json_lines(files.field, files.to_field);
  if (format == Format::tsv) return tab_columns(files.column);
  return nullptr;
}

std::unique_ptr<RecordFormat> tab_columns(const std::string& column) { return std::make_unique<TabColumns>(column); }

}  // namespace lapilli::cli
