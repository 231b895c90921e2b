// Tokens as they come, and the score of each.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "generate/searches.hpp"
#include "search/token_stream.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using testing::HasSubstr;

using Lists = std::vector<std::vector<int32_t>>;

// ---- once, however often a search is run again --------------------------------------------------------------------

TEST(OnceStream, GivesNothingTwice) {
  Lists got(2);
  OnceStream stream(
      [&](size_t i, std::span<const int32_t> ids) {
        got[i].insert(got[i].end(), ids.begin(), ids.end());
        return Status{};
      },
      2);
  const std::vector<int32_t> a{1, 2, 3}, b{4, 5};
  LAPILLI_EXPECT_OK(stream.push(0, a));
  LAPILLI_EXPECT_OK(stream.push(1, b));
  stream.restart(0);
  LAPILLI_EXPECT_OK(stream.push(0, std::span(a).first(2)));
  EXPECT_EQ(got[0], a);
  LAPILLI_EXPECT_OK(stream.push(0, std::vector<int32_t>{3, 7}));
  EXPECT_EQ(got[0], (std::vector<int32_t>{1, 2, 3, 7}));
  LAPILLI_EXPECT_OK(stream.complete(0, std::vector<int32_t>{1, 2, 3, 7, 8}));
  EXPECT_EQ(got[0], (std::vector<int32_t>{1, 2, 3, 7, 8}));
  EXPECT_EQ(got[1], b);
}

// After a lost device: whether a second search agrees is known before it is an error, and it can go on behind.
TEST(OnceStream, GoesOnBehindWhatWasGiven) {
  std::vector<int32_t> got;
  OnceStream stream(
      [&](size_t, std::span<const int32_t> ids) {
        got.insert(got.end(), ids.begin(), ids.end());
        return Status{};
      },
      1);
  const std::vector<int32_t> first = {5, 6, 7}, same = {5, 6}, other = {5, 8}, rest = {9};
  ASSERT_TRUE(stream.push(0, first).ok());
  stream.restart(0);
  EXPECT_TRUE(stream.agrees(0, same));
  EXPECT_FALSE(stream.agrees(0, other));
  stream.go_on(0);
  EXPECT_TRUE(stream.agrees(0, rest));
  ASSERT_TRUE(stream.push(0, rest).ok());
  EXPECT_EQ(got, (std::vector<int32_t>{5, 6, 7, 9}));
  EXPECT_EQ(std::vector<int32_t>(stream.given(0).begin(), stream.given(0).end()), got);
}

TEST(OnceStream, SaysWhenASearchDeparts) {
  OnceStream stream([](size_t, std::span<const int32_t>) { return Status{}; }, 1);
  LAPILLI_EXPECT_OK(stream.push(0, std::vector<int32_t>{1, 2, 3}));
  EXPECT_FALSE(stream.complete(0, std::vector<int32_t>{1, 2, 4}).ok());
  EXPECT_FALSE(stream.complete(0, std::vector<int32_t>{1, 2}).ok());
  stream.restart(0);
  EXPECT_FALSE(stream.push(0, std::vector<int32_t>{1, 4}).ok());
}

// ---- the stable prefix against a search that remembers everything -------------------------------------------------

struct Simulated {
  static constexpr uint32_t kBeams = 4, kGiven = 3;
  SentenceLog log;
  // The running hypotheses' ids by beam, the best finished one's without its end.
  Lists running = Lists(kBeams);
  std::optional<std::vector<int32_t>> best;
  uint32_t best_note = 0;
  bool done = false;
  std::mt19937 random;

  explicit Simulated(uint32_t seed) : random(seed) {
    log.beams = kBeams;
    log.prompt_ids = kGiven;
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random() % n); }

  void step() {
    if (done) return;
    const uint32_t t = log.steps();
    if (t > 0 && below(6) == 0) {  // one finishes and is the best so far
      const uint32_t beam = below(kBeams);
      best = running[beam];
      best_note = 1 + state::row_word_of(beam, t + kGiven - 1);
    }
    done = best && below(12) == 0;
    const Lists before = running;
    const uint32_t parents = 1 + below(kBeams);  // the fewer, the more is shared
    for (uint32_t b = 0; b < kBeams; ++b) {
      const uint32_t parent = b % parents;
      running[b] = before[parent];
      const auto token = static_cast<int32_t>(10 + b);
      running[b].push_back(token);
      log.entries.push_back({token, parent, -1.0f,
                             b == 0   ? (done ? state::LOG_NOTE_ENDED : 0)
                             : b == 1 ? best_note
                                      : 0});
    }
  }
  [[nodiscard]] std::vector<int32_t> shared() const {
    Lists all;
    if (!done) all = running;
    if (best) all.push_back(*best);
    std::vector<int32_t> prefix = all.front();
    for (const auto& ids : all) {
      const auto [at, _] = std::mismatch(prefix.begin(), prefix.end(), ids.begin(), ids.end());
      prefix.erase(at, prefix.end());
    }
    return prefix;
  }
};

