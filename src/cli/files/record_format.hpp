// Extracts the text to translate from a line of JSON or TSV, and puts its translation back.
#pragma once

#include <memory>
#include <string>

#include "cli/arguments/text_arguments.hpp"
#include "cli/files/file_format.hpp"
#include "cli/files/line_reader.hpp"

namespace lapilli::cli {

class RecordFormat {
 public:
  virtual ~RecordFormat() = default;

  struct Text {
    std::string text;   // "": nothing to translate
    std::string error;  // why there is none
    bool kept = false;  // no record, such as the names of columns: the line stays as it is
  };
  virtual Text text(const Line& line) = 0;
  // Why the file of these lines cannot be translated at all, by the lines so far, the first of which tell it. "": it
  // can.
  [[nodiscard]] virtual std::string refusal() const { return ""; }

  struct Result {
    std::string text;
    std::string error;     // why there is no text; "" if there is
    bool nothing = false;  // there was nothing to translate
    bool json = false;     // the text is a value of JSON, not a string
  };
  // The line with its end. All bytes but the result's stay the same.
  virtual std::string output(const Line& line, const Result& result) = 0;
};

// JSON objects: one member is translated, another one set. A line that fails keeps its members and gets "error".
std::unique_ptr<RecordFormat> json_lines(const std::string& field, const std::string& to_field);
// Columns between tabs: one of them is replaced. `column`: a number from 1, or a name from the first line, which stays.
// A line that fails stays as it is.
std::unique_ptr<RecordFormat> tab_columns(const std::string& column);
// Those of a file in this format; null: its lines are texts.
std::unique_ptr<RecordFormat> record_format(Format format, const FileArguments& files);

// Why a table has no such column, by its first kTellingBytes; "": it has, or they do not tell.
std::string missing_column(const std::string& column, const std::string& beginning);

}  // namespace lapilli::cli
