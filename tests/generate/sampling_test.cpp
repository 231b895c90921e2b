// Sampling: draws follow the reference's probabilities, are the same in the interpreter and on the device, and depend
// on seed and place alone.
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "generate/searches.hpp"
#include "search/trace_back.hpp"
#include "support/options.hpp"
#include "support/search_records.hpp"
#include "support/shared_device.hpp"
#include "support/warpers.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using search_records::Bigram;

// The probability that a chi-square variable is larger, by Wilson and Hilferty's approximation.
double chi_square_tail(double value, double degrees) {
  const double v = 2 / (9 * degrees), z = (std::cbrt(value / degrees) - (1 - v)) / std::sqrt(v);
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

constexpr uint32_t kVocabulary = 211, kRows = 1000, kSteps = 20;  // 20,000 draws

struct Setting {
  const char* name;
  void (*set)(GenerationConfig&);
};
const Setting kSettings[] = {{"nothing", [](GenerationConfig&) {}},
                             {"temperature", [](GenerationConfig& c) { c.temperature = 0.7; }},
                             {"heat", [](GenerationConfig& c) { c.temperature = 1.9; }},
                             {"top_k", [](GenerationConfig& c) { c.top_k = 12; }},
                             {"top_p", [](GenerationConfig& c) { c.top_p = 0.8; }},
                             {"min_p", [](GenerationConfig& c) { c.min_p = 0.05; }},
                             {"typical_p", [](GenerationConfig& c) { c.typical_p = 0.7; }},
                             {"cutoffs", [](GenerationConfig& c) { c.epsilon_cutoff = 0.004, c.eta_cutoff = 0.003; }},
                             {"top_h", [](GenerationConfig& c) { c.top_h = 0.6; }},
                             {"all", [](GenerationConfig& c) {
                                c.temperature = 1.3, c.top_h = 0.95, c.top_k = 60, c.top_p = 0.95, c.min_p = 0.01,
                                c.typical_p = 0.95;
                                c.epsilon_cutoff = 0.001, c.eta_cutoff = 0.001;
                              }}};

// Every row draws from the same scores at every step.
Result<Bigram> make_draws(const Setting& setting, uint64_t seed) {
  Bigram b;
  b.vocabulary = kVocabulary;
  b.prompts.assign(kRows, {0});
  GenerationConfig c;
  c.do_sample = true;
  c.seed = seed;
  c.top_k = 0;
  c.decoder_start_token_id = c.pad_token_id = 0;
  c.max_new_tokens = kSteps;
  setting.set(c);
  model::Config config;
  config.source_vocabulary = config.target_vocabulary = kVocabulary;
  LAPILLI_TRY(b.options, testing_support::options_for({}, c, 1, config));
  b.table = {kVocabulary, kVocabulary, std::vector<float>(kVocabulary * kVocabulary, 0.0f)};
  b.steps = {kSteps + 4, kVocabulary, {}};
  for (uint32_t t = 0; t < kSteps + 4; ++t)
    for (uint32_t id = 0; id < kVocabulary; ++id)
      b.steps.values.push_back(static_cast<float>(id % 8 == 5 ? -40.0 : 2 * std::sin(id * 1.7) + std::cos(id * 0.37)));
  finish(b);
  return b;
}

// The drawn ids of the first `count` sentences, step by step.
std::vector<uint32_t> drawn_ids(const Bigram& b, const search_records::SearchEnd& end, uint32_t count = kRows) {
  const auto sentences = search_records::read_log(b, end);
  EXPECT_TRUE(sentences.ok()) << sentences.error().message;
  std::vector<uint32_t> ids;
  for (uint32_t t = 0; sentences && t < kSteps; ++t)
    for (uint32_t i = 0; i < count; ++i) ids.push_back(static_cast<uint32_t>(sentences->at(i).log.at(t, 0).token));
  return ids;
}

std::vector<double> probabilities(const Bigram& b) {
  return sampling_probabilities({b.steps.values.begin(), b.steps.values.begin() + kVocabulary}, b.options);
}

// The p-value of the draws under these probabilities; 0 if an id was drawn that cannot be.
double p_value(const std::vector<uint32_t>& ids, const std::vector<double>& p) {
  std::vector<double> seen(p.size(), 0);
  for (const uint32_t id : ids) ++seen[id];
  double chi_square = 0, rest_seen = 0, rest_expected = 0, bins = 0;
  for (size_t id = 0; id < p.size(); ++id) {
    const double expected = p[id] * static_cast<double>(ids.size());
    if (p[id] == 0 && seen[id] > 0) return 0;
    if (expected < 10) {
      rest_seen += seen[id];
      rest_expected += expected;
      continue;
    }
    chi_square += (seen[id] - expected) * (seen[id] - expected) / expected;
    ++bins;
  }
  if (rest_expected >= 5) {
    chi_square += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
    ++bins;
  }
  return bins < 2 ? 1 : chi_square_tail(chi_square, bins - 1);
}

class DeviceSampling : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Settings, DeviceSampling, testing::Range(size_t{0}, std::size(kSettings)),
                         [](const auto& p) { return std::string(kSettings[p.param].name); });

