#include "cli/files/record_format.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "cli/files/blanks.hpp"
#include "cli/files/json_object.hpp"
#include "cli/output.hpp"

namespace lapilli::cli {

namespace {

// Restores the bytes around the text that a line reader strips.
std::string as_it_stood(const Line& line, const std::string& text) {
  return (line.marked ? "\xef\xbb\xbf" : "") + text + std::string(line.end);
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
      default: return {"", "there is no \"" + field_ + "\" in it (--field says which one is translated)"};
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
    std::string_view cell;
    if (!find(line.text, cell)) return {"", "there is no column " + std::to_string(column_)};
    return {std::string(cell), ""};
  }

  [[nodiscard]] std::string refusal() const override {
    if (!looked_ || column_ > 0) return "";
    return "no column of its first line is called \"" + name_ + "\" (--column); it begins with " +
           json_string(names_.substr(0, 120));
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
  bool looked_ = false;
};

}  // namespace

std::unique_ptr<RecordFormat> json_lines(const std::string& field, const std::string& to_field) {
  return std::make_unique<JsonLines>(field, to_field);
}

std::unique_ptr<RecordFormat> tab_columns(const std::string& column) { return std::make_unique<TabColumns>(column); }

}  // namespace lapilli::cli
