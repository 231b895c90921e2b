// Prompts that begin alike share keys and values: what is written is what each prompt gets alone, and positions that an
// earlier prompt computed are not computed again.
#include <gmock/gmock.h>

#include <numeric>

#include "generate/searches.hpp"
#include "search/engine_pool.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;

constexpr const char* kNoEncoder = "tiny,encoder=0,vocabulary=600";

using Prompt = std::vector<int32_t>;

// Ids that differ from those of other seeds from the first on.
Prompt ids_of(int32_t seed, size_t n) {
  Prompt ids(n);
  for (size_t i = 0; i < n; ++i)
    ids[i] = 1 + static_cast<int32_t>((static_cast<size_t>(seed) * 37 + i * i * 11 + i) % 590);
  ids.front() = 1 + seed;
  return ids;
}

Prompt joined(Prompt first, const Prompt& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Prompt begin_of(const Prompt& ids, size_t n) { return {ids.begin(), ids.begin() + static_cast<ptrdiff_t>(n)}; }

GenerateRequest prompts_request(std::vector<Prompt> prompts, uint32_t beams = 1) {
  GenerateRequest r;
  r.decoder_ids = std::move(prompts);
  r.options.num_beams = r.options.num_return_sequences = beams;
  r.options.max_new_tokens = r.options.min_new_tokens = 6;
  r.deterministic = true;
  return r;
}

uint64_t rows_of(const GenerateRequest& r) {
  return std::accumulate(r.decoder_ids.begin(), r.decoder_ids.end(), uint64_t{0},
                         [](uint64_t n, const Prompt& p) { return n + p.size() - 1; });
}

class DevicePrefixCache : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, shared_device_with(GetParam()));
    load({});
  }
  void load(LoadOptions options, const char* shape = kNoEncoder) {
    LAPILLI_ASSERT_VALUE(model_, Model::random(device_, shape, 1, options));
    options.prefix_cache = false;
    LAPILLI_ASSERT_VALUE(plain_, Model::random(device_, shape, 1, options));
  }
  // The same bits as without a cache, and so many positions saved.
  void expect_saved(const GenerateRequest& request, uint64_t saved) {
    LAPILLI_ASSERT_VALUE(const auto want, run_search(plain_, request));
    LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
    EXPECT_EQ(bits_of(out), bits_of(want));
    EXPECT_EQ(want.stats.prompt_rows, rows_of(request));
    EXPECT_EQ(want.stats.saved_prompt_rows, 0u);
    EXPECT_EQ(out.stats.saved_prompt_rows, saved);
    EXPECT_EQ(out.stats.prompt_rows, rows_of(request) - saved);
  }
  [[nodiscard]] PrefixCache& cache() const { return model_->engines().prefixes(); }

  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_, plain_;
};
INSTANTIATE_TEST_SUITE_P(Masks, DevicePrefixCache, testing::Values("full", "floor", "staging"),
                         [](const auto& i) { return std::string(i.param); });

TEST_P(DevicePrefixCache, ASystemPromptIsComputedOnce) {
  const Prompt system = ids_of(0, 40);
  std::vector<Prompt> prompts;
  for (int32_t i = 1; i <= 5; ++i) prompts.push_back(joined(system, ids_of(i, 3 + static_cast<size_t>(i) * 5)));
  expect_saved(prompts_request(prompts), 4 * 40);
  // In another job: all of those that were kept. The first two are too short to be kept behind the system prompt, but
  // the first is whole.
  expect_saved(prompts_request(prompts), (40 + 7) + 40 + (40 + 17) + (40 + 22) + (40 + 27));
  // In another kind of session.
  expect_saved(prompts_request({joined(system, ids_of(9, 5))}, 3), 40);
}

TEST_P(DevicePrefixCache, APromptMayBeAnothersBeginning) {
  const Prompt all = ids_of(3, 120);
  expect_saved(prompts_request({begin_of(all, 60), begin_of(all, 30), begin_of(all, 90), all}), 29 + 59 + 89);
  expect_saved(prompts_request({begin_of(all, 17), begin_of(all, 16), begin_of(all, 61)}), 16 + 60);
}

TEST_P(DevicePrefixCache, EqualPromptsAreComputedOnce) {
  const Prompt one = ids_of(5, 50);
  expect_saved(prompts_request({one, one, one}), 2 * 49);
  expect_saved(prompts_request({one}), 49);
  // With beams, and as drawn copies.
  expect_saved(prompts_request({one, one}, 3), 2 * 49);
  GenerateRequest drawn = prompts_request({one});
  drawn.options.do_sample = true;
  drawn.options.seed = 7;
  drawn.options.num_return_sequences = 3;
  LAPILLI_ASSERT_VALUE(const auto want, run_search(plain_, drawn));
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, drawn));
  EXPECT_EQ(bits_of(out), bits_of(want));
  EXPECT_EQ(out.stats.saved_prompt_rows, 3 * 49u);
}

