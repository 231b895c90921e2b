// Byte pair encoding of single words by ranks of pairs, as the tokenizers do it that are older than byte-level BPE.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {

// Behind the last part of a word.
inline constexpr std::string_view kWordEnd = "</w>";

// A part of a word and the bytes of the text that it stems from.
struct MergeSymbol {
  std::string text;  // not empty
  ByteRange range;
};

// Ranks of pairs: the text of both with a space between them.
using MergeRanks = std::unordered_map<std::string, uint32_t>;

// merges.txt: a line per merge, two words; nothing counts behind the last line feed. `comment_first`: the first line is
// none, and lines with more than two words are none either.
Result<MergeRanks> load_merge_ranks(const FileName& path, bool comment_first);

// The pair of lowest rank is merged wherever it stands, from left to right, until no pair has a rank. O(n log n).
std::vector<MergeSymbol> merge_symbols(const MergeRanks& ranks, std::vector<MergeSymbol> symbols);

}  // namespace lapilli
