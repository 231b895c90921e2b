// The rows and cells of a table with separators (CSV), with the places of their bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/characters.hpp"

namespace lapilli::documents {

struct CsvCell {
  Range bytes;          // all between two separators, quotes included
  bool quoted = false;  // in quotes; then `words` is what is between them
  Range words;
};

struct CsvRow {
  size_t line = 0;  // in which it begins, from 1
  Range bytes;      // without the line end
  std::vector<CsvCell> cells;
  bool broken = false;  // a quote that opens does not close at the end of a cell; there are no cells then
};

// Reads rows one after the other, in linear time. In quotes there may be separators and line ends, and two quotes are
// one. A row with a broken quote ends with its first line, so that the next ones are read as they are meant.
class CsvRows {
 public:
  CsvRows(std::string_view bytes, size_t begin, char delimiter) : bytes_(bytes), at_(begin), delimiter_(delimiter) {}

  bool next(CsvRow& row);

 private:
  bool read_cell(CsvRow& row, size_t& at) const;
  bool read_quoted(CsvCell& cell, size_t at) const;
  [[nodiscard]] bool ends_cell(size_t at) const;
  void end_row(CsvRow& row, size_t end);

  std::string_view bytes_;
  size_t at_;
  char delimiter_;
  size_t line_ = 1;
};

// The first line may say "sep=;" for programs that read it. Gives where the table begins, and the separator.
size_t skip_csv_separator_line(std::string_view bytes, size_t begin, char& delimiter);
// The separator by the first rows: the one that gives them equally many cells, and the most; a comma if none does.
char find_csv_delimiter(std::string_view bytes, size_t begin);

// The meaning of a cell: two quotes are one.
std::string csv_text(std::string_view bytes, const CsvCell& cell);
// A cell that says this, in quotes if it needs them.
std::string csv_cell(std::string_view text, char delimiter);

}  // namespace lapilli::documents
