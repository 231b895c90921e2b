// Caches of halves: where their numbers lie, how they are rounded, and what is refused.
#include "ops/core/kv_layout.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/core/case_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/products/matmul_cases.hpp"
#include "support/fixtures.hpp"

namespace lapilli {
namespace {

TEST(KvLayout, TwoHalvesAWord) {
  const KvShape shape{3, 5, 4, 7};
  const KvLayout full(shape, KvFormat::fp32), half(shape, KvFormat::fp16);
  EXPECT_EQ(full.words(), shape.numbers());
  EXPECT_EQ(half.words() * 2, full.words());
  EXPECT_EQ(half.cell_words(), 5u);
  EXPECT_EQ(half.word(2, 1, 3) * 2, full.word(2, 1, 3));
  // Kernels count numbers, modulo 2^32.
  EXPECT_EQ(full.begin_of(100, 4), 96u);
  EXPECT_EQ(half.begin_of(100, 4), 192u);
  EXPECT_EQ(half.begin_of(uint64_t{1} << 31, 0), 0u);
}

double stored(double number) {
  graph::Graph g;
  const auto kv = add_kv(g, StateKind::self_kv, {{1, 1, 1, 1}, KvFormat::fp16});
  HostTensors values;
  values.graph = &g;
  values.values.resize(1);
  values.at(kv).u.assign(1, 0xffffffffu);
  HostKv host(g, kv, values);
  host.set(1, number);
  EXPECT_EQ(values.at(kv).u[0] & 0xffffu, 0xffffu);  // its neighbour
  return host[1];
}

TEST(KvLayout, RoundsToNearestEvenAndNeverToInfinity) {
  EXPECT_EQ(stored(0.1), 0.0999755859375);
  EXPECT_EQ(stored(2049), 2048);
  EXPECT_EQ(stored(2051), 2052);
  EXPECT_EQ(stored(65504), 65504);
  EXPECT_EQ(stored(65519.99), 65504);
  EXPECT_EQ(stored(65520), 65504);
  EXPECT_EQ(stored(-1e30), -65504);
  EXPECT_EQ(stored(std::numeric_limits<double>::infinity()), 65504);
  EXPECT_EQ(stored(0x1p-24), 0x1p-24);
  EXPECT_EQ(stored(0x1p-26), 0);
  EXPECT_TRUE(std::isnan(stored(std::numeric_limits<double>::quiet_NaN())));
}

TEST(KvLayout, StepsOfHalves) {
  EXPECT_EQ(half_step(1), 0x1p-10);
  EXPECT_EQ(half_step(-1.9), 0x1p-10);
  EXPECT_EQ(half_step(65504), 32);
  EXPECT_EQ(half_step(0), 0x1p-24);
}

TEST(KvLayout, FormatsByName) {
  LAPILLI_ASSERT_VALUE(const auto fp16, parse_kv_format("fp16"));
  EXPECT_EQ(fp16, KvFormat::fp16);
  EXPECT_FALSE(parse_kv_format("bf16").ok());
  EXPECT_FALSE(parse_kv_format("").ok());
}

// A product whose columns behind `q_columns` are keys and values in halves.
struct Product {
  graph::Graph g;
  Product(uint32_t q_columns, const KvShape& shape, uint32_t depth) {
    const auto x = g.activation("x", 2, depth);
    const auto w = add_packed(g, "w", {q_columns + uint64_t{shape.heads} * 2 * shape.head_dim, depth});
    const auto kv = add_kv(g, StateKind::self_kv, {shape, KvFormat::fp16});
    const auto state = shape.layout == RowLayout::step ? add_step(g) : graph::kNone;
    ops::linear_kv(g, "product", x, w, {q_columns, kv, shape, state});
  }
  [[nodiscard]] Status infer() const { return matmul_op.infer(g, g.node(0)); }
};

TEST(KvLayout, HalvesAskForWholeWordsAndCaches) {
  const KvShape step{1, 3, 2, 4, RowLayout::step, 1};
  LAPILLI_EXPECT_OK(Product(4, step, 8).infer());
  const auto odd = Product(3, step, 8).infer();
  ASSERT_FALSE(odd.ok());
  EXPECT_NE(odd.error().message.find("3 columns in front of keys and values"), std::string::npos);
  const auto batch = Product(4, {1, 3, 2, 4, RowLayout::batch, 1}, 8).infer();
  ASSERT_FALSE(batch.ok());
  EXPECT_NE(batch.error().message.find("here it must be f32"), std::string::npos);
}

// Parts of a sum would be rounded one by one.
TEST(KvLayout, HalvesAskForTheDepthInOnePiece) {
  const Product deep(4, {1, 4, 2, 4, RowLayout::step, 1}, 4096);
  LAPILLI_ASSERT_OK(deep.infer());
  Capabilities caps;
  caps.max_storage_range = 65536;
  const auto floor = matmul_op.variants(caps, deep.g, deep.g.node(0)).back();
  std::vector<Dispatch> dispatches;
  const auto lowered = matmul_op.lower({deep.g, caps}, deep.g.node(0), floor, dispatches);
  ASSERT_FALSE(lowered.ok());
  EXPECT_NE(lowered.error().message.find("use fp32"), std::string::npos) << lowered.error().message;
}

}  // namespace
}  // namespace lapilli
