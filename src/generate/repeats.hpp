// Detection of endless outputs.
#pragma once

#include <cstdint>
#include <span>

namespace lapilli {

// A loop: the same words again and again, by a model that has lost its way.
constexpr uint32_t kLoopTimes = 4;    // repetitions of a phrase
constexpr uint32_t kLoopTokens = 12;  // ids of all copies together, so that "ha ha ha ha" is no loop
constexpr uint32_t kLoopPhrase = 64;  // ids of the longest phrase

// True if `ids`, without an end token, end in a loop: the last copy of the phrase may be cut, and one id, such as a
// full stop, may follow.
bool ends_in_loop(std::span<const int32_t> ids);

}  // namespace lapilli
