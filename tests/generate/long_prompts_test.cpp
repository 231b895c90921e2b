// Long prompts: they come in parts between the steps of others, in sessions that are not much larger than their
// positions, up to the model's limit.
#include <gmock/gmock.h>

#include <algorithm>

#include "generate/searches.hpp"
#include "search/engine_pool.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;

using Ids = std::vector<int32_t>;

Ids ids_of(uint32_t seed, size_t n, uint32_t vocabulary) {
  Ids ids(n);
  for (size_t i = 0; i < n; ++i)
    ids[i] = static_cast<int32_t>(1 + (seed * 7919 + i * i * 31 + i * 17) % (vocabulary - 1));
  return ids;
}

GenerateRequest request_for(std::vector<Ids> prompts, uint32_t length, uint32_t beams = 1) {
  GenerateRequest r;
  r.decoder_ids = std::move(prompts);
  r.options.num_beams = r.options.num_return_sequences = beams;
  r.options.max_new_tokens = r.options.min_new_tokens = length;
  r.options.no_repeat_ngram_size = 0;
  r.deterministic = true;
  return r;
}

// Each written id has the best logit, or nearly, in one pass over all ids.
void expect_best(const std::shared_ptr<Model>& model, const Ids& ids, size_t given) {
  ForwardRequest pass;
  pass.targets = {Ids(ids.begin(), ids.end() - 1)};
  pass.deterministic = true;
  LAPILLI_ASSERT_VALUE(const auto tensors, forward(model, pass));
  ASSERT_EQ(tensors.back().name, "logits");
  const auto words = static_cast<ptrdiff_t>(model->info().target_vocabulary);
  for (size_t at = given; at < ids.size(); ++at) {
    const float* logits = tensors.back().values.data() + (static_cast<ptrdiff_t>(at) - 1) * words;
    EXPECT_GE(logits[ids[at]], *std::max_element(logits + 1, logits + words) - 1e-4f) << at;
  }
}

class DeviceLongPrompts : public testing::TestWithParam<const char*> {
 protected:
  void load(const std::string& shape, bool prefix_cache = false) {
    LAPILLI_ASSERT_VALUE(device_, shared_device_with(GetParam()));
    LoadOptions options;
    options.prefix_cache = prefix_cache;
    LAPILLI_ASSERT_VALUE(model_, Model::random(device_, shape, 1, options));
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
};
INSTANTIATE_TEST_SUITE_P(Masks, DeviceLongPrompts, testing::Values("full", "floor"),
                         [](const auto& i) { return std::string(i.param); });

// Whatever the size of the parts, and beside whom.
TEST_P(DeviceLongPrompts, PartsChangeNothing) {
  ASSERT_NO_FATAL_FAILURE(load("tiny,encoder=0,vocabulary=600"));
  for (const uint32_t beams : {1u, 3u}) {
    const std::vector<Ids> prompts{ids_of(1, 9, 600), ids_of(2, 200, 600), ids_of(3, 33, 600), ids_of(4, 1, 600)};
    const GenerateRequest all = request_for(prompts, 8, beams);
    std::vector<std::string> bits;
    for (const uint32_t rows : {256u, 64u, 16u, 1u}) {
      model_->engines().most_prompt_rows = rows;
      LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, all));
      bits.push_back(bits_of(out));
      EXPECT_EQ(bits.back(), bits.front()) << rows;
      if (beams == 1 && rows == 16)
        for (size_t i = 0; i < prompts.size(); ++i) expect_best(model_, out.hypotheses[i][0].ids, prompts[i].size());
    }
  }
}

// A sentence runs on while a long prompt comes: at most one pass lies between two of its steps.
TEST_P(DeviceLongPrompts, OthersGoOnBetweenTheParts) {
  ASSERT_NO_FATAL_FAILURE(load("tiny,encoder=0,vocabulary=600"));
  model_->engines().most_prompt_rows = 16;
  GenerateRequest request = request_for({ids_of(1, 5, 600), ids_of(2, 400, 600)}, 60);
  size_t first = 0, before = 0;
  request.on_tokens = [&](size_t source, std::span<const int32_t> ids) {
    if (source == 0) first += ids.size();
    if (source == 1 && before == 0) before = first;
    return Status();
  };
  LAPILLI_ASSERT_VALUE(auto search, Search::start(model_, request));
  LAPILLI_ASSERT_OK(search->run_to_end());
  LAPILLI_ASSERT_VALUE(const auto out, search->take());
  EXPECT_EQ(out.stats.prompt_rows, 4u + 399u);
  EXPECT_EQ(out.stats.longest_gap, 1u);
  EXPECT_GE(before, 24u) << "399 rows are 25 passes, with a step behind each";
  // Ids as alone.
  request.on_tokens = {};
  for (size_t i = 0; i < 2; ++i) {
    GenerateRequest one = request_for({request.decoder_ids[i]}, 60);
    LAPILLI_ASSERT_VALUE(const auto alone, run_search(model_, one));
    EXPECT_EQ(alone.hypotheses[0][0].ids, out.hypotheses[i][0].ids);
  }
}

