// The ids that tell the decoder what to do with a recording: start, language, task, whether to write timestamps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/speech_settings.hpp"

namespace lapilli::speech {

struct PrefixRequest {
  int32_t start = 0;     // the decoder's
  std::string language;  // code, name or token; empty: what the directory says, or else detected
  std::string task;      // empty: what the directory says
  bool timestamps = false;
};

// Of one recording. Where the language has to be detected, it goes behind the first id.
struct Prefix {
  std::vector<int32_t> ids;
  bool detect_language = false;
};
Result<Prefix> make_prefix(const SpeechSettings& settings, const PrefixRequest& request);

// What a recording's segments said, behind its mark: the last `most` of their ids. Of two timestamps at a segment's end
// one is enough; they begin at `timestamp_begin`.
std::vector<int32_t> ids_before(const std::vector<std::vector<int32_t>>& segments, int32_t timestamp_begin,
                                size_t most);
// Half of the decoder's positions.
inline size_t most_ids_before(uint32_t positions) { return positions / 2 - 1; }

// The id of a language; the error names those that there are.
Result<int32_t> language_id(const SpeechSettings& settings, const std::string& language);
// The token of an id; empty if it is no language's.
std::string language_token(const SpeechSettings& settings, int32_t id);

}  // namespace lapilli::speech
