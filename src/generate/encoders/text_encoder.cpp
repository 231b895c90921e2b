#include "generate/encoders/text_encoder.hpp"

#include <algorithm>
#include <utility>

#include "formats/quote.hpp"
#include "generate/checked_request.hpp"
#include "search/network_on_device.hpp"
#include "text/pipeline/aligned_text.hpp"
#include "text/unicode/case_mapping.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

std::string names_of(const SentenceSettings& settings) {
  std::string names;
  for (const auto& [name, text] : settings.prompts) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

Result<std::string> chosen_prompt(const SentenceSettings& settings, const PromptChoice& choice) {
  if (choice.text) return *choice.text;
  const std::string& name = choice.name.empty() ? settings.default_prompt : choice.name;
  if (name.empty()) return std::string();
  const auto found = settings.prompts.find(name);
  if (found != settings.prompts.end()) return found->second;
  return fail(ErrorCode::invalid_argument, "the model has no prompt called %s; its prompts: %s", quote_name(name),
              names_of(settings));
}

// The files' limit, and that of the network's positions.
uint32_t smaller_limit(uint32_t a, uint32_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

// Each byte knows the bytes of `text` that it stems from.
AlignedText lower_cased(std::string_view text) {
  std::vector<char32_t> codes;
  std::vector<uint32_t> at;  // the byte where each begins, and the end
  for (size_t next = 0; next < text.size();) {
    at.push_back(static_cast<uint32_t>(next));
    codes.push_back(next_character(text, next));
  }
  at.push_back(static_cast<uint32_t>(text.size()));
  AlignedText lower;
  for (const CasedCharacter& c : lower_case(codes)) lower.append(c.character, {at[c.from], at[c.from + 1]});
  return lower;
}

// Offsets of a lowered text become those of the text.
void restore_offsets(Encoding& encoding, int8_t number, const AlignedText& lower) {
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    if (encoding.texts[i] != number) continue;
    ByteRange& range = encoding.offsets[i];
    const Origin origin = lower.origin(range.begin, range.end);
    range = {origin.begin, origin.end};
  }
}

Failure no_ids() { return fail(ErrorCode::invalid_argument, "the text has no ids, and nothing is made of none"); }

}  // namespace

// The reference names "query" and "document" among its prompts also where a directory does not, with empty texts.
PromptChoice prompt_for(const SentenceSettings& settings, std::string_view task) {
  PromptChoice choice;
  const auto found = settings.prompts.find(std::string(task));
  choice.text = found == settings.prompts.end() ? "" : found->second;
  return choice;
}

Result<TextEncoder> TextEncoder::make(const Model& model, const SentenceSettings& settings,
                                      const PromptChoice& choice) {
  TextEncoder encoder;
  const model::Config& c = model.on_device().config();
  encoder.tokenizer_ = model.shared_tokenizer();
  if (!encoder.tokenizer_) encoder.no_tokenizer_ = model.tokenizer_error();
  encoder.vocabulary_ = c.source_vocabulary;
  encoder.positions_ = c.encoder.max_positions;
  LAPILLI_TRY(encoder.prompt_, chosen_prompt(settings, choice));
  encoder.lower_case_ = settings.lower_case;
  if (encoder.lower_case_) LAPILLI_CHECK(require_case_mapping("do_lower_case of sentence_bert_config.json"));
  encoder.most_ids_ = smaller_limit(settings.max_length, encoder.positions_);
  const bool scores = c.encoder.causal && c.head(model::HeadKind::classes);
  if (const Judge* judge = scores ? find_judge(c.family, model.info().directory) : nullptr)
    LAPILLI_CHECK(encoder.be_judge(*judge));
  LAPILLI_CHECK(encoder.count_prompt());
  return encoder;
}

TextEncoder TextEncoder::plain(std::shared_ptr<const Tokenizer> tokenizer, uint32_t most_ids, bool lower_case) {
  TextEncoder encoder;
  encoder.tokenizer_ = std::move(tokenizer);
  encoder.most_ids_ = most_ids;
  encoder.lower_case_ = lower_case;
  return encoder;
}

// The words around each pair are encoded once.
Status TextEncoder::be_judge(const Judge& judge) {
  LAPILLI_CHECK(check_tokenizer());
  EncodeOptions bare;
  bare.add_special = false;
  LAPILLI_TRY(front_, tokenizer_->encode(judge.front, bare));
  LAPILLI_TRY(behind_, tokenizer_->encode(judge.behind, bare));
  instruction_ = prompt_.empty() ? judge.instruction : std::exchange(prompt_, {});
  most_ids_ = smaller_limit(most_ids_, judge.most_ids);
  judge_ = &judge;
  if (front_.size() + behind_.size() < most_ids_) return {};
  return fail(ErrorCode::invalid_data, "the model reads %u tokens, and the words around a document to judge have %u",
              most_ids_, front_.size() + behind_.size());
}

