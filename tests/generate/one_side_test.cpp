// Models with one side, of random weights: an encoder alone gives hidden states of a packed batch, a decoder alone
// continues prompts of different lengths. Each is held to the whole network at once.
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "formats/hf_config.hpp"
#include "generate/searches.hpp"
#include "model/transformer.hpp"
#include "support/shared_device.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using testing::HasSubstr;

using Ids = std::vector<int32_t>;

const ForwardTensor* find(const std::vector<ForwardTensor>& outputs, const std::string& name) {
  const auto it = std::ranges::find(outputs, name, &ForwardTensor::name);
  return it == outputs.end() ? nullptr : &*it;
}

// ---- an encoder alone
// ------------------------------------------------------------------------------------------------

class DeviceEncoderAlone : public testing::Test {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(const auto device, vulkan::Device::create({}));
    LAPILLI_ASSERT_VALUE(model_, Model::random(device, "tiny,decoder=0", 3));
  }
  [[nodiscard]] Result<std::vector<ForwardTensor>> run(const std::vector<Ids>& sources, bool attentions = false) const {
    ForwardRequest r;
    r.sources = sources;
    r.want_hidden_states = true;
    r.want_attentions = attentions;
    return forward(model_, r);
  }
  const std::vector<Ids> sources_ = random_sources({5, 1, 12, 3}, 250, 5);
  std::shared_ptr<Model> model_;
};

// The largest difference in the rows that sources have.
double difference(const ForwardTensor& a, const ForwardTensor& b, const std::vector<Ids>& sources) {
  double most = 0;
  for (size_t i = 0; i < sources.size(); ++i)
    for (uint64_t n = 0; n < sources[i].size() * a.shape[2]; ++n) {
      const double one = a.values[i * a.shape[1] * a.shape[2] + n], other = b.values[i * b.shape[1] * b.shape[2] + n];
      most = std::max(most, std::abs(one - other));
    }
  return most;
}

TEST_F(DeviceEncoderAlone, APackedBatchHasTheHiddenStatesOfAPaddedOne) {
  LAPILLI_ASSERT_VALUE(const auto packed, run(sources_));
  LAPILLI_ASSERT_VALUE(const auto padded, run(sources_, true));
  for (const char* name : {"hidden_states.0", "hidden_states.1", "hidden_states.2", "last_hidden_state"}) {
    const auto *a = find(packed, name), *b = find(padded, name);
    ASSERT_TRUE(a && b) << name;
    EXPECT_EQ(a->shape, (std::vector<uint64_t>{4, 12, 32}));
    EXPECT_EQ(a->shape, b->shape);
    EXPECT_LT(difference(*a, *b, sources_), 1e-4) << name;
  }
  EXPECT_TRUE(find(padded, "attentions.1"));
  EXPECT_FALSE(find(packed, "attentions.1"));
}

TEST_F(DeviceEncoderAlone, SourcesDoNotSeeEachOther) {
  LAPILLI_ASSERT_VALUE(const auto together, run(sources_));
  const ForwardTensor* all = find(together, "last_hidden_state");
  ASSERT_TRUE(all);
  for (size_t i = 0; i < sources_.size(); ++i) {
    LAPILLI_ASSERT_VALUE(const auto alone, run({sources_[i]}));
    const ForwardTensor* one = find(alone, "last_hidden_state");
    ASSERT_TRUE(one);
    ForwardTensor part{all->name, {1, all->shape[1], all->shape[2]}, {}};
    const auto begin = all->values.begin() + static_cast<ptrdiff_t>(i * all->shape[1] * all->shape[2]);
    part.values.assign(begin, begin + static_cast<ptrdiff_t>(all->shape[1] * all->shape[2]));
    EXPECT_LT(difference(part, *one, {sources_[i]}), 1e-4) << i;
    EXPECT_GT(std::accumulate(one->values.begin(), one->values.end(), 0.0,
                              [](double sum, float v) { return sum + std::abs(v); }),
              1.0);
  }
}

