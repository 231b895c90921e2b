#include <span>

#include "base/store.hpp"
#include "ops/shader_table.hpp"

namespace lapilli {

uint64_t shaders_checksum() {
  static const uint64_t sum = [] {
    uint64_t all = kNoBytes;
    for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i) {
      const ShaderCode& code = shader_code(static_cast<ShaderId>(i));
      all = checksum(std::as_bytes(std::span(code.words, code.word_count)), all);
    }
    return all;
  }();
  return sum;
}

}  // namespace lapilli
