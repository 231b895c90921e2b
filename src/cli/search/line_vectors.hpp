// The vectors of the lines that are searched: made by a model, or taken from an earlier run's file.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/progress/progress.hpp"
#include "cli/run/text_model.hpp"
#include "cli/search/searched_lines.hpp"
#include "vectors/line_index.hpp"

namespace lapilli::cli {

// Takes lines in their order. The functions give the exit code.
class LineSink {
 public:
  virtual ~LineSink() = default;
  virtual int add(size_t line, std::span<const float> vector) = 0;
  virtual int fail(size_t line, const std::string& why) = 0;
};

class LineVectors {
 public:
  LineVectors(const TextModel& model, SearchedLines& lines, const Options& options, const Context& context)
      : model_(model), lines_(lines), options_(options), context_(context), progress_(context.quiet, true) {}

  // Vectors of lines whose texts are in `old` come from there. Ends early if the program is interrupted. Gives the exit
  // code.
  int make(const vectors::LineIndex* old, LineSink& sink);
  [[nodiscard]] uint64_t made() const { return made_; }
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  // Lines in a row, of which some need a vector.
  struct Window {
    size_t begin = 0, end = 0;
    std::vector<size_t> missing;
    std::vector<std::string> texts;
    uint64_t bytes = 0;
  };
  // The vector of an old line, or why it has none.
  struct Known {
    std::span<const float> vector;
    const std::string* why = nullptr;
  };
  void know(const vectors::LineIndex& old);
  [[nodiscard]] const Known* find(size_t line) const;
  [[nodiscard]] uint64_t missing_bytes() const;
  int gather(size_t begin, Window& window);
  int run(const Window& window, LineSink& sink);
  int hand_over(const Window& window, const std::optional<Results>& results, LineSink& sink);
  int take(size_t line, const Output& output, LineSink& sink);

  const TextModel& model_;
  SearchedLines& lines_;
  const Options& options_;
  const Context& context_;
  Progress progress_;
  Statistics statistics_;
  std::vector<std::pair<vectors::Fingerprint, Known>> known_;  // sorted
  uint64_t made_ = 0;
};

}  // namespace lapilli::cli
