// Standard output with error handling, messages, and JSON strings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli::cli {

// Writes all of it and gives the exit code: 0, or that of an output that cannot be written (reported on stderr, unless
// the reader went away). If the program is interrupted meanwhile, only the current line is finished.
int print(std::string_view text);

// The destination of a run's output.
class Sink {
 public:
  virtual ~Sink() = default;
  // Gives the exit code.
  virtual int write(std::string_view text) = 0;
  // Records that all of `records` (journal.hpp) is done.
  virtual int keep(const std::string& records) = 0;
  // The number of bytes written so far.
  [[nodiscard]] virtual uint64_t bytes() const = 0;
};

class StandardOutput : public Sink {
 public:
  int write(std::string_view text) override { return print(text); }
  int keep(const std::string&) override { return 0; }
  [[nodiscard]] uint64_t bytes() const override { return 0; }
};

// Prints one message on stderr and gives `code`.
int complain(int code, const std::string& message);

// The last message of this thread; "": there was none.
const std::string& last_complaint();

// Adds quotes. Invalid UTF-8 is kept as it is.
std::string json_string(std::string_view text);

// Replaces tabs and line ends by blanks, since they would end a column or a line.
std::string in_one_field(std::string text);

// Scores in falling order for people: four digits, and as many more as tell a score from its neighbours, and the first
// one from `above`, which none reaches.
std::vector<std::string> score_texts(const std::vector<double>& scores, std::optional<double> above = {});

// The shortest decimal that reads as this number.
std::string exact_number(double value);

}  // namespace lapilli::cli
