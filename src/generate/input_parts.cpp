#include "generate/input_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "generate/chat/framed_text.hpp"
#include "text/sentences/neutral_text.hpp"
#include "text/sentences/sentence_class.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

// Finds errors that would fail the whole batch while they can still be attributed to the input.
Status check_source(const ModelInfo& info, const std::vector<int32_t>& ids, bool split) {
  if (ids.empty()) {
    return fail(ErrorCode::invalid_argument, "no token ids; an input has at least the end token");
  }
  const bool alone = info.encoder_layers == 0;  // a decoder, which reads what it continues
  const uint32_t vocabulary = alone ? info.target_vocabulary : info.source_vocabulary;
  for (int32_t id : ids) {
    if (id < 0 || static_cast<uint32_t>(id) >= vocabulary) {
      return fail(ErrorCode::invalid_argument, "token id %d is outside the model's source vocabulary of %u", id,
                  vocabulary);
    }
  }
  const uint32_t positions = alone ? info.max_target_positions : info.max_source_positions;
  if (positions != 0 && ids.size() > positions) {
    return fail(ErrorCode::invalid_argument, "%u tokens are more than the %u positions of the model; %s", ids.size(),
                positions,
                split ? "this piece of the text cannot be split any further" : "split the text into shorter pieces");
  }
  return {};
}

// The mark that `text` begins with, ">>fr<<" (Marian) or "<2fr>" (MADLAD-400); empty if there is none.
std::string_view leading_mark(std::string_view text) {
  const bool marian = text.starts_with(">>");
  if (!marian && !text.starts_with("<2")) return {};
  const std::string_view close = marian ? "<<" : ">";
  const size_t end = text.find(close);
  if (end == std::string_view::npos || end == 2) return {};
  const std::string_view mark = text.substr(0, end + close.size());
  return mark.find_first_of(" \t\r\n") == std::string_view::npos ? mark : std::string_view();
}

uint64_t count_characters(std::string_view text) {
  return static_cast<uint64_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool holds_letters(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const SentenceClass kind = sentence_class(c.code);
    if (kind == SentenceClass::lower || kind == SentenceClass::upper || kind == SentenceClass::letter) return true;
    at += c.bytes;
  }
  return false;
}

class Maker {
 public:
  Maker(const Model& model, std::string_view text, const PartOptions& options)
      : model_(model), text_(text), o_(options) {
    if (o_.conventions) prefix_ = o_.conventions->prefix;
  }

  Result<InputParts> run() {
    // Checked before cutting or prefixing, so that the error's offset is in the caller's text.
    LAPILLI_CHECK(check_utf8(text_, "text"));
    InputParts made;
    LAPILLI_CHECK(find_mark());
    const TextRange all{marked() ? mark_.begin : 0, text_.size()};
    std::vector<TextRange> ranges;
    if (splits()) ranges = sentences();
    if (ranges.size() <= 1) ranges = {all};
    if (o_.split == Split::long_texts && ranges.size() > 1 && ranges.size() <= whole_sentences()) {
      LAPILLI_TRY(const auto whole, encode(all));
      if (text_tokens(whole) <= (framed() ? kWholeFramedTokens : kWholeTokens)) ranges = {all};
    }
    for (const TextRange& range : ranges) LAPILLI_CHECK(add(range, made));
    if (made.parts.size() > 1)
      for (const InputPart& part : made.parts) made.ranges.push_back(part.range);
    return made;
  }

