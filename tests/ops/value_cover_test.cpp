#include "ops/suite/value_cover.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace lapilli {
namespace {

Dispatch kernel_of(uint32_t shader, std::vector<uint32_t> constants) {
  Dispatch d;
  d.shader = static_cast<ShaderId>(shader);
  d.constants = std::move(constants);
  return d;
}

// Every kernel of two shaders with `first` values of one constant and `second` of another.
std::vector<Dispatch> kernels_with(uint32_t first, uint32_t second) {
  std::vector<Dispatch> all;
  for (uint32_t shader = 0; shader < 2; ++shader)
    for (uint32_t a = 0; a < first; ++a)
      for (uint32_t b = 0; b < second; ++b) all.push_back(kernel_of(shader, {a, b}));
  return all;
}

std::vector<Dispatch> chosen_of(const std::vector<Dispatch>& all) {
  ValueCover cover;
  for (const Dispatch& d : all) cover.add({d});
  cover.choose();
  std::vector<Dispatch> chosen;
  for (const Dispatch& d : all)
    if (cover.holds({d})) chosen.push_back(d);
  EXPECT_EQ(chosen.size(), cover.chosen());
  return chosen;
}

// Pairs of a shader, or of any, and a value of a constant.
size_t values_in(const std::vector<Dispatch>& chosen, size_t constant, bool any_shader) {
  std::set<std::pair<uint32_t, uint32_t>> values;
  for (const Dispatch& d : chosen)
    values.emplace(any_shader ? 0 : static_cast<uint32_t>(d.shader), d.constants[constant]);
  return values.size();
}

TEST(ValueCover, FewKernelsHoldEachValueOfEachShader) {
  const auto chosen = chosen_of(kernels_with(6, 3));
  EXPECT_EQ(chosen.size(), 12u);
  EXPECT_EQ(values_in(chosen, 0, false), 12u);
  EXPECT_EQ(values_in(chosen, 1, false), 6u);
}

TEST(ValueCover, ManyValuesAreEachInAShaderOfTheOp) {
  const auto chosen = chosen_of(kernels_with(12, 3));
  EXPECT_EQ(chosen.size(), 12u);
  EXPECT_EQ(values_in(chosen, 0, true), 12u);
  EXPECT_EQ(values_in(chosen, 1, false), 6u);
}

TEST(ValueCover, AShaderWithoutConstantsIsAValue) {
  EXPECT_EQ(chosen_of({kernel_of(0, {}), kernel_of(1, {})}).size(), 2u);
}

// A variant that was left out because of one kernel does not run with the other.
TEST(ValueCover, DispatchesOfAVariantAreChosenTogether) {
  ValueCover cover;
  cover.add({kernel_of(0, {1}), kernel_of(1, {1})});
  cover.choose();
  EXPECT_TRUE(cover.holds({kernel_of(0, {1}), kernel_of(1, {1})}));
  EXPECT_FALSE(cover.holds({kernel_of(0, {1}), kernel_of(1, {2})}));
}

}  // namespace
}  // namespace lapilli
