// Translates the segments of a document, window by window, and writes the document with their translations to a sink.
#pragma once

#include <vector>

#include "cli/files/text_sources.hpp"
#include "cli/run/run_state.hpp"
#include "documents/document_text.hpp"

namespace lapilli::cli {

class DocumentTranslator {
 public:
  // `index`: of the source among those of the sink.
  DocumentTranslator(RunState& run, Sink& sink, const Source& source, uint64_t index)
      : run_(run), sink_(sink), source_(source), index_(index) {}
  // Reports errors in the document, without the model; gives the exit code.
  int check() { return open(); }
  // `done`: the first segments' results from an earlier run. Gives the exit code.
  int translate(std::vector<SavedSegment> done);

 private:
  int open();
  int read(std::string& bytes) const;
  int windows();
  int window(const std::vector<Line>& lines);
  SavedSegment segment_of(const LineResults& results, size_t line, const Line& segment);
  void tell_notes();
  void tell_unaligned();
  [[nodiscard]] std::string name() const { return source_.standard_input() ? "standard input" : source_.name; }

  RunState& run_;
  Sink& sink_;
  const Source& source_;
  uint64_t index_;
  bool told_unaligned_ = false;
  documents::DocumentText document_;
  std::vector<SavedSegment> done_;
};

}  // namespace lapilli::cli
