// The segments of one document through the model, window by window, and the document with their translations into a
// sink.
#pragma once

#include <vector>

#include "cli/files/document_text.hpp"
#include "cli/files/text_sources.hpp"
#include "cli/run/run_state.hpp"

namespace lapilli::cli {

class DocumentTranslator {
 public:
  // `index` of the source among those of the sink.
  DocumentTranslator(RunState& run, Sink& sink, const Source& source, uint64_t index)
      : run_(run), sink_(sink), source_(source), index_(index) {}
  // Says what is wrong with the document, without the model: the exit code.
  int check() { return open(); }
  // `done`: what an earlier run made of the first segments. Gives the exit code.
  int translate(std::vector<SavedSegment> done);

 private:
  int open();
  int read(std::string& bytes) const;
  int windows();
  int window(const std::vector<Line>& lines);
  SavedSegment segment_of(const LineResults& results, size_t line, const Line& segment);
  [[nodiscard]] std::string name() const { return source_.standard_input() ? "standard input" : source_.name; }

  RunState& run_;
  Sink& sink_;
  const Source& source_;
  uint64_t index_;
  DocumentText document_;
  std::vector<SavedSegment> done_;
};

}  // namespace lapilli::cli
