// T5Gemma and T5Gemma 2: what fields mean, caps, windows of both sides, names of the one embedding, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/network.hpp"
#include "support/fixtures.hpp"
#include "support/safetensors_file.hpp"

namespace lapilli::model {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::SafetensorsFile;

std::string folder_of(const std::string& family) { return LAPILLI_TEST_DATA "/models/" + family + "/model"; }

json file_of(const std::string& family) {
  const auto file = read_json_file(folder_of(family) + "/config.json");
  EXPECT_TRUE(file.ok());
  return file ? *file : json::object();
}

Result<Config> read(const json& file) {
  return find_family(file.at("model_type").get<std::string>())->config(file, "config.json");
}

std::string t5gemma_refusal(const json& file) {
  const auto config = read(file);
  return config ? "taken" : config.error().message;
}

json& text_of(json& file) { return file["model_type"] == "t5gemma" ? file["encoder"] : file["encoder"]["text_config"]; }

TEST(T5Gemma, CapsAreThoseOfTheClassUnlessTheFileSaysNull) {
  json file = file_of("t5gemma");
  auto config = read(file);
  LAPILLI_ASSERT_OK(config);
  EXPECT_EQ(config->encoder.score_cap, 4);
  EXPECT_EQ(config->output_cap, 9);
  for (const char* side : {"encoder", "decoder"}) {
    file[side].erase("attn_logit_softcapping");
    file[side].erase("final_logit_softcapping");
  }
  config = read(file);
  LAPILLI_ASSERT_OK(config);
  EXPECT_EQ(config->decoder.score_cap, 50);
  EXPECT_EQ(config->output_cap, 30);
  file["decoder"]["attn_logit_softcapping"] = file["decoder"]["final_logit_softcapping"] = nullptr;
  config = read(file);
  LAPILLI_ASSERT_OK(config);
  EXPECT_EQ(config->decoder.score_cap, 0);
  EXPECT_EQ(config->output_cap, 0);
  EXPECT_EQ(config->encoder.score_cap, 50);
}

TEST(T5Gemma, WindowsOfBothSides) {
  const auto first = read(file_of("t5gemma")), second = read(file_of("t5gemma2"));
  LAPILLI_ASSERT_OK(first);
  EXPECT_THAT(first->encoder.windows, ElementsAre(3u, kNoWindow, 3u));
  EXPECT_THAT(first->encoder.windows_after, ElementsAre(3u, kNoWindow, 3u));
  EXPECT_THAT(first->decoder.windows, ElementsAre(4u, kNoWindow, 4u));
  LAPILLI_ASSERT_OK(second);
  EXPECT_THAT(second->encoder.windows, ElementsAre(1u, kNoWindow, 1u));
  EXPECT_THAT(second->encoder.windows_after, ElementsAre(2u, kNoWindow, 2u));
  EXPECT_THAT(second->decoder.windows, ElementsAre(3u, kNoWindow, 3u));
}

// An odd window has its own position in the middle; windows wider than all positions still have two halves.
TEST(T5Gemma, HalvesOfWindows) {
  json file = file_of("t5gemma2");
  for (const auto& [window, before, after] :
       {std::tuple(1u, 0u, 0u), std::tuple(5u, 2u, 2u), std::tuple(100u, 49u, 50u), std::tuple(4096u, 64u, 64u)}) {
    text_of(file)["sliding_window"] = window;
    const auto config = read(file);
    LAPILLI_ASSERT_OK(config);
    EXPECT_EQ(config->encoder.window(0), before) << window;
    EXPECT_EQ(config->encoder.windows_after[0], after) << window;
  }
}

TEST(T5Gemma, LayersTakeTurnsWhereTheFileSaysNothing) {
  for (const auto& [family, each] : {std::pair("t5gemma", 2u), std::pair("t5gemma2", 6u)}) {
    json file = file_of(family);
    for (json* side : {&text_of(file), &file["decoder"]}) {
      side->erase("layer_types");
      (*side)["num_hidden_layers"] = 6;
    }
    const auto config = read(file);
    LAPILLI_ASSERT_OK(config);
    for (uint32_t i = 0; i < 6; ++i)
      EXPECT_EQ(config->decoder.window(i) == kNoWindow, (i + 1) % each == 0) << family << " " << i;
  }
}

TEST(T5Gemma, WhatIsRefused) {
  struct Change {
    const char *family, *side, *key;
    json value;
  };
  const Change changes[] = {
      {"t5gemma", "decoder", "attn_logit_softcapping", -1},  {"t5gemma", "decoder", "final_logit_softcapping", -2},
      {"t5gemma2", "decoder", "attn_logit_softcapping", 50}, {"t5gemma", "encoder", "hidden_size", 64},
      {"t5gemma", "encoder", "sliding_window", 0},           {"t5gemma", "decoder", "query_pre_attn_scalar", 0},
      {"t5gemma", "encoder", "layer_types", {"sparse"}}};
  for (const Change& change : changes) {
    json file = file_of(change.family);
    file[change.side][change.key] = change.value;
    EXPECT_THAT(t5gemma_refusal(file), HasSubstr(change.key));
  }
  json classes = file_of("t5gemma");
  classes["architectures"] = {"T5GemmaForTokenClassification"};
  EXPECT_THAT(t5gemma_refusal(classes), HasSubstr("T5GemmaForTokenClassification"));
  json cut = file_of("t5gemma2");
  cut["encoder"].erase("text_config");
  EXPECT_THAT(t5gemma_refusal(cut), HasSubstr("text_config"));
}

// A published file without its vision part, whose names a test changes.
class T5GemmaFile : public testing::Test {
 protected:
  void SetUp() override {
    const auto checkpoint = Checkpoint::open(folder_of("t5gemma2"));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    for (const StoredTensor& t : checkpoint->tensors()) {
      const auto values = read_floats(t);
      ASSERT_TRUE(values.ok());
      file_.tensors[t.name] = {t.shape, *values};
    }
  }
  Result<Network> bound(const json& file) {
    file_.write();
    LAPILLI_TRY(checkpoint_, Checkpoint::open_file(file_.path()));
    LAPILLI_TRY(const auto config, read(file));
    return bind_weights(config, find_family(config.family)->names(config), checkpoint_);
  }
  void rename(const std::string& from, const std::string& to) {
    for (auto it = file_.tensors.begin(); it != file_.tensors.end();) {
      auto node = file_.tensors.extract(it++);
      if (node.key().starts_with(from)) node.key() = to + node.key().substr(from.size());
      file_.tensors.insert(std::move(node));
    }
  }
  SafetensorsFile file_;
  Checkpoint checkpoint_;
};

TEST_F(T5GemmaFile, OneEmbeddingServesBothSidesAndTheOutput) {
  const auto network = bound(file_of("t5gemma2"));
  LAPILLI_ASSERT_OK(network);
  EXPECT_EQ(network->encoder.embedding, network->output);
  EXPECT_EQ(network->decoder.embedding, network->output);
}

TEST_F(T5GemmaFile, KeysOfTheSourceAreMadeByTheLayersOwnProjections) {
  const auto network = bound(file_of("t5gemma2"));
  LAPILLI_ASSERT_OK(network);
  const LayerWeights& layer = network->decoder.layers[1];
  EXPECT_EQ(layer.cross.head_norms, layer.self.head_norms);
  EXPECT_EQ(layer.cross.out, kNoWeight);
  ASSERT_NE(layer.cross.kv, kNoWeight);
  EXPECT_EQ(network->weights[layer.cross.kv].parts.front().tensor->name,
            "model.decoder.layers.1.self_attn.k_proj.weight");
}

// Later files call the encoder's text part by name.
TEST_F(T5GemmaFile, NamesOfLaterFiles) {
  rename("model.encoder.layers.", "model.encoder.text_model.layers.");
  rename("model.encoder.norm.", "model.encoder.text_model.norm.");
  rename("model.encoder.embed_tokens.", "model.encoder.text_model.embed_tokens.");
  LAPILLI_EXPECT_OK(bound(file_of("t5gemma2")));
}

TEST_F(T5GemmaFile, AnOutputOfItsOwnStaysApart) {
  json file = file_of("t5gemma2");
  file["tie_word_embeddings"] = false;
  EXPECT_THAT(bound(file).error().message, HasSubstr("lm_head.out_proj.weight"));
  file_.tensors["lm_head.out_proj.weight"] = file_.tensors.at("model.encoder.embed_tokens.weight");
  file_.tensors.at("lm_head.out_proj.weight").values[0] += 1;
  const auto network = bound(file);
  LAPILLI_ASSERT_OK(network);
  EXPECT_NE(network->encoder.embedding, network->output);
  EXPECT_EQ(network->encoder.embedding, network->decoder.embedding);
}

}  // namespace
}  // namespace lapilli::model
