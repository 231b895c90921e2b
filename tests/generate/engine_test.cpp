// Sentences of one session at positions of their own: prompt ids of any lengths, more sources than run at a time,
// searches that outgrow their session, searches that share one, sources that fail alone. Each finds what it finds
// alone.
#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "generate/generate.hpp"
#include "generate/searches.hpp"
#include "runtime/run/pace.hpp"
#include "search/engine_pool.hpp"
#include "support/real_events.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using testing::HasSubstr;

// The counters of engines (ticks, queue, marks of sentences) start at 0, or so that they wrap soon or late in a test.
class DeviceEngine : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, counted_device());
    trace_ = vulkan::Trace::begin(*device_);
    LAPILLI_ASSERT_VALUE(model_, make("tiny,vocabulary=600"));
  }
  // Nothing of what was submitted met the host or itself.
  void TearDown() override { LAPILLI_EXPECT_OK(check_events(*trace_)); }
  Result<std::shared_ptr<Model>> make(const std::string& shape) {
    LAPILLI_TRY(auto model, Model::random(device_, shape));
    model->engines().first_counter = GetParam();
    return model;
  }
  // Every source of `out` has what it finds alone.
  void expect_as_alone(const GenerateRequest& request, const GenerateOutput& out) {
    ASSERT_EQ(out.hypotheses.size(), request.sources.size());
    for (size_t i = 0; i < request.sources.size(); ++i) {
      SCOPED_TRACE(format("source %zu", i));
      LAPILLI_ASSERT_VALUE(const auto alone, run_search(model_, part_of(request, i, i + 1)));
      expect_same(out.hypotheses[i], alone.hypotheses[0]);
    }
  }
  static void expect_same(const std::vector<Hypothesis>& got, const std::vector<Hypothesis>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t n = 0; n < got.size(); ++n) {
      EXPECT_EQ(got[n].ids, want[n].ids) << "hypothesis " << n;
      EXPECT_NEAR(got[n].score, want[n].score, 1e-4f) << "hypothesis " << n;
    }
  }
  static GenerateRequest part_of(const GenerateRequest& request, size_t begin, size_t end) {
    GenerateRequest part = request;
    const auto cut = [&](auto& list) {
      const auto first = list.begin();
      if (!list.empty()) list = {first + static_cast<ptrdiff_t>(begin), first + static_cast<ptrdiff_t>(end)};
    };
    cut(part.sources);
    cut(part.decoder_ids);
    return part;
  }
  // Sources that say no id twice and go on to `length` ids in all.
  static GenerateRequest endless(const std::vector<uint32_t>& lengths, uint32_t beams, uint32_t length) {
    GenerateRequest r = request_of(lengths, beams, 0);
    r.options.no_repeat_ngram_size = 1;
    r.options.eos_token_id = std::vector<int32_t>{};
    r.options.max_length = length;
    return r;
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<vulkan::Trace> trace_;
  std::shared_ptr<Model> model_;
};
INSTANTIATE_TEST_SUITE_P(Counters, DeviceEngine, testing::Values(0u, 0xffffffffu - 100, 0xffffffffu - 7),
                         [](const auto& p) { return format("from_%08x", p.param); });

// ---- prompt ids ----------------------------------------------------------------------------------------------------

// A search that is given its own ids as a prompt continues as it did before.
TEST_P(DeviceEngine, GivenIdsAreAsGoodAsChosenOnes) {
  GenerateRequest request = endless({7, 12, 3, 9, 5}, 1, 320);
  LAPILLI_ASSERT_VALUE(const auto whole, run_search(model_, request));
  for (const auto& h : whole.hypotheses) ASSERT_EQ(h[0].ids.size(), 320u);
  EXPECT_NE(whole.hypotheses[0][0].ids, whole.hypotheses[1][0].ids);
  const size_t lengths[] = {300, 1, 7, 2, 90};
  for (size_t i = 0; i < 5; ++i) {
    const auto& ids = whole.hypotheses[i][0].ids;
    request.decoder_ids.emplace_back(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(lengths[i]));
  }
  LAPILLI_ASSERT_VALUE(const auto given, run_search(model_, request));
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(given.hypotheses[i][0].ids, whole.hypotheses[i][0].ids) << lengths[i] << " given";
    EXPECT_EQ(given.hypotheses[i][0].token_scores.size(), 320 - lengths[i]);
  }
  expect_as_alone(request, given);
}

