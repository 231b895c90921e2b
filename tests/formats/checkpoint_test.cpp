#include "formats/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/half.hpp"
#include "formats/temp_directory.hpp"

namespace lapilli {
namespace {

using ::testing::HasSubstr;

Checkpoint opened(const std::string& directory) {
  auto c = Checkpoint::open(directory);
  EXPECT_TRUE(c.ok()) << (c ? "" : c.error().message);
  return c ? std::move(c).value() : Checkpoint{};
}

std::vector<float> floats(const Checkpoint& c, const std::string& name) {
  const auto* t = c.find(name);
  EXPECT_NE(t, nullptr) << name;
  if (!t) return {};
  auto v = read_floats(*t);
  EXPECT_TRUE(v.ok()) << (v ? "" : v.error().message);
  return v ? std::move(v).value() : std::vector<float>{};
}

TEST(Safetensors, Marian) {
  const auto c = opened(model_directory("marian/model"));
  EXPECT_EQ(c.format(), "safetensors");
  const auto names = c.names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_GT(names.size(), 60u);
  const auto* t = c.find("model.shared.weight");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->shape, (std::vector<uint64_t>{257, 32}));
  EXPECT_EQ(t->strides, (std::vector<uint64_t>{32, 1}));
  EXPECT_EQ(t->bytes.size(), 257u * 32 * 4);
  EXPECT_EQ(t->describe(), "'model.shared.weight' F32 [257, 32]");
  EXPECT_THAT(c.path(*t), HasSubstr("model.safetensors"));
  EXPECT_EQ(c.find("model.shared"), nullptr);
  EXPECT_EQ(c.find(""), nullptr);
  uint64_t bytes = 0;
  for (const auto& tensor : c.tensors()) bytes += tensor.bytes.size();
  EXPECT_EQ(c.total_bytes(), bytes);
}

TEST(Safetensors, TensorsOutliveAMove) {
  auto c = opened(model_directory("marian/model"));
  const auto* t = c.find("final_logits_bias");
  const Checkpoint moved = std::move(c);
  EXPECT_EQ(moved.find("final_logits_bias"), t);
  EXPECT_EQ(read_floats(*t)->size(), 257u);
}

TEST(Safetensors, HalfPrecisionAgreesWithSingle) {
  const auto f16 = opened(model_directory("marian-half/model-fp16"));
  const auto bf16 = opened(model_directory("marian-half/model-bf16"));
  ASSERT_EQ(f16.names(), bf16.names());
  double largest = 0;
  for (const auto& name : f16.names()) {
    EXPECT_EQ(f16.find(name)->type, StoredType::f16);
    EXPECT_EQ(bf16.find(name)->type, StoredType::bf16);
    const auto a = floats(f16, name), b = floats(bf16, name);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a[i], b[i], std::abs(a[i]) / 128 + 1e-6) << name << " " << i;
      largest = std::max<double>(largest, std::abs(a[i]));
    }
  }
  EXPECT_GT(largest, 0.1);
}

TEST(Safetensors, ExpectedResultsHoldIntegersToo) {
  const auto c = Checkpoint::open_file(model_directory("marian/expected.safetensors"));
  ASSERT_TRUE(c.ok()) << c.error().message;
  size_t integers = 0;
  for (const auto& t : c->tensors()) {
    if (t.type != StoredType::i32) continue;
    ++integers;
    const auto v = read_integers(t);
    ASSERT_TRUE(v.ok()) << v.error().message;
    EXPECT_EQ(v->size(), t.elements());
    EXPECT_FALSE(read_floats(t).ok());
  }
  EXPECT_GT(integers, 2u);
}

}  // namespace
}  // namespace lapilli