Result<EncodedText> TextEncoder::encode_judged(std::string_view query, std::string_view document) const {
  EncodeOptions bare;
  bare.add_special = false;
  LAPILLI_TRY(const std::string text, prepared(judged_text(instruction_, query, document)));
  LAPILLI_TRY(auto ids, tokenizer_->encode(text, bare));
  const size_t room = most_ids_ - front_.size() - behind_.size();
  EncodedText encoded;
  encoded.cut = ids.size() > room;
  ids.resize(std::min(ids.size(), room));
  encoded.ids = front_;
  encoded.ids.insert(encoded.ids.end(), ids.begin(), ids.end());
  encoded.ids.insert(encoded.ids.end(), behind_.begin(), behind_.end());
  return encoded;
}

Status TextEncoder::check_tokenizer() const { return Status(no_tokenizer_); }

// As the reference counts them: the ids of the prompt alone, without a last one that the tokenizer adds.
Status TextEncoder::count_prompt() {
  if (prompt_.empty()) return {};
  LAPILLI_CHECK(check_tokenizer());
  LAPILLI_TRY(const std::string prompt, prepared(prompt_));
  LAPILLI_TRY(const auto ids, tokenizer_->encode_with_offsets(prompt));
  prompt_rows_ = static_cast<uint32_t>(ids.ids.size());
  if (!ids.texts.empty() && ids.texts.back() < 0) --prompt_rows_;
  if (most_ids_ == 0 || ids.ids.size() < most_ids_) return {};
  return fail(ErrorCode::invalid_argument, "the prompt has %u tokens, and the model reads %u", ids.ids.size(),
              most_ids_);
}

Result<std::string> TextEncoder::prepared(std::string_view text) const {
  LAPILLI_CHECK(check_length(text));
  LAPILLI_CHECK(check_utf8(text, "the text"));
  return lower_case_ ? lower_cased(text).text() : std::string(text);
}

Result<EncodedText> TextEncoder::encode(std::string_view text, std::optional<std::string_view> pair,
                                        Truncate truncate) const {
  LAPILLI_CHECK(check_tokenizer());
  if (judge_ && pair) return encode_judged(text, *pair);
  if (judge_)
    return fail(ErrorCode::invalid_argument, "this model judges a document for a query: it takes pairs of both");
  LAPILLI_TRY(const std::string first, prepared(prompt_ + std::string(text)));
  LAPILLI_TRY(const std::string second, prepared(pair.value_or("")));
  EncodeOptions options;
  options.max_ids = most_ids_;
  options.truncate = truncate;
  if (pair) options.pair = second;
  LAPILLI_TRY(const auto encoding, tokenizer_->encode_with_offsets(first, options));
  if (encoding.ids.empty()) return no_ids();
  EncodedText encoded;
  encoded.ids = encoding.ids;
  if (pair) encoded.types.assign(encoding.type_ids.begin(), encoding.type_ids.end());
  if (most_ids_ == 0 || encoded.ids.size() < most_ids_) return encoded;
  options.max_ids = 0;
  LAPILLI_TRY(const auto all, tokenizer_->encode(first, options));
  encoded.cut = all.size() > encoded.ids.size();
  return encoded;
}

// In front of the text, but behind it in families that pad on the left (XLNet), as the reference has it.
EncodeOptions TextEncoder::question_place() const {
  EncodeOptions options;
  options.truncate = tokenizer_->pads_left() ? Truncate::only_first : Truncate::only_second;
  return options;
}

Result<std::vector<Encoding>> TextEncoder::lower_windows(std::string_view text,
                                                         std::optional<std::string_view> question,
                                                         const WindowOptions& options) const {
  for (const std::string_view part : {text, question.value_or("")}) {
    LAPILLI_CHECK(check_length(part));
    LAPILLI_CHECK(check_utf8(part, "the text"));
  }
  const AlignedText lower = lower_cased(text), lower_question = lower_cased(question.value_or(""));
  EncodeOptions pair = question_place();
  if (question) pair.pair = lower_question.text();
  LAPILLI_TRY(auto windows, tokenizer_->encode_windows(lower.text(), options, pair));
  for (Encoding& window : windows) {
    restore_offsets(window, 0, lower);
    restore_offsets(window, 1, lower_question);
  }
  return windows;
}

Result<std::vector<Encoding>> TextEncoder::windows(std::string_view text, std::optional<std::string_view> question,
                                                   const WindowOptions& options) const {
  LAPILLI_CHECK(check_tokenizer());
  WindowOptions within = options;
  within.most_ids = smaller_limit(options.most_ids, most_ids_);
  if (lower_case_) return lower_windows(text, question, within);
  EncodeOptions pair = question_place();
  pair.pair = question;
  return tokenizer_->encode_windows(text, within, pair);
}

Result<EncodedText> TextEncoder::encode(std::span<const int32_t> ids) const {
  if (!prompt_.empty())
    return fail(
        ErrorCode::invalid_argument,
        "ids are taken as they are, and a prompt stands before texts: put its ids in front, and ask for no prompt "
        "(an empty one)");
  if (ids.empty()) return no_ids();
  LAPILLI_CHECK(check_rows({{ids.begin(), ids.end()}}, vocabulary_, positions_, "source"));
  return EncodedText{{ids.begin(), ids.end()}, {}, {}, false};
}

}  // namespace lapilli
