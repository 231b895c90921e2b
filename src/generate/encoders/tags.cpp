#include "generate/encoders/tags.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "text/unicode/unicode.hpp"

namespace lapilli {

namespace {

// ---- the tokens of the whole text ----------------------------------------------------------------------------------

struct TagToken {
  int32_t id = 0;
  ByteRange bytes;
  std::span<const float> logits;
  size_t context = 0;  // tokens between it and the nearer end of its window, unless the text ends there
};

void take_token(std::vector<TagToken>& tokens, size_t at, const TagToken& token) {
  if (at == tokens.size()) return tokens.push_back(token);
  if (token.context > tokens[at].context) tokens[at] = token;
}

std::vector<size_t> rows_of_text(const Encoding& e) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < e.ids.size(); ++i)
    if (e.texts[i] == 0) rows.push_back(i);
  return rows;
}

std::vector<TagToken> merge_windows(std::span<const TagWindow> windows, uint32_t stride, size_t labels) {
  std::vector<TagToken> tokens;
  for (size_t w = 0; w < windows.size(); ++w) {
    const Encoding& e = *windows[w].encoding;
    const std::vector<size_t> rows = rows_of_text(e);
    const size_t first = tokens.size() - (w == 0 ? 0 : std::min<size_t>(stride, tokens.size()));
    const size_t endless = std::numeric_limits<size_t>::max();
    for (size_t k = 0; k < rows.size(); ++k) {
      const size_t left = w == 0 ? endless : k, right = w + 1 == windows.size() ? endless : rows.size() - 1 - k;
      take_token(tokens, first + k,
                 {e.ids[rows[k]], e.offsets[rows[k]], windows[w].logits.subspan(rows[k] * labels, labels),
                  std::min(left, right)});
    }
  }
  return tokens;
}

std::vector<double> label_shares(std::span<const float> logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> shares;
  double sum = 0;
  for (const float logit : logits) sum += shares.emplace_back(std::exp(logit - highest));
  for (double& share : shares) share /= sum;
  return shares;
}

// ---- words ---------------------------------------------------------------------------------------------------------

bool is_blank_at(std::string_view text, size_t at) {
  return at < text.size() && is_white_space(next_character(text, at));
}

bool is_blank_before(std::string_view text, size_t at) {
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return is_blank_at(text, at);
}

// As the reference finds words: by the mark of tokens that go on a word (WordPiece), in other families by white space
// alone, so that a comma belongs to the word before it. Unknown tokens begin words.
bool goes_on_word(std::string_view text, const TagToken& token, const Tokenizer& tokenizer) {
  if (token.id == tokenizer.special().unk) return false;
  const std::string_view mark = tokenizer.continuing_prefix();
  if (!mark.empty()) return tokenizer.token(token.id).starts_with(mark);
  const size_t begin = token.bytes.begin;
  return begin > 0 && !is_blank_before(text, begin) && !is_blank_at(text, begin);
}

// Tokens [begin, end) with one label.
struct TagUnit {
  size_t begin = 0, end = 0;
  size_t label = 0;
  double score = 0;
};

void choose_label(std::span<const double> scores, TagUnit& unit) {
  unit.label = static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  unit.score = scores[unit.label];
}

std::vector<double> mean_of(std::span<const std::vector<double>> scores) {
  std::vector<double> mean(scores.front().size());
  for (const auto& row : scores)
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += row[i] / static_cast<double>(scores.size());
  return mean;
}

const std::vector<double>& surest(std::span<const std::vector<double>> scores) {
  const auto best = [](const auto& row) { return *std::max_element(row.begin(), row.end()); };
  return *std::max_element(scores.begin(), scores.end(),
                           [&](const auto& a, const auto& b) { return best(a) < best(b); });
}

void label_unit(std::span<const TagToken> tokens, TagAggregation aggregation, TagUnit& unit) {
  std::vector<std::vector<double>> scores;
  for (const TagToken& token : tokens.subspan(unit.begin, unit.end - unit.begin))
    scores.push_back(label_shares(token.logits));
  if (aggregation == TagAggregation::average) return choose_label(mean_of(scores), unit);
  choose_label(aggregation == TagAggregation::max ? surest(scores) : scores.front(), unit);
}

// Single tokens, or the words that they make up.
std::vector<TagUnit> units_of(std::string_view text, std::span<const TagToken> tokens, const Tokenizer& tokenizer,
                              TagAggregation aggregation) {
  const bool words = aggregation != TagAggregation::none && aggregation != TagAggregation::simple;
  std::vector<TagUnit> units;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (words && i > 0 && goes_on_word(text, tokens[i], tokenizer)) {
      units.back().end = i + 1;
    } else {
      units.push_back({i, i + 1, 0, 0});
    }
  }
  for (TagUnit& unit : units) label_unit(tokens, aggregation, unit);
  return units;
}

// ---- names ---------------------------------------------------------------------------------------------------------

// A label without its prefix. Labels without one go on.
struct NamedTag {
  std::string_view name;
  bool begins = false;
};

