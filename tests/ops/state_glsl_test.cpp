// The constants and functions of shaders/lib/state.glsl and panel.glsl are those of src/ops/core/state.hpp and
// matmul.hpp.
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

using Constants = std::map<std::string, double>;

std::string source_of(const std::string& name) {
  std::ifstream file(LAPILLI_SOURCE_DIR "/shaders/lib/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Constants glsl_constants() {
  Constants all;
  const std::string source = source_of("state.glsl");
  const std::regex line("const (uint|float) ([^;]*);"), item("([A-Z0-9_]+) = (-?[0-9.e+]+)u?");
  for (std::sregex_iterator l(source.begin(), source.end(), line), end; l != end; ++l) {
    const std::string body = (*l)[2];
    for (std::sregex_iterator i(body.begin(), body.end(), item); i != end; ++i) all[(*i)[1]] = std::stod((*i)[2]);
  }
  return all;
}

Constants step_and_options() {
  using S = StepWords;
  using P = ParamWords;
  return {
      {"STEP_TICK", S::tick},
      {"STEP_LIVE", S::live},
      {"STEP_STARTED", S::started},
      {"STEP_QUEUED", S::queued},
      {"STEP_ADMITTED", S::admitted},
      {"STEP_MARK", S::mark},
      {"STEP_ROWS", S::rows},
      {"STEP_QUEUE", S::queue},
      {"MAX_ROWS", kMaxRows},
      {"MAX_BEAMS", kMaxBeams},
      {"MAX_CANDIDATES", kMaxCandidates},
      {"MAX_GRIDS", kMaxGrids},
      {"SLOT_BITS", RowWord::slot_bits},
      {"P_MARK", P::mark},
      {"P_MAX_LENGTH", P::max_length},
      {"P_PREFIX", P::prefix},
      {"P_MIN_LENGTH", P::min_length},
      {"P_MIN_NEW_LENGTH", P::min_new_length},
      {"P_EARLY_STOPPING", P::early_stopping},
      {"P_LENGTH_PENALTY", P::length_penalty},
      {"P_REPETITION_PENALTY", P::repetition_penalty},
      {"P_NO_REPEAT_NGRAM", P::no_repeat_ngram},
      {"P_FORCED_BOS", P::forced_bos},
      {"P_FORCED_EOS_COUNT", P::forced_eos_count},
      {"P_END_COUNT", P::end_count},
      {"P_PAD", P::pad},
      {"P_SUPPRESS_OFFSET", P::suppress_offset},
      {"P_SUPPRESS_COUNT", P::suppress_count},
      {"P_BEGIN_SUPPRESS_OFFSET", P::begin_suppress_offset},
      {"P_BEGIN_SUPPRESS_COUNT", P::begin_suppress_count},
      {"P_BEGIN_SUPPRESS_LENGTH", P::begin_suppress_length},
      {"P_BAD_WORDS_OFFSET", P::bad_words_offset},
      {"P_BAD_WORDS_COUNT", P::bad_words_count},
      {"P_BIAS_OFFSET", P::bias_offset},
      {"P_BIAS_COUNT", P::bias_count},
      {"P_SOURCE_OFFSET", P::source_offset},
      {"P_SOURCE_COUNT", P::source_count},
      {"P_DECAY_START", P::decay_start},
      {"P_DECAY_FACTOR", P::decay_factor},
      {"P_ENCODER_NO_REPEAT_NGRAM", P::encoder_no_repeat_ngram},
      {"P_ENCODER_REPETITION_PENALTY", P::encoder_repetition_penalty},
      {"P_END_IDS", P::end_ids},
      {"P_FORCED_EOS_IDS", P::forced_eos_ids},
      {"P_SEED", P::seed},
      {"P_SEQUENCE", P::sequence},
      {"P_MIN_KEEP", P::min_keep},
      {"P_TEMPERATURE", P::temperature},
      {"P_TOP_H", P::top_h},
      {"P_TOP_K", P::top_k},
      {"P_TOP_P", P::top_p},
      {"P_MIN_P", P::min_p},
      {"P_TYPICAL_P", P::typical_p},
      {"P_EPSILON", P::epsilon},
      {"P_ETA", P::eta},
      {"P_TIMESTAMP_BEGIN", P::timestamp_begin},
      {"P_TIMESTAMP_LATEST", P::timestamp_latest},
      {"P_TIMESTAMP_AFTER", P::timestamp_after},
      {"PARAM_WORDS", P::words},
  };
}

Constants layouts() {
  using L = LogLayout;
  using I = InboxLayout;
  using R = SearchLayout;
  const auto status = [](SentenceStatus s) { return static_cast<double>(s); };
  const auto stop = [](StopRule r) { return static_cast<double>(r); };
  return {
      {"STOP_NO", stop(StopRule::no)},
      {"STOP_YES", stop(StopRule::yes)},
      {"STOP_NEVER", stop(StopRule::never)},
      {"STATUS_NONE", status(SentenceStatus::none)},
      {"STATUS_WAITING", status(SentenceStatus::waiting)},
      {"STATUS_RUNNING", status(SentenceStatus::running)},
      {"STATUS_ENDED", status(SentenceStatus::ended)},
      {"STATUS_FULL", status(SentenceStatus::full)},
      {"SEARCH_STATUS", R::status},
      {"SEARCH_POSITION", R::position},
      {"SEARCH_SETTLED", R::settled},
      {"SEARCH_FINISHED", R::finished},
      {"SEARCH_HEADER", R::header},
      {"SEARCH_LARGEST", R::stride(kMaxBeams)},
      {"FINISHED_SCORE", R::finished_score},
      {"FINISHED_POSITION", R::finished_position},
      {"FINISHED_BEAM", R::finished_beam},
      {"FINISHED_TOKEN", R::finished_token},
      {"FINISHED_WORDS", R::finished_words},
      {"LINEAGE_ANCESTRY", Lineage::ancestry},
      {"LINEAGE_TOKENS", Lineage::tokens},
      {"LOG_LIVE", L::live},
      {"LOG_RAN", L::ran},
      {"LOG_TICK", L::tick},
      {"LOG_MARK", L::mark},
      {"LOG_HEADER", L::header},
      {"LOG_TOKEN", L::token},
      {"LOG_ROW", L::row},
      {"LOG_PARENT", L::parent},
      {"LOG_RUNNING", L::running},
      {"LOG_NOTE", L::note},
      {"LOG_OCCUPANT", L::occupant},
      {"LOG_FINISHED", L::finished},
      {"LOG_ENTRY", L::entry},
      {"LOG_NOTE_ENDED", L::note_ended},
      {"LOG_NOTE_FAILED", L::note_failed},
      {"LOG_NOTE_COUNT_SHIFT", L::note_count_shift},
      {"INBOX_SENTENCES", I::sentences},
      {"INBOX_CANCELLED", I::cancelled},
      {"INBOX_CANCELLED_OFFSET", I::cancelled_offset},
      {"INBOX_BLOCKS", I::blocks},
      {"INBOX_BLOCKS_OFFSET", I::blocks_offset},
      {"INBOX_MARK", I::mark},
      {"INBOX_HEADER", I::header},
      {"INBOX_ENTRY", I::entry},
      {"INBOX_PLACE", I::place},
      {"INBOX_SOURCE_BEGIN", I::source_begin},
      {"INBOX_SOURCE_END", I::source_end},
      {"INBOX_GIVEN_OFFSET", I::given_offset},
      {"INBOX_PARAMS", I::params},
      {"INBOX_BLOCK_TO", I::block_to},
      {"INBOX_BLOCK_SIZE", I::block_size},
      {"INBOX_BLOCK_FROM", I::block_from},
      {"INBOX_BLOCK", I::block},
      {"GRID_GROUPS_PER_TILE", GridWords::groups_per_tile},
      {"GRID_ROWS_PER_TILE", GridWords::rows_per_tile},
      {"GRID_MAX_X", GridWords::max_x},
      {"GRID_ARGUMENTS", GridWords::arguments},
      {"GRID_STRIDE", GridWords::stride},
      {"SPAN_ROW", SpanWords::row},
      {"SPAN_TILE", SpanWords::tile},
      {"SPAN_IDS", SpanWords::ids},
      {"SPAN_PLACE", SpanWords::place},
      {"TILE_ROWS", kTileRows},
      {"MASKED", -1e30},
      {"FORBIDDEN", -1e29},
      {"NO_SCORE", -1e9},
  };
}

TEST(StateGlsl, ConstantsEqualTheHeader) {
  Constants expected = step_and_options();
  expected.merge(layouts());
  const auto actual = glsl_constants();
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(actual.count(name)) << name << " is missing in state.glsl";
    EXPECT_EQ(actual.at(name), value) << name;
  }
  for (const auto& [name, value] : actual) EXPECT_TRUE(expected.count(name)) << name << " has no counterpart here";
}

