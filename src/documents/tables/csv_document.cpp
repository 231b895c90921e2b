// Tables with separators (CSV): the cells of chosen columns are segments, each line of a cell by itself.
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "documents/kinds.hpp"
#include "documents/lines.hpp"
#include "documents/tables/csv_rows.hpp"
#include "documents/tables/told_lines.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kMostPadding = size_t{1} << 24;  // cells that short rows get, in all
constexpr size_t kToldNames = 200;                // bytes of them in an error
constexpr size_t kNewColumn = SIZE_MAX;

// A column that is read, and the one that gets its translations.
struct CsvColumn {
  size_t from = 0;
  std::optional<size_t> to;  // kNewColumn: behind the others
};

std::optional<size_t> column_number(std::string_view name) {
  size_t number = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || stop != end || number == 0) return std::nullopt;
  return number - 1;
}

// Keys, file names, codes: one word with a digit or a sign of programs in it.
bool is_code(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::string_view word = text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
  if (word.find_first_of(" \t\r\n") != std::string_view::npos || word.size() < 2) return false;
  return word.substr(1, word.size() - 2).find_first_of("_\\@:#=.") != std::string_view::npos ||
         std::any_of(word.begin(), word.end(), [](char c) { return is_ascii_digit(static_cast<unsigned char>(c)); });
}

class CsvReader {
 public:
  CsvReader(std::string_view bytes, size_t begin, const Options& options) : bytes_(bytes), options_(options) {
    char told = 0;
    begin_ = skip_csv_separator_line(bytes, begin, told);
    lines_before_ = begin_ > begin ? 1 : 0;
    delimiter_ = options.delimiter ? options.delimiter : told ? told : find_csv_delimiter(bytes, begin_);
  }

  Result<Found> read() {
    CsvRows rows(bytes_, begin_, delimiter_);
    CsvRow row;
    while (rows.next(row)) {
      row.line += lines_before_;
      LAPILLI_CHECK(take(row));
    }
    found_.notes = told_.sentences();
    return std::move(found_);
  }

 private:
  Status take(const CsvRow& row) {
    if (row.broken) {
      told_.add("has a quote that does not close at the end of a cell",
                "have quotes that do not close at the end of a cell", row.line);
      return {};
    }
    if (row.cells.size() == 1 && row.cells[0].bytes.empty()) return {};  // an empty line
    if (!begun_) {
      LAPILLI_CHECK(find_columns(row));
      begun_ = true;
      if (options_.header) return add_header(row), Status();
    }
    if (options_.columns.empty())
      take_all(row);
    else
      take_columns(row);
    return {};
  }

  // ---- columns ----

  Status find_columns(const CsvRow& first) {
    width_ = first.cells.size();
    if (options_.header)
      for (const CsvCell& cell : first.cells) names_.push_back(csv_text(bytes_, cell));
    for (size_t i = 0; i < options_.columns.size(); ++i) {
      const auto from = find_column(options_.columns[i]);
      if (!from || *from >= width_) return no_column(options_.columns[i]);
      CsvColumn& column = columns_.emplace_back();
      column.from = *from;
      if (i < options_.to_columns.size()) column.to = target_column(options_.to_columns[i]);
      if (column.to && *column.to >= width_) column.to = kNewColumn;
    }
    std::ranges::stable_sort(columns_, {}, [](const CsvColumn& c) { return c.to.value_or(c.from); });
    return same_target();
  }

  // A name is stronger than a number.
  [[nodiscard]] std::optional<size_t> find_column(const std::string& name) const {
    const auto at = std::ranges::find(names_, name);
    return at == names_.end() ? column_number(name) : std::optional<size_t>(at - names_.begin());
  }
  [[nodiscard]] size_t target_column(const std::string& name) {
    const auto found = find_column(name);
    if (!found || *found >= width_) new_names_.push_back(found ? "" : name);
    return found.value_or(kNewColumn);
  }

  [[nodiscard]] Status no_column(const std::string& name) const {
    std::string all;
    for (size_t i = 0; i < names_.size() && all.size() < kToldNames; ++i)
      all += (i == 0 ? "\"" : "\", \"") + names_[i].substr(0, kToldNames);
    if (names_.empty())
      return fail(ErrorCode::invalid_data, "there is no column %s; the first row has %u", name.c_str(), width_);
    return fail(ErrorCode::invalid_data, "no column is called \"%s\" (--column); the first row has %s\"", name.c_str(),
                all.c_str());
  }

  [[nodiscard]] Status same_target() const {
    for (size_t i = 1; i < columns_.size(); ++i) {
      const size_t a = columns_[i - 1].to.value_or(columns_[i - 1].from), b = columns_[i].to.value_or(columns_[i].from);
      if (a == b && a != kNewColumn)
        return fail(ErrorCode::invalid_argument, "two columns would be written to column %u", a + 1);
    }
    return {};
  }

  void add_header(const CsvRow& row) {
    std::string more;
    for (const std::string& name : new_names_) more += delimiter_ + csv_cell(name, delimiter_);
    if (!more.empty()) found_.edits.push_back({{row.bytes.end, row.bytes.end}, more});
  }

  // ---- rows ----

  void take_all(const CsvRow& row) {
    for (const CsvCell& cell : row.cells)
      if (!is_code(cell.words.of(bytes_))) add_own(cell);
  }