// The seeds are fixed, so that this passes always or never (on one device: elsewhere a draw in many thousands differs).
TEST_P(DeviceSampling, DrawsFollowTheReferencesProbabilities) {
  LAPILLI_ASSERT_VALUE(const auto device, shared_device());
  LAPILLI_ASSERT_VALUE(const auto b, make_draws(kSettings[GetParam()], 1234 + GetParam()));
  LAPILLI_ASSERT_VALUE(const auto end, run_on(device, b));
  const auto ids = drawn_ids(b, end);
  ASSERT_EQ(ids.size(), 20000u);
  const auto p = probabilities(b);
  EXPECT_GT(p_value(ids, p), 1e-3);
  // The interpreter draws the same; as draws go by their places, some of the rows will do.
  auto few = b;
  few.prompts.resize(60);
  finish(few);
  EXPECT_EQ(drawn_ids(few, interpret(few), 60), drawn_ids(b, end, 60));
  // The test would notice: other temperatures give other draws.
  auto other = b;
  other.options.temperature *= 2;
  EXPECT_LT(p_value(ids, probabilities(other)), 1e-6);
}

// Beams: whole searches, in the interpreter and on the device.
// Ids and beams of all hypotheses.
std::vector<std::vector<int32_t>> found(const Bigram& b, const search_records::SearchEnd& end) {
  const auto sentences = search_records::read_log(b, end);
  EXPECT_TRUE(sentences.ok()) << sentences.error().message;
  std::vector<std::vector<int32_t>> all;
  for (uint32_t s = 0; sentences && s < b.prompts.size(); ++s) {
    const auto hypotheses = trace_back((*sentences)[s], s, b.shape.beams);
    EXPECT_TRUE(hypotheses.ok());
    for (size_t i = 0; hypotheses && i < hypotheses->size(); ++i) {
      all.push_back((*hypotheses)[i].ids);
      all.push_back((*hypotheses)[i].beam_indices);
    }
  }
  return all;
}

TEST(DeviceSampling, BeamsDrawTheSameOnTheDevice) {
  LAPILLI_ASSERT_VALUE(const auto device, shared_device());
  LAPILLI_ASSERT_VALUE(const auto recorded,
                       search_records::Recorded::open(std::string(LAPILLI_TEST_DATA "/search/bigram")));
  std::set<std::vector<std::vector<int32_t>>> different;
  for (const uint32_t beams : {1u, 2u, 4u})
    for (const char* early : {"true", "false", "\"never\""})
      for (const uint32_t seed : {0u, 1u, 2u}) {
        const auto args = nlohmann::json::parse(
            format(R"({"do_sample": true, "num_beams": %u, "early_stopping": %s, "seed": %u, "max_new_tokens": 9,
              "temperature": 1.5, "top_p": 0.95, "num_return_sequences": %u})",
                   beams, early, seed, beams));
        const nlohmann::json c = {{"inputs", {{"input_ids", "start.input_ids"}}}, {"args", args}};
        LAPILLI_ASSERT_VALUE(const auto b, search_records::make_bigram(recorded, c));
        LAPILLI_ASSERT_VALUE(const auto got, run_on(device, b));
        const auto want = found(b, interpret(b));
        EXPECT_EQ(found(b, got), want) << beams << " beams, seed " << seed;
        EXPECT_GE(want.size(), 2 * b.prompts.size());
        different.insert(want);
      }
  EXPECT_GT(different.size(), 12u);  // seeds matter
}

