// Memories of segments: a text in segments has the results of the whole text, searches those of passes without a
// search, and what does not fit is refused. XLNet's other way to see a part of a text: hidden ids, and a second stream.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "generate/searches.hpp"
#include "search/network_on_device.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using testing::HasSubstr;

using Ids = std::vector<int32_t>;

class DeviceSegmentMemory : public testing::TestWithParam<const char*> {
 protected:
  static Result<std::shared_ptr<Model>> load(const std::string& name, const char* mask = "") {
    LAPILLI_TRY(const auto device, shared_device_with(mask));
    return Model::load(device, std::string(LAPILLI_TEST_DATA "/models/") + name + "/model", {});
  }
  // The logits of each id of a text that goes through the model in segments of this many ids.
  static Result<std::vector<float>> logits(const std::shared_ptr<Model>& model, const Ids& text, size_t segment) {
    std::vector<float> all;
    ForwardRequest r;
    r.want_hidden_states = true;
    for (size_t at = 0; at < text.size(); at += segment) {
      const auto begin = text.begin() + static_cast<ptrdiff_t>(at);
      r.targets = {Ids(begin, begin + static_cast<ptrdiff_t>(std::min(segment, text.size() - at)))};
      LAPILLI_TRY(const auto outputs, forward(model, r));
      LAPILLI_TRY(r.memories, remember(*model, r, outputs));
      const auto& t = *std::ranges::find(outputs, "logits", &ForwardTensor::name);
      all.insert(all.end(), t.values.begin(), t.values.end());
    }
    return all;
  }
  static double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double most = 0;
    for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
    return most;
  }
};

TEST_P(DeviceSegmentMemory, SegmentsHaveTheLogitsOfTheWholeText) {
  LAPILLI_ASSERT_VALUE(const auto model, load("transfo-xl", GetParam()));
  const Ids text = random_sources({31}, 150, 4).front();
  LAPILLI_ASSERT_VALUE(const auto whole, logits(model, text, text.size()));
  for (const size_t segment : {1, 5, 9}) {
    LAPILLI_ASSERT_VALUE(const auto parts, logits(model, text, segment));
    ASSERT_EQ(parts.size(), whole.size());
    EXPECT_LT(largest_difference(parts, whole), 2e-4) << segment;
  }
}

// A prompt longer than a pass of prompt ids and than the memory, with beams as well.
TEST_P(DeviceSegmentMemory, SearchesContinueLongPrompts) {
  LAPILLI_ASSERT_VALUE(const auto model, load("transfo-xl", GetParam()));
  const Ids text = random_sources({300}, 150, 6).front();
  GenerateRequest r;
  r.decoder_ids = {text};
  r.logits_at = {{299, 60, 44}};  // among the last 256: the caches are rings
  r.options.max_new_tokens = 1;
  LAPILLI_ASSERT_VALUE(const auto out, generate(model, r));
  LAPILLI_ASSERT_VALUE(const auto expected, logits(model, text, 64));
  for (size_t i = 0; i < 3; ++i) {
    const auto begin = expected.begin() + r.logits_at[0][i] * ptrdiff_t{150};
    EXPECT_LT(largest_difference(out.logits[0][i], {begin, begin + 150}), 5e-4) << r.logits_at[0][i];
  }
  const auto best = std::max_element(expected.end() - 150, expected.end()) - (expected.end() - 150);
  EXPECT_EQ(out.hypotheses[0][0].ids.back(), best);
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceSegmentMemory, testing::Values("", "floor"),
                         [](const auto& name) { return *name.param ? name.param : "full"; });

TEST(DeviceSegmentMemories, RowsOfABatchHaveMemoriesOfTheirOwn) {
  LAPILLI_ASSERT_VALUE(const auto device, shared_device_with(""));
  LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, LAPILLI_TEST_DATA "/models/xlnet/model", {}));
  const auto first = random_sources({3, 11}, 140, 1), second = random_sources({6, 4}, 140, 2);
  const auto run = [&](const std::vector<Ids>& sources, std::vector<SegmentMemory> memories) {
    ForwardRequest r;
    r.sources = sources;
    r.want_hidden_states = true;
    r.memories = std::move(memories);
    return forward(model, r);
  };
  const auto behind = [&](const std::vector<Ids>& sources) {
    ForwardRequest r;
    r.sources = sources;
    return remember(*model, r, *run(sources, {}));
  };
  LAPILLI_ASSERT_VALUE(const auto memories, behind(first));
  EXPECT_EQ(memories[0].rows, 3u);
  EXPECT_EQ(memories[1].rows, 8u);  // mem_len
  LAPILLI_ASSERT_VALUE(const auto together, run(second, memories));
  for (size_t i = 0; i < 2; ++i) {
    LAPILLI_ASSERT_VALUE(const auto alone, run({second[i]}, {memories[i]}));
    const auto find = [](const auto& outputs) {
      return *std::ranges::find(outputs, "last_hidden_state", &ForwardTensor::name);
    };
    const auto all = find(together), one = find(alone);
    for (size_t n = 0; n < one.values.size(); ++n)
      ASSERT_NEAR(one.values[n], all.values[i * all.shape[1] * all.shape[2] + n], 2e-5) << i;
  }
}