// Several passes of prompt ids for one admission, and several admissions.
TEST_P(DeviceEngine, RaggedGivenIdsWithBeams) {
  for (const uint32_t batch : {0u, 2u}) {
    GenerateRequest request = endless({7, 12, 3, 9, 5, 20}, 3, 0);
    request.options.max_length.reset();
    request.options.max_new_tokens = 12;
    request.batch = batch;
    const auto ids = random_sources({299, 1, 6, 2, 0, 290}, 598, 5);
    for (const auto& row : ids) {
      request.decoder_ids.push_back({model_->generation_config().decoder_start_token_id.value()});
      request.decoder_ids.back().insert(request.decoder_ids.back().end(), row.begin(), row.end());
    }
    LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
    for (size_t i = 0; i < 6; ++i) {
      const auto& best = out.hypotheses[i][0];
      ASSERT_EQ(best.ids.size(), request.decoder_ids[i].size() + 12);
      EXPECT_TRUE(std::equal(request.decoder_ids[i].begin(), request.decoder_ids[i].end(), best.ids.begin()));
      // One pass over the whole hypothesis gives the scores of the chosen ids.
      ForwardRequest pass;
      pass.sources = {request.sources[i]};
      pass.targets = {std::vector<int32_t>(best.ids.begin(), best.ids.end() - 1)};
      LAPILLI_ASSERT_VALUE(const auto tensors, forward(model_, pass));
      const auto& logits = tensors.back();
      ASSERT_EQ(logits.name, "logits");
      const uint64_t words = logits.shape.back();
      for (size_t t = 0; t < 12; ++t) {
        const size_t at = request.decoder_ids[i].size() + t;
        const float* row = logits.values.data() + (at - 1) * words;
        double total = 0;
        for (uint64_t v = 0; v < words; ++v) total += std::exp(static_cast<double>(row[v]));
        EXPECT_NEAR(static_cast<double>(row[best.ids[at]]) - std::log(total), static_cast<double>(best.token_scores[t]),
                    3e-4)
            << "source " << i << ", token " << t;
      }
    }
    expect_as_alone(request, out);
  }
}

// A session that was made for fewer prompt ids does not serve a search with more.
TEST_P(DeviceEngine, LongerGivenIdsAfterShorterOnes) {
  for (const size_t given : {70u, 200u}) {
    GenerateRequest request = endless({7, 5}, 1, 0);
    request.options.max_length.reset();
    request.options.max_new_tokens = 5;
    for (const auto& row : random_sources({static_cast<uint32_t>(given), given == 70 ? 70u : 1u}, 598, 5)) {
      request.decoder_ids.push_back({model_->generation_config().decoder_start_token_id.value()});
      request.decoder_ids.back().insert(request.decoder_ids.back().end(), row.begin(), row.end());
    }
    LAPILLI_ASSERT_VALUE(const auto search, Search::start(model_, request));
    // A search that waits for room that nobody makes would wait for ever.
    const auto begin = std::chrono::steady_clock::now();
    LAPILLI_ASSERT_OK(
        search->run_to_end([&] { return std::chrono::steady_clock::now() - begin < std::chrono::seconds(60); }));
    LAPILLI_ASSERT_VALUE(const auto out, search->take());
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(out.hypotheses[i][0].ids.size(), request.decoder_ids[i].size() + 5) << given;
  }
}

// ---- more sources than run at a time --------------------------------------------------------------------------------

TEST_P(DeviceEngine, SourcesTakeTurns) {
  std::vector<uint32_t> lengths;
  for (uint32_t i = 0; i < 40; ++i) lengths.push_back(1 + i * 7 % 23);
  for (const uint32_t beams : {1u, 3u}) {
    LAPILLI_ASSERT_VALUE(auto request, ending_apart(model_, lengths, beams));
    request.options.num_return_sequences = beams;
    LAPILLI_ASSERT_VALUE(const auto together, run_search(model_, request));
    EXPECT_EQ(together.stats.queued_room, 0u);
    request.batch = 4;
    LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
    EXPECT_LT(out.stats.session_bytes, together.stats.session_bytes);
    EXPECT_GT(out.stats.queued_rows, 0u);
    EXPECT_EQ(out.stats.queued_room % (4 * beams), 0u);
    EXPECT_LE(out.stats.queued_rows, out.stats.queued_room);
    // A place that became free is taken by the next one with the step that follows.
    EXPECT_GT(static_cast<double>(out.stats.queued_rows), 0.8 * static_cast<double>(out.stats.queued_room));
    size_t tokens = 0;
    for (const auto& h : out.hypotheses) tokens += h[0].ids.size() - 1;
    if (beams == 1) {
      EXPECT_LT(out.stats.steps, tokens / 4 + 40 + tokens / 16);
    }
    expect_as_alone(request, out);
    for (size_t i = 0; i < lengths.size(); ++i) expect_same(together.hypotheses[i], out.hypotheses[i]);
  }
}