TEST_F(DeviceEncoderAlone, WritesNothing) {
  const auto search = Search::start(model_, request_of({4}, 1, 3));
  ASSERT_FALSE(search.ok());
  EXPECT_EQ(search.error().code, ErrorCode::unsupported);
  EXPECT_THAT(search.error().message, HasSubstr("no decoder"));
}

TEST(EncoderAlone, ComputesNoRowsOfPadding) {
  LAPILLI_ASSERT_VALUE(const auto loaded, make_network("tiny,decoder=0"));
  graph::Graph g;
  model::Builder b(loaded.network, g);
  model::ForwardShape shape;
  shape.batch = 4;
  shape.source_length = 12;
  shape.rows = 21;
  model::build_forward(b, shape);
  ASSERT_FALSE(b.outputs().empty());
  for (const auto& t : g.tensors())
    EXPECT_TRUE(t.space != graph::Space::arena || t.rows <= 21u * 4) << t.name;  // keys: a row for each head
  EXPECT_EQ(g.tensor(b.outputs().back().tensor).rows, 21u);
}

// ---- an encoder of text
// ------------------------------------------------------------------------------------------------

class DeviceTextEncoder : public testing::Test {
 protected:
  void load(const std::string& name) {
    LAPILLI_ASSERT_VALUE(const auto device, shared_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device, model_directory(name) + "/model"));
  }
  [[nodiscard]] std::string message(ForwardRequest r) const {
    const auto outputs = forward(model_, std::move(r));
    return outputs ? "taken" : outputs.error().message;
  }
  std::shared_ptr<Model> model_;
};

TEST_F(DeviceTextEncoder, TypesAreChecked) {
  load("bert");
  EXPECT_EQ(message({.sources = {{2, 7, 3}, {2, 3}}, .source_types = {{}, {0, 1}}}), "taken");
  EXPECT_THAT(message({.sources = {{2, 7, 3}}, .source_types = {{0, 1}}}), HasSubstr("3 ids, but 2 token types"));
  EXPECT_THAT(message({.sources = {{2, 7}}, .source_types = {{0, 2}}}), HasSubstr("token type 2; this model knows 2"));
  EXPECT_THAT(message({.sources = {{2}, {3}}, .source_types = {{0}}}), HasSubstr("types of 1 sources for 2"));
  load("roberta");
  EXPECT_THAT(message({.sources = {{2, 7}}, .source_types = {{0, 1}}}), HasSubstr("token type 1; this model knows 1"));
}

// A pass that runs again forgets the types of the first time.
TEST_F(DeviceTextEncoder, TypesOfOnePassAreNotThoseOfTheNext) {
  load("bert");
  ForwardRequest pair{.sources = {{2, 7, 3, 9, 3}}, .source_types = {{0, 0, 0, 1, 1}}}, text = pair;
  text.source_types.clear();
  LAPILLI_ASSERT_VALUE(auto pass, ForwardPass::make(model_, pair));
  LAPILLI_ASSERT_VALUE(const auto first, pass.run(pair));
  LAPILLI_ASSERT_VALUE(const auto second, pass.run(text));
  LAPILLI_ASSERT_VALUE(const auto alone, forward(model_, text));
  const auto state = [](const auto& outputs) { return find(outputs, "last_hidden_state")->values; };
  EXPECT_EQ(state(second), state(alone));
  EXPECT_NE(state(first), state(second));
}

// The states of a window are those of all keys with a bias that hides the others.
TEST_F(DeviceTextEncoder, WindowsPackedAndPadded) {
  load("modernbert");
  ForwardRequest r{.sources = random_sources({40, 3, 17, 64}, 150, 9)};
  LAPILLI_ASSERT_VALUE(const auto packed, forward(model_, r));
  r.want_attentions = true;
  LAPILLI_ASSERT_VALUE(const auto padded, forward(model_, r));
  const auto *a = find(packed, "last_hidden_state"), *b = find(padded, "last_hidden_state");
  ASSERT_TRUE(a && b);
  EXPECT_LT(difference(*a, *b, r.sources), 1e-4);
  const auto* local = find(padded, "attentions.1");
  ASSERT_TRUE(local);
  EXPECT_EQ(local->values[5], 0.0f);  // key 5 is outside query 0's window of 4
  EXPECT_GT(local->values[4], 0.0f);
}

