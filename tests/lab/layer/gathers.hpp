// The buffers of which a shader reads single parts, at places that it has read from a buffer itself: rows of a table by
// ids, cells of a cache by slots. Such a dispatch does not read all that is bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

namespace lapilli::lab {

// Bindings, of whatever set.
std::set<uint32_t> gathered_bindings(const uint32_t* words, size_t count);

}  // namespace lapilli::lab
