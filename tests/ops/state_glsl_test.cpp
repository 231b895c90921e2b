// The constants and functions of shaders/lib/panel.glsl, narrow.glsl, kv.glsl and grids.glsl are those of the host.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/half.hpp"
#include "glsl_as_cpp.hpp"
#include "ops/core/case_util.hpp"
#include "ops/core/state.hpp"
#include "ops/products/matmul.hpp"
#include "ops/search/search_util.hpp"

namespace lapilli {
namespace {

std::string source_of(const std::string& name) {
  std::ifstream file(LAPILLI_SOURCE_DIR "/shaders/lib/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// ---- functions ----------------------------------------------------------------------------------------------------

using Arguments = std::array<uint32_t, 6>;
struct Formula {
  std::function<uint32_t(const Arguments&)> kernel;  // the text that kernels include
  std::function<uint64_t(const Arguments&)> header;  // modulo 2^32
};
using Formulas = std::map<std::string, Formula>;
#define FORMULA(NAME, KERNEL, HEADER)                                                                              \
  {                                                                                                                \
    NAME, {                                                                                                        \
      [](const Arguments& a) -> uint32_t { return KERNEL; }, [](const Arguments& a) -> uint64_t { return HEADER; } \
    }                                                                                                              \
  }

constexpr uint32_t kFormats = static_cast<uint32_t>(kLastWeightFormat) + 1;
WeightFormat format_number(uint32_t n) { return static_cast<WeightFormat>(n % kFormats); }

Formulas panel_formulas() {
  return {
      FORMULA("packed_element", glsl::packed_element(a[0], a[1], a[2]), packed::element(a[0], a[1], a[2])),
      FORMULA("packed_element4", glsl::packed_element4(a[0], a[1], a[2]),
              packed::element(uint64_t{4} * a[0], a[1], uint64_t{4} * a[2]) / 4),
      FORMULA("depths_a_word", glsl::depths_a_word(a[0] % kFormats), packed::depths_a_word(format_number(a[0]))),
      FORMULA("depth_shift", glsl::depth_shift(a[0] % kFormats, a[1]), packed::shift(format_number(a[0]), a[1])),
      FORMULA("has_scales", glsl::has_scales(a[0] % kFormats), packed::has_scales(format_number(a[0]))),
      FORMULA("granule", glsl::granule(a[0] % kFormats), packed::granule(format_number(a[0]))),
      FORMULA("depth_row", glsl::depth_row(a[0] % kFormats, a[1]), packed::depth_row(format_number(a[0]), a[1])),
      FORMULA("granule_row", glsl::granule_row(a[0] % kFormats, a[1]), packed::granule_row(format_number(a[0]), a[1])),
  };
}

float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t bits_of(float f) { return std::bit_cast<uint32_t>(f); }
uint32_t positive(uint32_t bits) { return bits & 0x7fffffffu; }
WeightFormat scaled_format(uint32_t n) { return n % 2 == 0 ? WeightFormat::int8 : WeightFormat::int4; }
uint32_t number(WeightFormat f) { return static_cast<uint32_t>(f); }
// The scales of numbers between two others.
uint32_t scales_for(const Arguments& a) {
  const float x = float_of(a[1]), y = float_of(a[2]);
  return scales_of(scaled_format(a[0]), std::min(x, y), std::max(x, y));
}

uint32_t host_bits(WeightFormat format, uint32_t bits) { return weight_bits(format, std::bit_cast<float>(bits)); }

Formulas narrow_formulas() {
  return {
      FORMULA("bf16_bits", glsl::bf16_bits(a[0]), host_bits(WeightFormat::bf16, a[0])),
      FORMULA("fp16_bits", glsl::fp16_bits(a[0]), host_bits(WeightFormat::fp16, a[0])),
      FORMULA("half_of", glsl::half_of(std::min(positive(a[0]), 0x47800000u)),
              host_bits(WeightFormat::fp16, std::min(positive(a[0]), 0x47800000u))),
      FORMULA("kv_half", glsl::kv_half(a[0]), kv_half(float_of(a[0]))),
      FORMULA("scale_of", bits_of(glsl::scale_of(float_of(positive(a[0])))),
              bits_of(narrow::scale_of(float_of(positive(a[0]))))),
      FORMULA("bf16_below", glsl::bf16_below(a[0]), narrow::bf16_below(a[0])),
      FORMULA("bf16_above", glsl::bf16_above(positive(a[0])), narrow::bf16_above(positive(a[0]))),
      FORMULA("minimum_bits", glsl::minimum_bits(float_of(a[0])), narrow::minimum_bits(float_of(a[0]))),
      FORMULA("range_bits", glsl::range_bits(float_of(a[0]), float_of(a[1])),
              narrow::range_bits(float_of(a[0]), float_of(a[1]))),
      FORMULA("scales_of",
              glsl::scales_of(number(scaled_format(a[0])), std::min(float_of(a[1]), float_of(a[2])),
                              std::max(float_of(a[1]), float_of(a[2]))),
              scales_for(a)),
      FORMULA("steps_of", bits_of(glsl::steps_of(float_of(positive(a[0])), float_of(positive(a[1])), 15.0f)),
              bits_of(narrow::steps_of(float_of(positive(a[0])), float_of(positive(a[1])), 15.0f))),
      FORMULA("scaled_bits", glsl::scaled_bits(number(scaled_format(a[0])), float_of(a[1 + a[3] % 2]), scales_for(a)),
              scaled_bits(scaled_format(a[0]), float_of(a[1 + a[3] % 2]), scales_for(a))),
      FORMULA("weight_bits", glsl::weight_bits(a[0] % kFormats, a[1]), host_bits(format_number(a[0]), a[1])),
  };
}

// Functions that a file defines outside of its #ifdef.
std::set<std::string> functions_of(const std::string& file) {
  const std::string source = source_of(file);
  std::istringstream in(source);
  const std::regex definition("[a-z]\\w* (\\w+)\\(.*");
  std::set<std::string> names;
  int depth = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#if")) ++depth;
    if (line.starts_with("#endif")) --depth;
    if (std::smatch m; depth == 0 && std::regex_match(line, m, definition)) names.insert(m[1]);
  }
  return names;
}

// Small ones and large ones; the n-th is another one in each place.
Arguments random_arguments(CaseRandom& random) {
  Arguments a;
  for (auto& x : a) x = random.word() >> random.below(32);
  return a;
}

// How many of a thousand sets of arguments make a difference.
int differences(const Formula& f) {
  CaseRandom random(7);
  int n = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto a = random_arguments(random);
    n += f.kernel(a) != static_cast<uint32_t>(f.header(a));
  }
  return n;
}

void expect_same(const std::string& file, const Formulas& formulas) {
  std::set<std::string> compared;
  for (const auto& [name, formula] : formulas) {
    EXPECT_EQ(differences(formula), 0) << name;
    compared.insert(name);
  }
  EXPECT_EQ(functions_of(file), compared) << file << ": each function has its counterpart here";
}

TEST(StateGlsl, PanelsEqualTheHeader) {
  EXPECT_EQ(glsl::PANEL, packed::kPanel);
  EXPECT_EQ(glsl::PANEL4 * 4, packed::kPanel);
  EXPECT_EQ(glsl::FORMAT_FP32, static_cast<uint32_t>(WeightFormat::fp32));
  EXPECT_EQ(glsl::FORMAT_BF16, static_cast<uint32_t>(WeightFormat::bf16));
  EXPECT_EQ(glsl::FORMAT_FP16, static_cast<uint32_t>(WeightFormat::fp16));
  EXPECT_EQ(glsl::FORMAT_INT8, static_cast<uint32_t>(WeightFormat::int8));
  EXPECT_EQ(glsl::FORMAT_INT4, static_cast<uint32_t>(WeightFormat::int4));
  EXPECT_EQ(glsl::BLOCK, packed::kBlock);
  EXPECT_EQ(kLastWeightFormat, WeightFormat::int4);
  expect_same("panel.glsl", panel_formulas());
}

// Every half lies between two floats that round to it or to its neighbours, as do the middles between halves.
TEST(StateGlsl, RoundingEqualsTheHeader) {
  expect_same("narrow.glsl", narrow_formulas());
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const auto at = std::bit_cast<uint32_t>(half_to_float(static_cast<uint16_t>(half)));
    for (const uint32_t f : {at, at - 1, at + 1, at + 0x0fffu, at + 0x1000u, at + 0x1001u}) {
      ASSERT_EQ(glsl::fp16_bits(f), host_bits(WeightFormat::fp16, f)) << std::hex << f;
      ASSERT_EQ(glsl::kv_half(f), kv_half(float_of(f))) << std::hex << f;
      ASSERT_EQ(glsl::bf16_bits(f), host_bits(WeightFormat::bf16, f)) << std::hex << f;
    }
  }
}

TEST(StateGlsl, KvFormatsEqualTheHeader) {
  EXPECT_EQ(glsl::KV_FP32, static_cast<uint32_t>(KvFormat::fp32));
  EXPECT_EQ(glsl::KV_FP16, static_cast<uint32_t>(KvFormat::fp16));
  EXPECT_EQ(glsl::KV_FORMAT, glsl::KV_FP32);  // of kernels that know no other
}

TEST(StateGlsl, FunctionsThatDifferAreSeen) {
  const auto element = panel_formulas().at("packed_element").kernel;
  const Formula next{element, [](const Arguments& a) { return packed::element(a[0] + 1, a[1], a[2]); }};
  const Formula others{element, [](const Arguments& a) { return packed::element(a[1], a[0], a[2]); }};
  EXPECT_EQ(differences(next), 1000);
  EXPECT_GT(differences(others), 900);
}

// write_grid of the kernel and of the host, which writes the arguments of encode passes.
TEST(StateGlsl, GridsEqualTheHosts) {
  CaseRandom random(11);
  for (int i = 0; i < 1000; ++i) {
    const uint32_t grid = random.below(state::MAX_GRIDS), live = random.below(state::MAX_ROWS + 1);
    std::array<uint32_t, state::MAX_GRIDS * state::GRID_STRIDE> words{};
    const uint32_t at = grid * state::GRID_STRIDE;
    words[at + state::GRID_GROUPS_PER_TILE] = random.below(3) == 0 ? 0 : random.below(5000);
    words[at + state::GRID_ROWS_PER_TILE] = random.below(40);
    words[at + state::GRID_MAX_X] = random.below(4) == 0 ? 0 : 1 + random.below(70000);
    std::copy(words.begin(), words.end(), std::begin(glsl::grids));
    glsl::write_grid(grid, live);
    search::write_grid(words, at, live);
    ASSERT_TRUE(std::equal(words.begin(), words.end(), std::begin(glsl::grids)))
        << "grid " << grid << ", live " << live;
  }
}

TEST(StateGlsl, UniformBlocksHaveTheirSizes) {
  static_assert(state::STEP_QUEUE == 260 * 4);  // the queue behind the rows is read by admit and advance only
  static_assert(2 * state::MAX_ROWS == 512 * 4);
  static_assert(state::SPAN_WORDS == 4 * state::MAX_ROWS);
  SUCCEED();
}

}  // namespace
}  // namespace lapilli