class DeviceSampledJobs : public testing::Test {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, counted_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, marian()));
    request_.sources = random_sources({7, 12, 3, 9}, 256, 11);
    request_.options.do_sample = true;
    request_.options.num_beams = 1;
    request_.options.max_new_tokens = 12;
    request_.options.seed = 5;
  }
  std::string texts(const GenerateRequest& r) {
    const auto out = generate(model_, r);
    return out ? bits_of(*out) : out.error().message;
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
  GenerateRequest request_;
};

TEST_F(DeviceSampledJobs, SeedsDecide) {
  const auto first = texts(request_);
  EXPECT_EQ(texts(request_), first);
  request_.options.seed = uint64_t{5} << 32 | 5;
  EXPECT_NE(texts(request_), first);
}

TEST_F(DeviceSampledJobs, DrawsDoNotDependOnTheBatch) {
  for (const uint32_t beams : {1u, 3u}) {
    request_.options.num_beams = beams;
    LAPILLI_ASSERT_VALUE(const auto all, generate(model_, request_));
    for (uint32_t i = 0; i < 4; ++i) {
      GenerateRequest one = request_;
      one.sources = {request_.sources[i]};
      one.sequences = {i};
      LAPILLI_ASSERT_VALUE(const auto alone, generate(model_, one));
      EXPECT_EQ(alone.hypotheses[0][0].ids, all.hypotheses[i][0].ids) << beams << " beams, source " << i;
    }
  }
}

TEST_F(DeviceSampledJobs, EverySequenceIsDrawnForItself) {
  request_.options.num_return_sequences = 6;
  LAPILLI_ASSERT_VALUE(const auto out, generate(model_, request_));
  ASSERT_EQ(out.hypotheses.size(), 4u);
  for (const auto& list : out.hypotheses) {
    ASSERT_EQ(list.size(), 6u);
    std::set<std::vector<int32_t>> different;
    for (const auto& h : list) different.insert(h.ids);
    EXPECT_GT(different.size(), 1u);
  }
  // The ids that are given out during the search are those of the first of them.
  std::vector<std::vector<int32_t>> told(4);
  request_.on_tokens = [&](size_t source, std::span<const int32_t> ids) {
    told.at(source).insert(told[source].end(), ids.begin(), ids.end());
    return Status();
  };
  LAPILLI_ASSERT_VALUE(const auto again, generate(model_, request_));
  for (size_t i = 0; i < 4; ++i) {
    auto ids = again.hypotheses[i][0].ids;
    ids.erase(ids.begin());
    EXPECT_EQ(told[i], ids);
  }
}

// Ids that are given out early must not be taken back, although drawn beams do not come in the order of their scores.
TEST_F(DeviceSampledJobs, BeamsTellWhatIsSettled) {
  request_.options.num_beams = 3;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    request_.options.seed = seed;
    std::vector<std::vector<int32_t>> told(4);
    request_.on_tokens = [&](size_t source, std::span<const int32_t> ids) {
      told.at(source).insert(told[source].end(), ids.begin(), ids.end());
      return Status();
    };
    LAPILLI_ASSERT_VALUE(const auto out, generate(model_, request_));
    for (size_t i = 0; i < 4; ++i) {
      auto ids = out.hypotheses[i][0].ids;
      ids.erase(ids.begin());
      EXPECT_EQ(told[i], ids) << "seed " << seed;
    }
  }
}

TEST_F(DeviceSampledJobs, OneIdAloneIsGreedySearch) {
  request_.options.top_k = 1;
  LAPILLI_ASSERT_VALUE(const auto drawn, generate(model_, request_));
  request_.options.do_sample = false;
  LAPILLI_ASSERT_VALUE(const auto greedy, generate(model_, request_));
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(drawn.hypotheses[i][0].ids, greedy.hypotheses[i][0].ids);
}

