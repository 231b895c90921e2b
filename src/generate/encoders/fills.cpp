#include "generate/encoders/fills.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "formats/quote.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

// Ids, the highest logit first. NaN stands behind all.
std::vector<int32_t> best_ids(std::span<const float> logits, size_t most) {
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto logit_rank = [&](int32_t id) {
    const float logit = logits[static_cast<size_t>(id)];
    return std::isnan(logit) ? -INFINITY : logit;
  };
  const auto is_better = [&](int32_t a, int32_t b) {
    return logit_rank(a) > logit_rank(b) || (logit_rank(a) == logit_rank(b) && a < b);
  };
  const size_t kept = std::min(most, ids.size());
  std::partial_sort(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(kept), ids.end(), is_better);
  ids.resize(kept);
  return ids;
}

// The logarithm of the sum of the exponentials.
double log_sum(std::span<const float> logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - highest);
  return highest + std::log(sum);
}

DecodeOptions with_special_ids() {
  DecodeOptions options;
  options.skip_special = false;
  return options;
}

// Without the mark of a piece that goes on with a word: at the beginning of a text nothing is before it.
std::string_view without_mark(std::string_view text, const Tokenizer& tokenizer) {
  const std::string_view mark = tokenizer.continuing_prefix();
  if (!mark.empty() && text.size() > mark.size() && text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

Result<std::string> clean_word(int32_t id, const Tokenizer& tokenizer) {
  LAPILLI_TRY(const std::string decoded, tokenizer.decode(std::span(&id, 1), with_special_ids()));
  return std::string(without_mark(strip(decoded), tokenizer));
}

// Decodes the text as the reference does: a mask alone goes together with the special ids, and of several the others
// must stay.
Result<std::string> filled_text(const Encoding& encoding, uint32_t row, int32_t id, const Tokenizer& tokenizer) {
  std::vector<int32_t> ids;
  bool others = false;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    if (encoding.texts[i] < 0) continue;
    ids.push_back(i == row ? id : encoding.ids[i]);
    others = others || (i != row && encoding.ids[i] == tokenizer.special().mask);
  }
  DecodeOptions options;
  options.skip_special = !others;
  const bool first = !ids.empty() && tokenizer.token(ids.front()).starts_with(tokenizer.continuing_prefix());
  LAPILLI_TRY(const std::string text, tokenizer.decode(ids, options));
  return std::string(first ? without_mark(text, tokenizer) : text);
}

}  // namespace

Result<std::vector<uint32_t>> find_masks(const Encoding& encoding, const Tokenizer& tokenizer) {
  const int32_t mask = tokenizer.special().mask;
  if (mask < 0)
    return fail(ErrorCode::unsupported, "the tokenizer of this model has no mask token: it fills in no words");
  std::vector<uint32_t> rows;
  for (size_t i = 0; i < encoding.ids.size(); ++i)
    if (encoding.ids[i] == mask && encoding.texts[i] >= 0) rows.push_back(static_cast<uint32_t>(i));
  if (!rows.empty()) return rows;
  return fail(ErrorCode::invalid_argument, "the text has no mask: write %s where this model is to fill in a word",
              std::string(tokenizer.token(mask)));
}

Result<std::vector<Fill>> best_fills(const Encoding& encoding, uint32_t row, std::span<const float> logits,
                                     const Tokenizer& tokenizer, uint32_t top) {
  std::vector<Fill> fills;
  const auto known = logits.first(std::min<size_t>(logits.size(), tokenizer.vocabulary_size()));
  if (known.empty()) return fills;
  const double sum = log_sum(logits);
  for (const int32_t id : best_ids(known, top)) {
    Fill fill;
    fill.token = id;
    fill.score = std::exp(logits[static_cast<size_t>(id)] - sum);
    LAPILLI_TRY(fill.word, clean_word(id, tokenizer));
    LAPILLI_TRY(fill.text, filled_text(encoding, row, id, tokenizer));
    fills.push_back(std::move(fill));
  }
  return fills;
}

}  // namespace lapilli