 private:
  [[nodiscard]] uint32_t whole_sentences() const {
    if (framed()) return std::numeric_limits<uint32_t>::max();
    return o_.conventions && o_.conventions->one_sentence ? 1 : kWholeSentences;
  }
  [[nodiscard]] bool framed() const { return o_.conventions && o_.conventions->frame; }
  // Tokens without those of a frame.
  [[nodiscard]] uint64_t text_tokens(const Encoding& e) const {
    if (!framed()) return e.ids.size();
    return static_cast<uint64_t>(
        std::count_if(e.offsets.begin(), e.offsets.end(), [](const ByteRange& b) { return b.begin < b.end; }));
  }
  // A mark in the text applies to all of it: it becomes the prefix of every part but the first, which contains it. A
  // prefix takes precedence.
  Status find_mark() {
    if (!prefix_.empty() || (!splits() && marks().empty())) return {};
    const auto begin = static_cast<uint64_t>(text_.size() - strip_left(text_).size());
    const std::string_view mark = leading_mark(text_.substr(begin));
    if (mark.empty() || !is_token(mark)) return misses_mark(mark) ? lacks_mark(mark) : Status();
    mark_ = {begin, begin + mark.size()};
    const std::string_view rest = text_.substr(mark_.end);
    body_ = mark_.end + (rest.size() - strip_left(rest).size());
    prefix_ = std::string(mark) + " ";
    return {};
  }
  // A mark that the model does not have is an error, needed or not.
  [[nodiscard]] bool misses_mark(std::string_view mark) const {
    if (marks().empty()) return false;
    return !mark.empty() || (o_.conventions->needs_mark && holds_letters(text_));
  }
  [[nodiscard]] bool is_token(std::string_view mark) const {
    if (!marks().empty()) return std::find(marks().begin(), marks().end(), mark) != marks().end();
    EncodeOptions bare;
    bare.add_special = false;
    const auto ids = model_.tokenizer()->encode(mark, bare);
    return ids && ids->size() == 1 && ids->front() != model_.tokenizer()->special().unk;
  }
  [[nodiscard]] std::span<const std::string> marks() const {
    return o_.conventions ? std::span<const std::string>(o_.conventions->marks) : std::span<const std::string>();
  }
  [[nodiscard]] Status lacks_mark(std::string_view mark) const {
    std::string some;
    for (const std::string& one : marks().first(std::min<size_t>(marks().size(), 8)))
      some += (some.empty() ? "" : " ") + one;
    if (!mark.empty())
      return fail(ErrorCode::invalid_argument, "the text begins with %s, which is no mark of this model; it has %s%s",
                  std::string(mark.substr(0, 32)), some, marks().size() > 8 ? " ..." : "");
    return fail(ErrorCode::invalid_argument,
                "the model translates to %u languages and nothing says which one: name it (--to, target_language), or "
                "begin the text with a mark, %s%s",
                marks().size(), some, marks().size() > 8 ? " ..." : "");
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
    return o_.conventions ? encode_options(*o_.conventions) : EncodeOptions();
  }
  [[nodiscard]] bool splits() const {
    const bool words = o_.conventions && o_.conventions->texts_bring_words;
    return o_.split == Split::always || (o_.split == Split::long_texts && !words);
  }
  [[nodiscard]] std::string_view prefix_of(const TextRange& range) const {
    // Parts that begin with a mark need no prefix: the first, and those of texts that mark every sentence.
    const bool own = marked() && (range.begin <= mark_.begin || !leading_mark(text_.substr(range.begin)).empty());
    return own ? std::string_view() : std::string_view(prefix_);
  }

  [[nodiscard]] Result<Encoding> encode(std::string_view prefix, std::string_view part) const {
    if (framed()) return encode_framed(*model_.tokenizer(), *o_.conventions->frame, part);
    if (prefix.empty()) return model_.tokenizer()->encode_with_offsets(part, encoding());
    return model_.tokenizer()->encode_with_offsets(std::string(prefix) + std::string(part), encoding());
  }
  [[nodiscard]] Result<Encoding> encode(const TextRange& range) const { return encode(prefix_of(range), part(range)); }

  [[nodiscard]] bool fits_whole(const Encoding& e) const {
    return framed() && o_.split == Split::long_texts && text_tokens(e) <= kWholeFramedTokens;
  }
  // Length for the sentence limit: in tokens if these exceed half of the positions.
  [[nodiscard]] uint64_t weight(uint64_t tokens, std::string_view part) const {
    const uint64_t positions = model_.info().max_source_positions;
    if (positions != 0 && tokens > positions / 2) return tokens;
    return std::min(tokens, count_characters(part) / kCharactersPerToken);
  }
  [[nodiscard]] uint64_t long_sentence() const {
    const uint64_t positions = model_.info().max_source_positions;
    return positions == 0 ? kLongSentence : std::min<uint64_t>(kLongSentence, positions / 2);
  }
  [[nodiscard]] SentenceLimit sentence_limit() const {
    const uint64_t positions = model_.info().max_source_positions;
    const uint64_t good = std::min<uint64_t>(kLongClause, std::max<uint64_t>(1, long_sentence()));
    return {good, positions == 0 ? UINT64_MAX : positions, o_.language};
  }

  // The text after a leading mark.
  [[nodiscard]] TextRange body_of(TextRange range) const {
    if (marked() && range.begin <= mark_.begin) range.begin = std::min(body_, range.end);
    return range;
  }
  [[nodiscard]] std::string_view part(const TextRange& range) const {
    return text_.substr(range.begin, range.end - range.begin);
  }

  Status add(const TextRange& range, InputParts& made) {
    if (kept(range, made)) return {};
    LAPILLI_TRY(auto encoded, encode(range));
    if (!splits() || weight(text_tokens(encoded), part(range)) <= long_sentence() || fits_whole(encoded))
      return add(range, std::move(encoded), made);
    LAPILLI_TRY(const auto parts, limit(range));
    if (parts.size() <= 1) return add(range, std::move(encoded), made);
    for (const TextRange& one : parts) {
      if (kept(one, made)) continue;
      LAPILLI_TRY(auto e, encode(one));
      LAPILLI_CHECK(add(one, std::move(e), made));
    }
    return {};
  }

