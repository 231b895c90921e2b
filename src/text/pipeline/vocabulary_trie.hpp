// Tries over vocabularies, with bounded memory.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "text/unicode/byte_trie.hpp"
#include "text/vocabulary.hpp"

namespace lapilli {

// Building a trie takes up to 41 bytes per byte of text. The largest published vocabularies have 4 MiB.
inline constexpr size_t kMaxTrieText = size_t{16} << 20;

inline Result<ByteTrie> make_limited_trie(std::vector<std::pair<std::string_view, int32_t>> entries,
                                          const std::string& where) {
  size_t bytes = 0;
  for (const auto& [text, id] : entries) bytes += text.size();
  if (bytes > kMaxTrieText)
    return fail(ErrorCode::invalid_data, "%s: the vocabulary's tokens have %u bytes (limit %u)", where, bytes,
                kMaxTrieText);
  return ByteTrie(std::move(entries));
}

inline Result<ByteTrie> make_vocabulary_trie(const Vocabulary& vocabulary, const std::string& where) {
  std::vector<std::pair<std::string_view, int32_t>> entries;
  for (uint64_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    if (const std::string* token = vocabulary.token(id)) entries.emplace_back(*token, id);
  }
  return make_limited_trie(std::move(entries), where);
}

}  // namespace lapilli
