// Transformer-XL: what config.json may say, the clusters of its ids, ties, and what is refused.
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
using testing::HasSubstr;

json transfo_file() {
  return {{"model_type", "transfo-xl"},
          {"d_model", 32},
          {"d_embed", 32},
          {"n_head", 4},
          {"d_head", 8},
          {"d_inner", 48},
          {"n_layer", 2},
          {"mem_len", 8},
          {"vocab_size", 150},
          {"cutoffs", {20u, 50u, 90u}},
          {"div_val", 3}};
}

Result<Config> parse_transfo(json file, const json& changes = json::object()) {
  file.update(changes);
  return find_family("transfo-xl")->config(file, "config.json");
}

std::string transfo_refusal(const json& changes) {
  const auto config = parse_transfo(transfo_file(), changes);
  return config ? "taken" : config.error().message;
}

TEST(TransfoXl, ClustersNarrow) {
  const auto config = parse_transfo(transfo_file());
  ASSERT_TRUE(config.ok()) << config.error().message;
  ASSERT_EQ(config->clusters.size(), 4u);
  const uint32_t first[] = {0, 20, 50, 90}, ids[] = {20, 30, 40, 60}, width[] = {32, 10, 3, 1};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(config->clusters[i].first, first[i]);
    EXPECT_EQ(config->clusters[i].ids, ids[i]);
    EXPECT_EQ(config->clusters[i].width, width[i]);
    EXPECT_TRUE(config->clusters[i].projected);
  }
}

TEST(TransfoXl, DistancesFollowMemoryAndClamp) {
  const auto distances = [](const json& changes) {
    const auto config = parse_transfo(transfo_file(), changes);
    return config ? config->decoder.distances : 0;
  };
  EXPECT_EQ(distances({{"clamp_len", -1}}), 8u);
  EXPECT_EQ(distances({{"clamp_len", 3}}), 4u);
  EXPECT_EQ(distances({{"clamp_len", 1000}}), 8u);
  EXPECT_EQ(distances({{"same_length", false}}), kBiasWords);
}

// The names under which the output of a cluster may lie: its table and its projection.
struct OutputNames {
  std::vector<std::string> table, projection;
};
OutputNames output_of(size_t cluster, const json& changes = json::object()) {
  const auto config = parse_transfo(transfo_file(), changes);
  EXPECT_TRUE(config.ok()) << config.error().message;
  const Names names = find_family("transfo-xl")->names(*config);
  return {names.clusters[cluster].output, names.clusters[cluster].output_projection};
}

TEST(TransfoXl, OnlyTiedTensorsMayBeMissing) {
  const std::string in = "transformer.word_emb.emb_", out = "crit.out_";
  EXPECT_EQ(output_of(1).table, (std::vector<std::string>{out + "layers.1.weight", in + "layers.1.weight"}));
  EXPECT_EQ(output_of(1, {{"tie_word_embeddings", false}}).table, (std::vector<std::string>{out + "layers.1.weight"}));
  EXPECT_EQ(output_of(0).projection, (std::vector<std::string>{out + "projs.0"}));
  EXPECT_EQ(output_of(1).projection, (std::vector<std::string>{out + "projs.1", in + "projs.1"}));
  EXPECT_EQ(output_of(1, {{"proj_share_all_but_first", false}}).projection,
            (std::vector<std::string>{out + "projs.1"}));
  EXPECT_EQ(output_of(0, {{"tie_projs", {true, false, true, true}}}).projection.size(), 2u);
  EXPECT_EQ(output_of(1, {{"tie_projs", {true, false, true, true}}}).projection.size(), 1u);
}

TEST(TransfoXl, Refusals) {
  EXPECT_THAT(transfo_refusal({{"tie_projs", {true}}}), HasSubstr("tie_projs"));
  EXPECT_THAT(transfo_refusal({{"tie_projs", {1, 2, 3, 4}}}), HasSubstr("tie_projs"));
  EXPECT_THAT(transfo_refusal({{"attn_type", 1}}), HasSubstr("attn_type 1"));
  EXPECT_THAT(transfo_refusal({{"mem_len", 0}}), HasSubstr("mem_len"));
  EXPECT_THAT(transfo_refusal({{"mem_len", 4096}}), HasSubstr("mem_len"));
  EXPECT_THAT(transfo_refusal({{"cutoffs", {20u, 20u}}}), HasSubstr("cutoffs"));
  EXPECT_THAT(transfo_refusal({{"cutoffs", {20u, 150u}}}), HasSubstr("cutoffs"));
  EXPECT_THAT(transfo_refusal({{"cutoffs", "all"}}), HasSubstr("cutoffs"));
  EXPECT_THAT(transfo_refusal({{"div_val", 0}}), HasSubstr("div_val"));
  EXPECT_THAT(transfo_refusal({{"div_val", 8}}), HasSubstr("div_val 8"));
  EXPECT_THAT(transfo_refusal({{"d_model", 33}, {"n_head", 3}}), HasSubstr("odd"));
  EXPECT_THAT(transfo_refusal({{"architectures", {"TransfoXLForSequenceClassification"}}}),
              HasSubstr("TransfoXLForSequenceClassification"));
}

class TransfoXlFiles : public testing::Test {
 protected:
  void SetUp() override {
    const std::string directory = std::string(LAPILLI_TEST_DATA) + "/models/transfo-xl/model";
    json_ = *read_json_file(directory + "/config.json");
    const auto checkpoint = Checkpoint::open(directory);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    for (const StoredTensor& t : checkpoint->tensors()) file_.tensors[t.name] = {t.shape, *read_floats(t)};
  }
  Result<Network> bound() {
    file_.write();
    checkpoint_ = *Checkpoint::open_file(file_.path());
    LAPILLI_TRY(const auto config, parse_transfo(json_));
    return bind_weights(config, find_family("transfo-xl")->names(config), checkpoint_);
  }
  std::string binding() {
    const auto network = bound();
    return network ? "bound" : network.error().message;
  }
  json json_;
  testing_support::SafetensorsFile file_;
  Checkpoint checkpoint_;
};

TEST_F(TransfoXlFiles, EmbeddingsAreTiedByValue) {
  const auto tied = bound();
  ASSERT_TRUE(tied.ok()) << tied.error().message;
  for (const ClusterWeights& w : tied->clusters) EXPECT_EQ(w.embedding, w.output);
  auto other = file_.tensors["transformer.word_emb.emb_layers.1.weight"];
  other.values[3] += 1;
  file_.tensors["crit.out_layers.1.weight"] = other;
  const auto apart = bound();
  ASSERT_TRUE(apart.ok()) << apart.error().message;
  EXPECT_EQ(apart->clusters[0].embedding, apart->clusters[0].output);
  EXPECT_NE(apart->clusters[1].embedding, apart->clusters[1].output);
  EXPECT_GT(apart->parameters, tied->parameters);
}

TEST_F(TransfoXlFiles, WhatIsMissingIsNamed) {
  for (const char* name : {"crit.cluster_weight", "crit.out_layers.2.bias",
                           "transformer.layers.1.dec_attn.r_net.weight", "transformer.layers.0.dec_attn.r_w_bias"}) {
    const auto kept = file_.tensors[name];
    file_.tensors.erase(name);
    EXPECT_THAT(binding(), HasSubstr(name)) << name;
    file_.tensors[name] = kept;
  }
  EXPECT_EQ(binding(), "bound");
}

}  // namespace
}  // namespace lapilli::model
