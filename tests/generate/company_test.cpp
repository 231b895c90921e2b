// Company does not change results: inputs that come and go in random order, with options, prompts and lengths of their
// own, get the ids that they have alone; those of a decoder alone beside those of an encoder and a decoder.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <thread>

#include "generate/generate.hpp"
#include "generate/searches.hpp"
#include "search/engine_pool.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;

// One input with what it asks for, and what it gets alone.
struct Wanted {
  std::shared_ptr<Model> model;
  GenerateRequest request;
  std::vector<Hypothesis> hypotheses;
};

std::vector<int32_t> random_ids(std::mt19937& random, uint32_t n) {
  std::vector<int32_t> all;
  for (uint32_t i = 0; i < n; ++i) all.push_back(static_cast<int32_t>(1 + random() % 200));
  return all;
}

// A prompt of a decoder alone: behind one of three system prompts, cut anywhere, or by itself.
std::vector<int32_t> random_prompt(std::mt19937& random) {
  std::mt19937 fixed(random() % 3);
  std::vector<int32_t> ids = random_ids(fixed, 90);
  ids.resize(random() % 4 == 0 ? 0 : 1 + random() % 90);
  const auto own = random_ids(random, 1 + random() % 40);
  ids.insert(ids.end(), own.begin(), own.end());
  return ids;
}

// Options of four samplers: greedy and beams, drawn or not. Within a sampler all values differ.
GenerateRequest random_request(std::mt19937& random, bool encodes = true) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  GenerateRequest r;
  r.deterministic = true;
  const auto ids = [&](uint32_t n) { return random_ids(random, n); };
  if (encodes) r.sources = {ids(1 + below(20))};
  if (encodes && below(3) == 0) r.decoder_ids = {ids(1 + below(12))};
  if (!encodes) r.decoder_ids = {random_prompt(random)};
  r.options.num_beams = below(2) ? 3 : 1;
  r.options.num_return_sequences = r.options.num_beams;
  r.options.max_new_tokens = 1 + below(24);
  if (below(2)) r.options.eos_token_id = std::vector<int32_t>{static_cast<int32_t>(below(40))};
  if (below(2)) r.options.no_repeat_ngram_size = 1 + below(3);
  if (below(3) == 0) r.options.repetition_penalty = 0.8 + 0.1 * below(8);
  if (below(3) == 0) r.options.bad_words_ids = std::vector<std::vector<int32_t>>{ids(1), ids(2)};
  if (below(3) == 0) r.options.suppress_tokens = ids(1 + below(9));
  if (below(4) == 0) r.options.length_penalty = 0.5 * below(5);
  if (below(4) == 0) {
    r.options.do_sample = true;
    r.options.num_return_sequences = 1;
    r.options.seed = below(1000);
    r.options.temperature = 0.5 + 0.25 * below(4);
    r.options.top_k = 5 + below(40);
    r.sequences = {below(100)};
  }
  return r;
}

std::string ids_of(const std::vector<Hypothesis>& hypotheses) {
  std::string text;
  for (const auto& h : hypotheses) {
    for (const int32_t id : h.ids) text += std::to_string(id) + " ";
    text += "| ";
  }
  return text;
}

