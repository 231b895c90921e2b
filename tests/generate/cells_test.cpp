// Students with recurrent cells and a shortlist: what is computed at once equals what is computed step by step, whoever
// runs beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "formats/shortlist.hpp"
#include "generate/attention.hpp"
#include "generate/searches.hpp"
#include "search/engine_pool.hpp"
#include "search/network_on_device.hpp"
#include "support/counting_vulkan.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;

using Ids = std::vector<int32_t>;

std::string student() { return std::string(LAPILLI_TEST_DATA) + "/formats/firefox-shared-float32"; }

class DeviceCells : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, shared_device_with(GetParam()));
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, student()));
    start_ = static_cast<int32_t>(model_->info().target_vocabulary) - 1;
  }
  // Sources of other lengths, each with the end token.
  static GenerateRequest sources(uint32_t beams, uint32_t most) {
    GenerateRequest r;
    for (const auto& source : random_sources({7, 1, 12, 4, 9}, 250, 5)) {
      Ids ids;
      for (const int32_t id : source) ids.push_back(3 + id % 250);
      ids.push_back(0);
      r.sources.push_back(ids);
    }
    r.options.num_beams = r.options.num_return_sequences = beams;
    r.options.max_new_tokens = most;
    r.options.early_stopping = EarlyStopping::no;  // a beam that shrinks may return fewer
    r.deterministic = true;
    return r;
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
  int32_t start_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Masks, DeviceCells, testing::Values("full", "floor", "small-bindings"), [](const auto& i) {
  std::string name = i.param;
  std::erase(name, '-');
  return name;
});

// A search goes on from the beginning of its own result, in one pass or in parts.
TEST_P(DeviceCells, BeginningsOfATargetAreScanned) {
  auto request = sources(1, 24);
  LAPILLI_ASSERT_VALUE(const auto whole, run_search(model_, request));
  for (const uint32_t rows : {256u, 4u, 1u}) {
    model_->engines().most_prompt_rows = rows;
    auto rest = request;
    for (const auto& found : whole.hypotheses) {
      const Ids& ids = found[0].ids;
      rest.decoder_ids.emplace_back(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(ids.size() * 2 / 3));
    }
    std::vector<GenerateOutput> alone;
    for (size_t i = 0; i < rest.sources.size(); ++i) {
      auto one = rest;
      one.sources = {rest.sources[i]};
      one.decoder_ids = {rest.decoder_ids[i]};
      one.options.max_new_tokens = static_cast<uint32_t>(25 - rest.decoder_ids[i].size());
      LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, one));
      EXPECT_EQ(out.hypotheses[0][0].ids, whole.hypotheses[i][0].ids) << rows << " rows, source " << i;
    }
    // Together, with beams: a hypothesis begins with what was given.
    rest.options.num_beams = rest.options.num_return_sequences = 3;
    LAPILLI_ASSERT_VALUE(const auto beams, run_search(model_, rest));
    for (size_t i = 0; i < rest.sources.size(); ++i)
      EXPECT_TRUE(std::ranges::equal(rest.decoder_ids[i],
                                     std::span(beams.hypotheses[i][0].ids).first(rest.decoder_ids[i].size())));
  }
}

// Logits of a prompt are those of the whole target, and the search behind them goes on as without.
TEST_P(DeviceCells, LogitsOfAPromptAreThoseOfAWholeTarget) {
  auto request = sources(2, 9);
  request.sources.resize(3);
  request.decoder_ids = {{start_, 5, 9, 77, 31, 8}, {start_}, {start_, 200, 3, 3, 90, 41, 12, 99, 7}};
  LAPILLI_ASSERT_VALUE(const auto without, run_search(model_, request));
  request.logits_at = {{1, 4}, {0}, {0, 3, 8}};
  LAPILLI_ASSERT_VALUE(const auto with, run_search(model_, request));
  EXPECT_EQ(bits_of(with), bits_of(without));
  ForwardRequest pass;
  pass.sources = request.sources;
  pass.targets = request.decoder_ids;
  pass.deterministic = true;
  LAPILLI_ASSERT_VALUE(const auto tensors, forward(model_, pass));
  const auto logits = std::ranges::find(tensors, "logits", &ForwardTensor::name);
  ASSERT_NE(logits, tensors.end());
  const uint64_t length = logits->shape[1], words = logits->shape[2];
  for (size_t i = 0; i < request.logits_at.size(); ++i)
    for (size_t n = 0; n < request.logits_at[i].size(); ++n) {
      ASSERT_EQ(with.logits[i].size(), request.logits_at[i].size());
      const float* row = logits->values.data() + (i * length + request.logits_at[i][n]) * words;
      for (uint64_t w = 0; w < words; ++w)
        ASSERT_NEAR(with.logits[i][n][w], row[w], 1e-3 * std::max(1.0f, std::abs(row[w]))) << i << " " << n << " " << w;
    }
}

TEST_P(DeviceCells, LogitsOfLongPromptsAreRefused) {
  auto request = sources(1, 9);
  request.sources.resize(1);
  request.decoder_ids = {Ids(300, 5)};
  request.decoder_ids[0][0] = start_;
  request.logits_at = {{1}};
  const auto out = run_search(model_, request);
  ASSERT_FALSE(out.ok());
  EXPECT_NE(out.error().message.find("at most 256"), std::string::npos) << out.error().message;
}

