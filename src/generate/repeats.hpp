// Outputs that do not come to an end.
#pragma once

#include <cstdint>
#include <span>

namespace lapilli {

// What a model that has lost its way writes: the same words again and again.
constexpr uint32_t kLoopTimes = 4;    // a phrase that comes as often
constexpr uint32_t kLoopTokens = 12;  // and is as long in all its copies together, so that "ha ha ha ha" is none
constexpr uint32_t kLoopPhrase = 64;  // phrases are not longer

// True if `ids`, without an end token, end in a loop: the last copy of the phrase may be cut, and one id, such as a
// full stop, may follow.
bool ends_in_loop(std::span<const int32_t> ids);

}  // namespace lapilli
