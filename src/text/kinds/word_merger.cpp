#include "text/kinds/word_merger.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/files.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

class Merger {
 public:
  Merger(const MergeRanks& ranks, std::vector<MergeSymbol> symbols) : ranks_(ranks), symbols_(std::move(symbols)) {
    const size_t n = symbols_.size();
    for (size_t i = 0; i < n; ++i) {
      previous_.push_back(i == 0 ? kNone : i - 1);
      next_.push_back(i + 1 == n ? kNone : i + 1);
    }
    for (size_t i = 0; i + 1 < n; ++i) push(i);
  }

  std::vector<MergeSymbol> run() && {
    std::vector<size_t> merged;
    while (!queue_.empty()) {
      const uint32_t rank = queue_.top().rank;
      // New pairs wait until all of this rank are merged, whatever their rank.
      merged.clear();
      for (; !queue_.empty() && queue_.top().rank == rank; queue_.pop()) {
        const size_t left = queue_.top().left;
        if (rank_of(left) != rank) continue;  // one of the two is part of another symbol by now
        merge(left);
        merged.push_back(left);
      }
      for (const size_t at : merged) {
        if (!alive(at)) continue;
        if (previous_[at] != kNone) push(previous_[at]);
        push(at);
      }
    }
    std::vector<MergeSymbol> out;
    for (size_t i = 0; i != kNone && i < symbols_.size(); i = next_[i]) out.push_back(std::move(symbols_[i]));
    return out;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  static constexpr uint32_t kNoRank = UINT32_MAX;
  struct Pair {
    uint32_t rank;
    size_t left;
    bool operator>(const Pair& other) const { return std::tie(rank, left) > std::tie(other.rank, other.left); }
  };

  [[nodiscard]] bool alive(size_t at) const { return !symbols_[at].text.empty(); }
  [[nodiscard]] uint32_t rank_of(size_t left) const {
    if (!alive(left) || next_[left] == kNone) return kNoRank;
    const auto it = ranks_.find(symbols_[left].text + " " + symbols_[next_[left]].text);
    return it == ranks_.end() ? kNoRank : it->second;
  }
  void push(size_t left) {
    if (const uint32_t rank = rank_of(left); rank != kNoRank) queue_.push({rank, left});
  }
  void merge(size_t left) {
    const size_t right = next_[left];
    symbols_[left].text += symbols_[right].text;
    symbols_[left].range.end = std::max(symbols_[left].range.end, symbols_[right].range.end);
    symbols_[right].text.clear();
    next_[left] = next_[right];
    if (next_[left] != kNone) previous_[next_[left]] = left;
  }

  const MergeRanks& ranks_;
  std::vector<MergeSymbol> symbols_;
  std::vector<size_t> previous_, next_;
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> queue_;
};

}  // namespace

std::vector<MergeSymbol> merge_symbols(const MergeRanks& ranks, std::vector<MergeSymbol> symbols) {
  return Merger(ranks, std::move(symbols)).run();
}

Result<MergeRanks> load_merge_ranks(const FileName& path, bool comment_first) {
  LAPILLI_TRY(const std::string text, read_text_file(path));
  LAPILLI_CHECK(check_utf8(text, path.path()));
  if (text.empty()) return MergeRanks();
  MergeRanks ranks;
  const auto word = [](std::string_view& line) {
    line = strip_left(line);
    size_t end = 0;
    for (size_t at = 0; at < line.size(); end = at) {
      if (const size_t from = at; strip_left(line.substr(from)).size() != line.size() - from) break;
      (void)next_character(line, at);
    }
    const std::string_view found = line.substr(0, end);
    line.remove_prefix(end);
    return found;
  };
  uint32_t rank = 0;
  size_t begin = 0;
  if (comment_first) begin = std::min(text.find('\n'), text.size() - 1) + 1;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    const std::string_view left = word(line), right = word(line);
    // The last of equal merges counts. Skipped lines use up a rank, too.
    if (!right.empty() && (!comment_first || strip(line).empty()))
      ranks[std::string(left) + " " + std::string(right)] = rank;
    ++rank;
  }
  return ranks;
}

}  // namespace lapilli
