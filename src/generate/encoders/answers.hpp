// Answers of a text to a question: the best spans of the windows that a model has read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace lapilli {

// A span of the text; the empty one at 0 says that the text has no answer.
struct Answer {
  double score = 0;  // a text that is found in several places or windows sums theirs, so it may exceed 1
  ByteRange bytes;
  std::string text;
};

struct AnswerOptions {
  uint32_t top = 1;
  uint32_t most_tokens = 15;
  bool allow_empty = false;    // that the text has no answer competes
  bool align_to_words = true;  // else an answer may begin and end inside a word
};

// One of TextEncoder::windows() with a question, and two logits for each of its ids: an answer begins and ends there.
struct AnswerWindow {
  const Encoding* encoding = nullptr;
  std::span<const float> logits;
};

// As question-answering of transformers 4 reads windows, unless told otherwise; `limit` is the model's, 0: none.
WindowOptions usual_answer_windows(uint32_t limit);

// The best answers, at most options.top, the highest score first. `cls` is the tokenizer's class token, whose place
// stands for no answer. The logits must be two for each id, and finite: a window with others has no answer.
std::vector<Answer> best_answers(std::string_view text, std::span<const AnswerWindow> windows, int32_t cls,
                                 const AnswerOptions& options);

}  // namespace lapilli