// Cells are handed over to the session with more positions.
TEST_P(DeviceCells, SessionsGrow) {
  // The lineage of several beams at so many positions does not fit the smallest bindings.
  auto request = sources(std::string(GetParam()) == "small-bindings" ? 1 : 3, 180);
  request.options.min_new_tokens = 180;
  LAPILLI_ASSERT_VALUE(const auto grown, run_search(model_, request));
  ASSERT_GE(model_->engines().known_positions(16), 179u) << "it did not grow";
  LAPILLI_ASSERT_VALUE(const auto large, run_search(model_, request));
  EXPECT_EQ(bits_of(grown), bits_of(large));
}

// Steps for fewer rows take over as sentences end; each is what it is alone.
TEST_P(DeviceCells, EachIsAsAlone) {
  model_->engines().narrow_from = 0;
  for (const bool listed : {true, false})
    for (const uint32_t beams : {1u, 4u}) {
      auto request = sources(beams, 40);
      request.options.num_return_sequences = 1;
      request.options.early_stopping = EarlyStopping::shrinking;
      request.options.shortlist = listed;
      request.steps_in_flight = 1;
      LAPILLI_ASSERT_VALUE(const auto together, run_search(model_, request));
      for (size_t i = 0; i < request.sources.size(); ++i) {
        auto one = request;
        one.sources = {request.sources[i]};
        LAPILLI_ASSERT_VALUE(const auto alone, run_search(model_, one));
        EXPECT_EQ(alone.hypotheses[0][0].ids, together.hypotheses[i][0].ids) << i << " of " << beams << " beams";
      }
    }
}

// No id comes out that a list does not have, and the lists of the sources differ.
TEST_P(DeviceCells, ListsAreHeeded) {
  auto request = sources(4, 30);
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
  ASSERT_NE(model_->shortlist(), nullptr);
  for (size_t i = 0; i < request.sources.size(); ++i) {
    const auto mask = model_->shortlist()->mask(request.sources[i]);
    for (const Hypothesis& h : out.hypotheses[i])
      for (size_t at = 1; at < h.ids.size(); ++at)
        EXPECT_TRUE(mask[static_cast<size_t>(h.ids[at]) / 32] >> (h.ids[at] % 32) & 1) << i << " " << h.ids[at];
  }
  EXPECT_NE(model_->shortlist()->mask(request.sources[0]), model_->shortlist()->mask(request.sources[2]));
  request.options.shortlist = false;
  LAPILLI_ASSERT_VALUE(const auto all, run_search(model_, request));
  EXPECT_NE(bits_of(all), bits_of(out));
}

// Cells have no weights to show; those of the source are there, and link words.
TEST(DeviceCellsAttention, SourcesAreAlignedAndCellsSayWhatTheyAre) {
  LAPILLI_ASSERT_VALUE(const auto device, shared_device());
  LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, student()));
  TranslateRequest request;
  const std::string text = "The old house stands by the river.";
  request.inputs.push_back({text, {}, false});
  LAPILLI_ASSERT_VALUE(const auto out, translate(model, request));
  const TextSequence& best = out.outputs.at(0).sequences.at(0);
  LAPILLI_ASSERT_VALUE(const auto a, attend(model, best.parts.at(0), text, best.text));
  LAPILLI_ASSERT_VALUE(const auto rows, a.cross.select(kAttentionMean, kAttentionMean));
  ASSERT_EQ(rows.size(), a.source.size() * a.target.size());
  for (size_t t = 0; t < a.target.size(); ++t) {
    const auto row = std::span(rows).subspan(t * a.source.size(), a.source.size());
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0f), 1, 1e-4) << t;
  }
  LAPILLI_ASSERT_VALUE(const auto alignment, align(a));
  EXPECT_FALSE(alignment.links.empty());
  const auto own = a.decoder.select(kAttentionMean, kAttentionMean);
  ASSERT_FALSE(own.ok());
  EXPECT_NE(own.error().message.find("recurrent cells"), std::string::npos) << own.error().message;
}

// A lost device ends the search; on another one the same comes out.
TEST(DeviceCellsOfLostDevices, AnotherDeviceFindsTheSame) {
  GenerateRequest request = request_of({7, 3}, 2, 12);
  for (auto& source : request.sources)
    for (int32_t& id : source) id = 2 + id % 250;
  std::string want;
  for (const bool lost : {false, true, false}) {
    LAPILLI_ASSERT_VALUE(auto device, counted_device());
    {
      LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, student()));
      LAPILLI_ASSERT_VALUE(const auto search, Search::start(model, request));
      const Status s = search->run_to_end([&] {
        if (lost && search->steps_done() >= 2) counting::lose_silently(true);
        return true;
      });
      EXPECT_EQ(s.ok(), !lost);
      if (lost) {
        EXPECT_EQ(s.error().code, ErrorCode::device_lost) << s.error().message;
      }
      if (s) {
        LAPILLI_ASSERT_VALUE(const auto out, search->take());
        if (want.empty()) want = bits_of(out);
        EXPECT_EQ(bits_of(out), want);
      }
    }
    counting::lose_silently(false);
    device.reset();
  }
}

}  // namespace
}  // namespace lapilli
