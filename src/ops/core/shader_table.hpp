// The compiled shaders: SPIR-V by id. The table itself is generated from shaders/table.inc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/core/shader_id.hpp"

namespace lapilli {

// What the program has in it. Modules that differ in the size of their arrays alone are one, whose arrays have the size
// of the specialization constant kSizeConstant: `size` says which (0: there is none).
struct ShaderModule {
  const char* name;
  const uint32_t* words;
  size_t word_count;
  uint32_t size;
};
inline constexpr uint32_t kSizeConstant = 31;

const ShaderModule& shader_module(ShaderId id);

// What drivers get: plain numbers where the module has that constant, or what follows from it alone, for not all of
// them make arrays of a size that is told later. Made when it is asked for first, and kept. Any thread.
struct ShaderCode {
  const char* name;  // the id's name, for labels and messages
  const uint32_t* words;
  size_t word_count;
};

const ShaderCode& shader_code(ShaderId id);

// Of all of them, in their order. Computed once.
uint64_t shaders_checksum();

}  // namespace lapilli