  // Adds text that is the same in every language as it is; false for other text.
  bool kept(const TextRange& range, InputParts& made) const {
    const TextRange body = body_of(range);
    if (!o_.keep || !is_neutral_text(part(body))) return false;
    made.parts.push_back({range, {}, {}, body});
    return true;
  }

  // A mark is never a part by itself.
  [[nodiscard]] Result<std::vector<TextRange>> limit(const TextRange& range) const {
    const bool holds_mark = marked() && range.begin <= mark_.begin;
    LAPILLI_TRY(auto parts,
                limit_sentence(text_, body_of(range), sentence_limit(), [&](std::string_view part) -> Result<uint64_t> {
                  LAPILLI_TRY(const auto e, encode(prefix_, part));
                  return weight(text_tokens(e), part);
                }));
    if (holds_mark && !parts.empty()) parts.front().begin = mark_.begin;
    return parts;
  }

  // Offsets become ranges of the input's text, which does not include the prefix.
  Status add(const TextRange& range, Encoding encoded, InputParts& made) const {
    LAPILLI_CHECK(check_source(model_.info(), encoded.ids, splits()));
    const uint64_t before = prefix_of(range).size();
    for (ByteRange& b : encoded.offsets) {
      if (b.begin == b.end || b.end <= before)
        b = {};
      else
        b = {std::max(b.begin, before) - before + range.begin, b.end - before + range.begin};
    }
    InputPart part{range, std::move(encoded.ids), std::move(encoded.offsets), {}};
    count_words(part);
    made.parts.push_back(std::move(part));
    return {};
  }

  void count_words(InputPart& part) const {
    const int32_t unknown = model_.tokenizer()->special().unk;
    for (size_t i = 0; i < part.ids.size(); ++i) {
      const ByteRange& b = part.bytes[i];
      if (b.begin == b.end || !holds_letters(text_.substr(b.begin, b.end - b.begin))) continue;
      ++part.word_tokens;
      if (part.ids[i] == unknown) ++part.unknown_tokens;
    }
  }

  const Model& model_;
  std::string_view text_;
  const PartOptions& o_;
  std::string prefix_;  // of every part, except the one with the mark
  TextRange mark_;      // in the text; empty: none
  uint64_t body_ = 0;   // where the text after the mark begins
};

// Cut if one part is, kept if every part is.
void join_finish(const std::vector<TextSequence>& parts, TextSequence& all) {
  const auto has = [&](Finish finish) {
    return std::any_of(parts.begin(), parts.end(), [&](const TextSequence& s) { return s.finish == finish; });
  };
  all.finish = has(Finish::length) ? Finish::length : has(Finish::stop) ? Finish::stop : Finish::kept;
  all.repeats = std::any_of(parts.begin(), parts.end(), [](const TextSequence& s) { return s.repeats; });
}

}  // namespace

Result<InputParts> make_parts(const Model& model, const TextInput& input, const PartOptions& options) {
  if (!input.has_ids) return Maker(model, input.text, options).run();
  InputParts made;
  InputPart part;
  part.ids.assign(input.ids.begin(), input.ids.end());
  part.bytes.resize(part.ids.size());
  LAPILLI_CHECK(check_source(model.info(), part.ids, false));
  made.parts.push_back(std::move(part));
  return made;
}

TextSequence join_parts(std::string_view text, const InputParts& parts, std::vector<TextSequence> sequences,
                        float length_penalty) {
  if (sequences.size() == 1 || parts.ranges.empty()) return std::move(sequences.front());
  TextSequence all;
  std::vector<std::string> texts;
  for (const TextSequence& s : sequences) texts.push_back(s.text);
  all.text = join_sentences(text, parts.ranges, texts);
  double sum = 0;
  uint64_t generated = 0, at = 0;
  for (TextSequence& s : sequences) {
    // Only white space separates the parts, and no part begins with it.
    at = std::min<uint64_t>(all.text.find(s.text, at), all.text.size());
    for (SequencePart& part : s.parts) {
      part.target.begin += at;
      part.target.end += at;
      part.text = s.text;
      part.ids = s.ids;
      part.score = s.score;
      all.parts.push_back(std::move(part));
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
  join_finish(sequences, all);
  all.score = static_cast<float>(
      sum / std::pow(static_cast<double>(std::max<uint64_t>(1, generated)), static_cast<double>(length_penalty)));
  return all;
}

}  // namespace lapilli