// ---- sessions that are kept ---------------------------------------------------------------------------------------

// A part of the work that took too long has later plans cut finer: sessions of the plans before are not kept beside
// those that take their place.
TEST_P(DeviceEngine, ASessionOfOlderPlansIsNotKept) {
  const GenerateRequest request = request_of({7, 1, 3}, 1, 8);
  LAPILLI_ASSERT_VALUE(const auto want, run_search(model_, request));
  const uint64_t weights = model_->info().weight_bytes, session = want.stats.session_bytes;
  EXPECT_EQ(model_->memory().held(), weights + session);
  const auto pace = Pace::of(*device_);
  for (int cuts = 1; cuts <= 2; ++cuts) {
    const WorkLimit before = pace->limit();
    SegmentTime slow{{before.operations(), before.bytes(), 1}, 1, true};
    pace->learn(slow, 1, {3 * pace->max_submit_us(), 3 * pace->max_submit_us()});
    ASSERT_NE(pace->limit(), before);
    LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
    EXPECT_EQ(bits_of(out), bits_of(want));
    EXPECT_EQ(model_->memory().held(), weights + out.stats.session_bytes) << cuts << " cuts";
  }
}

// ---- sessions that grow -------------------------------------------------------------------------------------------

// A longer session takes over rings and lists of the one before, which count once while both are there.
TEST_P(DeviceEngine, WhatIsHandedOverCountsOnce) {
  LAPILLI_ASSERT_VALUE(model_, make("tiny,vocabulary=600,layers=3,encoder=0,window=24"));
  GenerateRequest request;
  request.decoder_ids = {{1, 2, 3}};
  request.options.max_new_tokens = request.options.min_new_tokens = 200;
  const uint64_t weights = model_->memory().held();
  std::vector<uint64_t> held;
  LAPILLI_ASSERT_VALUE(const auto search, Search::start(model_, request));
  LAPILLI_ASSERT_OK(search->run_to_end([&] {
    const uint64_t now = model_->memory().held() - weights;
    if (now != 0 && (held.empty() || held.back() != now)) held.push_back(now);
    return true;
  }));
  LAPILLI_ASSERT_VALUE(const auto out, search->take());
  device_->settle();
  EXPECT_EQ(model_->memory().held(), weights + out.stats.session_bytes);
  ASSERT_GE(held.size(), 3u) << "it did not grow";
  for (size_t i = 1; i + 1 < held.size(); ++i)
    if (held[i] > held[i + 1]) {
      EXPECT_LT(held[i], held[i - 1] + held[i + 1]);
    }
}

TEST_P(DeviceEngine, ASearchThatOutgrowsItsSessionGoesOn) {
  for (const uint32_t beams : {1u, 3u}) {
    for (const uint32_t batch : {0u, 2u}) {
      SCOPED_TRACE(format("%u beams, batch %u", beams, batch));
      GenerateRequest request = endless({7, 1, 3, 5, 6}, beams, 200);
      request.batch = batch;
      constexpr uint32_t kBucket = 8;
      std::vector<std::vector<int32_t>> told;
      request.on_tokens = [&](size_t source, std::span<const int32_t> ids) {
        told[source].insert(told[source].end(), ids.begin(), ids.end());
        return Status();
      };
      // One or another ends long before, but not all: random weights differ from one standard library to the next.
      GenerateOutput grown;
      for (const int32_t end : {17, 23, 101, 250, 431}) {
        LAPILLI_ASSERT_VALUE(model_, make("tiny,vocabulary=600"));
        ASSERT_EQ(model_->engines().known_positions(kBucket), 0u);
        told.assign(5, {});
        request.options.eos_token_id = std::vector<int32_t>{end};
        LAPILLI_ASSERT_VALUE(grown, run_search(model_, request));
        if (model_->engines().known_positions(kBucket) >= 199u) break;
      }
      ASSERT_GE(model_->engines().known_positions(kBucket), 199u) << "it did not grow";
      request.on_tokens = {};
      // Large from the start.
      LAPILLI_ASSERT_VALUE(const auto large, run_search(model_, request));
      size_t longest = 0;
      for (size_t i = 0; i < 5; ++i) {
        expect_same(grown.hypotheses[i], large.hypotheses[i]);
        const auto& ids = grown.hypotheses[i][0].ids;
        EXPECT_EQ(told[i], std::vector<int32_t>(ids.begin() + 1, ids.end()));
        longest = std::max(longest, ids.size());
      }
      EXPECT_EQ(longest, 200u);
      // It went on, rather than begin again.
      if (batch == 0) {
        EXPECT_EQ(large.stats.steps, 199u);
        EXPECT_EQ(grown.stats.steps, large.stats.steps);
      } else {
        EXPECT_LT(grown.stats.steps, large.stats.steps + 100);
      }
    }
  }
}

