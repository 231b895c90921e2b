// Translation of texts (or ids) to texts and ids: tokenizer, batches by length, generation, and errors per input.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generate/chat/answer_text.hpp"
#include "generate/conventions.hpp"
#include "generate/generate.hpp"
#include "generate/text_stream.hpp"

namespace lapilli {

// A text, or ids (end token included). The memory is the caller's and must live through the call.
struct TextInput {
  std::string_view text;
  std::span<const int32_t> ids;
  bool has_ids = false;
  // Sampling: selects the input's draws, so that they do not depend on which inputs share a call; unset: its index.
  std::optional<uint64_t> number;
};

// The number that selects the draws of a part of an input (GenerateRequest::sequences). Distinct for any two parts as
// long as inputs are less than a million apart and have less than a thousand parts each.
uint32_t draw_number(uint64_t input, uint64_t part);

struct TranslateRequest {
  std::vector<TextInput> inputs;
  GenerationConfig options;             // overrides the model's
  std::vector<int32_t> decoder_prompt;  // the output of every input begins with these
  uint32_t batch = 0;                   // limit on inputs processed together; 0: automatic
  uint32_t steps_in_flight = 0;
  bool deterministic = false;  // see GenerateRequest
  // Selects the family's conventions; none: texts and settings as they are. With TextTask::translate, texts and parts
  // that are the same in every language (is_neutral_text) are not given to the model, unless there is a decoder prompt.
  TaskRequest task;
  // Translates texts of several sentences sentence by sentence, and joins the results. Unset: if the task is to
  // translate and the text is long (Split in generate/input_parts.hpp). Otherwise a text that exceeds the model's
  // positions is an error; nothing is truncated.
  std::optional<bool> split;
  // The model's chat template, or null; for chats and for decoders that translate.
  std::shared_ptr<const ChatTemplate> chat_template;
  // Each text is said to the model in this chat, and the output is its answer. For decoders alone.
  std::optional<ChatRequest> chat;
  // The part of each output that is the result. Sequences keep all ids.
  AnswerRules answer;
  // Called after every piece of work with (finished, all) inputs, or sentences of split inputs; false cancels.
  std::function<bool(uint64_t done, uint64_t total)> progress;
  // Streams text and ids of each input's best sequence. Joined, they equal that sequence's text and ids, with those of
  // the decoder prompt. Inputs take turns; within one, everything comes in order.
  StreamSink stream;
  // Called once for each input that has ended: with sequences, or with an error of its own.
  std::function<void(size_t input, const Status& status)> input_ended;
};

// A part of a sequence: one run of the model, from which attention and alignment are computed, or a part of the input
// that was kept as it is. An input that is not split has one.
struct SequencePart {
  ByteRange source, target;             // of the input's text and of TextSequence::text
  std::vector<int32_t> source_ids;      // as the encoder read them
  std::vector<ByteRange> source_bytes;  // of the input's text, per source id; empty: the model's own, or given as ids
  std::vector<int32_t> decoder_ids;     // start token (or prompt) included
  Finish finish = Finish::stop;         // kept: there was no run, and no ids
  bool repeats = false;
  // This part's share of the sequence, if there are several parts.
  std::string text;
  std::vector<int32_t> ids;
  float score = 0;
};

struct TextSequence {
  std::string text;          // empty if the model has no tokenizer
  std::vector<int32_t> ids;  // without the decoder start token, with the end token
  float score = 0;           // see Hypothesis; of several parts: over all their tokens
  // Per id, its log-probability (see Hypothesis); NaN for ids of the decoder prompt.
  std::vector<float> token_scores;
  std::vector<SequencePart> parts;
  // With several parts: length if one was cut, kept if all were.
  Finish finish = Finish::stop;
  bool repeats = false;      // its end is a loop (ends_in_loop), and that of its source is not
  std::string lost_address;  // the first URL, e-mail address or placeholder of the input that the text lacks
};

struct TextOutput {
  Status status;                        // why this input has no sequences
  std::vector<TextSequence> sequences;  // best first
  // Over all parts, see InputPart. Unknown for ids.
  uint32_t word_tokens = 0, unknown_tokens = 0;
};

struct TranslateStats {
  uint32_t batches = 0;
  double encode_ms = 0, decode_ms = 0, total_ms = 0;
  uint64_t source_tokens = 0, generated_tokens = 0, decoder_steps = 0, submissions = 0;
  uint32_t tuned_nodes = 0;  // see GenerateStats
  uint64_t prompt_rows = 0, saved_prompt_rows = 0;
};

struct TranslateOutput {
  std::vector<TextOutput> outputs;  // in the order of the inputs
  TranslateStats stats;
  bool cancelled = false;  // inputs that were not finished have an error of ErrorCode::cancelled
};

// Fails as a whole only for errors that concern all inputs: options, device, a model without a tokenizer. An input that
// is too much by itself for the memory or the device's limits has its own error, also if it is the only one. May be
// called from several threads at once.
Result<TranslateOutput> translate(const std::shared_ptr<Model>& model, const TranslateRequest& request);

}  // namespace lapilli
