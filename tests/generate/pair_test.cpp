// A pair of RoBERTa models is the recorded pair of BERT models under other names, with its positions two rows further.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "generate/searches.hpp"
#include "support/safetensors_file.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;

const char* const kBert = LAPILLI_TEST_DATA "/models/encoder-decoder-bert/model";
constexpr uint32_t kPadding = 1;

std::string roberta_name(std::string name) {
  const std::pair<const char*, const char*> changes[] = {
      {"encoder.", "encoder.roberta."},
      {"decoder.bert.", "decoder.roberta."},
      {"decoder.cls.predictions.transform.LayerNorm", "decoder.lm_head.layer_norm"},
      {"decoder.cls.predictions.transform.dense", "decoder.lm_head.dense"},
      {"decoder.cls.predictions.bias", "decoder.lm_head.bias"}};
  for (const auto& [from, to] : changes)
    if (name.starts_with(from)) return to + name.substr(std::string(from).size());
  return name;
}

void write_roberta(SafetensorsFile& file) {
  LAPILLI_ASSERT_VALUE(auto json, read_json_file(std::string(kBert) + "/config.json"));
  for (const char* side : {"encoder", "decoder"}) {
    json[side]["model_type"] = "roberta";
    json[side]["pad_token_id"] = kPadding;
    json[side]["max_position_embeddings"] = json[side]["max_position_embeddings"].get<uint32_t>() + kPadding + 1;
  }
  std::ofstream(file.directory() + "/config.json") << json.dump();
  std::filesystem::copy_file(std::string(kBert) + "/generation_config.json",
                             file.directory() + "/generation_config.json");
  LAPILLI_ASSERT_VALUE(const auto checkpoint, Checkpoint::open(kBert));
  for (const StoredTensor& t : checkpoint.tensors()) {
    LAPILLI_ASSERT_VALUE(auto values, read_floats(t));
    auto shape = t.shape;
    if (t.name.ends_with("position_embeddings.weight")) {
      values.insert(values.begin(), (kPadding + 1) * shape[1], 7.0f);  // rows of padding: never read here
      shape[0] += kPadding + 1;
    }
    file.tensors[roberta_name(t.name)] = {shape, values};
  }
  file.write();
}

TEST(DevicePairs, RobertaIsBertElsewhere) {
  SafetensorsFile file;
  write_roberta(file);
  ASSERT_FALSE(HasFatalFailure());
  LAPILLI_ASSERT_VALUE(const auto device, shared_device());
  LAPILLI_ASSERT_VALUE(const auto bert, Model::load(device, kBert));
  LAPILLI_ASSERT_VALUE(const auto roberta, Model::load(device, file.directory()));
  ForwardRequest request;
  request.sources = {{5, 9, 33, 17, 3}, {40, 41, 3}};
  request.targets = {{2, 8, 60, 19}, {2, 100, 101, 102}};
  LAPILLI_ASSERT_VALUE(const auto expected, forward(bert, request));
  LAPILLI_ASSERT_VALUE(const auto ours, forward(roberta, request));
  ASSERT_EQ(ours.size(), expected.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i].values, expected[i].values) << expected[i].name;

  GenerateRequest search;
  search.sources = request.sources;
  search.options.num_beams = 3;
  search.options.suppress_tokens = std::vector<int32_t>{kPadding};
  LAPILLI_ASSERT_VALUE(const auto want, run_search(bert, search));
  LAPILLI_ASSERT_VALUE(const auto have, run_search(roberta, search));
  EXPECT_EQ(bits_of(have), bits_of(want));
}

// Padding in the middle has the row before the first position's and is not counted.
TEST(DevicePairs, RobertaCountsNoPadding) {
  SafetensorsFile file;
  write_roberta(file);
  ASSERT_FALSE(HasFatalFailure());
  for (const char* side : {"encoder.roberta.", "decoder.roberta."}) {
    auto& table = file.tensors[side + std::string("embeddings.position_embeddings.weight")];
    std::fill_n(table.values.begin(), 2 * table.shape[1], 0.0f);
  }
  file.write();
  LAPILLI_ASSERT_VALUE(const auto device, shared_device());
  LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, file.directory()));
  ForwardRequest request;
  request.sources = {{5, 9, 3}, {5, kPadding, 9, 3}};
  request.targets = {{2, 8}, {2, 8}};
  request.want_hidden_states = true;
  LAPILLI_ASSERT_VALUE(const auto outputs, forward(model, request));
  for (const auto& t : outputs) {
    if (t.name != "encoder_hidden_states.0") continue;
    const uint64_t d = t.shape[2], row = t.shape[1] * d;
    // Id 9 is at position 1 in both.
    for (uint64_t i = 0; i < d; ++i) EXPECT_EQ(t.values[d + i], t.values[row + 2 * d + i]) << i;
    return;
  }
  FAIL() << "no hidden states";
}

}  // namespace
}  // namespace lapilli
