// Whole searches on the device beside the double-precision interpreter, node by node.
//
// The bound. The two sides differ by float's rounding, 2^-24 = 6e-8 of a value. A sum of k products that are rounded
// one by one is off by about sqrt(k) roundings of its largest partial sum (k at most 2048 here: 45 roundings, 2.7e-6);
// exp, tanh and rsqrt add a few units in the last place each. What enters a layer with a relative error e leaves it
// with at most about 2e (residual and sublayer each carry it on, normalization restores the scale), plus its own 3e-6;
// errors of different layers are not of one sign, so that they add like their squares. 30 sublayers (the deepest path
// here: 12 in the encoder, 18 in the decoder) of 3e-6 each give 1.6e-5; 5e-5 leaves a factor of three for what the
// steps before left in the caches. A wrong index, mask or offset shows as an error of the order of 1.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "model/weight_formats.hpp"
#include "runtime/node_comparison.hpp"
#include "runtime/run/session.hpp"
#include "support/fixtures.hpp"
#include "support/network_rig.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using testing_support::SearchInput;

constexpr double kBound = 5e-5;

struct Compared {
  double worst = 0;
  std::string worst_label;
  uint64_t nodes = 0;
};

void accept(const std::vector<NodeDeviation>& deviations, Compared& sum) {
  for (const auto& d : deviations) {
    ++sum.nodes;
    EXPECT_LE(d.deviation, kBound) << d.label << " (" << d.variant << ")";
    EXPECT_EQ(d.words_that_differ, 0u) << d.label << " (" << d.variant << ")";
    if (d.deviation > sum.worst) {
      sum.worst = d.deviation;
      sum.worst_label = d.label + " (" + d.variant + ")";
    }
  }
}

Status compare_search(const std::shared_ptr<vulkan::Device>& device, const model::Network& network,
                      const SearchInput& input, uint32_t steps, Compared& sum) {
  const WorkspaceKey key = testing_support::exact_key(input);
  CompileOptions options;
  options.reuse_memory = false;
  options.segment_per_level = true;
  LAPILLI_TRY(const auto plans, testing_support::compile_plans(network, key, device->caps(), options));
  LAPILLI_TRY(const auto sources, weight_sources(network));
  LAPILLI_TRY(const auto weights, Weights::load(device, sources));
  LAPILLI_TRY(const auto session, Session::create(device));
  const auto in_order = testing_support::in_order(plans);
  for (const auto& plan : in_order) session->require(*plan);
  LAPILLI_CHECK(session->allocate());
  // The interpreter's memory starts as zeros.
  const MemoryMap memory = session->memory([&](graph::Space, uint32_t id) { return weights->find(id); });
  LAPILLI_CHECK(device->zero(*session->arena().buffer));
  for (const auto& plan : in_order)
    for (const auto& t : plan->graph.tensors())
      if (t.space == graph::Space::state) LAPILLI_CHECK(device->zero(*memory(t.space, t.id).buffer));
  LAPILLI_TRY(auto interpreter, testing_support::make_interpreter(network, key, input));
  for (const auto& [id, words] : testing_support::host_states(network, key, input, &plans)) {
    LAPILLI_CHECK(session->write(state_kind(id), words));
    interpreter.states[id].u = words;
  }
  for (const auto& plan : in_order)
    for (uint32_t i = 0; i < (plan == plans.step ? steps : 1); ++i) {
      LAPILLI_TRY(const auto deviations, run_compared(device, plan, memory, interpreter));
      accept(deviations, sum);
    }
  return {};
}

