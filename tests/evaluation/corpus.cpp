#include "evaluation/corpus.hpp"

#include <charconv>
#include <fstream>

namespace lapilli::evaluation {

Result<std::vector<std::string>> read_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::not_found, "%s cannot be opened", path.c_str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (file.bad()) return fail(ErrorCode::invalid_data, "%s cannot be read", path.c_str());
  return lines;
}

Result<std::vector<int32_t>> parse_ids(const std::string& line) {
  std::vector<int32_t> ids;
  const char* at = line.data();
  const char* const end = at + line.size();
  while (at != end) {
    if (*at == ' ') {
      ++at;
      continue;
    }
    int32_t id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc() || (next != end && *next != ' '))
      return fail(ErrorCode::invalid_data, "\"%s\" is not a list of token ids", line.c_str());
    ids.push_back(id);
    at = next;
  }
  return ids;
}

namespace {
std::vector<std::string> split_tabs(const std::string& line) {
  std::vector<std::string> parts;
  for (size_t at = 0;;) {
    const size_t tab = line.find('\t', at);
    parts.push_back(line.substr(at, tab - at));
    if (tab == std::string::npos) return parts;
    at = tab + 1;
  }
}
}  // namespace

Result<std::vector<Line>> read_corpus(const std::string& directory, const std::string& search) {
  LAPILLI_TRY(const auto test, read_lines(directory + "/test.tsv"));
  const std::string expected = directory + "/reference_" + search;
  LAPILLI_TRY(const auto ids, read_lines(expected + ".ids"));
  LAPILLI_TRY(const auto texts, read_lines(expected + ".txt"));
  if (test.empty() || ids.size() != test.size() || texts.size() != test.size())
    return fail(ErrorCode::invalid_data, "%s: test.tsv has %zu lines, reference_%s.ids %zu, reference_%s.txt %zu",
                directory.c_str(), test.size(), search.c_str(), ids.size(), search.c_str(), texts.size());
  std::vector<Line> lines;
  for (size_t i = 0; i < test.size(); ++i) {
    Line line;
    line.number = i + 1;
    auto parts = split_tabs(test[i]);
    if (parts.size() < 2)
      return fail(ErrorCode::invalid_data, "%s/test.tsv, line %zu: no reference", directory.c_str(), i + 1);
    line.source = parts.front();
    line.references.assign(parts.begin() + 1, parts.end());
    LAPILLI_TRY(line.expected_ids, parse_ids(ids[i]));
    line.expected_text = texts[i];
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<Line> sample(std::vector<Line> lines, uint64_t count) {
  if (count == 0 || count >= lines.size()) return lines;
  std::vector<Line> some;
  for (uint64_t i = 0; i < count; ++i) some.push_back(std::move(lines[i * lines.size() / count]));
  return some;
}

}  // namespace lapilli::evaluation
