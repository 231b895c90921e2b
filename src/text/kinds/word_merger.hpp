// Byte pair encoding of single words by ranks of pairs, as in tokenizers older than byte-level BPE.
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

// Ends the last part of a word.
inline constexpr std::string_view kWordEnd = "</w>";

// A part of a word and the bytes of the text it stems from.
struct MergeSymbol {
  std::string text;  // not empty
  ByteRange range;
};

// Ranks of pairs, keyed by both texts with a space between them.
using MergeRanks = std::unordered_map<std::string, uint32_t>;

// merges.txt: a merge of two words per line; text after the last line feed is ignored. `comment_first`: skips the first
// line and lines with more than two words.
Result<MergeRanks> load_merge_ranks(const FileName& path, bool comment_first);

// Merges the pair of lowest rank at all its positions, from left to right, until no pair has a rank. O(n log n).
std::vector<MergeSymbol> merge_symbols(const MergeRanks& ranks, std::vector<MergeSymbol> symbols);

}  // namespace lapilli
