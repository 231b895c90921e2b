// The kernels that the self-test on a user's device runs as they are used, without a device: those of plans of networks
// with the head sizes of published models.
#include "runtime/check/kernel_trials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "model/shape.hpp"
#include "model/weight_formats.hpp"
#include "ops/core/shader_table.hpp"
#include "search/search_graph.hpp"
#include "support/fixtures.hpp"
#include "support/network_rig.hpp"

namespace lapilli {
namespace {

using testing::IsEmpty;

Capabilities device_of(DeviceType type, uint32_t vendor, uint32_t subgroup) {
  Capabilities caps;
  caps.type = type;
  caps.vendor_id = vendor;
  caps.max_storage_buffers = 16;
  caps.texels = type == DeviceType::cpu;
  caps.subgroup_size = caps.min_subgroup_size = caps.max_subgroup_size = subgroup;
  caps.subgroup_arithmetic = caps.subgroup_shuffle = subgroup > 1;
  return caps;
}

// A CPU driver, with texels and without, registers first, shared memory first, lanes and cooperative matrices.
std::vector<Capabilities> devices() {
  constexpr uint32_t kMesa = 0x10005, kArm = 0x13b5, kAmd = 0x1002, kNvidia = 0x10de;
  std::vector<Capabilities> all{device_of(DeviceType::cpu, kMesa, 8), device_of(DeviceType::cpu, kMesa, 8),
                                device_of(DeviceType::integrated, kArm, 16), device_of(DeviceType::discrete, kAmd, 64),
                                device_of(DeviceType::discrete, kNvidia, 32)};
  all.front().texels = false;
  all.back().cooperative_matrix = {16, 16, 16};
  all.back().arithmetic_fp16 = true;
  all.back().shared_memory = 32768;
  return all;
}

// The graphs of a job of so many sentences and beams.
std::vector<graph::Graph> graphs_of(const model::Network& network, uint32_t sentences, uint32_t beams) {
  WorkspaceKey key = plain_key(sentences, beams, 32, 64);
  key.prompt_rows = sentences;
  std::vector<graph::Graph> graphs;
  graphs.push_back(admit_graph(network, key.shape));
  graphs.push_back(start_graph(network, key.shape));
  for (const uint32_t rows : encode_rows(key)) graphs.push_back(encode_graph(network, key, rows));
  graphs.push_back(prompt_graph(network, key));
  graphs.push_back(step_graph(network, key).graph);
  key.sample = true;
  graphs.push_back(step_graph(network, key).graph);
  return graphs;
}

Result<std::vector<KernelInTest>> kernels_for(const model::Network& network, const Capabilities& caps) {
  std::vector<std::shared_ptr<const Plan>> plans;
  for (const uint32_t sentences : {1u, 8u, 64u})
    for (const uint32_t beams : {1u, 4u})
      for (graph::Graph& g : graphs_of(network, sentences, beams)) {
        LAPILLI_TRY(auto plan, compile(std::move(g), caps));
        plans.push_back(std::move(plan));
      }
  return kernels_of(plans, caps);
}

std::vector<std::string> names_of(std::span<const KernelInTest> kernels) {
  std::vector<std::string> names;
  for (const KernelInTest& k : kernels) {
    std::string& name = names.emplace_back(std::string(k.op->name) + "/" + k.variant.name + ": ");
    name += shader_code(k.pipeline.shader).name;
    for (const uint32_t c : k.pipeline.constants) name += " " + std::to_string(c);
  }
  return names;
}

class KernelTrialsOf : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Networks, KernelTrialsOf,
                         testing::Values("transformer-base,layers=1,vocabulary=9000",
                                         "transformer-base,layers=1,vocabulary=9000,heads=4",
                                         "transformer-base,layers=1,vocabulary=9000,heads=16",
                                         "transformer-base,layers=1,vocabulary=9000,activation=gated-gelu_new",
                                         "small,layers=1", "data/t5", "data/t5-v1_1", "data/led", "data/prophetnet",
                                         "data/whisper", "data/moonshine", "data/umt5"),
                         [](const auto& p) {
                           std::string name = p.param;
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

void expect_cases(model::Network& network) {
  for (uint32_t f = 0; f <= static_cast<uint32_t>(kLastWeightFormat); ++f) {
    const auto format = static_cast<WeightFormat>(f);
    LAPILLI_ASSERT_OK(model::set_format(network, format));
    const auto takes = [&](const model::WeightSpec& w) { return w.format == format; };
    if (std::none_of(network.weights.begin(), network.weights.end(), takes)) continue;  // random ones
    for (const Capabilities& caps : devices()) {
      SCOPED_TRACE(lapilli::format("%s, type %u, vendor %x, texels %d, matrices %u", name(format),
                                   static_cast<uint32_t>(caps.type), caps.vendor_id, caps.texels ? 1 : 0,
                                   caps.cooperative_matrix[0]));
      LAPILLI_ASSERT_VALUE(const auto kernels, kernels_for(network, caps));
      EXPECT_GT(kernels.size(), 10u);
      EXPECT_THAT(names_of(without_case(kernels, caps)), IsEmpty());
    }
  }
}

TEST_P(KernelTrialsOf, EveryKernelHasACaseThatRunsIt) {
  LAPILLI_ASSERT_VALUE(auto loaded, testing_support::make_network(GetParam()));
  expect_cases(loaded.network);
}

// The cap and the heads of published T5Gemma models, in layers with windows and without.
TEST(KernelTrials, CappedScoresHaveCases) {
  for (const char* shape :
       {"transformer-base,layers=2,vocabulary=9000", "transformer-base,layers=2,vocabulary=9000,heads=2,kv_heads=1"}) {
    SCOPED_TRACE(shape);
    LAPILLI_ASSERT_VALUE(auto config, model::parse_shape(shape));
    for (model::StackConfig* s : {&config.encoder, &config.decoder}) {
      s->score_cap = 50;
      s->windows = {30, kNoWindow};
    }
    model::Network network = model::random_network(config, 1);
    expect_cases(network);
  }
}

}  // namespace
}  // namespace lapilli