TEST_P(DevicePrefixCache, WithNarrowFormats) {
  LoadOptions options;
  options.kv_format = KvFormat::fp16;
  options.format = WeightFormat::bf16;
  ASSERT_NO_FATAL_FAILURE(load(options));
  const Prompt one = ids_of(5, 50);
  expect_saved(prompts_request({one, joined(one, ids_of(1, 20))}), 49);
  expect_saved(prompts_request({joined(one, ids_of(1, 30))}), 69);
}

// The prompt, and what was written behind it.
Prompt talk_of(const GenerateOutput& out) { return out.hypotheses.at(0).at(0).ids; }

// Turns of a chat: each prompt goes on behind the answer to the one before. The last id of an answer was never read.
TEST_P(DevicePrefixCache, AnswersAreKeptForTheNextTurn) {
  GenerateRequest request = prompts_request({ids_of(4, 20)});
  request.options.max_new_tokens = request.options.min_new_tokens = 30;
  request.deterministic = false;
  request.keep_answers = true;
  uint64_t known = 0;
  for (int32_t turn = 0; turn < 4; ++turn) {
    LAPILLI_ASSERT_VALUE(const auto want, run_search(plain_, request));
    LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
    EXPECT_EQ(talk_of(out), talk_of(want));
    Prompt& prompt = request.decoder_ids.front();
    EXPECT_EQ(out.stats.saved_prompt_rows, known);
    EXPECT_EQ(out.stats.prompt_rows, prompt.size() - 1 - known);
    known = talk_of(out).size() - 1;
    prompt = joined(talk_of(out), ids_of(turn, 7));
  }
}

// Without being asked for, with beams, and where sums have one order, answers are computed again.
TEST_P(DevicePrefixCache, OtherAnswersAreNotKept) {
  const auto saved = [&](GenerateRequest request) -> uint64_t {
    request.options.max_new_tokens = request.options.min_new_tokens = 30;
    auto out = run_search(model_, request);
    if (!out) return ADD_FAILURE() << out.error().message, 0;
    request.decoder_ids.front() = joined(talk_of(*out), {5, 6});
    out = run_search(model_, request);
    return out ? out->stats.saved_prompt_rows : 0;
  };
  GenerateRequest request = prompts_request({ids_of(7, 20)});
  request.keep_answers = true;
  EXPECT_EQ(saved(request), 19u);
  request = prompts_request({ids_of(8, 20)}, 2);
  request.deterministic = false;
  request.keep_answers = true;
  EXPECT_EQ(saved(request), 19u);
  request = prompts_request({ids_of(9, 20)});
  request.deterministic = false;
  EXPECT_EQ(saved(request), 19u);
}

// The ids behind the prompt outgrow the session, and a later session is another one.
TEST_P(DevicePrefixCache, SessionsThatGrow) {
  const Prompt one = ids_of(6, 20);
  GenerateRequest request = prompts_request({one, joined(one, ids_of(2, 20))});
  request.options.max_new_tokens = request.options.min_new_tokens = 150;
  expect_saved(request, 19);
  request.options.num_beams = 2;
  expect_saved(request, 19 + 39);
}

// Logits of prompt ids are asked for where keys and values were copied.
TEST_P(DevicePrefixCache, LogitsOfCopiedPositions) {
  const Prompt one = ids_of(6, 40);
  GenerateRequest request = prompts_request({one});
  request.logits_at = {{0, 20, 39}};
  LAPILLI_ASSERT_VALUE(const auto want, run_search(model_, request));
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
  EXPECT_EQ(out.stats.saved_prompt_rows, 39u);
  EXPECT_EQ(out.logits, want.logits);
}

// Sums in one order and in any order differ in the last bits: neither sees what the other kept.
TEST_P(DevicePrefixCache, OrdersOfSumsAreKeptApart) {
  GenerateRequest request = prompts_request({ids_of(6, 40)});
  expect_saved(request, 0);
  request.deterministic = false;
  LAPILLI_ASSERT_VALUE(auto out, run_search(model_, request));
  EXPECT_EQ(out.stats.saved_prompt_rows, 0u);
  LAPILLI_ASSERT_VALUE(out, run_search(model_, request));
  EXPECT_EQ(out.stats.saved_prompt_rows, 39u);
}

