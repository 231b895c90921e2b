// The constants of shaders/lib/state.glsl are those of src/ops/state.hpp.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "ops/state.hpp"

namespace lapilli {
namespace {

using Constants = std::map<std::string, double>;

Constants glsl_constants() {
  std::ifstream file(LAPILLI_SOURCE_DIR "/shaders/lib/state.glsl");
  std::stringstream text;
  text << file.rdbuf();
  Constants all;
  const std::string source = text.str();
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
  const auto status = [](SentenceStatus s) { return static_cast<double>(s); };
  return {
      {"STATUS_NONE", status(SentenceStatus::none)},
      {"STATUS_WAITING", status(SentenceStatus::waiting)},
      {"STATUS_RUNNING", status(SentenceStatus::running)},
      {"STATUS_ENDED", status(SentenceStatus::ended)},
      {"STATUS_FULL", status(SentenceStatus::full)},
      {"SEARCH_STATUS", SearchLayout::status},
      {"SEARCH_POSITION", SearchLayout::position},
      {"SEARCH_SETTLED", SearchLayout::settled},
      {"SEARCH_FINISHED", SearchLayout::finished},
      {"SEARCH_HEADER", SearchLayout::header},
      {"LOG_HEADER", L::header},
      {"LOG_ENTRY", L::entry},
      {"LOG_FINISHED", L::finished},
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

TEST(StateGlsl, UniformBlocksHaveTheirSizes) {
  static_assert(StepWords::given_words == 260 * 4);  // the queue behind the rows is read by admit and advance only
  static_assert(2 * kMaxRows == 512 * 4);
  static_assert(SpanWords::words == 4 * kMaxRows);
  SUCCEED();
}

}  // namespace
}  // namespace lapilli
