// Text as it comes: from ids that are settled one after the other to text that is never taken back.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "text/sentences/sentences.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {

// Detokenizes ids that come one after the other. What it gave out is never taken back, and half a character is never
// given: the last word waits until another begins, for its letters, marks and the space before it may still change.
// Scripts that write no spaces come character by character.
class IncrementalText {
 public:
  explicit IncrementalText(const Tokenizer* tokenizer) : tokenizer_(tokenizer) {}
  // Text that is final now.
  Result<std::string> push(std::span<const int32_t> ids);
  // The text of all ids so far.
  [[nodiscard]] Result<std::string> whole() const;
  // The rest, given the whole text. If that does not begin with what was given out (no tokenizer here does so),
  // nothing.
  std::string finish(std::string_view whole);

 private:
  const Tokenizer* tokenizer_;  // null: no text
  std::vector<int32_t> ids_;
  std::string given_;
};

// New text and ids of an input's best sequence; false cancels.
using StreamSink = std::function<bool(size_t input, std::string_view text, std::span<const int32_t> ids)>;

// The pieces of one input, which may come in any order and at once, as one text in order: together what the result
// says, white space between the pieces included.
class InputStream {
 public:
  // `ranges`: of the pieces in `text`; empty: one piece, the whole. Both must outlive this.
  InputStream(const Tokenizer* tokenizer, std::string_view text, std::span<const TextRange> ranges);

  struct Output {
    std::string text;
    std::vector<int32_t> ids;
  };
  // Ids of a piece that are new. `ended`: the last of them ends it.
  Result<Output> push(size_t piece, std::span<const int32_t> ids, bool ended);
  // The piece's text and ids are these; what is left of it comes out as soon as all pieces before it have.
  Output finish(size_t piece, std::string_view text, std::span<const int32_t> ids);

 private:
  struct Piece {
    IncrementalText text;
    std::string waiting;
    std::vector<int32_t> waiting_ids;
    size_t ids = 0;  // seen
    bool begun = false, complete = false;
  };
  void drain(Output& out);
  void add_gap(size_t piece, std::string_view next, Output& out);

  std::string_view text_;
  std::span<const TextRange> ranges_;
  std::vector<Piece> pieces_;
  size_t next_ = 0;    // the piece that gives out now
  std::string given_;  // the end of it, as far as the next gap needs it
};

}  // namespace lapilli