// The encoder of a T5 alone gives what it gives to its decoder.
TEST_F(DeviceTextEncoder, T5WithoutItsDecoder) {
  load("t5");
  ForwardRequest r{.sources = random_sources({9, 4, 30}, 150, 2), .targets = {{0}, {0}, {0}}};
  LAPILLI_ASSERT_VALUE(const auto both, forward(model_, r));
  const TempDirectory directory;
  directory.copy_from(model_directory("t5") + "/model");
  LAPILLI_ASSERT_VALUE(auto json, read_json_file(directory.path() + "/config.json"));
  json["architectures"] = {"T5EncoderModel"};
  directory.write("config.json", json.dump());
  LAPILLI_ASSERT_VALUE(model_, Model::load(model_->device(), directory.path()));
  r.targets.clear();
  LAPILLI_ASSERT_VALUE(const auto alone, forward(model_, r));
  const auto *a = find(both, "encoder_last_hidden_state"), *b = find(alone, "last_hidden_state");
  ASSERT_TRUE(a && b);
  EXPECT_LT(difference(*a, *b, r.sources), 1e-4);
}

// A file of 2018 says nothing of its family and its head.
TEST_F(DeviceTextEncoder, AFamilyByTheNamesOfWeights) {
  const TempDirectory directory;
  directory.copy_from(model_directory("bert-masked-lm") + "/model");
  LAPILLI_ASSERT_VALUE(auto json, read_json_file(directory.path() + "/config.json"));
  LAPILLI_ASSERT_VALUE(const auto device, shared_device());
  for (const char* key : {"model_type", "architectures"}) {
    json.erase(key);
    directory.write("config.json", json.dump());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device, directory.path()));
    EXPECT_EQ(model_->info().family, "bert");
    EXPECT_TRUE(model_->on_device().config().head(model::HeadKind::tokens));
  }
  directory.copy_from(model_directory("bert") + "/model");  // names without a prefix
  directory.write("config.json", json.dump());
  const auto model = Model::load(device, directory.path());
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().message, HasSubstr("model_type"));
}

// ---- a decoder alone
// -------------------------------------------------------------------------------------------------

// Each head of queries with keys of its own, and two that share them.
class DeviceDecoderAlone : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(const auto device, vulkan::Device::create({}));
    LAPILLI_ASSERT_VALUE(model_, Model::random(device, std::string("tiny,encoder=0,kv_heads=") + GetParam(), 3));
  }

  // The scores of what follows each row of ids, from the whole network at once.
  [[nodiscard]] std::vector<std::vector<float>> scores_behind(const std::vector<Ids>& rows) const {
    ForwardRequest r;
    r.targets = rows;
    auto outputs = forward(model_, r);
    EXPECT_TRUE(outputs.ok()) << (outputs ? "" : outputs.error().message);
    const ForwardTensor* logits = outputs ? find(*outputs, "logits") : nullptr;
    if (!logits) return {};
    std::vector<std::vector<float>> scores;
    for (size_t i = 0; i < rows.size(); ++i) {
      const uint64_t at = (i * logits->shape[1] + rows[i].size() - 1) * logits->shape[2];
      const auto begin = logits->values.begin() + static_cast<ptrdiff_t>(at);
      scores.emplace_back(begin, begin + static_cast<ptrdiff_t>(logits->shape[2]));
    }
    return scores;
  }

  [[nodiscard]] GenerateRequest continuation(uint32_t beams, uint32_t steps) const {
    GenerateRequest r;
    r.decoder_ids = prompts_;
    r.options.num_beams = beams;
    r.options.max_new_tokens = r.options.min_new_tokens = steps;
    return r;
  }

  const std::vector<Ids> prompts_ = random_sources({3, 1, 6, 2}, 250, 9);
  std::shared_ptr<Model> model_;
};

