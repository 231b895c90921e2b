#include "generate/pieces.hpp"

#include <algorithm>
#include <cmath>

#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

// What would make the whole batch fail is found here, where it can be said of the one input.
Status check_source(const ModelInfo& info, const std::vector<int32_t>& ids, bool split) {
  if (ids.empty()) {
    return fail(ErrorCode::invalid_argument, "no token ids; an input has at least the end token");
  }
  for (int32_t id : ids) {
    if (id < 0 || static_cast<uint32_t>(id) >= info.source_vocabulary) {
      return fail(ErrorCode::invalid_argument, "token id %d is outside the model's source vocabulary of %u", id,
                  info.source_vocabulary);
    }
  }
  if (info.max_source_positions != 0 && ids.size() > info.max_source_positions) {
    return fail(ErrorCode::invalid_argument, "%zu tokens are more than the %u positions of the model; %s", ids.size(),
                info.max_source_positions,
                split ? "this piece of the text cannot be split any further" : "split the text into shorter pieces");
  }
  return {};
}

// ">>fr<<" that `text` begins with; empty if it does not.
std::string_view leading_mark(std::string_view text) {
  if (!text.starts_with(">>")) return {};
  const size_t end = text.find("<<");
  if (end == std::string_view::npos || end == 2) return {};
  const std::string_view mark = text.substr(0, end + 2);
  return mark.find_first_of(" \t\r\n") == std::string_view::npos ? mark : std::string_view();
}

class Maker {
 public:
  Maker(const Model& model, std::string_view text, const PieceOptions& options)
      : model_(model), text_(text), o_(options) {
    if (o_.conventions) prefix_ = o_.conventions->prefix;
  }

  Result<InputPieces> run() {
    // Of the whole, before anything is cut off or put before it: so the offset is one of the caller's text.
    LAPILLI_CHECK(check_utf8(text_, "text"));
    InputPieces made;
    find_mark();
    std::vector<TextRange> ranges;
    if (splits()) ranges = sentences();
    if (ranges.size() <= 1) ranges = {{0, text_.size()}};
    if (o_.split == Split::long_texts && ranges.size() > 1 && ranges.size() <= whole_sentences()) {
      const TextRange all{0, text_.size()};
      LAPILLI_TRY(const auto whole, encode(all));
      if (whole.ids.size() <= kWholeTokens) ranges = {all};
    }
    for (const TextRange& range : ranges) LAPILLI_CHECK(add(range, made));
    if (made.pieces.size() > 1)
      for (const InputPiece& piece : made.pieces) made.ranges.push_back(piece.range);
    return made;
  }

 private:
  [[nodiscard]] uint32_t whole_sentences() const {
    return o_.conventions && o_.conventions->one_sentence ? 1 : kWholeSentences;
  }
  // A mark that the text brings itself says something of all of it: it is the prefix of every piece but the first,
  // which holds it. Where there is a prefix, that says it.
  void find_mark() {
    if (!prefix_.empty() || !splits()) return;
    const auto begin = static_cast<uint64_t>(text_.size() - strip_left(text_).size());
    const std::string_view mark = leading_mark(text_.substr(begin));
    if (mark.empty()) return;
    EncodeOptions bare;
    bare.add_special = false;
    const auto ids = model_.tokenizer()->encode(mark, bare);
    if (!ids || ids->size() != 1 || ids->front() == model_.tokenizer()->special().unk) return;  // no token of the model
    mark_ = {begin, begin + mark.size()};
    const std::string_view rest = text_.substr(mark_.end);
    body_ = mark_.end + (rest.size() - strip_left(rest).size());
    prefix_ = std::string(mark) + " ";
  }
  [[nodiscard]] bool marked() const { return mark_.end > mark_.begin; }

  [[nodiscard]] std::vector<TextRange> sentences() const {
    const uint64_t begin = marked() ? mark_.end : 0;
    auto ranges = split_sentences(text_.substr(begin), {o_.language, LineBreaks::guess, false});
    for (TextRange& range : ranges) range = {range.begin + begin, range.end + begin};
    if (marked() && !ranges.empty()) ranges.front().begin = mark_.begin;
    return ranges;
  }

  [[nodiscard]] EncodeOptions encoding() const {
    EncodeOptions e;
    if (!o_.conventions) return e;
    e.source_language = o_.conventions->source_language;
    e.target_language = o_.conventions->target_language;
    return e;
  }
  [[nodiscard]] bool splits() const {
    const bool words = o_.conventions && o_.conventions->texts_bring_words;
    return o_.split == Split::always || (o_.split == Split::long_texts && !words);
  }
  [[nodiscard]] std::string_view prefix_of(const TextRange& range) const {
    // A piece that begins with a mark needs none before it: the first, and those of texts that mark every sentence.
    const bool own = marked() && (range.begin <= mark_.begin || !leading_mark(text_.substr(range.begin)).empty());
    return own ? std::string_view() : std::string_view(prefix_);
  }

