// How far an output is, so that a run that was interrupted can be resumed: lines of text beside it, which are only
// added to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lapilli::cli {

// What an output is made of and how: names and values. Resumed is only what has the same.
using Identity = std::vector<std::pair<std::string, std::string>>;

// The name of the first thing that differs; "" if nothing does.
std::string difference(const Identity& a, const Identity& b);

// What is done of an output.
struct Point {
  uint64_t source = 0;        // the inputs before it are done
  uint64_t units = 0;         // lines of that input, or segments of a document, that are done
  uint64_t bytes = 0;         // of the output
  uint64_t failed = 0;        // lines and segments in all
  uint64_t lines_before = 0;  // of the inputs before
};

// What became of a segment of a document whose others are not done.
struct SavedSegment {
  bool failed = false;
  std::string text;
  struct Link {
    uint64_t source_begin = 0, source_end = 0, target_begin = 0, target_end = 0;
    float weight = 0;
  };
  std::vector<Link> links;
};

struct Journal {
  Identity identity;
  Point point;
  std::vector<SavedSegment> segments;  // of input point.source, point.units of them
  bool complete = false;
};

std::string journal_head(const Identity& identity);
std::string journal_record(const SavedSegment& segment);
// What stands before it belongs to it; what is behind the last one is not counted.
std::string journal_record(const Point& point);
std::string journal_end();

// Nothing if it is none. What was cut off at its end is left out.
std::optional<Journal> read_journal(std::string_view text);

}  // namespace lapilli::cli
