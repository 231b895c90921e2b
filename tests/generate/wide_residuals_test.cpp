// Decoders whose states are beyond fp16's range, with weights and caches in fp16: they write what they write in fp32,
// since states are fp32. Where even that does not hold, nothing is written.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/half.hpp"
#include "formats/checkpoint.hpp"
#include "generate/searches.hpp"
#include "support/safetensors_file.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using testing::HasSubstr;

struct WideModel {
  const char* name;
  const char* sublayer;  // a weight by which the first layer's results grow
  float factor;
  const char* final_norm;  // that of the norm at the end
};

class DeviceWideResiduals : public testing::TestWithParam<WideModel> {
 protected:
  // A model's weights as fp16 holds them.
  void SetUp() override {
    const std::string from = model_directory(GetParam().name) + "/model";
    LAPILLI_ASSERT_VALUE(const auto checkpoint, Checkpoint::open(from));
    for (const StoredTensor& t : checkpoint.tensors()) {
      LAPILLI_ASSERT_VALUE(auto values, read_floats(t));
      for (float& v : values) v = half_to_float(static_cast<uint16_t>(float_to_half(v)));
      file_.tensors[t.name] = {t.shape, std::move(values)};
    }
    for (const char* name : {"config.json", "generation_config.json"})
      std::filesystem::copy_file(from + "/" + name, file_.directory() + "/" + name);
    LAPILLI_ASSERT_VALUE(device_, shared_device_with(""));
  }
  void scale(const char* name, float factor) {
    ASSERT_TRUE(file_.tensors.contains(name)) << name;
    for (float& v : file_.tensors[name].values) v *= factor;
  }
  [[nodiscard]] Result<std::shared_ptr<Model>> load(bool halves) const {
    LoadOptions options;
    if (halves) {
      options.format = WeightFormat::fp16;
      options.kv_format = KvFormat::fp16;
    }
    return Model::load(device_, file_.directory(), options);
  }
  static GenerateRequest request() {
    GenerateRequest r;
    r.decoder_ids = random_sources({5, 2}, 190, 3);
    r.options.max_new_tokens = r.options.min_new_tokens = 12;
    r.options.num_beams = 1;
    return r;
  }
  SafetensorsFile file_;
  std::shared_ptr<vulkan::Device> device_;
};

float largest_state(const std::shared_ptr<Model>& model, const GenerateRequest& request) {
  ForwardRequest r;
  r.targets = request.decoder_ids;
  r.want_hidden_states = true;
  const auto outputs = forward(model, r);
  EXPECT_TRUE(outputs.ok());
  float most = 0;
  for (const auto& t : *outputs)
    if (t.name.starts_with("hidden_states"))
      for (const float v : t.values) most = std::max(most, std::abs(v));
  return most;
}

TEST_P(DeviceWideResiduals, HalvesWriteWhatFp32Writes) {
  scale(GetParam().sublayer, GetParam().factor);
  file_.write();
  LAPILLI_ASSERT_VALUE(const auto exact, load(false));
  EXPECT_GT(largest_state(exact, request()), 65504.0f);
  LAPILLI_ASSERT_VALUE(const auto want, run_search(exact, request()));
  LAPILLI_ASSERT_VALUE(const auto halves, load(true));
  LAPILLI_ASSERT_VALUE(const auto got, run_search(halves, request()));
  ASSERT_EQ(got.hypotheses.size(), want.hypotheses.size());
  for (size_t i = 0; i < got.hypotheses.size(); ++i)
    EXPECT_EQ(got.hypotheses[i].front().ids, want.hypotheses[i].front().ids);
}

TEST_P(DeviceWideResiduals, ScoresThatAreNoNumbersWriteNothing) {
  scale(GetParam().final_norm, 0x1p127f);
  file_.write();
  for (const bool halves : {false, true}) {
    LAPILLI_ASSERT_VALUE(const auto model, load(halves));
    const auto out = run_search(model, request());
    ASSERT_FALSE(out.ok());
    EXPECT_THAT(out.error().message, HasSubstr("no numbers"));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DeviceWideResiduals,
                         testing::Values(WideModel{"gpt_neo", "transformer.h.0.mlp.c_proj.weight", 0x1p16f,
                                                   "transformer.ln_f.weight"},
                                         WideModel{"gemma3", "model.layers.0.post_feedforward_layernorm.weight",
                                                   0x1p18f, "model.norm.weight"}),
                         [](const auto& model) { return std::string(model.param.name); });

}  // namespace
}  // namespace lapilli