class DeviceCompany : public testing::Test {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, shared_device());
    LAPILLI_ASSERT_VALUE(model_, Model::random(device_, "tiny"));
    std::mt19937 random(5);
    for (int i = 0; i < 60; ++i) want({model_, random_request(random), {}}, model_);
  }
  void want(Wanted w, const std::shared_ptr<Model>& by) {
    LAPILLI_ASSERT_VALUE(const auto alone, run_search(by, w.request));
    w.hypotheses = alone.hypotheses[0];
    wanted_.push_back(std::move(w));
  }
  // As many prompts of a decoder alone come beside them, in parts and with beginnings that others kept. What each gets
  // alone is computed whole.
  void add_prompts() {
    constexpr const char* kAlone = "tiny,encoder=0";
    LoadOptions whole;
    whole.prefix_cache = false;
    LAPILLI_ASSERT_VALUE(const auto plain, Model::random(device_, kAlone, 1, whole));
    LAPILLI_ASSERT_VALUE(decoder_, Model::random(device_, kAlone));
    decoder_->engines().most_prompt_rows = 16;
    std::mt19937 random(6);
    for (int i = 0; i < 60; ++i) want({decoder_, random_request(random, false), {}}, plain);
  }

  void orders(uint32_t count) {
    for (uint32_t i = 0; i < count && !HasFailure(); ++i) {
      SCOPED_TRACE(format("order %u", i));
      round(i);
    }
    EXPECT_GE(finished_, 5 * count);
    std::printf("%u orders: of %llu inputs %llu have other ids than alone; scores within %g\n", count,
                static_cast<unsigned long long>(finished_), static_cast<unsigned long long>(differing_), worst_);
    EXPECT_LE(worst_, 1e-4);
  }

  struct Running {
    std::unique_ptr<Search> search;
    size_t input = 0;
    uint32_t pumps_left = 0;  // then it is cancelled or dropped
  };

  // One order: searches start, are pumped, cancelled or dropped as the dice fall, until all have ended.
  void round(uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    std::vector<Running> running;
    uint32_t to_start = 6 + below(10);
    while (to_start > 0 || !running.empty()) {
      if (to_start > 0 && (running.empty() || below(4) == 0)) {
        const size_t input = below(static_cast<uint32_t>(wanted_.size()));
        LAPILLI_ASSERT_VALUE(auto search, Search::start(wanted_[input].model, wanted_[input].request));
        running.push_back({std::move(search), input, below(5) == 0 ? below(400) : ~0u});
        --to_start;
        continue;
      }
      const size_t i = below(static_cast<uint32_t>(running.size()));
      if (running[i].pumps_left-- == 0) {
        if (below(2))
          running[i].search->cancel();
        else
          running[i].search.reset();
      }
      if (running[i].search && !running[i].search->pump()) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        continue;
      }
      if (running[i].search) finish(running[i]);
      running.erase(running.begin() + static_cast<ptrdiff_t>(i));
    }
  }

  void finish(Running& r) {
    auto out = r.search->take();
    if (!out) {
      EXPECT_EQ(out.error().code, ErrorCode::cancelled) << out.error().message;
      return;
    }
    ++finished_;
    const Wanted& want = wanted_[r.input];
    ASSERT_EQ(out->hypotheses[0].size(), want.hypotheses.size());
    const bool same = ids_of(out->hypotheses[0]) == ids_of(want.hypotheses);
    if (deterministic_) {
      EXPECT_TRUE(same) << "input " << r.input << ": " << ids_of(out->hypotheses[0]) << "instead of "
                        << ids_of(want.hypotheses);
    }
    differing_ += same ? 0 : 1;
    for (size_t k = 0; k < want.hypotheses.size(); ++k)
      worst_ = std::max(worst_, std::abs(static_cast<double>(out->hypotheses[0][k].score) -
                                         static_cast<double>(want.hypotheses[k].score)));
  }

  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_, decoder_;
  std::vector<Wanted> wanted_;
  bool deterministic_ = true;
  uint64_t finished_ = 0, differing_ = 0;
  double worst_ = 0;
};
// For a run of its own.
class DeviceCompanyMany : public DeviceCompany {};

TEST_F(DeviceCompany, RandomArrivals) { orders(40); }
TEST_F(DeviceCompanyMany, RandomArrivals) { orders(500); }
TEST_F(DeviceCompany, RandomArrivalsOfTwoModels) {
  ASSERT_NO_FATAL_FAILURE(add_prompts());
  orders(40);
  EXPECT_GT(decoder_->engines().prefixes().bytes(), 0u);
}
TEST_F(DeviceCompanyMany, RandomArrivalsOfTwoModels) {
  ASSERT_NO_FATAL_FAILURE(add_prompts());
  orders(500);
}

