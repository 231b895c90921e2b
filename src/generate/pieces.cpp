#include "generate/pieces.hpp"

#include <algorithm>
#include <cmath>

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

class Maker {
 public:
  Maker(const Model& model, std::string_view text, const PieceOptions& options)
      : model_(model), text_(text), o_(options) {}

  Result<InputPieces> run() {
    InputPieces made;
    std::vector<TextRange> ranges;
    if (splits()) ranges = split_sentences(text_, {o_.language, LineBreaks::guess, false});
    if (ranges.size() <= 1) ranges = {{0, text_.size()}};
    if (o_.split == Split::long_texts && ranges.size() > 1 && ranges.size() <= kWholeSentences) {
      LAPILLI_TRY(const auto whole, encode(text_));
      if (whole.ids.size() <= kWholeTokens) ranges = {{0, text_.size()}};
    }
    for (const TextRange& range : ranges) LAPILLI_CHECK(add(range, made));
    if (made.pieces.size() > 1)
      for (const InputPiece& piece : made.pieces) made.ranges.push_back(piece.range);
    return made;
  }

 private:
  [[nodiscard]] EncodeOptions encoding() const {
    EncodeOptions e;
    if (!o_.conventions) return e;
    e.source_language = o_.conventions->source_language;
    e.target_language = o_.conventions->target_language;
    return e;
  }
  [[nodiscard]] bool splits() const { return o_.split != Split::never; }
  [[nodiscard]] std::string_view prefix() const {
    return o_.conventions ? std::string_view(o_.conventions->prefix) : std::string_view();
  }

  [[nodiscard]] Result<Encoding> encode(std::string_view part) const {
    if (prefix().empty()) return model_.tokenizer()->encode_with_offsets(part, encoding());
    return model_.tokenizer()->encode_with_offsets(std::string(prefix()) + std::string(part), encoding());
  }

  Status add(const TextRange& range, InputPieces& made) {
    LAPILLI_TRY(auto encoded, encode(text_.substr(range.begin, range.end - range.begin)));
    const uint64_t most = model_.info().max_source_positions;
    if (most != 0 && encoded.ids.size() > most && splits()) {
      LAPILLI_TRY(const auto parts, limit_sentence(text_, range, most, [&](std::string_view part) -> Result<uint64_t> {
                    LAPILLI_TRY(const auto e, encode(part));
                    return e.ids.size();
                  }));
      if (parts.size() > 1) {
        for (const TextRange& part : parts) {
          LAPILLI_TRY(auto e, encode(text_.substr(part.begin, part.end - part.begin)));
          LAPILLI_CHECK(keep(part, std::move(e), made));
        }
        return {};
      }
    }
    return keep(range, std::move(encoded), made);
  }

  // Ranges of the input's text: the prefix is none of it.
  Status keep(const TextRange& range, Encoding encoded, InputPieces& made) {
    LAPILLI_CHECK(check_source(model_.info(), encoded.ids, splits()));
    const uint64_t before = prefix().size();
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
