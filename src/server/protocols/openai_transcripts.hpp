// Transcripts of recordings in OpenAI's formats.
#pragma once

#include <cstdint>
#include <string>

#include "lapilli/lapilli.hpp"
#include "server/protocols/json_body.hpp"

namespace lapilli::server {

// The form that is asked of a transcript, and facts beside its text.
struct TranscriptStyle {
  std::string format = "json";      // json, text, srt, vtt, verbose_json
  std::string task = "transcribe";  // or "translate"
  std::string language;             // a code, where the model tells none
  double duration = 0;              // seconds of the recording
  double temperature = 0;
  bool words = false, segments = true;  // of verbose_json
  bool log_probabilities = false;       // of json
};

// The text of all segments, without blanks around it.
std::string transcript_text(const Output& output);
// The answer's body. `model` decodes ids for logprobs.
std::string transcript(const Output& output, const TranscriptStyle& style, const Model& model);
// Its Content-Type.
const char* transcript_type(const std::string& format);

// The events of a stream: new text, and the end with the whole text.
std::string transcript_delta(const std::string& text);
std::string transcript_done(const Output& output, const TranscriptStyle& style, const Model& model);

}  // namespace lapilli::server
