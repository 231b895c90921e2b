// The constants of shaders/lib/state.glsl are those of src/ops/state.hpp.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "ops/state.hpp"

namespace lapilli {
namespace {

std::map<std::string, double> glsl_constants() {
  std::ifstream file(LAPILLI_SOURCE_DIR "/shaders/lib/state.glsl");
  std::stringstream text;
  text << file.rdbuf();
  std::map<std::string, double> all;
  const std::string source = text.str();
  const std::regex line("const (uint|float) ([^;]*);"), item("([A-Z0-9_]+) = (-?[0-9.e+]+)u?");
  for (std::sregex_iterator l(source.begin(), source.end(), line), end; l != end; ++l) {
    const std::string body = (*l)[2];
    for (std::sregex_iterator i(body.begin(), body.end(), item); i != end; ++i) all[(*i)[1]] = std::stod((*i)[2]);
  }
  return all;
}

TEST(StateGlsl, ConstantsEqualTheHeader) {
  using S = StepWords;
  using P = ParamWords;
  const std::map<std::string, double> expected{
      {"STEP_STEP", S::step},
      {"STEP_LIVE", S::live},
      {"STEP_DONE", S::done},
      {"STEP_ROW_SLOT", S::row_slot},
      {"MAX_ROWS", kMaxRows},
      {"MAX_GRIDS", kMaxGrids},
      {"P_SENTENCES", P::sentences},
      {"P_BEAMS", P::beams},
      {"P_CANDIDATES", P::candidates},
      {"P_VOCABULARY", P::vocabulary},
      {"P_MAX_LENGTH", P::max_length},
      {"P_PREFIX", P::prefix},
      {"P_MIN_LENGTH", P::min_length},
      {"P_EARLY_STOPPING", P::early_stopping},
      {"P_LENGTH_PENALTY", P::length_penalty},
      {"P_REPETITION_PENALTY", P::repetition_penalty},
      {"P_NO_REPEAT_NGRAM", P::no_repeat_ngram},
      {"P_FORCED_BOS", P::forced_bos},
      {"P_FORCED_EOS_COUNT", P::forced_eos_count},
      {"P_END_COUNT", P::end_count},
      {"P_PAD", P::pad},
      {"P_RENORMALIZE", P::renormalize},
      {"P_PREFIX_OFFSET", P::prefix_offset},
      {"P_SUPPRESS_OFFSET", P::suppress_offset},
      {"P_SUPPRESS_COUNT", P::suppress_count},
      {"P_BEGIN_SUPPRESS_OFFSET", P::begin_suppress_offset},
      {"P_BEGIN_SUPPRESS_COUNT", P::begin_suppress_count},
      {"P_BEGIN_SUPPRESS_LENGTH", P::begin_suppress_length},
      {"P_BAD_WORDS_OFFSET", P::bad_words_offset},
      {"P_BAD_WORDS_COUNT", P::bad_words_count},
      {"P_BIAS_OFFSET", P::bias_offset},
      {"P_BIAS_COUNT", P::bias_count},
      {"P_DECAY_START", P::decay_start},
      {"P_DECAY_FACTOR", P::decay_factor},
      {"P_SOURCE_OFFSET", P::source_offset},
      {"P_SOURCE_STRIDE", P::source_stride},
      {"P_ENCODER_NO_REPEAT_NGRAM", P::encoder_no_repeat_ngram},
      {"P_ENCODER_REPETITION_PENALTY", P::encoder_repetition_penalty},
      {"P_END_IDS", P::end_ids},
      {"P_FORCED_EOS_IDS", P::forced_eos_ids},
      {"P_MIN_NEW_LENGTH", P::min_new_length},
      {"P_SEED", P::seed},
      {"P_SEQUENCE_OFFSET", P::sequence_offset},
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
      {"P_LOG_MARK", P::log_mark},
      {"SEARCH_DONE", SearchLayout::done},
      {"SEARCH_SETTLED", SearchLayout::settled},
      {"SEARCH_FINISHED", SearchLayout::finished},
      {"SEARCH_HEADER", SearchLayout::header},
      {"LOG_HEADER", LogLayout::header},
      {"LOG_MARK", LogLayout::mark},
      {"LOG_NOTE_DONE", LogLayout::note_done},
      {"GRID_GROUPS_PER_TILE", GridWords::groups_per_tile},
      {"GRID_ROWS_PER_TILE", GridWords::rows_per_tile},
      {"GRID_MAX_X", GridWords::max_x},
      {"GRID_ARGUMENTS", GridWords::arguments},
      {"GRID_STRIDE", GridWords::stride},
      {"MASKED", -1e30},
      {"FORBIDDEN", -1e29},
  };
  const auto actual = glsl_constants();
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(actual.count(name)) << name << " is missing in state.glsl";
    EXPECT_EQ(actual.at(name), value) << name;
  }
  for (const auto& [name, value] : actual) EXPECT_TRUE(expected.count(name)) << name << " has no counterpart here";
}

TEST(StateGlsl, UniformBlocksHaveTheirSizes) {
  static_assert(StepWords::words == 260 * 4);
  static_assert(ParamWords::words == 20 * 4);
  static_assert(2 * kMaxRows == 512 * 4);
  SUCCEED();
}

}  // namespace
}  // namespace lapilli
