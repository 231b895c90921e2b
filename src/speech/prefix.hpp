// The ids that tell the decoder how to process a recording: start, language, task, whether to write timestamps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/speech_settings.hpp"

namespace lapilli::speech {

struct PrefixRequest {
  int32_t start = 0;     // the decoder start id
  std::string language;  // code, name or token; empty: the model directory's, or else detected
  std::string task;      // empty: the model directory's
  bool timestamps = false;
};

// The prefix for one recording. A language that must be detected is inserted after the first id.
struct Prefix {
  std::vector<int32_t> ids;
  bool detect_language = false;
};
Result<Prefix> make_prefix(const SpeechSettings& settings, const PrefixRequest& request);

// The last `most` ids of a recording's earlier segments, to follow the mark of earlier text. Of a pair of timestamps
// (ids from `timestamp_begin` on) at a segment's end, one is kept.
std::vector<int32_t> ids_before(const std::vector<std::vector<int32_t>>& segments, int32_t timestamp_begin,
                                size_t most);
// One less than half of the decoder's positions.
inline size_t most_ids_before(uint32_t positions) { return positions / 2 - 1; }

// The id of a language; the error lists the known ones.
Result<int32_t> language_id(const SpeechSettings& settings, const std::string& language);
// The token of a language id; empty for other ids.
std::string language_token(const SpeechSettings& settings, int32_t id);

}  // namespace lapilli::speech
