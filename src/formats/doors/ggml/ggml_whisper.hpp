// A file of whisper.cpp as the directory of Transformers that it equals: tensors by their names there, and the texts of
// the JSON files.
#pragma once

#include <cstdint>
#include <optional>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/doors/door.hpp"

namespace lapilli::doors {

// `own`: the files beside it, whose config.json gives the special ids of a vocabulary that no rule knows.
Result<Opened> read_ggml_whisper(const File& file, const Files& own);

// Ids of a vocabulary of another size, if config.json is that of a Whisper with so many ids.
struct GivenIds {
  int32_t end = -1, start = -1;
};
Result<std::optional<GivenIds>> given_whisper_ids(const Files& own, uint32_t vocabulary);

}  // namespace lapilli::doors
