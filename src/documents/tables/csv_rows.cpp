#include "documents/tables/csv_rows.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace lapilli::documents {

namespace {

constexpr std::array kDelimiters = {',', ';', '\t', '|'};
constexpr size_t kToldByRows = 50;  // rows that tell the separator
constexpr size_t kToldByBytes = size_t{1} << 16;

bool ends_line(char c) { return c == '\n' || c == '\r'; }

// The usual number of cells in a row, and the rows that have it; a separator that no row has gives 1 cell.
struct Regularity {
  size_t columns = 1, rows = 0, of = 0;
  [[nodiscard]] bool whole() const { return columns > 1 && rows == of; }
};

Regularity regularity_of(std::string_view bytes, size_t begin, char delimiter) {
  Regularity found;
  std::map<size_t, size_t> rows_with;  // so many cells
  CsvRows rows(bytes, begin, delimiter);
  CsvRow row;
  while (found.of < kToldByRows && rows.next(row)) {
    if (row.bytes.empty()) continue;
    ++found.of;
    if (!row.broken) ++rows_with[row.cells.size()];
  }
  for (const auto& [cells, count] : rows_with)
    if (count >= found.rows) found.columns = cells, found.rows = count;
  return found;
}

bool is_better(const Regularity& a, const Regularity& b) {
  if (a.whole() != b.whole()) return a.whole();
  const size_t many = a.columns > 1 ? a.rows * (a.columns - 1) : 0,
               others = b.columns > 1 ? b.rows * (b.columns - 1) : 0;
  return many > others;
}

}  // namespace

bool CsvRows::ends_cell(size_t at) const {
  return at >= bytes_.size() || bytes_[at] == delimiter_ || ends_line(bytes_[at]);
}

// False if the quote at `at` does not close at the end of a cell.
bool CsvRows::read_quoted(CsvCell& cell, size_t at) const {
  cell.quoted = true;
  size_t quote = at;
  do {
    quote = bytes_.find('"', quote + 1);
    if (quote == std::string_view::npos) return false;
  } while (quote + 1 < bytes_.size() && bytes_[quote + 1] == '"' && ++quote);
  cell.words = {at + 1, quote};
  cell.bytes = {at, quote + 1};
  return ends_cell(quote + 1);
}

bool CsvRows::read_cell(CsvRow& row, size_t& at) const {
  CsvCell& cell = row.cells.emplace_back();
  if (at < bytes_.size() && bytes_[at] == '"') {
    const bool closes = read_quoted(cell, at);
    at = cell.bytes.end;
    return closes;
  }
  const size_t begin = at;
  while (!ends_cell(at)) ++at;
  cell.bytes = cell.words = {begin, at};
  return true;
}

void CsvRows::end_row(CsvRow& row, size_t end) {
  row.bytes.end = end;
  const std::string_view text = row.bytes.of(bytes_);
  size_t lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  if (lines == 0) lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\r'));
  line_ += lines + (end < bytes_.size() ? 1 : 0);
  at_ = end;
  if (at_ < bytes_.size()) at_ += bytes_.substr(at_, 2) == "\r\n" ? 2 : 1;
}

bool CsvRows::next(CsvRow& row) {
  if (at_ >= bytes_.size()) return false;
  row = {};
  row.line = line_;
  row.bytes.begin = at_;
  for (size_t at = at_;; ++at) {
    if (!read_cell(row, at)) {
      row.broken = true;
      row.cells.clear();
      end_row(row, std::min(bytes_.find_first_of("\r\n", row.bytes.begin), bytes_.size()));
      return true;
    }
    if (at >= bytes_.size() || bytes_[at] != delimiter_) {
      end_row(row, at);
      return true;
    }
  }
}

size_t skip_csv_separator_line(std::string_view bytes, size_t begin, char& delimiter) {
  std::string_view line = bytes.substr(begin, 8);
  const bool quoted = line.starts_with("\"sep=");
  if (!quoted && ascii_lower(line.substr(0, 4)) != "sep=") return begin;
  const size_t at = begin + (quoted ? 5 : 4), end = at + (quoted ? 2 : 1);
  if (end > bytes.size() || ends_line(bytes[at]) || (quoted && bytes[at + 1] != '"')) return begin;
  if (end < bytes.size() && !ends_line(bytes[end])) return begin;
  delimiter = bytes[at];
  return end == bytes.size() ? end : end + (bytes.substr(end, 2) == "\r\n" ? 2 : 1);
}

char find_csv_delimiter(std::string_view bytes, size_t begin) {
  std::string_view told = bytes.substr(0, begin + kToldByBytes);
  // A row that is cut in two would count as another kind of row.
  if (told.size() < bytes.size()) told = told.substr(0, told.find_last_of("\r\n") + 1);
  if (told.size() <= begin) told = bytes.substr(0, begin + kToldByBytes);
  char best = ',';
  Regularity most;
  for (const char delimiter : kDelimiters) {
    const Regularity found = regularity_of(told, begin, delimiter);
    if (!is_better(found, most)) continue;
    most = found;
    best = delimiter;
  }
  return best;
}

std::string csv_text(std::string_view bytes, const CsvCell& cell) {
  std::string text;
  for (size_t i = cell.words.begin; i < cell.words.end; ++i) {
    text += bytes[i];
    if (cell.quoted && bytes[i] == '"') ++i;
  }
  return text;
}

std::string csv_cell(std::string_view text, char delimiter) {
  const bool needs = text.starts_with('"') || text.find_first_of("\r\n") != std::string_view::npos ||
                     text.find(delimiter) != std::string_view::npos;
  if (!needs) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) cell.append(c == '"' ? 2 : 1, c);
  return cell + '"';
}

}  // namespace lapilli::documents
