#include <set>
#include <span>

#include "base/store.hpp"
#include "ops/core/shader_table.hpp"

namespace lapilli {

uint64_t shaders_checksum() {
  static const uint64_t sum = [] {
    uint64_t all = kNoBytes;
    std::set<const uint32_t*> seen;  // several ids share the same words
    for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i) {
      const ShaderModule& module = shader_module(static_cast<ShaderId>(i));
      if (seen.insert(module.words).second)
        all = checksum(std::as_bytes(std::span(module.words, module.word_count)), all);
      all = checksum(std::as_bytes(std::span(&module.size, 1)), all);
    }
    return all;
  }();
  return sum;
}

}  // namespace lapilli
