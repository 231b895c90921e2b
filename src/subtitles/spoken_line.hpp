// The words spoken in a stretch of a recording.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lapilli::subtitles {

struct SpokenWord {
  double begin = 0, end = 0;  // seconds
  std::string text;
  std::vector<int32_t> ids;
  double confidence = 0;
};
struct SpokenLine {
  double begin = 0, end = 0;  // seconds
  std::string text;
  std::vector<int32_t> ids;
  std::vector<SpokenWord> words;
  bool final = true;
  std::string language = {};  // a code; empty if the model gives none
};

}  // namespace lapilli::subtitles
