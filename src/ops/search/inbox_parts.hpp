// Words of an inbox for prompts that come in parts (shaders/lib/inbox_parts.glsl, the text that "admit" includes).
#pragma once

#include "ops/core/state.hpp"

namespace lapilli::state {
#define CONSTANT inline constexpr
#define uint std::uint32_t
#include "lib/inbox_parts.glsl"
#undef CONSTANT
#undef uint
static_assert(INBOX_PARTS_OFFSET < INBOX_HEADER);
}  // namespace lapilli::state