TEST(DeviceSegmentMemories, WhatDoesNotFitIsRefused) {
  LAPILLI_ASSERT_VALUE(const auto device, shared_device_with(""));
  LAPILLI_ASSERT_VALUE(const auto xlnet, Model::load(device, LAPILLI_TEST_DATA "/models/xlnet/model", {}));
  LAPILLI_ASSERT_VALUE(const auto bert, Model::load(device, LAPILLI_TEST_DATA "/models/bert/model", {}));
  ForwardRequest r;
  r.sources = {{5, 6, 7}};
  r.memories.resize(1);
  EXPECT_THAT(forward(bert, r).error().message, HasSubstr("have none"));
  EXPECT_TRUE(forward(xlnet, r).ok());
  r.memories[0] = {2, {std::vector<float>(64)}};
  EXPECT_THAT(forward(xlnet, r).error().message, HasSubstr("this model has 2 layers"));
  r.memories[0] = {2, {std::vector<float>(64), std::vector<float>(63)}};
  EXPECT_THAT(forward(xlnet, r).error().message, HasSubstr("32 numbers a row"));
  r.memories[0] = {9, {std::vector<float>(288), std::vector<float>(288)}};
  EXPECT_THAT(forward(xlnet, r).error().message, HasSubstr("up to 8 rows"));
  r.memories.resize(2);
  EXPECT_THAT(forward(xlnet, r).error().message, HasSubstr("memories of 2 sources for 1"));
}

class DeviceHiddenIds : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(const auto device, shared_device_with(GetParam()));
    LAPILLI_ASSERT_VALUE(model_, Model::load(device, LAPILLI_TEST_DATA "/models/xlnet-lm/model", {}));
  }
  [[nodiscard]] std::vector<float> logits(const ForwardRequest& r) const {
    const auto outputs = forward(model_, r);
    if (!outputs) return ADD_FAILURE() << outputs.error().message, std::vector<float>();
    return std::ranges::find(*outputs, "logits", &ForwardTensor::name)->values;
  }
  // Sources of which all ids but those before `place` are hidden, the place's own included, and the place's row.
  static ForwardRequest predicting(const std::vector<Ids>& sources, uint32_t place) {
    ForwardRequest r;
    r.sources = sources;
    r.second_stream = true;
    for (const Ids& ids : sources) {
      auto& hidden = r.hidden_ids.emplace_back();
      for (size_t at = 0; at < ids.size() * ids.size(); ++at) hidden.push_back(at % ids.size() >= place ? 1 : 0);
      r.head_rows.push_back({place});
    }
    return r;
  }
  std::shared_ptr<Model> model_;
};
INSTANTIATE_TEST_SUITE_P(Masks, DeviceHiddenIds, testing::Values("full", "floor"),
                         [](const auto& i) { return std::string(i.param); });

TEST_P(DeviceHiddenIds, NothingHiddenChangesNothing) {
  ForwardRequest r;
  r.sources = random_sources({70, 33, 1}, 140, 3);  // rows of one, two and three words of a mask
  r.want_attentions = true;                         // so that rows are padded, as those with masks are
  const auto all = logits(r);
  for (const Ids& ids : r.sources) r.hidden_ids.emplace_back(ids.size() * ids.size(), 0);
  EXPECT_EQ(logits(r), all);
}

// A prediction depends on what it sees and on its place, neither on hidden ids nor on its own.
TEST_P(DeviceHiddenIds, ArePartOfNoPrediction) {
  const auto sources = random_sources({40, 35}, 140, 4);
  auto changed = sources;
  for (Ids& ids : changed)
    for (size_t i = 34; i < ids.size(); ++i) ids[i] = (ids[i] + 7) % 140;
  const auto before = logits(predicting(sources, 34));
  EXPECT_EQ(logits(predicting(changed, 34)), before);
  changed[0][33] = (changed[0][33] + 7) % 140;
  EXPECT_NE(logits(predicting(changed, 34)), before);
}

TEST_P(DeviceHiddenIds, WhatDoesNotFitIsRefused) {
  const auto message = [&](const std::shared_ptr<Model>& model, const ForwardRequest& r) {
    const auto outputs = forward(model, r);
    return outputs ? std::string() : outputs.error().message;
  };
  ForwardRequest r;
  r.sources = {{5, 6, 7}};
  r.hidden_ids = {std::vector<uint8_t>(8)};
  EXPECT_THAT(message(model_, r), HasSubstr("source 0 has 3 ids, but 8 pairs may be hidden"));
  r.hidden_ids.resize(2);
  EXPECT_THAT(message(model_, r), HasSubstr("hidden ids of 2 sources for 1"));
  r.hidden_ids = {std::vector<uint8_t>(9)};
  r.memories.resize(1);
  EXPECT_THAT(message(model_, r), HasSubstr("which XLNet alone has"));
  r.memories.clear();
  LAPILLI_ASSERT_VALUE(const auto bert, Model::load(model_->device(), LAPILLI_TEST_DATA "/models/bert/model", {}));
  EXPECT_THAT(message(bert, r), HasSubstr("which XLNet alone has"));
}

}  // namespace
}  // namespace lapilli
