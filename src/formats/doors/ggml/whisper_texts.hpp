// The JSON files that a directory of Transformers has for a Whisper, made from the sizes, tokens and ids of a file.
#pragma once

#include <map>
#include <string>

#include "base/result.hpp"
#include "formats/doors/ggml/ggml_file.hpp"
#include "formats/doors/ggml/whisper_ids.hpp"

namespace lapilli::doors {

struct WhisperForm {
  const GgmlFile& file;
  uint64_t ffn = 0;
  bool packed = false;  // some matrices are words of int8
};

// By name of file. Without languages and tasks (ids that were given) there is no generation_config.json: the
// directory's own counts.
std::map<std::string, std::string> whisper_texts(const WhisperForm& form, const WhisperIds& ids);

// Features are made with the filters of Slaney's mel scale. An error if the file's are others.
Status check_filters(const GgmlFile& file);

}  // namespace lapilli::doors
