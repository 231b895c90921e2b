// Translates the lines of one source into a sink, window by window.
#pragma once

#include <memory>

#include "cli/files/record_format.hpp"
#include "cli/files/text_sources.hpp"
#include "cli/run/run_state.hpp"

namespace lapilli::cli {

class LineTranslator {
 public:
  // `index`: of the source among those of the sink.
  LineTranslator(RunState& run, Sink& sink, const Source& source, uint64_t index);
  // Skips the first `units` lines, which are done. Gives the exit code.
  int translate(uint64_t units);
  // Reads all of the source, and counts the lines of which vectors as numbers have no row.
  uint64_t count_kept();

 private:
  [[nodiscard]] bool by_lines() const;
  int argument();
  int file(uint64_t units);
  LineReader reader_of(size_t longest);
  void read_head(size_t longest);
  int keep(uint64_t done);
  void ask_for_lines() const;
  int windows(LineReader& reader, uint64_t units);
  // Reads lines that an earlier run has done, for what later ones need to know of them.
  void pass_over(const std::vector<Line>& lines);
  // Notes that the first lines look like records and are not read as such.
  void tell_unread(const std::vector<Line>& lines);
  std::vector<Line> next_window(LineReader& reader, uint64_t skipped) const;
  int window(const std::vector<Line>& lines);
  int together(const std::vector<Line>& lines, uint64_t at, uint64_t of);
  // The model's input for each line, and errors in the lines.
  std::vector<Line> texts_of(const std::vector<Line>& lines, std::vector<std::string>& errors);
  [[nodiscard]] std::string refusal() const { return format_ ? format_->refusal() : ""; }
  // Puts words that stay back into what was made of these texts, and gives it to the memory.
  void restore(const std::vector<Line>& texts, LineResults& results) const;
  void restore_line(const std::string& source, LineResults& results, size_t line) const;
  [[nodiscard]] documents::KeptText::Links links_of(const LineResults& results, size_t line) const;
  [[nodiscard]] std::string output(const Line& line, const LineResult& result) const;
  [[nodiscard]] std::string whole_row(std::string row) const;
  [[nodiscard]] static bool keeps_lost(const LineResult& result);
  int write(const std::vector<Line>& lines, const LineResults& results, const std::string& streamed);
  // The name of a line in messages.
  [[nodiscard]] std::string where(uint64_t line) const;

  RunState& run_;
  Sink& sink_;
  const Source& source_;
  uint64_t index_;
  std::unique_ptr<RecordFormat> format_;  // none: lines are texts
  std::string shown_name_;                // in messages
  uint64_t shown_before_ = 0;             // added to line numbers in messages
};

}  // namespace lapilli::cli