TEST(StateGlsl, FloatsEqualTheHeader) {
  EXPECT_EQ(glsl::MASKED, kMasked);
  EXPECT_EQ(glsl::FORBIDDEN, kForbidden);
  EXPECT_EQ(glsl::NO_SCORE, kNoScore);
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

Formulas state_formulas() {
  using R = SearchLayout;
  using L = LogLayout;
  return {
      FORMULA("row_word_of", glsl::row_word_of(a[0], a[1]), RowWord::of(a[0], a[1])),
      FORMULA("slot_of", glsl::slot_of(a[0]), RowWord::slot(a[0])),
      FORMULA("position_of", glsl::position_of(a[0]), RowWord::position(a[0])),
      FORMULA("step_queue_word", glsl::step_queue_word(a[0]), StepWords::queue_word(a[0])),
      FORMULA("lineage_parity", glsl::lineage_parity(a[0]), Lineage::parity(a[0])),
      FORMULA("lineage_word", glsl::lineage_word(a[0], a[1], a[2], a[3], a[4], a[5]),
              lineage_word(a[0], a[1], a[2], a[3], a[4], a[5])),
      FORMULA("search_stride", glsl::search_stride(a[0]), R::stride(a[0])),
      FORMULA("search_record", glsl::search_record(a[0], a[1]), R::record(a[0], a[1])),
      FORMULA("search_running", glsl::search_running(a[0]), R::running(a[0])),
      FORMULA("search_finished_entry", glsl::search_finished_entry(a[0], a[1]), R::finished_entry(a[0], a[1])),
      FORMULA("log_stride", glsl::log_stride(a[0]), L::stride(a[0])),
      FORMULA("log_row_at", glsl::log_row_at(a[0], a[1], a[2]), L::row_at(a[0], a[1], a[2])),
      FORMULA("log_entry_at", glsl::log_entry_at(a[0]), L::entry_at(a[0])),
      FORMULA("inbox_entry_at", glsl::inbox_entry_at(a[0]), InboxLayout::entry_at(a[0])),
  };
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
// Of numbers between two.
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

TEST(StateGlsl, FunctionsEqualTheHeader) { expect_same("state.glsl", state_formulas()); }

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
  const auto lineage = state_formulas().at("lineage_word").kernel;
  const Formula slots_for_positions{
      lineage, [](const Arguments& a) { return lineage_word(a[0], a[1], a[2], a[3], a[5], a[4]); }};
  const Formula next_position{lineage,
                              [](const Arguments& a) { return lineage_word(a[0], a[1], a[2], a[3] + 1, a[4], a[5]); }};
  EXPECT_GT(differences(slots_for_positions), 900);
  EXPECT_EQ(differences(next_position), 1000);
}

// write_grid of the kernel and of the host, which writes the arguments of encode passes.
TEST(StateGlsl, GridsEqualTheHosts) {
  CaseRandom random(11);
  for (int i = 0; i < 1000; ++i) {
    const uint32_t grid = random.below(kMaxGrids), live = random.below(kMaxRows + 1);
    std::array<uint32_t, kMaxGrids * GridWords::stride> words{};
    const uint32_t at = grid * GridWords::stride;
    words[at + GridWords::groups_per_tile] = random.below(3) == 0 ? 0 : random.below(5000);
    words[at + GridWords::rows_per_tile] = random.below(40);
    words[at + GridWords::max_x] = random.below(4) == 0 ? 0 : 1 + random.below(70000);
    std::copy(words.begin(), words.end(), std::begin(glsl::grids));
    glsl::write_grid(grid, live);
    search::write_grid(words, at, live);
    ASSERT_TRUE(std::equal(words.begin(), words.end(), std::begin(glsl::grids)))
        << "grid " << grid << ", live " << live;
  }
}

TEST(StateGlsl, UniformBlocksHaveTheirSizes) {
  static_assert(StepWords::given_words == 260 * 4);  // the queue behind the rows is read by admit and advance only
  static_assert(2 * kMaxRows == 512 * 4);
  static_assert(SpanWords::words == 4 * kMaxRows);
  SUCCEED();
}

}  // namespace
}  // namespace lapilli