// Without memory for more positions the sources that need them end, and the others go on.
TEST_P(DeviceEngine, WhatCannotGrowFailsAlone) {
  GenerateRequest request = endless({7, 1, 3}, 1, 200);
  LAPILLI_ASSERT_VALUE(const auto free, run_search(model_, request));
  // The end is what the second source says after some ids, and the others do not say before their session is full.
  int32_t end = -1;
  for (size_t at = 5; at < 40 && end < 0; ++at) {
    const int32_t id = free.hypotheses[1][0].ids[at];
    const auto is_early = [&](size_t source) {
      const auto& ids = free.hypotheses[source][0].ids;
      return std::find(ids.begin(), ids.begin() + 120, id) != ids.begin() + 120;
    };
    if (!is_early(0) && !is_early(2)) end = id;
  }
  ASSERT_GE(end, 0) << "they say the same";
  request.options.eos_token_id = std::vector<int32_t>{end};
  LAPILLI_ASSERT_VALUE(model_, make("tiny,vocabulary=600"));
  GenerateRequest small = request;
  small.options.max_length = 30;
  LAPILLI_ASSERT_VALUE(const auto first, run_search(model_, small));
  model_->engines().drop_free();
  model_->memory().set_limit(model_->info().weight_bytes + 3 * first.stats.session_bytes);
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
  ASSERT_EQ(out.errors.size(), 3u);
  for (const size_t source : {0u, 2u}) {
    ASSERT_FALSE(out.errors[source].ok());
    EXPECT_EQ(out.errors[source].error().code, ErrorCode::out_of_memory);
    EXPECT_TRUE(out.hypotheses[source].empty());
  }
  LAPILLI_EXPECT_OK(out.errors[1]);
  ASSERT_EQ(out.hypotheses[1].size(), 1u);
  EXPECT_EQ(out.hypotheses[1][0].ids.back(), end);
}

// ---- searches that share a session
// --------------------------------------------------------------------------------------

