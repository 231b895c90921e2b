// The modules that drivers get where one module has arrays of several sizes.
#include <gtest/gtest.h>
#include <spirv/unified1/spirv.h>

#include <set>
#include <string>

#include "ops/core/shader_table.hpp"
#include "ops/spirv_reader.hpp"

namespace lapilli {
namespace {

std::set<uint32_t> constants_of(const uint32_t* words, size_t count) {
  const auto info = read_spirv({words, count});
  EXPECT_TRUE(info.ok());
  return info.ok() ? info->spec_ids : std::set<uint32_t>();
}

TEST(ShaderCode, NoSizeIsLeftToDrivers) {
  size_t sized = 0;
  for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i) {
    const auto id = static_cast<ShaderId>(i);
    const ShaderModule& module = shader_module(id);
    const ShaderCode& code = shader_code(id);
    EXPECT_FALSE(constants_of(code.words, code.word_count).contains(kSizeConstant)) << code.name;
    EXPECT_EQ(constants_of(module.words, module.word_count).contains(kSizeConstant), module.size > 0) << code.name;
    EXPECT_EQ(code.words == module.words, module.size == 0) << code.name;
    sized += module.size > 0;
  }
  EXPECT_GT(sized, 0u);
}

// One word is another, and is the number.
TEST(ShaderCode, SizesDifferInOneWord) {
  const ShaderCode &four = shader_code(ShaderId::matmul_kv_step_lanes4),
                   &many = shader_code(ShaderId::matmul_kv_step_lanes16);
  EXPECT_EQ(shader_module(ShaderId::matmul_kv_step_lanes4).words,
            shader_module(ShaderId::matmul_kv_step_lanes16).words);
  ASSERT_EQ(four.word_count, many.word_count);
  size_t others = 0;
  for (size_t i = 0; i < four.word_count; ++i) {
    if (four.words[i] == many.words[i]) continue;
    EXPECT_EQ(four.words[i], 4u);
    EXPECT_EQ(many.words[i], 16u);
    ++others;
  }
  EXPECT_EQ(others, 1u);
}

// Arrays whose length is no plain number.
size_t unplain_arrays(const ShaderCode& code) {
  std::set<uint32_t> plain;
  size_t others = 0;
  for (size_t i = 5; i < code.word_count; i += code.words[i] >> SpvWordCountShift) {
    const uint32_t operation = code.words[i] & SpvOpCodeMask;
    if (operation == SpvOpConstant) plain.insert(code.words[i + 2]);
    if (operation == SpvOpTypeArray) others += !plain.contains(code.words[i + 3]);
  }
  return others;
}

// Nor what follows from a size: tiles have rows and columns of x and W, and slices, by that one number.
TEST(ShaderCode, ArraysHavePlainLengths) {
  for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i) {
    const ShaderCode& code = shader_code(static_cast<ShaderId>(i));
    EXPECT_EQ(unplain_arrays(code), 0u) << code.name;
  }
  const ShaderModule& module = shader_module(ShaderId::matmul_tiled16);
  EXPECT_GT(unplain_arrays({"as it is in the program", module.words, module.word_count}), 0u);
}

uint64_t shared_bytes(ShaderId id) {
  const ShaderCode& code = shader_code(id);
  const auto info = read_spirv({code.words, code.word_count});
  EXPECT_TRUE(info.ok()) << code.name;
  return info.ok() ? info->shared_bytes : 0;
}

// Rows of a slice of x, one vec4 longer than it is deep, and of W; and parts of sums.
TEST(ShaderCode, WhatFollowsFromASizeIsComputed) {
  EXPECT_EQ(shared_bytes(ShaderId::matmul_tiled16), 16u * (16 * 9 + 32 * 8));
  EXPECT_EQ(shared_bytes(ShaderId::matmul_tiled32), 16u * (32 * 5 + 16 * 16));
  EXPECT_EQ(shared_bytes(ShaderId::matmul_tiled64), 16u * (64 * 5 + 16 * 16));
  EXPECT_EQ(shared_bytes(ShaderId::matmul_norm_split1), 16u * 256);
  EXPECT_EQ(shared_bytes(ShaderId::matmul_norm_split4), 16u * 256);
  EXPECT_EQ(shared_bytes(ShaderId::matmul_norm_deep_split4), 16384u);  // what every device has
}

}  // namespace
}  // namespace lapilli
