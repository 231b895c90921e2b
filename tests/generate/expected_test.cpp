// The bundled model's 64 sentences: the reference implementation's ids, texts and scores, greedy and with four beams.
#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "formats/hf_config.hpp"
#include "generate/searches.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;

// Scores are sums of some twenty float log-probabilities; the set that the model comes from allows 2e-4.
constexpr double kScoreTolerance = 2e-4;

class DeviceExpected : public testing::Test {
 protected:
  void SetUp() override {
    const std::string directory = LAPILLI_SOURCE_DIR "/models/en-fr";
    LAPILLI_ASSERT_VALUE(const auto json, read_json_file(directory + "/expected.json"));
    cases_ = json["cases"];
    ASSERT_EQ(cases_.size(), 64u);
    LAPILLI_ASSERT_VALUE(device_, shared_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, directory));
  }
  GenerateRequest request(size_t begin, size_t end, uint32_t beams) const {
    GenerateRequest r;
    for (size_t i = begin; i < end; ++i) r.sources.push_back(cases_[i]["input_ids"].get<std::vector<int32_t>>());
    r.options.num_beams = beams;
    r.options.max_length = 256;
    return r;
  }
  void expect(size_t i, const Hypothesis& h, const char* kind) const {
    const auto& want = cases_[i][kind];
    EXPECT_EQ(h.ids, want["ids"].get<std::vector<int32_t>>()) << kind << " " << i << ": " << cases_[i]["text"];
    if (want.contains("score")) {
      EXPECT_NEAR(h.score, want["score"].get<double>(), kScoreTolerance) << kind << " " << i;
    }
    if (!model_->tokenizer()) return;
    const auto text = model_->tokenizer()->decode(h.ids);
    LAPILLI_ASSERT_OK(text);
    EXPECT_EQ(*text, want["text"].get<std::string>()) << kind << " " << i;
  }
  void all_in_one_call(uint32_t beams, const char* kind) const {
    const auto begin = std::chrono::steady_clock::now();
    LAPILLI_ASSERT_VALUE(const auto out, generate(model_, request(0, 64, beams)));
    ASSERT_EQ(out.hypotheses.size(), 64u);
    for (size_t i = 0; i < 64; ++i) expect(i, out.hypotheses[i].at(0), kind);
    std::printf("64 sentences, %s: %.1f s, %u steps, %.0f MiB of session\n", kind,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), out.stats.steps,
                static_cast<double>(out.stats.session_bytes) / (1 << 20));
  }
  void alone(size_t i) const {
    for (const uint32_t beams : {1u, 4u}) {
      LAPILLI_ASSERT_VALUE(const auto out, generate(model_, request(i, i + 1, beams)));
      expect(i, out.hypotheses.at(0).at(0), beams == 1 ? "greedy" : "beam4");
    }
  }
  nlohmann::json cases_;
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
};

TEST_F(DeviceExpected, GreedyInOneCall) { all_in_one_call(1, "greedy"); }
TEST_F(DeviceExpected, FourBeamsInOneCall) { all_in_one_call(4, "beam4"); }

TEST_F(DeviceExpected, OneAtATime) {
  for (const size_t i : {size_t{0}, size_t{1}, size_t{17}, size_t{40}, size_t{63}}) alone(i);
}

// For devices whose kernels take a CPU driver long.
TEST_F(DeviceExpected, OneAlone) { alone(17); }

TEST_F(DeviceExpected, TextsBecomeTheSameIds) {
  ASSERT_NE(model_->tokenizer(), nullptr) << model_->tokenizer_error().message;
  for (const auto& c : cases_) {
    LAPILLI_ASSERT_VALUE(const auto ids, model_->tokenizer()->encode(c["text"].get<std::string>()));
    EXPECT_EQ(ids, c["input_ids"].get<std::vector<int32_t>>()) << c["text"];
  }
}

}  // namespace
}  // namespace lapilli