constexpr int32_t kEnd = 0;  // of random models

// Adds the likeliest id, never the end, to each row.
void add_best(std::vector<Ids>& rows, const std::vector<std::vector<float>>& scores) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto best = std::max_element(scores[i].begin() + kEnd + 1, scores[i].end());
    rows[i].push_back(static_cast<int32_t>(best - scores[i].begin()));
  }
}

TEST_P(DeviceDecoderAlone, ContinuesPromptsGreedily) {
  constexpr uint32_t kSteps = 9;
  std::vector<Ids> want = prompts_;
  for (uint32_t i = 0; i < kSteps; ++i) {
    const auto scores = scores_behind(want);
    ASSERT_EQ(scores.size(), want.size());
    add_best(want, scores);
  }
  LAPILLI_ASSERT_VALUE(const auto got, run_search(model_, continuation(1, kSteps)));
  ASSERT_EQ(got.hypotheses.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got.hypotheses[i].front().ids, want[i]) << i;
}

struct Beam {
  Ids ids;
  double score = 0;
};

// The next beams from these and the scores behind them.
std::vector<Beam> next_beams(const std::vector<Beam>& beams, const std::vector<std::vector<float>>& scores) {
  std::vector<Beam> all;
  for (size_t b = 0; b < beams.size(); ++b) {
    double sum = 0;
    for (const float s : scores[b]) sum += std::exp(static_cast<double>(s));
    for (size_t id = kEnd + 1; id < scores[b].size(); ++id) {
      Beam one{beams[b].ids, beams[b].score + static_cast<double>(scores[b][id]) - std::log(sum)};
      one.ids.push_back(static_cast<int32_t>(id));
      all.push_back(std::move(one));
    }
  }
  std::ranges::sort(all, std::greater<>(), &Beam::score);
  return all;
}

TEST_P(DeviceDecoderAlone, ContinuesPromptsWithBeams) {
  constexpr uint32_t kSteps = 6, kBeams = 3;
  LAPILLI_ASSERT_VALUE(const auto got, run_search(model_, continuation(kBeams, kSteps)));
  for (size_t i = 0; i < prompts_.size(); ++i) {
    std::vector<Beam> beams{{prompts_[i], 0}};
    for (uint32_t step = 0; step < kSteps; ++step) {
      std::vector<Ids> rows;
      for (const Beam& b : beams) rows.push_back(b.ids);
      const auto scores = scores_behind(rows);
      ASSERT_EQ(scores.size(), rows.size());
      beams = next_beams(beams, scores);
      beams.resize(kBeams);
    }
    EXPECT_EQ(got.hypotheses[i].front().ids, beams.front().ids) << i;
  }
}

TEST_P(DeviceDecoderAlone, RefusesSources) {
  GenerateRequest r = continuation(1, 2);
  r.sources = r.decoder_ids;
  const auto with_sources = Search::start(model_, r);
  ASSERT_FALSE(with_sources.ok());
  EXPECT_THAT(with_sources.error().message, HasSubstr("no encoder"));
  r.sources.clear();
  r.keep_encoded = true;
  EXPECT_FALSE(Search::start(model_, r).ok());
  EXPECT_EQ(forward(model_, {{{1, 2}}, {}, {{1}}, {}}).error().code, ErrorCode::invalid_argument);
}

// With and without layers that see a window of positions.
INSTANTIATE_TEST_SUITE_P(KvHeads, DeviceDecoderAlone, testing::Values("4", "2", "2,window=4"), [](const auto& shape) {
  return std::string(shape.param, 1) + "OfKeys" + (shape.param[1] ? "Windows" : "");
});

}  // namespace
}  // namespace lapilli