// The log may have grown by one step since the last look, or by several.
TEST(CommittedIds, AreWhatAllThatCanStillWinShare) {
  size_t settled_early = 0, rounds_with_best = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    Simulated search(seed);
    CommittedIds settled;
    std::vector<int32_t> got;
    for (uint32_t t = 0; t < 40; ++t) {
      for (uint32_t n = 1 + (seed % 3) * search.below(2); n > 0; --n) search.step();
      const auto ids = settled.take(search.log);
      got.insert(got.end(), ids.begin(), ids.end());
      // Never more than is shared, and, while nothing but running ones were lost, all of it.
      const auto want = search.shared();
      if (!search.best) {
        EXPECT_EQ(got, want) << "seed " << seed << ", step " << t;
      }
      ASSERT_LE(got.size(), want.size());
      EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin())) << "seed " << seed << ", step " << t;
      if (search.done)
        ++rounds_with_best;
      else
        settled_early += got.size();
    }
  }
  EXPECT_GT(settled_early, 1000u);
  EXPECT_GT(rounds_with_best, 100u);
}

// ---- searches
// ---------------------------------------------------------------------------------------------------------

class DeviceStream : public testing::Test {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, shared_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, marian()));
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
};

TEST_F(DeviceStream, JoinedItIsTheBestHypothesis) {
  LAPILLI_ASSERT_VALUE(const auto random, Model::random(device_, "tiny"));
  for (const auto& model : {model_, random}) {
    for (const uint32_t beams : {1u, 4u}) {
      for (const uint32_t steps : {1u, 4u}) {
        for (const bool given : {false, true}) {
          GenerateRequest request = request_of({7, 12, 3}, beams, 0);
          request.options.max_length = 40;
          request.steps_in_flight = steps;
          if (given) request.decoder_ids.assign(3, {model->generation_config().decoder_start_token_id.value(), 17, 9});
          Lists got(3);
          uint32_t calls = 0, before_the_end = 0;
          request.on_tokens = [&](size_t i, std::span<const int32_t> ids) {
            EXPECT_FALSE(ids.empty());
            got[i].insert(got[i].end(), ids.begin(), ids.end());
            ++calls;
            return Status{};
          };
          LAPILLI_ASSERT_VALUE(const auto out, run_search(model, request, [&] {
                                 before_the_end = calls;  // the search still runs
                                 return true;
                               }));
          for (size_t i = 0; i < 3; ++i) {
            const auto& ids = out.hypotheses[i][0].ids;
            EXPECT_EQ(got[i], std::vector<int32_t>(ids.begin() + (given ? 3 : 1), ids.end()))
                << beams << " beams, " << i;
          }
          EXPECT_GE(calls, 3u);
          // With one beam each id is settled at once; with several, that is up to the scores.
          if (beams == 1) {
            EXPECT_GT(before_the_end, 0u);
          }
        }
      }
    }
  }
}

TEST_F(DeviceStream, TokensComeWhileTheSearchRuns) {
  for (const uint32_t beams : {1u, 4u}) {
    GenerateRequest request = request_of({12}, beams, 30);
    request.steps_in_flight = 2;
    size_t given = 0;
    request.on_tokens = [&](size_t, std::span<const int32_t> ids) {
      given += ids.size();
      return Status{};
    };
    LAPILLI_ASSERT_VALUE(const auto search, Search::start(model_, request));
    size_t half_way = 0;
    LAPILLI_ASSERT_OK(search->run_to_end([&] {
      if (search->steps_done() <= 24) half_way = given;
      // One beam: everything that came back was given.
      if (beams == 1) {
        EXPECT_EQ(given, search->steps_done());
      }
      return true;
    }));
    EXPECT_GT(half_way, 0u) << beams;
    EXPECT_EQ(given, 30u);
  }
}

