// Streamed text: from ids committed one by one to text that is never taken back.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "generate/chat/answer_text.hpp"
#include "text/sentences/sentences.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {

// Incremental detokenizer. Output is never taken back and never ends within a character: the last word waits until
// another begins, because its letters, marks and preceding space may still change. Scripts without spaces come
// character by character.
class IncrementalText {
 public:
  explicit IncrementalText(const Tokenizer* tokenizer) : tokenizer_(tokenizer) {}
  // Returns text that is now final.
  Result<std::string> push(std::span<const int32_t> ids);
  // The text of all ids so far.
  [[nodiscard]] Result<std::string> whole() const;
  // The rest, given the whole text; empty if that does not begin with earlier output (which no tokenizer here causes).
  std::string finish(std::string_view whole);

 private:
  const Tokenizer* tokenizer_;  // null: no text
  std::vector<int32_t> ids_;
  std::string given_;
};

// New text and ids of an input's best sequence; false cancels.
using StreamSink = std::function<bool(size_t input, std::string_view text, std::span<const int32_t> ids)>;

// Joins the parts of one input, which may come in any order and concurrently, to one text in order, which equals the
// result's, with the white space between parts.
class InputStream {
 public:
  // `ranges`: of the parts in `text`; empty: one part, the whole. All must outlive this. The text of each part is the
  // answer that `rules` make of it.
  InputStream(const Tokenizer* tokenizer, std::string_view text, std::span<const TextRange> ranges,
              const AnswerRules& rules = kWholeText);

  struct Output {
    std::string text;
    std::vector<int32_t> ids;
  };
  // Takes new ids of a part. `ended`: the last of them ends it.
  Result<Output> push(size_t part, std::span<const int32_t> ids, bool ended);
  // Takes the part's final text and ids; the rest of it comes out once all parts before it have.
  Output finish(size_t part, std::string_view text, std::span<const int32_t> ids);
  // True once a stop text ended the part.
  [[nodiscard]] bool stopped(size_t part) const { return parts_[part].answer.stopped(); }

 private:
  struct Part {
    IncrementalText text;
    AnswerText answer;
    std::string given;  // of the answer
    std::string waiting;
    std::vector<int32_t> waiting_ids;
    size_t ids = 0;  // seen
    bool begun = false, complete = false;
  };
  static void add(Part& part, const std::string& text);
  void drain(Output& out);
  void add_gap(size_t part, std::string_view next, Output& out);

  std::string_view text_;
  std::span<const TextRange> ranges_;
  std::vector<Part> parts_;
  size_t next_ = 0;    // the part that is being given out
  std::string given_;  // its end, as far as the next gap depends on it
};

}  // namespace lapilli