void compare_shape(const std::string& shape, const std::string& mask, SearchInput input,
                   const std::vector<uint32_t>& lengths, uint32_t steps, WeightFormat format = WeightFormat::fp32,
                   KvFormat kv_format = KvFormat::fp32) {
  vulkan::DeviceOptions options;
  options.mask = mask;
  LAPILLI_ASSERT_VALUE(const auto device, testing_support::shared_device(options));
  LAPILLI_ASSERT_VALUE(auto loaded, testing_support::make_network(shape));
  LAPILLI_ASSERT_VALUE([[maybe_unused]] const auto kept, model::set_format(loaded.network, format));
  model::set_kv_format(loaded.network, kv_format);
  ASSERT_EQ(loaded.network.kv_format, kv_format);
  const uint32_t vocabulary = loaded.network.config.target_vocabulary;
  input.options.decoder_start = input.options.pad = static_cast<int32_t>(vocabulary) - 1;
  input.options.end_ids = {0};
  input.options.forced_eos = {0};
  input.options.max_length = steps + 1;
  for (const auto& given : input.prompt)
    input.options.max_length = std::max(input.options.max_length, steps + 1 + static_cast<uint32_t>(given.size()));
  input.sources = testing_support::random_sources(lengths, vocabulary, 3);
  Compared sum;
  const auto begin = std::chrono::steady_clock::now();
  LAPILLI_ASSERT_OK(compare_search(device, loaded.network, input, steps, sum));
  std::printf("%s, %s: %llu nodes, largest deviation %.2e at %s, %.1f s\n", shape.c_str(), mask.c_str(),
              static_cast<unsigned long long>(sum.nodes), sum.worst, sum.worst_label.c_str(),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

SearchInput with_beams(uint32_t beams) {
  SearchInput input;
  input.options.beams = beams;
  return input;
}

class DeviceCompare : public testing::TestWithParam<const char*> {};

TEST_P(DeviceCompare, TinyGreedy) { compare_shape("tiny", GetParam(), with_beams(1), {7}, 6); }
TEST_P(DeviceCompare, TinyBeamsOfRaggedSources) { compare_shape("tiny", GetParam(), with_beams(4), {9, 3, 5}, 6); }
TEST_P(DeviceCompare, TinyWithOddSizes) {
  compare_shape("tiny,d=36,heads=3,ffn=61,vocabulary=263,positions=64,activation=gelu", GetParam(), with_beams(3),
                {11, 1}, 4);
}

// Where bindings are small, attention runs over parts of the cache, and the tables of positions come in slices.
TEST_P(DeviceCompare, TinyWithALargeCache) {
  auto input = with_beams(2);
  input.prompt = {{11, 12, 13}, {}};
  compare_shape("tiny,d=512,heads=2,layers=1,positions=64", GetParam(), input, {20, 3}, 34);
}

// Relative positions beyond the farthest bucket, gated feed-forwards, norms by root mean square.
TEST_P(DeviceCompare, T5) { compare_shape("data/t5-v1_1", GetParam(), with_beams(3), {140, 4}, 6); }
TEST_P(DeviceCompare, Umt5) { compare_shape("data/umt5", GetParam(), with_beams(1), {9, 30}, 30); }

// Streams, with distances beyond the farthest bucket; a head with a transform and a bias.
TEST_P(DeviceCompare, ProphetNet) { compare_shape("data/prophetnet", GetParam(), with_beams(3), {30, 4}, 30); }
TEST_P(DeviceCompare, PairOfBerts) { compare_shape("data/encoder-decoder-bert", GetParam(), with_beams(2), {9, 4}, 6); }

// Beside an interpreter that reads the same packed words, so that deviations are those of fp32.
TEST_P(DeviceCompare, WeightsInFewerBits) {
  compare_shape("tiny,d=36,heads=3,ffn=61,vocabulary=263,positions=64", GetParam(), with_beams(3), {11, 1}, 4,
                WeightFormat::int8);
  compare_shape("data/t5-v1_1", GetParam(), with_beams(2), {9, 4}, 4, WeightFormat::int8);
  compare_shape("tiny,d=36,heads=3,ffn=61,vocabulary=263,positions=64", GetParam(), with_beams(2), {3, 12}, 4,
                WeightFormat::int4);
  compare_shape("data/t5-v1_1", GetParam(), with_beams(1), {7, 5}, 4, WeightFormat::int4);
  compare_shape("data/t5-v1_1", GetParam(), with_beams(3), {40, 4}, 4, WeightFormat::bf16);
  compare_shape("data/encoder-decoder-bert", GetParam(), with_beams(2), {9, 4}, 4, WeightFormat::fp16);
}

// Caches of halves, of every op that reads or writes them: heads that are vec4 and others, relative positions, streams.
TEST_P(DeviceCompare, KeysAndValuesInFewerBits) {
  const auto compare = [&](const std::string& shape, SearchInput input, const std::vector<uint32_t>& lengths,
                           WeightFormat format = WeightFormat::fp32) {
    compare_shape(shape, GetParam(), std::move(input), lengths, 4, format, KvFormat::fp16);
  };
  auto given = with_beams(3);
  given.prompt = {{11, 12, 13, 14}, {}, {40}};
  compare("tiny", given, {9, 3, 5});
  compare("tiny,d=36,heads=3,ffn=61,vocabulary=263,positions=64,activation=gelu", with_beams(3), {11, 1});
  compare("tiny,d=28,heads=4,ffn=61,vocabulary=263,positions=64", with_beams(1), {3, 12}, WeightFormat::int8);
  compare("data/t5-v1_1", with_beams(3), {140, 4});
  compare("data/prophetnet", with_beams(3), {30, 4});
  compare("data/led", with_beams(2), {61, 20});
}

// Given ids, which run as rows of a pass of their own: as many as they are, or none.
TEST_P(DeviceCompare, TinyWithGivenIds) {
  auto input = with_beams(3);
  input.prompt = {{11, 12, 13, 14}, {}, {40}};
  compare_shape("tiny", GetParam(), input, {9, 3, 5}, 5);
}
TEST_P(DeviceCompare, T5WithGivenIds) {
  auto input = with_beams(1);
  input.prompt = {{5}, {6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}};
  compare_shape("data/t5-v1_1", GetParam(), input, {12, 4}, 4);
}
TEST_P(DeviceCompare, ProphetNetWithGivenIds) {
  auto input = with_beams(2);
  input.prompt = {{5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, {20, 21}};
  compare_shape("data/prophetnet", GetParam(), input, {12, 4}, 4);
}

// Windows, with global positions inside and outside of them, and a source without any.
TEST_P(DeviceCompare, Led) {
  auto input = with_beams(2);
  input.global_positions = {{0, 7, 30}, {}, {2}};
  compare_shape("data/led", GetParam(), input, {61, 20, 3}, 4);
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceCompare, testing::Values("full", "floor", "small-bindings", "no-indirect", "gpu"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(SlowDeviceCompare, TransformerBase) { compare_shape("transformer-base", "full", with_beams(4), {100}, 10); }

}  // namespace
}  // namespace lapilli
