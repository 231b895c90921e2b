// The buffers of the shaders that the lab's layer takes for gathered ones.
#include "lab/layer/gathers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "ops/core/shader_table.hpp"

namespace lapilli {
namespace {

using testing::ElementsAre;

std::set<uint32_t> gathered(std::string_view shader) {
  for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i) {
    const ShaderCode& code = shader_code(static_cast<ShaderId>(i));
    if (shader == code.name) return lab::gathered_bindings(code.words, code.word_count);
  }
  ADD_FAILURE() << "no shader " << shader;
  return {};
}

TEST(Gathers, TablesByIds) {
  EXPECT_THAT(gathered("embed"), ElementsAre(1, 3));  // words and positions, not ids and sums
  // Whoever is at which place is read as well.
  EXPECT_THAT(gathered("embed_step"), testing::Contains(1));
  EXPECT_THAT(gathered("embed_spans"), testing::Contains(1));
}

TEST(Gathers, MatricesAreReadWhole) {
  for (const char* product : {"matmul_r1", "matmul_lanes4", "matmul_split1", "matmul_tiled32", "matmul_kv_r4",
                              "matmul_kv_step_lanes1", "matmul_q_kv_step_r1", "log_softmax_parts", "layer_norm"})
    EXPECT_THAT(gathered(product), testing::Not(testing::Contains(1))) << product;
}

}  // namespace
}  // namespace lapilli
