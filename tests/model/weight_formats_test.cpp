// Some matrices of a network take a format, and others stay in fp32 since it does not hold their numbers.
#include "model/weight_formats.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace lapilli::model {
namespace {

constexpr uint64_t kRows = 50, kColumns = 40;

// A network of one matrix, in fp32 as stored, and a normalization.
class OneMatrix {
 public:
  explicit OneMatrix(StoredType type = StoredType::f32) : values_(kRows * kColumns, 0.5f) {
    tensor_.type = type;
    tensor_.shape = {kRows, kColumns};
    tensor_.strides = {kColumns, 1};
    tensor_.bytes = std::as_bytes(std::span(values_));
    WeightSpec matrix;
    matrix.name = "fc1";
    matrix.n = kRows;
    matrix.k = kColumns;
    matrix.words = WeightLayout(kRows, kColumns).words();
    matrix.parts.push_back({&tensor_});
    WeightSpec norm;
    norm.kind = WeightSpec::Kind::vector;
    norm.words = 80;
    network_.weights = {matrix, norm};
  }
  OneMatrix(const OneMatrix&) = delete;
  OneMatrix& operator=(const OneMatrix&) = delete;

  // The first numbers are these.
  std::vector<KeptMatrix> with(const std::vector<float>& first, WeightFormat format) {
    std::copy(first.begin(), first.end(), values_.begin());
    auto kept = set_format(network_, format);
    EXPECT_TRUE(kept.ok());
    return kept.ok() ? *kept : std::vector<KeptMatrix>();
  }
  [[nodiscard]] const WeightSpec& matrix() const { return network_.weights[0]; }
  [[nodiscard]] const WeightSpec& norm() const { return network_.weights[1]; }

 private:
  std::vector<float> values_;
  StoredTensor tensor_;
  Network network_;
};

TEST(WeightFormats, MatricesAlone) {
  for (const WeightFormat format :
       {WeightFormat::bf16, WeightFormat::fp16, WeightFormat::int8, WeightFormat::int4, WeightFormat::fp32}) {
    OneMatrix m;
    EXPECT_TRUE(m.with({65504.0f, -65504.0f, 0.0f}, format).empty());
    EXPECT_EQ(m.matrix().format, format);
    EXPECT_EQ(m.matrix().words, WeightLayout(kRows, kColumns, format).words());
    EXPECT_EQ(m.norm().format, WeightFormat::fp32);
    EXPECT_EQ(m.norm().words, 80u);
  }
}

TEST(WeightFormats, BeyondHalfPrecisionStaysInFp32) {
  for (const float beyond : {65520.0f, -70000.0f, 1e30f}) {
    OneMatrix m;
    const auto kept = m.with({beyond, beyond}, WeightFormat::fp16);
    ASSERT_EQ(kept.size(), 1u) << beyond;
    EXPECT_EQ(kept[0].name, "fc1");
    EXPECT_EQ(kept[0].beyond, 2u);
    EXPECT_EQ(kept[0].numbers, kRows * kColumns);
    EXPECT_EQ(m.matrix().format, WeightFormat::fp32);
    EXPECT_EQ(m.matrix().words, WeightLayout(kRows, kColumns).words());
    EXPECT_TRUE(m.with({beyond}, WeightFormat::bf16).empty());
    EXPECT_EQ(m.matrix().format, WeightFormat::bf16);
  }
}

// One in a thousand may vanish: two of two thousand, not three.
TEST(WeightFormats, VanishingNumbersStayInFp32WhereTheyAreMany) {
  OneMatrix m;
  EXPECT_TRUE(m.with({1e-8f, -1e-8f}, WeightFormat::fp16).empty());
  EXPECT_TRUE(m.with({1e-8f, 1e-8f, 6e-8f}, WeightFormat::fp16).empty());  // the last one is the smallest half
  const auto kept = m.with({1e-8f, -1e-8f, 2.98e-8f}, WeightFormat::fp16);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].flushed, 3u);
  EXPECT_EQ(kept[0].beyond, 0u);
}

TEST(WeightFormats, StoredHalvesFit) {
  OneMatrix m(StoredType::f16);  // whose bytes are not even looked at
  EXPECT_TRUE(m.with({1e30f}, WeightFormat::fp16).empty());
}

}  // namespace
}  // namespace lapilli::model
