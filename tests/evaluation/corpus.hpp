// A test set: sources with their references, and what the reference implementation gave for them.
//
// DIRECTORY/test.tsv: a line per source: source, then one or more references, tab-separated.
// DIRECTORY/reference_beam4.ids, .txt (and reference_greedy.*): a line per source: ids, end token included, start token
// left out; and their text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace lapilli::evaluation {

struct Line {
  uint64_t number = 0;  // in test.tsv, from 1
  std::string source;
  std::vector<std::string> references;
  std::vector<int32_t> expected_ids;
  std::string expected_text;
};

// `search` is "beam4" or "greedy". Files that disagree in their number of lines are an error.
Result<std::vector<Line>> read_corpus(const std::string& directory, const std::string& search);

// `count` lines spread evenly over all, in order; all of them if count is 0 or larger.
std::vector<Line> sample(std::vector<Line> lines, uint64_t count);

// The lines of a file, without their ends; an error if it cannot be read.
Result<std::vector<std::string>> read_lines(const std::string& path);

// Ids separated by spaces.
Result<std::vector<int32_t>> parse_ids(const std::string& line);

}  // namespace lapilli::evaluation
