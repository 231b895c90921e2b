// merges.txt and vocab.txt.
#include <utility>

#include "base/files.hpp"
#include "text/pipeline/models.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

// Calls f(line, number from 1) for each line of a text file, without its line ending.
template <class F>
Status for_each_line(const FileName& path, F&& f) {
  LAPILLI_TRY(const std::string text, read_text_file(path));
  LAPILLI_CHECK(check_utf8(text, path.path()));
  std::string_view rest = text;
  for (size_t number = 1; !rest.empty(); ++number) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    LAPILLI_CHECK(f(line, number));
  }
  return {};
}

}  // namespace

Result<std::vector<Merge>> load_merges(const FileName& path) {
  std::vector<Merge> merges;
  LAPILLI_CHECK(for_each_line(path, [&](std::string_view line, size_t number) -> Status {
    if (line.empty() || line.starts_with("#version")) return {};
    const size_t space = line.find(' ');
    if (space == 0 || space == std::string_view::npos || space + 1 == line.size() ||
        line.find(' ', space + 1) != std::string_view::npos)
      return fail(ErrorCode::invalid_data, "%s: line %u, %s, is not two tokens with a space between them", path, number,
                  quote_text(line));
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
    return {};
  }));
  return merges;
}

Result<Vocabulary> load_vocab_txt(const FileName& path) {
  std::vector<std::string> tokens;
  LAPILLI_CHECK(for_each_line(path, [&](std::string_view line, size_t) -> Status {
    tokens.emplace_back(line);
    return {};
  }));
  if (tokens.empty()) return fail(ErrorCode::invalid_data, "%s: no token in it", path);
  return Vocabulary::from_list(std::move(tokens));
}

}  // namespace lapilli
