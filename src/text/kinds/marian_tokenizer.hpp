// Marian (opus-mt): source.spm and target.spm cut text into pieces, and vocab.json maps them to ids.
#pragma once

#include <memory>

#include "text/tokenizer.hpp"

namespace lapilli {

Result<std::unique_ptr<Tokenizer>> load_marian_tokenizer(const Files& files);

}  // namespace lapilli
