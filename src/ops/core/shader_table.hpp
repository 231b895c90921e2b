// The compiled shaders: SPIR-V by id. The table itself is generated from shaders/table.inc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/core/shader_id.hpp"

namespace lapilli {

// A module in the binary. Shaders that differ only in array sizes share one module, whose arrays take their size from
// the specialization constant kSizeConstant: `size` is its value (0: there is none).
struct ShaderModule {
  const char* name;
  const uint32_t* words;
  size_t word_count;
  uint32_t size;
};
inline constexpr uint32_t kSizeConstant = 31;

const ShaderModule& shader_module(ShaderId id);

// The code for drivers: that constant, and all expressions of it alone, are folded to plain numbers, since not all
// drivers support arrays sized by specialization. Made on first use and kept. Any thread.
struct ShaderCode {
  const char* name;  // the id's name, for labels and messages
  const uint32_t* words;
  size_t word_count;
};

const ShaderCode& shader_code(ShaderId id);

// Over all shaders in order. Computed once.
uint64_t shaders_checksum();

}  // namespace lapilli
