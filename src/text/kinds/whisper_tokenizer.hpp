// Whisper: byte-level BPE with a prefix of language and task, and timestamps among the tokens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/pipeline_tokenizer.hpp"

namespace lapilli {

// Seconds from the start of the audio, by the timestamps around a segment.
struct WhisperSegment {
  std::string text;
  double begin = 0;
  double end = 0;
};

struct WhisperSettings {
  PipelineSettings pipeline;
  std::string language;  // code or name; empty: none
  std::string task;      // empty: none
  bool timestamps = false;
};

class WhisperTokenizer final : public PipelineTokenizer {
 public:
  WhisperTokenizer(Pipeline pipeline, WhisperSettings settings);

  // The tokens before a transcript: start, language, task, no timestamps. Errors: unknown language or task.
  [[nodiscard]] Result<std::vector<int32_t>> prefix(const EncodeOptions& options) const;
  // The ids of earlier text for the transcript to continue, with the start token of a previous one.
  [[nodiscard]] Result<std::vector<int32_t>> prompt_ids(std::string_view text) const;
  // The segments between timestamps; empty if there are none.
  [[nodiscard]] Result<std::vector<WhisperSegment>> segments(std::span<const int32_t> ids) const;
  // The id of timestamp 0.00; ids from here on are timestamps.
  [[nodiscard]] int32_t timestamp_begin() const { return timestamp_begin_; }

  [[nodiscard]] std::vector<std::string> languages() const override;
  [[nodiscard]] int32_t language_id(std::string_view language) const override;

 private:
  [[nodiscard]] Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                          const EncodeOptions& options) const override;
  [[nodiscard]] Result<std::string> decode_valid(std::span<const int32_t> ids,
                                                 const DecodeOptions& options) const override;
  [[nodiscard]] Result<std::string> decode_with_timestamps(std::span<const int32_t> ids,
                                                           const DecodeOptions& options) const;
  [[nodiscard]] bool is_timestamp(int32_t id) const { return id >= timestamp_begin_; }

  WhisperSettings settings_;
  int32_t timestamp_begin_ = INT32_MAX;
};

}  // namespace lapilli