// B- begins a name and I- goes on. Of the marks for last and single tokens (E- and S-, L- and U-) only those count
// whose name also stands behind B-: others are a part of the name.
NamedTag tag_of(std::string_view label, std::span<const std::string> labels) {
  if (label.size() < 2 || label[1] != '-') return {label, false};
  const std::string_view name = label.substr(2);
  if (label[0] == 'B' || label[0] == 'I') return {name, label[0] == 'B'};
  const auto begins_it = [&](std::string_view other) { return other.starts_with("B-") && other.substr(2) == name; };
  const bool is_mark = std::string_view("ELSU").find(label[0]) != std::string_view::npos;
  if (!is_mark || std::none_of(labels.begin(), labels.end(), begins_it)) return {label, false};
  return {name, label[0] == 'S' || label[0] == 'U'};
}

class TagJoiner {
 public:
  TagJoiner(std::string_view text, std::span<const TagToken> tokens, std::span<const std::string> labels,
            std::span<const std::string> ignored, const Tokenizer& tokenizer)
      : text_(text), tokens_(tokens), labels_(labels), ignored_(ignored), tokenizer_(tokenizer) {
    for (const std::string& label : labels) tags_.push_back(tag_of(label, labels));
  }

  // Neighbours of one name are one entity, unless the second begins another.
  Result<std::vector<Entity>> joined(std::span<const TagUnit> units) const {
    std::vector<Entity> entities;
    for (size_t begin = 0, end = 0; begin < units.size(); begin = end) {
      const NamedTag& tag = tags_[units[begin].label];
      const auto belongs = [&](const TagUnit& unit) {
        const NamedTag& next = tags_[unit.label];
        return next.name == tag.name && !next.begins;
      };
      for (end = begin + 1; end < units.size() && belongs(units[end]);) ++end;
      if (is_ignored(tag.name)) continue;
      LAPILLI_TRY(Entity entity, entity_of(units.subspan(begin, end - begin)));
      entity.label = tag.name;
      entities.push_back(std::move(entity));
    }
    return entities;
  }

  // `before`: special tokens in front of the text.
  std::vector<Entity> single(std::span<const TagUnit> units, uint32_t before) const {
    std::vector<Entity> entities;
    for (const TagUnit& unit : units) {
      const TagToken& token = tokens_[unit.begin];
      if (is_ignored(labels_[unit.label])) continue;
      const bool unknown = token.id == tokenizer_.special().unk;
      entities.push_back({labels_[unit.label], unit.score, token.bytes,
                          unknown ? slice(token.bytes) : std::string(tokenizer_.token(token.id)),
                          before + static_cast<uint32_t>(unit.begin)});
    }
    return entities;
  }

 private:
  bool is_ignored(std::string_view label) const {
    return std::find(ignored_.begin(), ignored_.end(), label) != ignored_.end();
  }

  std::string slice(ByteRange bytes) const {
    return std::string(text_.substr(bytes.begin, std::max(bytes.end, bytes.begin) - bytes.begin));
  }

  Result<Entity> entity_of(std::span<const TagUnit> units) const {
    Entity entity;
    for (const TagUnit& unit : units) entity.score += unit.score / static_cast<double>(units.size());
    const auto tokens = tokens_.subspan(units.front().begin, units.back().end - units.front().begin);
    entity.bytes = {tokens.front().bytes.begin, tokens.back().bytes.end};
    LAPILLI_TRY(entity.word, word_of(tokens, entity.bytes));
    return entity;
  }

  // Unknown tokens are replaced by what they stand for.
  Result<std::string> word_of(std::span<const TagToken> tokens, ByteRange bytes) const {
    std::vector<int32_t> ids;
    for (const TagToken& token : tokens) ids.push_back(token.id);
    const int32_t unknown = tokenizer_.special().unk;
    if (unknown >= 0 && std::find(ids.begin(), ids.end(), unknown) != ids.end()) return slice(bytes);
    DecodeOptions options;
    options.skip_special = false;
    options.clean_up = false;
    return tokenizer_.decode(ids, options);
  }

  std::string_view text_;
  std::span<const TagToken> tokens_;
  std::span<const std::string> labels_, ignored_;
  const Tokenizer& tokenizer_;
  std::vector<NamedTag> tags_;  // of the labels
};

uint32_t specials_in_front(std::span<const TagWindow> windows) {
  if (windows.empty()) return 0;
  const auto& texts = windows.front().encoding->texts;
  return static_cast<uint32_t>(std::find(texts.begin(), texts.end(), 0) - texts.begin());
}

}  // namespace

Result<std::vector<Entity>> find_entities(std::string_view text, std::span<const TagWindow> windows, uint32_t stride,
                                          std::span<const std::string> labels, const Tokenizer& tokenizer,
                                          const TagOptions& options) {
  for (const TagWindow& window : windows)
    if (labels.empty() || window.logits.size() != window.encoding->ids.size() * labels.size())
      return fail(ErrorCode::internal, "%u logits for %u ids and %u labels", window.logits.size(),
                  window.encoding->ids.size(), labels.size());
  const std::vector<TagToken> tokens = merge_windows(windows, stride, labels.size());
  const std::vector<TagUnit> units = units_of(text, tokens, tokenizer, options.aggregation);
  const TagJoiner joiner(text, tokens, labels, options.ignored, tokenizer);
  if (options.aggregation == TagAggregation::none) return joiner.single(units, specials_in_front(windows));
  return joiner.joined(units);
}

}  // namespace lapilli