// Options are data: other ones make no pipeline and plan nothing anew.
TEST_F(DeviceSampledJobs, OtherOptionsMakeNothing) {
  for (const uint32_t beams : {1u, 2u}) {
    request_.options.num_beams = beams;
    LAPILLI_ASSERT_VALUE(const auto first, generate(model_, request_));
    const auto before = counting::calls();
    GenerateRequest other = request_;
    other.options.seed = 99;
    other.options.temperature = 0.5;
    other.options.top_k = 7;
    other.options.top_p = 0.7;
    other.options.typical_p = 0.9;
    other.options.repetition_penalty = 1.5;
    other.options.bad_words_ids = std::vector<std::vector<int32_t>>{{5}, {6, 7}};
    LAPILLI_ASSERT_VALUE(const auto second, generate(model_, other));
    EXPECT_NE(bits_of(second), bits_of(first));
    auto made = counting::setup_calls(counting::since(before));
    // Where memory is not mapped, a search's data is copied there; nothing else may be recorded.
    for (const char* copying : {"vkBeginCommandBuffer", "vkCmdCopyBuffer", "vkCmdPipelineBarrier", "vkEndCommandBuffer",
                                "vkResetCommandPool"})
      made.erase(copying);
    EXPECT_TRUE(made.empty()) << counting::to_string(made);
  }
}

TEST_F(DeviceSampledJobs, FloorMaskDrawsTheSame) {
  LAPILLI_ASSERT_VALUE(const auto floor, counted_device("floor"));
  LAPILLI_ASSERT_VALUE(const auto model, Model::load(floor, marian()));
  for (const uint32_t beams : {1u, 3u}) {
    request_.options.num_beams = beams;
    LAPILLI_ASSERT_VALUE(const auto want, generate(model_, request_));
    LAPILLI_ASSERT_VALUE(const auto got, generate(model, request_));
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(got.hypotheses[i][0].ids, want.hypotheses[i][0].ids);
  }
}

// The filters over rows of many words: on GPUs workgroups share a row.
class DeviceSampledWords : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, shared_device_with(GetParam()));
    LAPILLI_ASSERT_VALUE(model_, Model::random(device_, "tiny,vocabulary=33000", 1));
    request_.sources = random_sources({7, 25, 3}, 33000, 11);
    request_.options.do_sample = true;
    request_.options.num_beams = 1;
    request_.options.max_new_tokens = 6;
    request_.options.seed = 5;
    request_.options.temperature = 0.7f;
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
  GenerateRequest request_;
};

TEST_P(DeviceSampledWords, AreThoseOfTheFloor) {
  LAPILLI_ASSERT_VALUE(const auto floor, shared_device_with("floor"));
  LAPILLI_ASSERT_VALUE(const auto model, Model::random(floor, "tiny,vocabulary=33000", 1));
  for (const int32_t k : {0, 40}) {
    request_.options.top_k = k;
    request_.options.top_p = 0.9f;
    LAPILLI_ASSERT_VALUE(const auto want, generate(model, request_));
    LAPILLI_ASSERT_VALUE(const auto got, generate(model_, request_));
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(got.hypotheses[i][0].ids, want.hypotheses[i][0].ids) << k;
  }
}

TEST_P(DeviceSampledWords, ScoresThatAreNoNumbersEndTheSentence) {
  const NetworkOnDevice& m = model_->on_device();
  const BufferRef table = m.weights->find(m.network.encoder.positions);
  const uint64_t row = round_up<uint64_t>(m.network.config.encoder.d_model, 4);
  for (const uint32_t sign : {0u, 0x80000000u}) {
    const std::vector<uint32_t> spoilt(row, 0x7fc00000u | sign);
    LAPILLI_ASSERT_OK(device_->write(*table.buffer, table.offset + 20 * row * 4, std::as_bytes(std::span(spoilt))));
    for (const int32_t k : {0, 40}) {
      request_.options.top_k = k;
      request_.options.top_p = k ? 1.0f : 0.9f;
      LAPILLI_ASSERT_VALUE(const auto out, generate(model_, request_));
      for (size_t i = 0; i < 3; ++i) EXPECT_EQ(out.errors[i].ok(), request_.sources[i].size() <= 20) << k << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceSampledWords, testing::Values("full", "gpu"));

}  // namespace
}  // namespace lapilli