  [[nodiscard]] Result<Encoding> encode(std::string_view prefix, std::string_view part) const {
    if (prefix.empty()) return model_.tokenizer()->encode_with_offsets(part, encoding());
    return model_.tokenizer()->encode_with_offsets(std::string(prefix) + std::string(part), encoding());
  }
  [[nodiscard]] Result<Encoding> encode(const TextRange& range) const {
    return encode(prefix_of(range), text_.substr(range.begin, range.end - range.begin));
  }

  Status add(const TextRange& range, InputPieces& made) {
    LAPILLI_TRY(auto encoded, encode(range));
    const uint64_t most = model_.info().max_source_positions;
    if (most != 0 && encoded.ids.size() > most && splits()) {
      LAPILLI_TRY(const auto parts, limit(range, most));
      if (parts.size() > 1) {
        for (const TextRange& part : parts) {
          LAPILLI_TRY(auto e, encode(part));
          LAPILLI_CHECK(keep(part, std::move(e), made));
        }
        return {};
      }
    }
    return keep(range, std::move(encoded), made);
  }

  // A mark is never a piece by itself.
  [[nodiscard]] Result<std::vector<TextRange>> limit(TextRange range, uint64_t most) const {
    const bool holds_mark = marked() && range.begin <= mark_.begin;
    if (holds_mark) range.begin = body_;
    LAPILLI_TRY(auto parts, limit_sentence(text_, range, most, [&](std::string_view part) -> Result<uint64_t> {
                  LAPILLI_TRY(const auto e, encode(prefix_, part));
                  return e.ids.size();
                }));
    if (holds_mark && !parts.empty()) parts.front().begin = mark_.begin;
    return parts;
  }

  // Ranges of the input's text: the prefix is none of it.
  Status keep(const TextRange& range, Encoding encoded, InputPieces& made) {
    LAPILLI_CHECK(check_source(model_.info(), encoded.ids, splits()));
    const uint64_t before = prefix_of(range).size();
    for (ByteRange& b : encoded.offsets) {
      if (b.begin == b.end || b.end <= before)
        b = {};
      else
        b = {std::max(b.begin, before) - before + range.begin, b.end - before + range.begin};
    }
    made.pieces.push_back({range, std::move(encoded.ids), std::move(encoded.offsets)});
    return {};
  }

  const Model& model_;
  std::string_view text_;
  const PieceOptions& o_;
  std::string prefix_;  // of every piece, but for the one that holds the mark
  TextRange mark_;      // in the text; empty: none
  uint64_t body_ = 0;   // where the text behind the mark begins
};

}  // namespace

Result<InputPieces> make_pieces(const Model& model, const TextInput& input, const PieceOptions& options) {
  if (!input.has_ids) return Maker(model, input.text, options).run();
  InputPieces made;
  InputPiece piece;
  piece.ids.assign(input.ids.begin(), input.ids.end());
  piece.bytes.resize(piece.ids.size());
  LAPILLI_CHECK(check_source(model.info(), piece.ids, false));
  made.pieces.push_back(std::move(piece));
  return made;
}

TextSequence join_pieces(std::string_view text, const InputPieces& pieces, std::vector<TextSequence> sequences,
                         float length_penalty) {
  if (sequences.size() == 1 || pieces.ranges.empty()) return std::move(sequences.front());
  TextSequence all;
  std::vector<std::string> texts;
  for (const TextSequence& s : sequences) texts.push_back(s.text);
  all.text = join_sentences(text, pieces.ranges, texts);
  double sum = 0;
  uint64_t generated = 0, at = 0;
  for (TextSequence& s : sequences) {
    // What stands between the pieces is white space, which no piece begins with.
    at = std::min<uint64_t>(all.text.find(s.text, at), all.text.size());
    for (SequencePiece& piece : s.pieces) {
      piece.target.begin += at;
      piece.target.end += at;
      piece.text = s.text;
      piece.ids = s.ids;
      piece.score = s.score;
      all.pieces.push_back(std::move(piece));
    }
    at += s.text.size();
    for (const float score : s.token_scores) {
      if (std::isnan(score)) continue;
      sum += static_cast<double>(score);
      ++generated;
    }
    all.ids.insert(all.ids.end(), s.ids.begin(), s.ids.end());
    all.token_scores.insert(all.token_scores.end(), s.token_scores.begin(), s.token_scores.end());
  }
  all.score = static_cast<float>(
      sum / std::pow(static_cast<double>(std::max<uint64_t>(1, generated)), static_cast<double>(length_penalty)));
  return all;
}

}  // namespace lapilli
