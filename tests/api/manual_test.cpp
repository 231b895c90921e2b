// lapilli.h is the manual of the C interface. Formatters fill the paragraphs of comments together; here is what a
// reader must find instead: short paragraphs, and topics that stand apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Lines = std::vector<std::string>;

constexpr size_t kLongestParagraph = 5;  // lines
constexpr size_t kTextColumn = 11;       // where the text of a topic stands; what is indented less is an example

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A line of a comment without the comment's own marks and margin.
std::string bare(std::string line) {
  const size_t begin = line.find_first_not_of(' ');
  line.erase(0, begin == line.npos ? line.size() : begin);
  if (line.starts_with("*") || line.starts_with("/*")) line.erase(0, line.find('*') + 1);
  if (line.starts_with(' ')) line.erase(0, 1);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::vector<Lines> comments_of(const std::string& header) {
  std::vector<Lines> comments;
  for (size_t at = header.find("/*"); at != header.npos; at = header.find("/*", at)) {
    const size_t end = std::min(header.find("*/", at), header.size());
    Lines& lines = comments.emplace_back(lines_of(header.substr(at, end - at)));
    for (std::string& line : lines) line = bare(line);
    at = end;
  }
  return comments;
}

size_t indent_of(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }
bool is_example(const std::string& line) { return indent_of(line) >= 2 && indent_of(line) < kTextColumn; }
// "Errors     Functions that can fail ..."
bool begins_topic(const std::string& line) {
  const size_t word = line.find("  ");
  return indent_of(line) == 0 && word < kTextColumn && line.find_first_not_of(' ', word) == kTextColumn &&
         line.find(' ') == word;
}

// The faults of a comment, a line for each.
Lines complaints(const Lines& comment) {
  Lines wrong;
  size_t paragraph = 0;
  for (const std::string& line : comment) {
    if (line.empty() || is_example(line)) {
      paragraph = 0;
      continue;
    }
    if (begins_topic(line) && paragraph > 0) wrong.push_back("no empty line before: " + line);
    if (++paragraph == kLongestParagraph + 1) wrong.push_back("a paragraph of too many lines: " + line);
    const size_t text = begins_topic(line) ? kTextColumn : indent_of(line);
    if (line.find("  ", text) != line.npos) wrong.push_back("a topic within a line: " + line);
  }
  return wrong;
}

std::string read_header() {
  std::ifstream stream(LAPILLI_SOURCE_DIR "/include/lapilli/lapilli.h");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// The long comment at the top.
Lines manual() {
  const auto comments = comments_of(read_header());
  return comments.size() > 1 ? comments[1] : Lines();
}

TEST(Manual, ParagraphsAreShortAndTopicsStandApart) {
  const auto comments = comments_of(read_header());
  EXPECT_GT(comments.size(), 100u);
  for (const Lines& comment : comments) EXPECT_THAT(complaints(comment), testing::IsEmpty());
}

TEST(Manual, HasItsTopics) {
  Lines topics;
  for (const std::string& line : manual()) {
    if (begins_topic(line)) topics.push_back(line.substr(0, line.find(' ')));
  }
  EXPECT_THAT(topics, testing::ElementsAre("Errors", "Structs", "Strings", "Ownership", "Threads"));
}

// Formatters do this to it.
TEST(Manual, RunTogetherIsSeen) {
  Lines dense, filled = {""};
  for (const std::string& line : manual()) {
    if (!line.empty()) dense.push_back(line);
    const size_t word = filled.back().empty() ? 0 : 1;
    if (filled.back().size() + line.size() > 110) filled.emplace_back();
    filled.back() += (word ? " " : "") + line.substr(is_example(line) ? 0 : indent_of(line));
  }
  EXPECT_GE(complaints(dense).size(), 5u);
  EXPECT_GE(complaints(filled).size(), 3u);
}

}  // namespace
