// The compiled shaders: SPIR-V by id. The table itself is generated from shaders/table.inc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/shader_id.hpp"

namespace lapilli {

struct ShaderCode {
  const char* name;  // the id's name, for labels and messages
  const uint32_t* words;
  size_t word_count;
};

const ShaderCode& shader_code(ShaderId id);

// Of all of them, in their order. Computed once.
uint64_t shaders_checksum();

}  // namespace lapilli
