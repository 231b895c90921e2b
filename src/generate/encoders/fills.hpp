// Words for the masks of a text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "text/tokenizer.hpp"

namespace lapilli {

struct Fill {
  int32_t token = 0;
  std::string word;  // as a reader writes it: without marks of words, and without blanks around it
  double score = 0;  // 0..1
  std::string text;  // the whole text with the word; other masks stay
};

// The rows of an encoding that are masks, in their order. An error names this model's mask.
Result<std::vector<uint32_t>> find_masks(const Encoding& encoding, const Tokenizer& tokenizer);

// The `top` best words for the mask in `row`, of the logits of that row. A score is not finite where a logit is not.
Result<std::vector<Fill>> best_fills(const Encoding& encoding, uint32_t row, std::span<const float> logits,
                                     const Tokenizer& tokenizer, uint32_t top);

}  // namespace lapilli