TEST_F(DeviceStream, AnErrorOfTheReceiverEndsTheJob) {
  GenerateRequest request = request_of({7, 12, 3}, 1, 30);
  const GenerateRequest plain = request;
  uint32_t calls = 0;
  request.on_tokens = [&](size_t, std::span<const int32_t>) -> Status {
    if (++calls == 5) return fail(ErrorCode::cancelled, "enough");
    return {};
  };
  LAPILLI_ASSERT_VALUE(const auto want, run_search(model_, plain));
  const auto out = run_search(model_, request);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, ErrorCode::cancelled);
  EXPECT_EQ(out.error().message, "enough");
  EXPECT_EQ(calls, 5u);
  LAPILLI_ASSERT_VALUE(const auto again, run_search(model_, plain));
  EXPECT_EQ(bits_of(again), bits_of(want));
}

TEST_F(DeviceStream, ASearchThatGrowsGivesNothingTwice) {
  GenerateRequest request = request_of({1}, 2, 55);  // more than is usual for a source of one id
  std::vector<int32_t> got;
  request.on_tokens = [&](size_t, std::span<const int32_t> ids) {
    got.insert(got.end(), ids.begin(), ids.end());
    return Status{};
  };
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
  const auto& ids = out.hypotheses[0][0].ids;
  EXPECT_EQ(got, std::vector<int32_t>(ids.begin() + 1, ids.end()));
}

// ---- scores -------------------------------------------------------------------------------------------------------

TEST_F(DeviceStream, TokenScoresAreLogProbabilities) {
  for (const uint32_t beams : {1u, 4u}) {
    GenerateRequest request = request_of({7, 12, 3}, beams, 0);
    request.options.max_length = 24;
    request.options.length_penalty = 0.7;
    request.options.forced_eos_token_id = std::vector<int32_t>{};
    request.options.bad_words_ids = Lists{};
    LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
    for (size_t i = 0; i < 3; ++i) {
      for (const Hypothesis& h : out.hypotheses[i]) {
        ASSERT_EQ(h.token_scores.size(), h.ids.size() - 1);
        double sum = 0;
        for (const float s : h.token_scores) sum += static_cast<double>(s);
        EXPECT_NEAR(sum / std::pow(static_cast<double>(h.token_scores.size()), 0.7), static_cast<double>(h.score),
                    1e-4);
        // One pass over the hypothesis gives its scores.
        ForwardRequest pass;
        pass.sources = {request.sources[i]};
        pass.targets = {std::vector<int32_t>(h.ids.begin(), h.ids.end() - 1)};
        LAPILLI_ASSERT_VALUE(const auto tensors, forward(model_, pass));
        const auto& logits = tensors.back();
        ASSERT_EQ(logits.name, "logits");
        const uint64_t words = logits.shape.back();
        for (size_t t = 0; t < h.token_scores.size(); ++t) {
          const float* row = logits.values.data() + t * words;
          double total = 0;
          for (uint64_t v = 0; v < words; ++v) total += std::exp(static_cast<double>(row[v]));
          EXPECT_NEAR(static_cast<double>(row[h.ids[t + 1]]) - std::log(total), static_cast<double>(h.token_scores[t]),
                      2e-4)
              << beams << " beams, source " << i << ", token " << t;
        }
      }
    }
  }
}

TEST_F(DeviceStream, ForcedTokensScoreZeroAndGivenOnesHaveNone) {
  for (const uint32_t beams : {1u, 3u}) {
    GenerateRequest request = request_of({7}, beams, 0);
    request.options.max_length = 12;
    request.options.forced_bos_token_id = 33;
    LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
    EXPECT_EQ(out.hypotheses[0][0].ids[1], 33);
    EXPECT_EQ(out.hypotheses[0][0].token_scores[0], 0.0f);
    EXPECT_LT(out.hypotheses[0][0].token_scores[1], 0.0f);
    request.options.forced_bos_token_id = -1;
    request.decoder_ids = {{model_->generation_config().decoder_start_token_id.value(), 33, 7}};
    LAPILLI_ASSERT_VALUE(const auto given, run_search(model_, request));
    EXPECT_EQ(given.hypotheses[0][0].token_scores.size(), given.hypotheses[0][0].ids.size() - 3);
  }
}

}  // namespace
}  // namespace lapilli
