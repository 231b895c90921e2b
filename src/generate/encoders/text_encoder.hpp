// Texts as an encoder without a decoder reads them: prompt, case, length limit, and the tokenizer's own tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/sentence_modules.hpp"
#include "generate/encoders/judging.hpp"
#include "generate/generate.hpp"

namespace lapilli {

// The ids of a text or a pair, with those that the tokenizer adds.
struct EncodedText {
  std::vector<int32_t> ids;
  std::vector<uint32_t> types;      // the token type of each id; empty: all 0
  std::vector<uint32_t> head_rows;  // ids whose results are wanted of a head that has one for each; empty: all
  bool cut = false;                 // the text was longer than the limit
};

// The words before each text.
struct PromptChoice {
  std::optional<std::string> text;  // the prompt itself; "": none
  std::string name;                 // of one of the directory's prompts; empty: its default, if it has one
};

// Immutable; any thread. Holds nothing of the model but its tokenizer.
class TextEncoder {
 public:
  // Refuses a prompt that is unknown, and one that leaves no room for a text. Without a tokenizer ids still work. The
  // prompt of a judge (judging.hpp) is its instruction, and its texts are pairs of a query and a document.
  static Result<TextEncoder> make(const Model& model, const SentenceSettings& settings, const PromptChoice& choice);

  // Makes one of a tokenizer alone, without prompt: a limit of 0 is none.
  static TextEncoder plain(std::shared_ptr<const Tokenizer> tokenizer, uint32_t most_ids, bool lower_case = false);

  // A text, or two for a model that reads pairs. Texts beyond the limit are cut at their ends, by default the longer
  // one first.
  [[nodiscard]] Result<EncodedText> encode(std::string_view text, std::optional<std::string_view> pair = {},
                                           Truncate truncate = Truncate::longest_first) const;
  // The whole text in windows, without the prompt, each with the question where there is one. `texts` is 0 for the
  // text's ids and 1 for the question's, whichever stands in front; offsets are bytes of `text` and `question` as they
  // are given. most_ids is lowered to the limit.
  [[nodiscard]] Result<std::vector<Encoding>> windows(std::string_view text, std::optional<std::string_view> question,
                                                      const WindowOptions& options) const;
  // Ids given by the caller are taken as they are.
  [[nodiscard]] Result<EncodedText> encode(std::span<const int32_t> ids) const;
  // Limit of a source's ids; 0: none.
  [[nodiscard]] uint32_t most_ids() const { return most_ids_; }
  // Ids of the prompt at the beginning of each source.
  [[nodiscard]] uint32_t prompt_rows() const { return prompt_rows_; }
  // Null without one: then check_tokenizer() says why.
  [[nodiscard]] const Tokenizer* tokenizer() const { return tokenizer_.get(); }
  [[nodiscard]] Status check_tokenizer() const;

 private:
  TextEncoder() = default;
  Status count_prompt();
  Status be_judge(const Judge& judge);
  [[nodiscard]] Result<EncodedText> encode_judged(std::string_view query, std::string_view document) const;
  [[nodiscard]] Result<std::string> prepared(std::string_view text) const;
  [[nodiscard]] EncodeOptions question_place() const;
  [[nodiscard]] Result<std::vector<Encoding>> lower_windows(std::string_view text,
                                                            std::optional<std::string_view> question,
                                                            const WindowOptions& options) const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  Status no_tokenizer_;
  std::string prompt_;
  const Judge* judge_ = nullptr;
  std::string instruction_;
  std::vector<int32_t> front_, behind_;  // of a judge
  bool lower_case_ = false;
  uint32_t most_ids_ = 0, prompt_rows_ = 0, vocabulary_ = 0, positions_ = 0;
};

// The prompt for a task, "query" or "document", as the reference chooses it: the directory's prompt of that name, else
// none, whatever its default is.
PromptChoice prompt_for(const SentenceSettings& settings, std::string_view task);

}  // namespace lapilli
