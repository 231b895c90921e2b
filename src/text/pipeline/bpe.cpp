// Byte pair encoding: characters, merged pair by pair in order of the merges' ranks.
#include <array>
#include <unordered_map>

#include "text/pipeline/models.hpp"
#include "text/pipeline/pair_merging.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

constexpr uint64_t pair_key(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

class Bpe final : public SubwordModel {
 public:
  Bpe(Vocabulary vocabulary, const BpeOptions& options) : vocabulary_(std::move(vocabulary)), options_(options) {
    unknown_ = options_.unknown.empty() ? -1 : vocabulary_.id(options_.unknown);
    for (size_t b = 0; b < bytes_.size(); ++b) bytes_[b] = vocabulary_.id(format("<0x%02X>", static_cast<unsigned>(b)));
  }

  Status add_merges(const std::vector<Merge>& merges, const std::string& where);
  Status tokenize(std::string_view word, std::vector<ModelToken>& tokens) const override;
  [[nodiscard]] int32_t id(std::string_view token) const override { return vocabulary_.id(token); }
  [[nodiscard]] const std::string* token(int32_t id) const override { return vocabulary_.token(id); }
  [[nodiscard]] uint64_t size() const override { return vocabulary_.size(); }
  [[nodiscard]] ModelKind kind() const override { return ModelKind::bpe; }
  [[nodiscard]] int32_t unknown() const override { return unknown_; }
  [[nodiscard]] std::string_view continuing_prefix() const override { return options_.continuing_subword_prefix; }

 private:
  [[nodiscard]] std::vector<LinkedSymbol> characters(std::string_view word) const;
  [[nodiscard]] bool fall_back(std::string_view text, LinkedSymbol place, std::vector<LinkedSymbol>& symbols) const;
  [[nodiscard]] const MergeRule* rule(int32_t left, int32_t right) const;

  Vocabulary vocabulary_;
  BpeOptions options_;
  int32_t unknown_ = -1;
  std::array<int32_t, 256> bytes_{};
  std::unordered_map<uint64_t, MergeRule> rules_;
};

Status Bpe::add_merges(const std::vector<Merge>& merges, const std::string& where) {
  rules_.reserve(merges.size());
  const std::string& prefix = options_.continuing_subword_prefix;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    const auto missing = [&](const std::string& token) {
      return fail(ErrorCode::invalid_data, "%s: merge %u: the vocabulary has no token %s", where, rank,
                  quote_text(token));
    };
    const int32_t left_id = vocabulary_.id(left);
    const int32_t right_id = vocabulary_.id(right);
    if (left_id < 0) return missing(left);
    if (right_id < 0 || right.size() < prefix.size()) return missing(right);
    const std::string both = left + right.substr(prefix.size());
    const int32_t id = vocabulary_.id(both);
    if (id < 0) return missing(both);
    rules_[pair_key(left_id, right_id)] = {static_cast<uint32_t>(rank), id};
  }
  return {};
}

bool Bpe::fall_back(std::string_view text, LinkedSymbol place, std::vector<LinkedSymbol>& symbols) const {
  for (const char c : text) {
    if (bytes_[static_cast<unsigned char>(c)] < 0) return false;
  }
  for (const char c : text) {
    place.id = bytes_[static_cast<unsigned char>(c)];
    symbols.push_back(place);
  }
  return true;
}

std::vector<LinkedSymbol> Bpe::characters(std::string_view word) const {
  std::vector<LinkedSymbol> symbols;
  symbols.reserve(word.size());
  LinkedSymbol pending{-1};  // an unknown token that may still grow
  const auto flush = [&] {
    if (pending.id >= 0) symbols.push_back(pending);
    pending = {-1};
  };
  std::string text;
  for (size_t at = 0; at < word.size();) {
    const auto begin = static_cast<uint32_t>(at);
    next_character(word, at);
    const auto end = static_cast<uint32_t>(at);
    text.clear();
    if (begin > 0) text += options_.continuing_subword_prefix;
    text += word.substr(begin, end - begin);
    if (at == word.size()) text += options_.end_of_word_suffix;
    if (const int32_t id = vocabulary_.id(text); id >= 0) {
      flush();
      symbols.push_back({id, begin, end});
      continue;
    }
    if (options_.byte_fallback && fall_back(text, {0, begin, end}, symbols)) continue;
    if (unknown_ < 0) continue;
    if (!options_.fuse_unknown) flush();
    pending = {unknown_, pending.id >= 0 ? pending.begin : begin, end};
  }
  flush();
  link_symbols(symbols);
  return symbols;
}

const MergeRule* Bpe::rule(int32_t left, int32_t right) const {
  const auto it = rules_.find(pair_key(left, right));
  return it == rules_.end() ? nullptr : &it->second;
}

Status Bpe::tokenize(std::string_view word, std::vector<ModelToken>& tokens) const {
  if (options_.ignore_merges) {
    if (const int32_t whole = vocabulary_.id(word); whole >= 0) {
      tokens.push_back({whole, 0, static_cast<uint32_t>(word.size())});
      return {};
    }
  }
  std::vector<LinkedSymbol> symbols = characters(word);
  merge_pairs(symbols, [&](const LinkedSymbol& a, const LinkedSymbol& b) { return rule(a.id, b.id); });
  for (uint32_t i = symbols.empty() ? kNoSymbol : 0; i != kNoSymbol; i = symbols[i].after)
    tokens.push_back({symbols[i].id, symbols[i].begin, symbols[i].end});
  return {};
}

}  // namespace

Result<ModelPtr> make_bpe(Vocabulary vocabulary, const std::vector<Merge>& merges, const BpeOptions& options,
                          const std::string& where) {
  if (!options.unknown.empty() && vocabulary.id(options.unknown) < 0)
    return fail(ErrorCode::invalid_data, "%s: the vocabulary lacks the unknown token %s", where,
                quote_text(options.unknown));
  auto model = std::make_unique<Bpe>(std::move(vocabulary), options);
  LAPILLI_CHECK(model->add_merges(merges, where));
  return ModelPtr(std::move(model));
}

}  // namespace lapilli
