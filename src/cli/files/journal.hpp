// Records how far an output is, so that an interrupted run can be resumed: lines of text beside the output, to which
// lines are only added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "documents/document_text.hpp"

namespace lapilli::cli {

// The inputs and settings that an output depends on, as names and values. A run is resumed only if they are equal.
using Identity = std::vector<std::pair<std::string, std::string>>;

// The name of the first difference; "" if there is none.
std::string difference(const Identity& a, const Identity& b);

// The completed part of an output.
struct Point {
  uint64_t source = 0;        // the inputs before it are done
  uint64_t units = 0;         // lines of that input, or segments of a document, that are done
  uint64_t bytes = 0;         // of the output
  uint64_t failed = 0;        // lines and segments in all
  uint64_t lines_before = 0;  // of the inputs before
};

// The result of a segment whose document is not done.
using SavedSegment = documents::TranslatedSegment;

struct Journal {
  Identity identity;
  Point point;
  std::vector<SavedSegment> segments;  // of input point.source, point.units of them
  bool complete = false;
};

std::string journal_head(const Identity& identity);
std::string journal_record(const SavedSegment& segment);
// Earlier records belong to it; records behind the last one do not count.
std::string journal_record(const Point& point);
std::string journal_end();

// Nothing if the text is no journal. An incomplete record at its end is ignored.
std::optional<Journal> read_journal(std::string_view text);

}  // namespace lapilli::cli
