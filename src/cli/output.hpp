// Standard output with its errors noticed, messages, and JSON strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lapilli::cli {

// Writes all of it. The exit code: 0, or that of an output that cannot be written (said on stderr, except when the
// reader went away). If the program is interrupted meanwhile, what follows the line that is begun is left out.
int print(std::string_view text);

// Where a run writes to.
class Sink {
 public:
  virtual ~Sink() = default;
  // Gives the exit code.
  virtual int write(std::string_view text) = 0;
  // All of `records` (journal.hpp) is done.
  virtual int keep(const std::string& records) = 0;
  // How many bytes there are by now.
  [[nodiscard]] virtual uint64_t bytes() const = 0;
};

class StandardOutput : public Sink {
 public:
  int write(std::string_view text) override { return print(text); }
  int keep(const std::string&) override { return 0; }
  [[nodiscard]] uint64_t bytes() const override { return 0; }
};

// One message on stderr; gives `code`.
int complain(int code, const std::string& message);

// With quotes. Bytes that are not valid UTF-8 are kept as they are.
std::string json_string(std::string_view text);

// With blanks for tabs and ends of lines, which would end a column or a line early.
std::string in_one_field(std::string text);

}  // namespace lapilli::cli
