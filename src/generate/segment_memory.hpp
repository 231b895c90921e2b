// Memories of segments in passes without a search.
#pragma once

#include <vector>

#include "generate/generate.hpp"

namespace lapilli {

// Checks the memories of a request, and returns the most rows that one has; recurrent decoders have as many in every
// pass.
Result<uint32_t> check_memories(const model::Config& config, const ForwardRequest& request, size_t sources);
// Rows of a source's memory.
uint32_t memory_rows(const model::Config& config, const ForwardRequest& request, size_t source);
// The words of StateKind::memory: each memory ends where its source's segment begins; rows before it are zeros.
std::vector<uint32_t> memory_words(const model::Config& config, const ForwardRequest& request, uint32_t sources,
                                   uint32_t rows);

}  // namespace lapilli
