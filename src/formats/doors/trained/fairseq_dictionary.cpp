#include "formats/doors/trained/fairseq_dictionary.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/math.hpp"
#include "formats/quote.hpp"

namespace lapilli::doors::trained {

namespace {

constexpr uint64_t kMultiple = 8;  // fairseq fills dictionaries up to it with "madeupword0000" and so on
constexpr const char* kFiller = "madeupword";

Failure bad_line(const FileName& name, size_t number, const std::string& what) {
  return fail(ErrorCode::invalid_data, "%s: line %u %s; the dictionary is damaged or another program's", name, number,
              what);
}

bool is_count(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// A line is a piece, a space and a count; a piece that is there twice says that it takes the place of the first.
Status read_line(const FileName& name, size_t number, std::string_view line, Pieces& pieces,
                 std::unordered_set<std::string>& seen) {
  constexpr std::string_view kOverwrite = " #fairseq:overwrite";
  const bool overwrites = line.ends_with(kOverwrite);
  if (overwrites) line.remove_suffix(kOverwrite.size());
  const size_t space = line.rfind(' ');
  if (space == std::string_view::npos || space == 0) return bad_line(name, number, "has no count behind a piece");
  if (!is_count(line.substr(space + 1)))
    return bad_line(name, number, "has " + quote_name(line.substr(space + 1), 40) + " for a count");
  std::string piece(line.substr(0, space));
  if (!seen.insert(piece).second && !overwrites)
    return bad_line(name, number, "has the piece " + quote_name(piece, 40) + " a second time");
  pieces.push_back(std::move(piece));
  return {};
}

Failure other_rows(const FileName& name, size_t lines, uint64_t rows) {
  return fail(ErrorCode::invalid_data,
              "%s has %u lines, with the four special pieces %u ids, and the network has %u rows for it; it is another "
              "model's, or cut short",
              name, lines, lines + 4, rows);
}

}  // namespace

Result<Pieces> read_dictionary(const FileName& name, uint64_t rows) {
  LAPILLI_TRY(const auto text, read_text_file(name));
  Pieces pieces = {"<s>", "<pad>", "</s>", "<unk>"};
  std::unordered_set<std::string> seen(pieces.begin(), pieces.end());
  for (size_t at = 0, number = 1; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    LAPILLI_CHECK(read_line(name, number, line, pieces, seen));
    at = end + 1;
  }
  const size_t lines = pieces.size() - 4;
  // Only a file that ends among fillers may lack some of them.
  const bool filled = pieces.size() < rows && pieces.back().starts_with(kFiller);
  if (rows != (filled ? round_up<uint64_t>(pieces.size(), kMultiple) : pieces.size()))
    return other_rows(name, lines, rows);
  for (size_t i = 0; pieces.size() < rows; ++i)
    if (std::string filler = format("%s%04u", kFiller, i); seen.insert(filler).second) pieces.push_back(filler);
  return pieces;
}

}  // namespace lapilli::doors::trained
