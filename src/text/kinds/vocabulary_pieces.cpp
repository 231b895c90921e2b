#include "text/kinds/vocabulary_pieces.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "text/unicode/case_mapping.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

VocabularyPieces::VocabularyPieces(SentencePieceModel model, Vocabulary words, CollectedTokens tokens)
    : model_(std::move(model)),
      words_(std::move(words)),
      added_(std::move(tokens.tokens)),
      unknown_(std::move(tokens.unknown)),
      unknown_id_(tokens.ids.unk),
      size_(words_.size()) {
  for (const AddedToken& t : added_.all()) size_ = std::max(size_, static_cast<uint64_t>(t.id) + 1);
}

Result<Encoding> VocabularyPieces::encode(std::string_view text) const {
  Encoding out;
  for (const AddedTokens::Part& part : added_.split(text)) {
    const auto begin = static_cast<uint64_t>(part.text.data() - text.data());
    if (part.token != nullptr) {
      out.push(part.token->id, {begin, begin + part.text.size()});
      continue;
    }
    LAPILLI_TRY(const auto pieces, model_.encode(part.text));
    for (const SentencePiece& piece : pieces) {
      const int32_t id = words_.id(piece.text);
      out.push(id < 0 ? unknown_id_ : id, {begin + piece.begin, begin + piece.end});
    }
  }
  return out;
}

std::string_view VocabularyPieces::token(int32_t id) const {
  if (const AddedToken* added = added_.by_id(id)) return added->text;
  const std::string* word = words_.token(id);
  return word == nullptr ? unknown_ : *word;
}

Result<std::string> VocabularyPieces::decode(std::span<const int32_t> ids, const Joining& joining) const {
  std::string out;
  std::vector<std::string> run;
  const auto flush = [&]() -> Status {
    LAPILLI_TRY(const std::string text, model_.decode(run));
    out += joining.upper_case ? upper_case(text) : text;
    run.clear();
    return {};
  };
  for (const int32_t id : ids) {
    const std::string_view text = token(id);
    const AddedToken* added = added_.by_text(text);
    if (added == nullptr || !added->special) {
      run.emplace_back(text);
    } else if (!joining.skip_special) {
      LAPILLI_CHECK(flush());
      out += text;
      if (joining.space_behind_special) out += ' ';
    }
  }
  LAPILLI_CHECK(flush());
  return std::string(strip(out));
}

}  // namespace lapilli