  void take_columns(const CsvRow& row) {
    const auto lacks = [&](const CsvColumn& c) { return c.from >= row.cells.size(); };
    if (std::ranges::any_of(columns_, lacks)) told_.add("has too few columns", "have too few columns", row.line);
    const size_t before = found_.passages.size();
    std::string appended;
    if (!pad(row, appended)) return told_.add("has too few columns", "have too few columns", row.line);
    for (const CsvColumn& column : columns_) {
      if (column.to == kNewColumn)
        append(row, column, appended);
      else if (!lacks(column))
        fill(row, column);
    }
    if (appended.empty()) return;
    const bool last_is_new =
        found_.passages.size() > before && found_.passages.back().replaced().begin == row.bytes.end;
    if (last_is_new)
      found_.passages.back().trail += appended;
    else
      found_.edits.push_back({{row.bytes.end, row.bytes.end}, appended});
  }

  // A short row gets the cells that it lacks, so that the new ones stand below their name. False: too many.
  bool pad(const CsvRow& row, std::string& cells) {
    const size_t lacking = !new_names_.empty() && row.cells.size() < width_ ? width_ - row.cells.size() : 0;
    if (lacking > padding_left_) return false;
    padding_left_ -= lacking;
    cells.assign(lacking, delimiter_);
    return true;
  }

  // Puts a new cell behind the row. `front`: what stands before it there already.
  void append(const CsvRow& row, const CsvColumn& column, std::string& front) {
    front += delimiter_;
    if (column.from >= row.cells.size()) return;
    const CsvCell& cell = row.cells[column.from];
    Passage passage;
    if (!read_cell(cell, passage)) {
      front += cell.bytes.of(bytes_);  // numbers, signs, nothing
      return;
    }
    passage.place = Range{row.bytes.end, row.bytes.end};
    passage.lead = std::exchange(front, "");
    found_.passages.push_back(std::move(passage));
  }

  void fill(const CsvRow& row, const CsvColumn& column) {
    const CsvCell& cell = row.cells[column.from];
    if (!column.to || *column.to == column.from) return add_own(cell);
    if (*column.to >= row.cells.size()) return told_.add("has too few columns", "have too few columns", row.line);
    const CsvCell& to = row.cells[*column.to];
    Passage passage;
    if (!read_cell(cell, passage)) {
      if (cell.bytes.of(bytes_) != to.bytes.of(bytes_) && !is_blank_line(cell.words.of(bytes_)))
        found_.edits.push_back({to.bytes, std::string(cell.bytes.of(bytes_))});
      return;
    }
    passage.place = to.bytes;
    found_.passages.push_back(std::move(passage));
  }

  // ---- cells ----

  // A whole cell as one passage that is written elsewhere.
  bool read_cell(const CsvCell& cell, Passage& passage) {
    if (is_formula(cell.words.of(bytes_))) return false;
    PartBuilder builder;
    add_words(builder, cell, cell.words);
    passage.escapes = static_cast<unsigned char>(delimiter_);
    return builder.finish(passage.parts);
  }

  // Each line of a cell in its own place.
  void add_own(const CsvCell& cell) {
    if (is_formula(cell.words.of(bytes_))) return;
    LineReader lines(bytes_.substr(0, cell.words.end), cell.words.begin);
    for (Range line; lines.next(line);) {
      PartBuilder builder;
      add_words(builder, cell, line);
      Passage passage;
      if (!builder.finish(passage.parts)) continue;
      if (!cell.quoted) set_frame(cell, passage);
      found_.passages.push_back(std::move(passage));
    }
  }

  // A cell without quotes may need them then, around its blanks as well.
  void set_frame(const CsvCell& cell, Passage& passage) const {
    const Range source = passage.source();
    passage.escapes = static_cast<unsigned char>(delimiter_);
    passage.place = cell.bytes;
    passage.before = Range{cell.bytes.begin, source.begin}.of(bytes_);
    passage.after = Range{source.end, cell.bytes.end}.of(bytes_);
  }

  void add_words(PartBuilder& builder, const CsvCell& cell, Range range) const {
    size_t begin = range.begin;
    for (size_t at = begin; cell.quoted && at + 1 < range.end; ++at) {
      if (bytes_[at] != '"') continue;
      builder.words({begin, at}, Range{begin, at}.of(bytes_));
      builder.words({at, at + 2}, "\"");
      begin = ++at + 1;
    }
    builder.words({begin, range.end}, Range{begin, range.end}.of(bytes_));
  }

  std::string_view bytes_;
  const Options& options_;
  size_t begin_ = 0, lines_before_ = 0;
  char delimiter_ = ',';
  Found found_;
  ToldLines told_;
  bool begun_ = false;
  size_t padding_left_ = kMostPadding;
  size_t width_ = 0;                // cells of the first row
  std::vector<std::string> names_;  // of the columns; none without a header
  std::vector<std::string> new_names_;
  std::vector<CsvColumn> columns_;  // in the order of their targets
};

// In quotes two of them are one; elsewhere tidy_csv knows if the cell needs quotes.
void encode_csv(std::string& out, std::string_view text, Range range, bool, const Passage& passage) {
  for (const char c : range.of(text)) out.append(c == '"' && passage.escapes == 0 ? 2 : 1, c);
}

void tidy_csv(std::string& out, size_t begin, const Passage& passage) {
  if (passage.escapes == 0) return;
  const std::string cell = out.substr(begin);
  out.resize(begin);
  out += csv_cell(cell, static_cast<char>(passage.escapes));
}

}  // namespace

const Style kCsvStyle = {.encode = encode_csv, .tidy = tidy_csv};

Result<Found> find_csv(std::string_view bytes, size_t begin, const Options& options) {
  return CsvReader(bytes, begin, options).read();
}

}  // namespace lapilli::documents
