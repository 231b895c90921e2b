// Sources that stay encoded and are searched again, and logits behind prompt ids: as if all had been computed anew.
#include <gmock/gmock.h>

#include <limits>

#include "generate/generate.hpp"
#include "generate/searches.hpp"
#include "search/encoded_source.hpp"
#include "search/engine_pool.hpp"
#include "support/real_events.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using testing::HasSubstr;

class DeviceSearchedAgain : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, counted_device(GetParam()));
    trace_ = vulkan::Trace::begin(*device_);
    counting::hide_progress(true);  // what is done is learned by waits alone
    LAPILLI_ASSERT_VALUE(model_, Model::random(device_, "tiny,vocabulary=600"));
  }
  // Nothing of what was submitted met the host or itself.
  void TearDown() override {
    counting::hide_progress(false);
    LAPILLI_EXPECT_OK(check_events(*trace_));
  }
  // Sources that are encoded from now on give no numbers.
  Status spoil_encoder() {
    const NetworkOnDevice& m = model_->on_device();
    const BufferRef table = m.weights->find(m.network.encoder.positions);
    const uint64_t row = round_up<uint64_t>(m.network.config.encoder.d_model, 4);
    const std::vector<float> nan(8 * row, std::numeric_limits<float>::quiet_NaN());
    return device_->write(*table.buffer, table.offset, std::as_bytes(std::span(nan)));
  }
  std::vector<int32_t> prompt(const std::vector<int32_t>& ids) const {
    std::vector<int32_t> all{model_->generation_config().decoder_start_token_id.value()};
    all.insert(all.end(), ids.begin(), ids.end());
    return all;
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<vulkan::Trace> trace_;
  std::shared_ptr<Model> model_;
};
INSTANTIATE_TEST_SUITE_P(Masks, DeviceSearchedAgain, testing::Values("full", "floor", "small-bindings", "staging"),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Other beams, other prompts, draws, more sources than run at a time, beside one that is encoded anew.
TEST_P(DeviceSearchedAgain, WithOtherOptionsAndWithoutEncoding) {
  GenerateRequest first = request_of({7, 12, 3, 20, 5}, 1, 0);
  first.options.max_new_tokens = 8;
  std::vector<GenerateRequest> others(4, first);
  others[0].options.num_beams = others[0].options.num_return_sequences = 3;
  others[1].decoder_ids = {prompt({5, 9, 2}), prompt({}), prompt({7}), prompt({1, 2, 3, 4, 5, 6, 7, 8, 9}),
                           prompt({3})};
  others[2].options.do_sample = true;
  others[2].options.num_return_sequences = 2;
  others[2].options.seed = 3;
  others[3].batch = 2;
  others[3].options.no_repeat_ngram_size = 1;
  std::vector<std::string> want;
  for (const auto& request : others) {
    LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
    want.push_back(bits_of(out));
  }
  first.keep_encoded = true;
  LAPILLI_ASSERT_VALUE(const auto kept, run_search(model_, first));
  ASSERT_EQ(kept.encoded.size(), 5u);
  LAPILLI_ASSERT_OK(spoil_encoder());
  for (size_t k = 0; k < others.size(); ++k) {
    SCOPED_TRACE(format("search %zu", k));
    others[k].sources.clear();
    others[k].encoded = kept.encoded;
    others[k].keep_encoded = true;
    LAPILLI_ASSERT_VALUE(const auto out, generate(model_, others[k]));
    EXPECT_EQ(bits_of(out), want[k]);
    EXPECT_EQ(out.encoded, kept.encoded);
  }
  // One that is encoded now fails, and alone.
  others[0].sources = first.sources;
  others[0].encoded[2] = nullptr;
  others[0].keep_encoded = false;
  LAPILLI_ASSERT_VALUE(const auto mixed, generate(model_, others[0]));
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(mixed.errors[i].ok(), i != 2) << i;
}

// It counts against the model's limit as long as somebody has it.
TEST_P(DeviceSearchedAgain, MemoryComesBack) {
  constexpr uint64_t kRoom = uint64_t{1} << 30;
  model_->memory().set_limit(model_->info().weight_bytes + kRoom);
  const auto all_is_free = [&] {
    model_->engines().drop_free();
    device_->settle();
    return model_->memory().reserve({.bytes = kRoom}).ok();
  };
  GenerateRequest request = request_of({7, 12}, 1, 4);
  request.keep_encoded = true;
  LAPILLI_ASSERT_VALUE(auto out, run_search(model_, request));
  EXPECT_GT(out.encoded[0]->bytes(), 0u);
  EXPECT_FALSE(all_is_free());
  out.encoded[0].reset();
  EXPECT_FALSE(all_is_free());
  out.encoded[1].reset();
  EXPECT_TRUE(all_is_free());
}

TEST_P(DeviceSearchedAgain, WhatDoesNotFitIsRefused) {
  GenerateRequest request = request_of({7, 12}, 1, 4);
  request.keep_encoded = true;
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
  const auto refused = [&](const std::shared_ptr<Model>& model, const char* why) {
    const auto again = generate(model, request);
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(again.error().message, HasSubstr(why));
  };
  request.encoded = out.encoded;
  LAPILLI_ASSERT_VALUE(const auto other, Model::random(device_, "tiny,vocabulary=600"));
  refused(other, "another model");
  request.sources[1][0] ^= 1;
  refused(model_, "other ids");
  request.sources.pop_back();
  refused(model_, "2 encoded sources for 1");
  request = request_of({7, 12}, 1, 4);
  request.logits_at = {{0}};
  refused(model_, "1 of 2");
  request.logits_at = {{0}, {1}};
  refused(model_, "position 1 of 1");
  request.logits_at = {{0}, std::vector<uint32_t>(257, 0)};
  refused(model_, "257 positions");
}

// As one pass over the prompt ids has them; the search goes on as if nobody had asked.
TEST_P(DeviceSearchedAgain, LogitsBehindGivenIds) {
  for (const uint32_t beams : {1u, 3u}) {
    GenerateRequest request = request_of({7, 12, 3, 9, 5}, beams, 6);
    request.decoder_ids = {prompt({5, 9, 2}), prompt({}), prompt({7}), prompt({1, 2, 3, 4, 5, 6, 7, 8, 9}),
                           prompt({3})};
    request.batch = 2;
    LAPILLI_ASSERT_VALUE(const auto want, run_search(model_, request));
    request.logits_at = {{0, 3}, {0}, {}, {9, 4, 0, 4}, {1}};
    LAPILLI_ASSERT_VALUE(const auto out, generate(model_, request));
    EXPECT_EQ(bits_of(out), bits_of(want));
    ASSERT_EQ(out.logits.size(), 5u);
    for (size_t i = 0; i < 5; ++i) {
      ForwardRequest pass;
      pass.sources = {request.sources[i]};
      pass.targets = {request.decoder_ids[i]};
      LAPILLI_ASSERT_VALUE(const auto tensors, forward(model_, pass));
      const auto& all = tensors.back();
      ASSERT_EQ(all.name, "logits");
      ASSERT_EQ(out.logits[i].size(), request.logits_at[i].size());
      for (size_t k = 0; k < out.logits[i].size(); ++k) {
        ASSERT_EQ(out.logits[i][k].size(), 600u);
        for (size_t w = 0; w < 600; ++w)
          ASSERT_NEAR(out.logits[i][k][w], all.values[request.logits_at[i][k] * 600 + w], 1e-4f)
              << "source " << i << " position " << request.logits_at[i][k] << " word " << w;
      }
    }
  }
}

}  // namespace
}  // namespace lapilli
