// Labels of the words of a text: names, parts of speech, corrections.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace lapilli {

// From labels of tokens to those of spans: as they are; neighbours of one label joined; and joined with one label for
// all tokens of a word, which is that of the first token, of the mean of their scores, or of the surest one.
enum class TagAggregation : uint8_t { none, simple, first, average, max };

struct Entity {
  std::string label;  // without "B-" and "I-" where tokens are joined
  double score = 0;
  ByteRange bytes;     // of the text
  std::string word;    // its tokens, decoded; with TagAggregation::none the token as it stands in the vocabulary
  uint32_t index = 0;  // with TagAggregation::none: the token's number, counted with special ones in front of the text
};

// One of TextEncoder::windows(), and a logit of each label for each of its ids.
struct TagWindow {
  const Encoding* encoding = nullptr;
  std::span<const float> logits;
};

struct TagOptions {
  TagAggregation aggregation = TagAggregation::simple;
  std::span<const std::string> ignored;  // labels of entities that are left out
};

// Every token counts once: as the window says in which it has most context. `stride`: ids that neighbouring windows
// share. A score is not finite where a logit is not.
Result<std::vector<Entity>> find_entities(std::string_view text, std::span<const TagWindow> windows, uint32_t stride,
                                          std::span<const std::string> labels, const Tokenizer& tokenizer,
                                          const TagOptions& options);

}  // namespace lapilli