TEST_P(DevicePrefixCache, TheLongestUnusedLeaves) {
  LAPILLI_ASSERT_VALUE(const auto first, run_search(model_, prompts_request({ids_of(1, 65)})));
  const uint64_t each = cache().bytes();
  ASSERT_GT(each, 0u);
  // Room for four, in the eighth that is theirs.
  const uint64_t limit = 8 * (4 * each + each / 2);
  model_->memory().set_limit(std::max(limit, model_->memory().held()));
  if (limit < model_->memory().held()) GTEST_SKIP() << "the session is larger than all of that";
  for (int32_t i = 2; i <= 4; ++i) expect_saved(prompts_request({ids_of(i, 65)}), 0);
  EXPECT_EQ(cache().bytes(), 4 * each);
  expect_saved(prompts_request({ids_of(1, 65)}), 64);
  expect_saved(prompts_request({ids_of(5, 65)}), 0);  // instead of 2
  EXPECT_EQ(cache().bytes(), 4 * each);
  expect_saved(prompts_request({ids_of(1, 65)}), 64);
  expect_saved(prompts_request({ids_of(2, 65)}), 0);
}

TEST_P(DevicePrefixCache, GivesWayWhereMemoryIsShort) {
  const uint64_t weights = model_->memory().held();
  LAPILLI_ASSERT_VALUE(const auto first, run_search(model_, prompts_request({ids_of(1, 65)})));
  EXPECT_EQ(model_->memory().held(), weights + first.stats.session_bytes + cache().bytes());
  GenerateRequest wide = prompts_request({ids_of(2, 8), ids_of(3, 8), ids_of(4, 8), ids_of(5, 8)}, 4);
  LAPILLI_ASSERT_VALUE(const auto want, run_search(plain_, wide));
  model_->memory().set_limit(weights + want.stats.session_bytes);
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, wide));
  EXPECT_EQ(bits_of(out), bits_of(want));
  EXPECT_EQ(cache().bytes(), 0u);
  model_->make_room();
  device_->settle();
  EXPECT_EQ(model_->memory().held(), weights);
}

// A ring of 19 and 256 positions: no more of a beginning is kept, and what follows it may come round.
TEST_P(DevicePrefixCache, LayersWithAWindow) {
  ASSERT_NO_FATAL_FAILURE(load({}, "tiny,encoder=0,vocabulary=600,window=20,positions=2048"));
  constexpr uint32_t kRing = 19 + 256;
  const Prompt all = ids_of(1, 700);
  expect_saved(prompts_request({begin_of(all, 100), joined(begin_of(all, 90), ids_of(2, 30))}), 90);
  expect_saved(prompts_request({all, joined(begin_of(all, 400), ids_of(3, 200))}), 99 + kRing);
  expect_saved(prompts_request({all}, 2), kRing);
  // The whole prompt fits the ring, and what is written comes round.
  GenerateRequest request = prompts_request({begin_of(all, 260)});
  request.options.max_new_tokens = request.options.min_new_tokens = 60;
  expect_saved(request, 259);
}

// Many beginnings at a time from two sides, some cancelled: nobody gets what another one's prompt left.
TEST_P(DevicePrefixCache, CancelledPromptsLeaveNothingWrong) {
  const Prompt system = ids_of(0, 40);
  for (uint32_t pumps = 0; pumps < 6; ++pumps) {
    LAPILLI_ASSERT_VALUE(auto search,
                         Search::start(model_, prompts_request({joined(system, ids_of(1, 20)), ids_of(7, 30)})));
    for (uint32_t i = 0; i < pumps; ++i) (void)search->pump();
    search.reset();
    const GenerateRequest request = prompts_request({joined(system, ids_of(2, 20))}, 1 + pumps % 2);
    LAPILLI_ASSERT_VALUE(const auto want, run_search(plain_, request));
    LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
    EXPECT_EQ(bits_of(out), bits_of(want)) << pumps;
  }
}

// Prompts of an encoder's model depend on the source.
TEST_P(DevicePrefixCache, ModelsWithAnEncoderKeepNothing) {
  LAPILLI_ASSERT_VALUE(const auto model, Model::random(device_, "tiny,vocabulary=600"));
  GenerateRequest request = request_of({7, 12}, 1, 4);
  request.decoder_ids = {ids_of(1, 40), ids_of(1, 40)};
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model, request));
  EXPECT_EQ(out.stats.saved_prompt_rows, 0u);
  EXPECT_EQ(out.stats.prompt_rows, 2 * 40u);  // behind the decoder start
  EXPECT_EQ(model->engines().prefixes().bytes(), 0u);
}

}  // namespace
}  // namespace lapilli