class DeviceSharedEngine : public DeviceEngine {
 protected:
  void SetUp() override {
    DeviceEngine::SetUp();
    if (HasFatalFailure()) return;
    for (const uint32_t beams : {1u, 3u}) {
      // Eight run at a time: the first search leaves room for the second.
      requests_.push_back({endless({7, 2, 3, 5, 6}, beams, 60), endless({4, 8, 1}, beams, 45)});
      for (GenerateRequest& r : requests_.back()) r.steps_in_flight = 2;
      for (const GenerateRequest& r : requests_.back()) {
        LAPILLI_ASSERT_VALUE(auto out, run_search(model_, r));
        want_.push_back(std::move(out));
      }
    }
    model_->engines().drop_free();
  }
  // The second search makes nothing of its own.
  Result<std::unique_ptr<Search>> join(const GenerateRequest& request) {
    const uint64_t bytes = device_->counters().device_bytes;
    LAPILLI_TRY(auto search, Search::start(model_, request));
    EXPECT_EQ(device_->counters().device_bytes, bytes) << "the session is not shared";
    return search;
  }
  void expect_result(Search& search, const GenerateOutput& want) {
    LAPILLI_ASSERT_VALUE(const auto out, search.take());
    ASSERT_EQ(out.hypotheses.size(), want.hypotheses.size());
    for (size_t i = 0; i < want.hypotheses.size(); ++i) expect_same(out.hypotheses[i], want.hypotheses[i]);
  }
  static void pump_some(Search& search, uint32_t steps) {
    while (search.steps_done() < steps) {
      ASSERT_FALSE(search.pump());
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  std::vector<std::array<GenerateRequest, 2>> requests_;  // greedy, with beams
  std::vector<GenerateOutput> want_;
};
INSTANTIATE_TEST_SUITE_P(Counters, DeviceSharedEngine, testing::Values(0u, 0xffffffffu - 100, 0xffffffffu - 7),
                         [](const auto& p) { return format("from_%08x", p.param); });

TEST_P(DeviceSharedEngine, PumpedInTurnsByOneThread) {
  for (size_t kind = 0; kind < 2; ++kind) {
    LAPILLI_ASSERT_VALUE(const auto a, Search::start(model_, requests_[kind][0]));
    pump_some(*a, 5);
    LAPILLI_ASSERT_VALUE(const auto b, join(requests_[kind][1]));
    for (bool over_a = false, over_b = false; !over_a || !over_b;) {
      over_a = a->pump();
      over_b = b->pump();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    expect_result(*a, want_[2 * kind]);
    expect_result(*b, want_[2 * kind + 1]);
  }
}

// One search's pumping is the other's.
TEST_P(DeviceSharedEngine, OneJobPumpsForBoth) {
  LAPILLI_ASSERT_VALUE(const auto a, Search::start(model_, requests_[1][0]));
  LAPILLI_ASSERT_VALUE(const auto b, join(requests_[1][1]));
  LAPILLI_ASSERT_OK(a->run_to_end());
  EXPECT_TRUE(b->pump());
  expect_result(*b, want_[3]);
  expect_result(*a, want_[2]);
}

TEST_P(DeviceSharedEngine, TheOtherIsCancelledOrThrownAway) {
  for (size_t kind = 0; kind < 2; ++kind) {
    for (const bool thrown_away : {false, true}) {
      SCOPED_TRACE(format("kind %zu, thrown away %d", kind, thrown_away));
      LAPILLI_ASSERT_VALUE(const auto a, Search::start(model_, requests_[kind][0]));
      pump_some(*a, 4);
      // Its places are free at once: the third search finds room where the second one was, and so on.
      for (uint32_t round = 0; round < 3; ++round) {
        LAPILLI_ASSERT_VALUE(auto b, join(requests_[kind][1]));
        pump_some(*a, a->steps_done() + 3 * round);
        b->pump();
        if (thrown_away) {
          b.reset();
          continue;
        }
        b->cancel();
        EXPECT_TRUE(b->pump());
        const auto out = b->take();
        ASSERT_FALSE(out.ok());
        EXPECT_EQ(out.error().code, ErrorCode::cancelled);
      }
      LAPILLI_ASSERT_VALUE(const auto c, join(requests_[kind][1]));
      LAPILLI_ASSERT_OK(c->run_to_end());
      LAPILLI_ASSERT_OK(a->run_to_end());
      expect_result(*a, want_[2 * kind]);
      expect_result(*c, want_[2 * kind + 1]);
    }
  }
}

// Sources that wait on the device when their search ends never run, and those behind them do.
TEST_P(DeviceSharedEngine, CancelledWhileItsSourcesWait) {
  GenerateRequest many = endless({7, 2, 3, 5, 6, 4, 8, 1, 9, 2}, 1, 40);
  LAPILLI_ASSERT_VALUE(const auto want, run_search(model_, many));
  many.batch = 2;
  many.steps_in_flight = 2;
  for (const uint32_t steps : {1u, 3u, 45u}) {
    LAPILLI_ASSERT_VALUE(const auto cancelled, Search::start(model_, many));
    pump_some(*cancelled, steps);
    cancelled->cancel();
    EXPECT_TRUE(cancelled->pump());
    LAPILLI_ASSERT_VALUE(const auto next, join(many));
    LAPILLI_ASSERT_OK(next->run_to_end());
    LAPILLI_ASSERT_VALUE(const auto out, next->take());
    for (size_t i = 0; i < many.sources.size(); ++i) expect_same(out.hypotheses[i], want.hypotheses[i]);
  }
}

TEST_P(DeviceSharedEngine, FromTwoThreads) {
  // One more than the two searches, so that the session stays when one of them ends.
  GenerateRequest long_one = endless({7, 2}, 3, 180);
  long_one.sources = requests_[1][0].sources;
  LAPILLI_ASSERT_VALUE(const auto want_long, run_search(model_, long_one));
  LAPILLI_ASSERT_VALUE(const auto a, Search::start(model_, long_one));
  std::vector<Result<GenerateOutput>> got;
  std::thread other([&] {
    for (uint32_t i = 0; i < 6; ++i) {
      auto search = Search::start(model_, requests_[1][1]);
      if (!search) {
        got.emplace_back(std::move(search).error());
        return;
      }
      // Every other one ends early: cancelled from the callback, or thrown away.
      if (i % 2 == 0) {
        const Status s = (*search)->run_to_end();
        got.push_back(s.ok() ? (*search)->take() : Result<GenerateOutput>(s.error()));
      } else if (i == 3) {
        EXPECT_FALSE((*search)->run_to_end([&] { return (*search)->steps_done() < 6; }).ok());
      } else {
        for (uint32_t n = 0; n < 20; ++n) (void)(*search)->pump();
      }
    }
  });
  const Status s = a->run_to_end();
  other.join();
  LAPILLI_ASSERT_OK(s);
  expect_result(*a, want_long);
  ASSERT_EQ(got.size(), 3u);
  for (const auto& out : got) {
    LAPILLI_ASSERT_OK(out);
    for (size_t i = 0; i < 3; ++i) expect_same(out->hypotheses[i], want_[3].hypotheses[i]);
  }
}

// ---- sources that fail alone ----------------------------------------------------------------------------------------

// Sources of more than twenty ids come to a position that is no number.
TEST_P(DeviceEngine, ScoresThatAreNoNumbersAreTheirSourcesOwnFault) {
  GenerateRequest request = endless({7, 25, 3, 30, 5, 18, 2}, 1, 30);
  const auto spoil = [&] {
    const NetworkOnDevice& m = model_->on_device();
    const BufferRef table = m.weights->find(m.network.encoder.positions);
    const uint64_t row = round_up<uint64_t>(m.network.config.encoder.d_model, 4);
    const std::vector<float> nan(row, std::numeric_limits<float>::quiet_NaN());
    return device_->write(*table.buffer, table.offset + 20 * row * 4, std::as_bytes(std::span(nan)));
  };
  for (const uint32_t beams : {1u, 3u}) {
    request.options.num_beams = request.options.num_return_sequences = beams;
    for (const uint32_t batch : {0u, 2u}) {
      SCOPED_TRACE(format("%u beams, batch %u", beams, batch));
      LAPILLI_ASSERT_VALUE(model_, make("tiny,vocabulary=600"));
      request.batch = batch;
      LAPILLI_ASSERT_VALUE(const auto good, run_search(model_, request));
      LAPILLI_ASSERT_OK(spoil());
      LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
      // Where they were, others find nothing of them.
      GenerateRequest others = request;
      others.sources = {request.sources[0], request.sources[2], request.sources[4], request.sources[5],
                        request.sources[6], request.sources[0], request.sources[2]};
      LAPILLI_ASSERT_VALUE(const auto after, run_search(model_, others));
      const size_t whose[] = {0, 2, 4, 5, 6, 0, 2};
      for (size_t i = 0; i < 7; ++i) {
        expect_same(after.hypotheses[i], good.hypotheses[whose[i]]);
        if (request.sources[i].size() <= 20) {
          LAPILLI_EXPECT_OK(out.errors[i]);
          expect_same(out.hypotheses[i], good.hypotheses[i]);
          continue;
        }
        EXPECT_TRUE(out.hypotheses[i].empty());
        ASSERT_FALSE(out.errors[i].ok()) << i;
        EXPECT_EQ(out.errors[i].error().code, ErrorCode::invalid_data);
        EXPECT_THAT(out.errors[i].error().message, HasSubstr("no numbers"));
      }
      // If it is everybody's, it is the call's.
      GenerateRequest bad = request;
      bad.sources = {request.sources[1], request.sources[3]};
      const auto none = run_search(model_, bad);
      ASSERT_FALSE(none.ok());
      EXPECT_EQ(none.error().code, ErrorCode::invalid_data);
    }
  }
}

}  // namespace
}  // namespace lapilli