// Other variants for other numbers of rows: ids may differ where two hypotheses are as good as equal.
TEST_F(DeviceCompany, RandomArrivalsOfWhatNeedNotBeDeterministic) {
  deterministic_ = false;
  std::erase_if(wanted_, [](const Wanted& w) { return w.request.options.do_sample.has_value(); });
  for (Wanted& w : wanted_) {
    w.request.deterministic = false;
    LAPILLI_ASSERT_VALUE(const auto alone, run_search(model_, w.request));
    w.hypotheses = alone.hypotheses[0];
  }
  orders(20);
}

// Every counter of the engines that are made wraps a few steps on.
TEST_F(DeviceCompany, CountersWrap) {
  model_->engines().drop_free();
  model_->engines().first_counter = ~uint32_t{0} - 100;
  orders(8);
}

// Many more sources than run at a time: each has the ids that it has alone, and the rows are full while others wait.
TEST_F(DeviceCompany, SourcesFollowOneAnother) {
  for (const uint32_t beams : {1u, 3u}) {
    GenerateRequest all;
    all.deterministic = true;
    all.options.num_beams = all.options.num_return_sequences = beams;
    all.options.max_new_tokens = 24;
    all.options.no_repeat_ngram_size = 1;
    all.options.eos_token_id = std::vector<int32_t>{7, 30, 90};
    all.batch = 8;
    std::mt19937 random(beams);
    for (int i = 0; i < 100; ++i) {
      auto& source = all.sources.emplace_back();
      for (uint32_t k = 0; k < 1 + random() % 20; ++k) source.push_back(static_cast<int32_t>(random() % 200));
    }
    LAPILLI_ASSERT_VALUE(const auto together, generate(model_, all));
    for (size_t i = 0; i < all.sources.size(); ++i) {
      GenerateRequest one = all;
      one.sources = {all.sources[i]};
      LAPILLI_ASSERT_VALUE(const auto alone, run_search(model_, one));
      EXPECT_EQ(ids_of(together.hypotheses[i]), ids_of(alone.hypotheses[0])) << i;
    }
    ASSERT_GT(together.stats.queued_room, 0u);
    const double use =
        static_cast<double>(together.stats.queued_rows) / static_cast<double>(together.stats.queued_room);
    EXPECT_GE(use, 0.9) << beams;
    std::printf("%u beams: rows in use while others wait %.3f\n", beams, use);
  }
}

// Searches of one source each, more than run at a time: they wait in the session that they share, and its rows are
// full.
TEST_F(DeviceCompany, SingleSourcesFollowOneAnother) {
  constexpr size_t kTogether = 64, kAll = 400;
  std::mt19937 random(9);
  std::vector<std::unique_ptr<Search>> running;
  uint64_t rows = 0, room = 0, waited = 0;
  for (size_t started = 0; started < kAll || !running.empty();) {
    for (; started < kAll && running.size() < kTogether; ++started) {
      GenerateRequest one;
      one.options.num_beams = 3;
      one.options.max_new_tokens = 4 + random() % 20;
      one.sources = {random_ids(random, 1 + random() % 20)};
      LAPILLI_ASSERT_VALUE(auto search, Search::start(model_, one));
      running.push_back(std::move(search));
    }
    for (auto& search : running) {
      if (!search->pump()) continue;
      LAPILLI_ASSERT_VALUE(const auto out, search->take());
      rows += out.stats.queued_rows;
      room += out.stats.queued_room;
      waited += out.stats.queued_room > 0 ? 1 : 0;
      search.reset();
    }
    std::erase(running, nullptr);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  const double use = static_cast<double>(rows) / static_cast<double>(std::max<uint64_t>(1, room));
  std::printf("%llu of %zu waited; rows in use meanwhile %.3f\n", static_cast<unsigned long long>(waited), kAll, use);
  EXPECT_GT(waited, kAll / 2);
  EXPECT_GE(use, 0.85);
}

}  // namespace
}  // namespace lapilli