// The session grows while a prompt has come in part.
TEST_P(DeviceLongPrompts, SessionsGrowMeanwhile) {
  ASSERT_NO_FATAL_FAILURE(load("tiny,encoder=0,vocabulary=600"));
  model_->engines().most_prompt_rows = 4;
  const GenerateRequest request = request_for({ids_of(1, 200, 600), ids_of(2, 199, 600)}, 120);
  LAPILLI_ASSERT_VALUE(const auto together, run_search(model_, request));
  EXPECT_GE(model_->engines().known_positions(length_bucket(200)), 300u) << "it did not grow";
  model_->engines().most_prompt_rows = 256;
  for (size_t i = 0; i < 2; ++i) {
    LAPILLI_ASSERT_VALUE(const auto alone, run_search(model_, request_for({request.decoder_ids[i]}, 120)));
    EXPECT_EQ(alone.hypotheses[0][0].ids, together.hypotheses[i][0].ids);
  }
}

// Cancelled at any time, a prompt in parts leaves nothing behind.
TEST_P(DeviceLongPrompts, CancelledInParts) {
  ASSERT_NO_FATAL_FAILURE(load("tiny,encoder=0,vocabulary=600", true));
  model_->engines().most_prompt_rows = 8;
  const GenerateRequest shared = request_for({ids_of(1, 5, 600)}, 40);
  LAPILLI_ASSERT_VALUE(const auto want, run_search(model_, shared));
  for (uint32_t pumps = 1; pumps < 12; pumps += 2) {
    const GenerateRequest both = request_for({ids_of(2, 120, 600), ids_of(5, 60, 600)}, 40);
    LAPILLI_ASSERT_VALUE(auto search, Search::start(model_, both));
    LAPILLI_ASSERT_VALUE(auto beside, Search::start(model_, shared));
    for (uint32_t i = 0; i < pumps; ++i) (void)search->pump();
    search.reset();
    LAPILLI_ASSERT_OK(beside->run_to_end());
    LAPILLI_ASSERT_VALUE(const auto out, beside->take());
    EXPECT_EQ(bits_of(out), bits_of(want)) << pumps;
  }
}

// A prompt of 8,192 ids beside 63 of 100: the two searches that a batch makes of them, as they begin.
TEST_P(DeviceLongPrompts, MemoryFollowsThePositions) {
  ASSERT_NO_FATAL_FAILURE(load("tiny,vocabulary=257,layers=8,encoder=0,heads=2,positions=16384"));
  std::vector<Ids> prompts;
  for (uint32_t i = 0; i < 63; ++i) prompts.push_back(ids_of(2 + i, 100, 257));
  constexpr uint32_t kNew = 20;
  const uint64_t positions = 8192 + kNew + 63 * (100 + kNew), each = uint64_t{8} * 2 * 32 * 4;
  const uint64_t weights = model_->memory().held();
  std::unique_ptr<Search> one, many;
  const auto start = [&](std::unique_ptr<Search>& search, GenerateRequest request) {
    const uint64_t before = model_->memory().held();
    LAPILLI_ASSERT_VALUE(search, Search::start(model_, std::move(request)));
    while (model_->memory().held() == before && !search->pump()) search->wait();  // kernels may be on trial
  };
  start(one, request_for({ids_of(1, 8192, 257)}, kNew));
  start(many, request_for(prompts, kNew));
  const uint64_t taken = model_->memory().held() - weights;
  std::printf("%.1f MiB for %.1f MiB of keys and values\n", static_cast<double>(taken) / (1 << 20),
              static_cast<double>(positions * each) / (1 << 20));
  EXPECT_GE(taken, positions * each);
  EXPECT_LE(static_cast<double>(taken), 1.5 * static_cast<double>(positions * each));
}

// Prompts that differ by a factor that short ones may differ by have sessions of their own, too.
TEST_P(DeviceLongPrompts, LongPromptsAreSortedByLength) {
  ASSERT_NO_FATAL_FAILURE(load("tiny,vocabulary=257,d=8,heads=1,layers=1,encoder=0,positions=4096"));
  std::vector<Ids> prompts{ids_of(1, 1100, 257)};
  for (uint32_t i = 0; i < 7; ++i) prompts.push_back(ids_of(2 + i, 520 + i, 257));
  LAPILLI_ASSERT_VALUE(const auto out, generate(model_, request_for(prompts, 2)));
  EXPECT_EQ(out.stats.searches, 2u);
  prompts.front().resize(560);
  LAPILLI_ASSERT_VALUE(const auto alike, generate(model_, request_for(prompts, 2)));
  EXPECT_EQ(alike.stats.searches, 1u);
}

// Up to the model's last position, in a session that grows: as in one pass. It takes a while.
TEST_P(DeviceLongPrompts, UpToTheLastPosition) {
  if (std::string(GetParam()) != "full") GTEST_SKIP() << "no other kernels matter";
  ASSERT_NO_FATAL_FAILURE(load("tiny,vocabulary=257,d=8,heads=1,layers=1,encoder=0,positions=8192"));
  const Ids prompt = ids_of(1, 8000, 257);
  GenerateRequest request = request_for({prompt}, 192);
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
  EXPECT_EQ(out.hypotheses[0][0].ids.size(), 8192u);
  expect_best(model_, out.hypotheses[0][0].ids, 8000);
  // 4,000 grow to twice the room, and the prompt of the rest comes at once.
  request = request_for({Ids(prompt.begin(), prompt.begin() + 4000)}, 300);
  LAPILLI_ASSERT_VALUE(const auto grown, run_search(model_, request));
  expect_best(model_, grown.hypotheses[0][0].ids, 4000);
  const auto beyond = run_search(model_, request_for({ids_of(1, 8192, 257)}, 2));
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(beyond.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace lapilli
