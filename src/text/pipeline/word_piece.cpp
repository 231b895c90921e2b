// WordPiece: longest token first, from left to right. WordLevel: words are tokens.
#include "text/pipeline/models.hpp"
#include "text/pipeline/vocabulary_trie.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

class WordPiece final : public SubwordModel {
 public:
  WordPiece(Vocabulary vocabulary, ByteTrie trie, const WordPieceOptions& options)
      : vocabulary_(std::move(vocabulary)),
        trie_(std::move(trie)),
        options_(options),
        unknown_(vocabulary_.id(options.unknown)) {
    for (const char c : options_.continuing_subword_prefix) {
      if (continued_ != ByteTrie::kNone) continued_ = trie_.step(continued_, static_cast<unsigned char>(c));
    }
  }

  Status tokenize(std::string_view word, std::vector<ModelToken>& tokens) const override {
    const size_t before = tokens.size();
    uint64_t characters = 0;
    for (size_t at = 0; at < word.size(); ++characters) next_character(word, at);
    bool known = characters <= options_.max_characters;
    for (size_t at = 0; known && at < word.size();) {
      const uint32_t from = at == 0 ? ByteTrie::kRoot : continued_;
      const ByteTrie::Match match = from == ByteTrie::kNone ? ByteTrie::Match{} : trie_.longest(word.substr(at), from);
      known = match.value >= 0;
      if (!known) break;
      tokens.push_back({match.value, static_cast<uint32_t>(at), static_cast<uint32_t>(at + match.length)});
      at += match.length;
    }
    if (known) return {};
    tokens.resize(before);
    tokens.push_back({unknown_, 0, static_cast<uint32_t>(word.size())});
    return {};
  }

  [[nodiscard]] int32_t id(std::string_view token) const override { return vocabulary_.id(token); }
  [[nodiscard]] const std::string* token(int32_t id) const override { return vocabulary_.token(id); }
  [[nodiscard]] uint64_t size() const override { return vocabulary_.size(); }
  [[nodiscard]] ModelKind kind() const override { return ModelKind::word_piece; }
  [[nodiscard]] int32_t unknown() const override { return unknown_; }
  [[nodiscard]] std::string_view continuing_prefix() const override { return options_.continuing_subword_prefix; }

 private:
  Vocabulary vocabulary_;
  ByteTrie trie_;
  WordPieceOptions options_;
  int32_t unknown_;
  uint32_t continued_ = ByteTrie::kRoot;  // the node after the prefix
};

class WordLevel final : public SubwordModel {
 public:
  WordLevel(Vocabulary vocabulary, const std::string& unknown)
      : vocabulary_(std::move(vocabulary)), unknown_(vocabulary_.id(unknown)) {}

  Status tokenize(std::string_view word, std::vector<ModelToken>& tokens) const override {
    int32_t id = vocabulary_.id(word);
    if (id < 0) id = unknown_;
    if (id < 0)
      return fail(ErrorCode::invalid_argument, "the vocabulary has neither the word %s nor an unknown token",
                  quote_text(word));
    tokens.push_back({id, 0, static_cast<uint32_t>(word.size())});
    return {};
  }
  [[nodiscard]] int32_t id(std::string_view token) const override { return vocabulary_.id(token); }
  [[nodiscard]] const std::string* token(int32_t id) const override { return vocabulary_.token(id); }
  [[nodiscard]] uint64_t size() const override { return vocabulary_.size(); }
  [[nodiscard]] ModelKind kind() const override { return ModelKind::word_level; }
  [[nodiscard]] int32_t unknown() const override { return unknown_; }

 private:
  Vocabulary vocabulary_;
  int32_t unknown_;
};

}  // namespace

Result<ModelPtr> make_word_piece(Vocabulary vocabulary, const WordPieceOptions& options, const std::string& where) {
  if (vocabulary.id(options.unknown) < 0)
    return fail(ErrorCode::invalid_data, "%s: the vocabulary lacks the unknown token %s", where,
                quote_text(options.unknown));
  LAPILLI_TRY(ByteTrie trie, make_vocabulary_trie(vocabulary, where));
  return ModelPtr(std::make_unique<WordPiece>(std::move(vocabulary), std::move(trie), options));
}

Result<ModelPtr> make_word_level(Vocabulary vocabulary, const std::string& unknown, const std::string&) {
  return ModelPtr(std::make_unique<WordLevel>(std::move(vocabulary), unknown));
}

}  // namespace lapilli
