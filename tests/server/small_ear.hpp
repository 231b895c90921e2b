// A small Whisper with a vocabulary of invented words (tests/data/ears), so that its transcripts are texts.
#pragma once

#include <filesystem>
#include <string>

namespace lapilli::server::test {

// The directory of the model, below `folder`.
inline std::string small_ear(const std::string& folder) {
  const std::string to = folder + "/ear";
  std::filesystem::copy(LAPILLI_TEST_DATA "/models/whisper-long/model", to);
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"})
    std::filesystem::copy_file(std::string(LAPILLI_TEST_DATA "/ears/") + name, to + "/" + name);
  return to;
}

}  // namespace lapilli::server::test
