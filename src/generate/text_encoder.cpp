#include "generate/text_encoder.hpp"

#include <algorithm>
#include <utility>

#include "formats/quote.hpp"
#include "generate/checked_request.hpp"
#include "search/network_on_device.hpp"
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

std::string lower_cased(std::string_view text) {
  const std::u32string codes = to_utf32(text);
  std::string lower;
  for (const CasedCharacter& c : lower_case({codes.begin(), codes.end()})) append_utf8(lower, c.character);
  return lower;
}

}  // namespace

PromptChoice prompt_for(const SentenceSettings& settings, std::string_view task) {
  PromptChoice choice;
  const auto found = settings.prompts.find(std::string(task));
  choice.text = found == settings.prompts.end() ? "" : found->second;
  return choice;
}

Result<TextEncoder> TextEncoder::make(std::shared_ptr<const Model> model, const SentenceSettings& settings,
                                      const PromptChoice& choice) {
  TextEncoder encoder;
  encoder.model_ = std::move(model);
  LAPILLI_TRY(encoder.prompt_, chosen_prompt(settings, choice));
  encoder.lower_case_ = settings.lower_case;
  if (encoder.lower_case_) LAPILLI_CHECK(require_case_mapping("do_lower_case of sentence_bert_config.json"));
  encoder.most_ids_ = smaller_limit(settings.max_length, encoder.model_->info().max_source_positions);
  if (!encoder.model_->tokenizer() && encoder.prompt_.empty()) return encoder;  // ids still work
  LAPILLI_CHECK(encoder.count_prompt());
  return encoder;
}

// As the reference counts them: the ids of the prompt alone, without a last one that the tokenizer adds.
Status TextEncoder::count_prompt() {
  if (prompt_.empty()) return {};
  if (!model_->tokenizer()) return model_->tokenizer_error();
  LAPILLI_TRY(const auto ids, model_->tokenizer()->encode_with_offsets(prompt_));
  prompt_rows_ = static_cast<uint32_t>(ids.ids.size());
  if (!ids.texts.empty() && ids.texts.back() < 0) --prompt_rows_;
  if (most_ids_ == 0 || ids.ids.size() < most_ids_) return {};
  return fail(ErrorCode::invalid_argument, "the prompt has %u tokens, and the model reads %u", ids.ids.size(),
              most_ids_);
}

Result<EncodedText> TextEncoder::encode(std::string_view text) const {
  if (!model_->tokenizer()) return model_->tokenizer_error();
  LAPILLI_CHECK(check_utf8(text, "the text"));
  std::string whole = prompt_ + std::string(text);
  if (lower_case_) whole = lower_cased(whole);
  EncodeOptions options;
  options.max_ids = most_ids_;
  EncodedText encoded;
  LAPILLI_TRY(encoded.ids, model_->tokenizer()->encode(whole, options));
  if (most_ids_ == 0 || encoded.ids.size() < most_ids_) return encoded;
  options.max_ids = 0;
  LAPILLI_TRY(const auto all, model_->tokenizer()->encode(whole, options));
  encoded.cut = all.size() > encoded.ids.size();
  return encoded;
}

Status TextEncoder::check(std::span<const int32_t> ids) const {
  const model::Config& c = model_->on_device().config();
  return check_rows({{ids.begin(), ids.end()}}, c.source_vocabulary, c.encoder.max_positions, "source");
}

}  // namespace lapilli
