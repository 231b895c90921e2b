// Every family: its config.json against the tensors that published files hold, how tied tensors are found, what is
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/path.hpp"
#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/network.hpp"
#include "model/positions.hpp"
#include "model/published.hpp"
#include "support/safetensors_file.hpp"

namespace lapilli::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::SafetensorsFile;

Result<Network> network_of(const nlohmann::json& json, const Checkpoint& checkpoint) {
  LAPILLI_TRY(const auto config, parse(json));
  return bind_weights(config, find_family(config.family)->names(config), checkpoint);
}

// The published tensors of a folder with changes, as a file that a test may bind.
class Changed : public testing::Test {
 protected:
  void read(const std::string& name) {
    json_ = published(name);
    const auto checkpoint = Checkpoint::open(directory(name));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    for (const StoredTensor& t : checkpoint->tensors()) {
      const auto values = read_floats(t);
      ASSERT_TRUE(values.ok());
      file_.tensors[t.name] = {t.shape, *values};
    }
  }
  Result<Network> bound() {
    file_.write();
    auto opened = Checkpoint::open_file(file_.path());
    EXPECT_TRUE(opened.ok());
    if (!opened) return std::move(opened).error();
    checkpoint_ = std::move(opened).value();
    return network_of(json_, checkpoint_);
  }
  void rename(const std::string& from, const std::string& to) {
    ASSERT_TRUE(file_.tensors.count(from)) << from;
    auto node = file_.tensors.extract(from);
    node.key() = to;
    file_.tensors.insert(std::move(node));
  }
  nlohmann::json json_;
  SafetensorsFile file_;
  Checkpoint checkpoint_;
};

bool of_pictures(const std::string& name) {
  return name.find(".vision_tower.") != std::string::npos ||
         name.find(".multi_modal_projector.") != std::string::npos || name.ends_with("eoi_embedding");
}

TEST(Families, PublishedDirectoriesBind) {
  std::set<std::string> families;
  for (const auto& folder : std::filesystem::directory_iterator(LAPILLI_TEST_DATA "/models"))
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string path = entry.path().string();
      if (!file_exists(path + "/config.json")) continue;
      const auto json = read_json_file(path + "/config.json");
      ASSERT_TRUE(json.ok()) << json.error().message;
      const auto checkpoint = Checkpoint::open(path);
      ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
      const auto network = network_of(*json, *checkpoint);
      ASSERT_TRUE(network.ok()) << path << ": " << network.error().message;
      // Every number of the file is used, but for the poolers of pairs, which belong to other tasks, Swin's integers
      // and Transformer-XL's frequencies, which are computed, and what T5Gemma 2 has for pictures. Tied tensors are
      // stored once; PyTorch's files name such numbers more than once.
      const bool pair = network->config.kind().decodes;
      uint64_t stored = 0;
      std::set<const void*> seen;
      for (const StoredTensor& t : checkpoint->tensors())
        if (!(pair && t.name.find(".pooler.") != std::string::npos) && !t.name.ends_with("relative_position_index") &&
            !t.name.ends_with("pos_emb.inv_freq") && !of_pictures(t.name) && seen.insert(t.bytes.data()).second)
          stored += t.elements();
      EXPECT_EQ(network->parameters, stored) << path;
      families.insert(network->config.family);
    }
  EXPECT_GE(families.size(), 14u);
}

TEST(Families, UnknownOnesAreToldWhichThereAre) {
  EXPECT_EQ(find_family("nobody"), nullptr);
  for (const char* type : {"marian", "bart", "mbart", "pegasus", "m2m_100", "fsmt", "blenderbot", "blenderbot-small"}) {
    EXPECT_NE(find_family(type), nullptr) << type;
    EXPECT_THAT(family_list(), HasSubstr(type));
  }
}

TEST(Families, SizesThatMakeNoSense) {
  struct Case {
    const char* key;
    nlohmann::json value;
  };
  const Case cases[] = {{"d_model", 0},
                        {"d_model", 35},
                        {"d_model", 1u << 31},
                        {"encoder_layers", 0},
                        {"decoder_layers", 257},
                        {"encoder_attention_heads", 0},
                        {"decoder_ffn_dim", 0},
                        {"vocab_size", 0},
                        {"vocab_size", 1u << 30},
                        {"activation_function", "sine"},
                        {"max_position_embeddings", 1u << 20},
                        {"tie_word_embeddings", "yes"},
                        {"scale_embedding", 1}};
  for (const char* name : {"bart", "pegasus", "m2m_100", "blenderbot-small"}) {
    for (const Case& c : cases) {
      auto json = published(name);
      json[c.key] = c.value;
      const auto config = parse(json);
      ASSERT_FALSE(config.ok()) << name << ": " << c.key << " = " << c.value;
      EXPECT_THAT(config.error().message, HasSubstr("config.json")) << c.key;
    }
  }
}

TEST(Families, FieldsThatContradictTheNetworkAreNamed) {
  for (const auto& [name, key, value] :
       {std::tuple{"bart", "normalize_before", true}, std::tuple{"bart", "normalize_embedding", false},
        std::tuple{"pegasus", "normalize_before", false}, std::tuple{"fsmt", "add_final_layer_norm", true},
        std::tuple{"blenderbot-small", "normalize_embedding", false}}) {
    auto json = published(name);
    json[key] = value;
    const auto config = parse(json);
    ASSERT_FALSE(config.ok()) << name << " " << key;
    EXPECT_EQ(config.error().code, ErrorCode::unsupported);
    EXPECT_THAT(config.error().message, HasSubstr(key));
    json[key] = !value;
    EXPECT_TRUE(parse(json).ok()) << name << " " << key;
  }
}

// The differences between the families of the group, all from one config.json.
TEST(Families, ShapesOfTheBartGroup) {
  struct Expected {
    const char* type;
    bool pre_norm, embedding_norm;
    Positions positions;
    uint32_t offset;
    bool logits_bias;
  };
  const Expected all[] = {{"marian", false, false, Positions::sinusoid_split, 0, true},
                          {"bart", false, true, Positions::learned, 2, true},
                          {"mbart", true, true, Positions::learned, 2, true},
                          {"pegasus", true, false, Positions::sinusoid_split, 0, true},
                          {"blenderbot", true, false, Positions::learned, 0, true},
                          {"blenderbot-small", false, true, Positions::learned, 0, true},
                          {"m2m_100", true, false, Positions::sinusoid_fairseq, 2, false},
                          {"fsmt", false, false, Positions::sinusoid_fairseq, 2, false}};
  for (const Expected& e : all) {
    auto json = published("bart");
    json["model_type"] = e.type;
    json["src_vocab_size"] = json["tgt_vocab_size"] = 261;
    const auto config = parse(json);
    ASSERT_TRUE(config.ok()) << e.type << ": " << config.error().message;
    EXPECT_EQ(config->family, e.type);
    EXPECT_EQ(config->logits_bias, e.logits_bias) << e.type;
    for (const StackConfig* s : {&config->encoder, &config->decoder}) {
      EXPECT_EQ(s->pre_norm, e.pre_norm) << e.type;
      EXPECT_EQ(s->final_norm, e.pre_norm) << e.type;
      EXPECT_EQ(s->embedding_norm, e.embedding_norm) << e.type;
      EXPECT_EQ(s->positions, e.positions) << e.type;
      EXPECT_EQ(s->position_offset, e.offset) << e.type;
    }
  }
}

TEST(Families, PaddingIsNoPositionWhereIdsTellPositions) {
  for (const char* name : {"m2m_100", "fsmt"}) {
    auto json = published(name);
    json["pad_token_id"] = 5;
    auto config = parse(json);
    ASSERT_TRUE(config.ok()) << config.error().message;
    EXPECT_EQ(config->encoder.uncounted_id, 5u) << name;
    EXPECT_EQ(config->decoder.uncounted_id, 5u) << name;
    EXPECT_EQ(config->decoder.position_offset, 6u) << name;
    json["pad_token_id"] = 1u << 30;  // rows in front of the first position cost memory
    config = parse(json);
    ASSERT_FALSE(config.ok()) << name;
    EXPECT_THAT(config.error().message, HasSubstr("pad_token_id"));
  }
  EXPECT_EQ(parse(published("bart"))->encoder.uncounted_id, kNoPositionId);
}

TEST(Families, EmbeddingsAreScaledAsConfigured) {
  auto json = published("bart");
  EXPECT_EQ(parse(json)->encoder.embedding_scale, 1.0f);
  json["scale_embedding"] = true;
  EXPECT_FLOAT_EQ(parse(json)->encoder.embedding_scale, std::sqrt(32.0f));
  // Left out, it is what the reference takes for the family.
  json.erase("scale_embedding");
  EXPECT_EQ(parse(json)->encoder.embedding_scale, 1.0f);
  json = published("m2m_100");
  json.erase("scale_embedding");
  EXPECT_FLOAT_EQ(parse(json)->decoder.embedding_scale, std::sqrt(32.0f));
}

TEST_F(Changed, AnyMemberOfATiedGroupMayBeTheStoredOne) {
  for (const char* member :
       {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"}) {
    file_.tensors.clear();
    read("bart");
    rename("model.shared.weight", member);
    const auto network = bound();
    ASSERT_TRUE(network.ok()) << member << ": " << network.error().message;
    EXPECT_EQ(network->encoder.embedding, network->output);
    EXPECT_EQ(network->decoder.embedding, network->output);
  }
}

TEST_F(Changed, MembersWithDifferentValuesAreNotTied) {
  read("bart");
  auto head = file_.tensors.at("model.shared.weight");
  head.values[5] += 1;
  file_.tensors["lm_head.weight"] = head;
  auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_NE(network->decoder.embedding, network->output);
  EXPECT_EQ(network->decoder.embedding, network->encoder.embedding);
  head.values[7] += 1;
  file_.tensors["model.encoder.embed_tokens.weight"] = head;
  network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_NE(network->encoder.embedding, network->decoder.embedding);
  EXPECT_NE(network->encoder.embedding, network->output);
}

TEST_F(Changed, AnUntiedOutputMustBeThere) {
  read("bart");
  json_["tie_word_embeddings"] = false;
  const auto network = bound();
  ASSERT_FALSE(network.ok());
  EXPECT_THAT(network.error().message, HasSubstr("lm_head.weight"));
}

TEST_F(Changed, NamesOfABareModel) {
  read("bart");
  std::vector<std::string> names;
  for (const auto& [name, tensor] : file_.tensors)
    if (name.starts_with("model.")) names.push_back(name);
  for (const auto& name : names) rename(name, name.substr(6));
  const auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_EQ(network->encoder.embedding, network->output);
}

TEST_F(Changed, BuffersOfOlderFilesAreIgnored) {
  read("m2m_100");
  file_.tensors["model.encoder.embed_positions.weights"] = {{66, 32}, std::vector<float>(66 * 32, 9.0f)};
  file_.tensors["model.encoder.version"] = {{1}, {3.0f}};
  const auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_EQ(network->weights[network->encoder.positions].kind, WeightSpec::Kind::values);
}

TEST_F(Changed, PositionTables) {
  read("bart");
  json_["max_position_embeddings"] = 63;
  auto network = bound();
  ASSERT_FALSE(network.ok());
  EXPECT_THAT(network.error().message,
              AllOf(HasSubstr("embed_positions"), HasSubstr("[66, 32]"), HasSubstr("[65, 32]")));
  file_.tensors.clear();
  read("pegasus");  // stored, or computed where it is not
  network = bound();
  ASSERT_TRUE(network.ok());
  EXPECT_EQ(network->weights[network->encoder.positions].kind, WeightSpec::Kind::table);
  file_.tensors.erase("model.encoder.embed_positions.weight");
  file_.tensors.erase("model.decoder.embed_positions.weight");
  network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_EQ(network->weights[network->encoder.positions].kind, WeightSpec::Kind::values);
  EXPECT_EQ(network->encoder.positions, network->decoder.positions);
}

// Against the formula, at places that a mix-up of halves, offsets or frequencies would change.
TEST(Positions, FairseqSinusoids) {
  StackConfig s;
  s.d_model = 10;
  s.max_positions = 6;
  s.positions = Positions::sinusoid_fairseq;
  s.position_offset = 2;
  const auto table = sinusoids(s);
  ASSERT_EQ(table.size(), 8u * 12);
  for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(table[12 + i], 0.0f) << i;  // padding
  EXPECT_NEAR(table[2 * 12 + 0], std::sin(2.0), 1e-6);
  EXPECT_NEAR(table[2 * 12 + 5], std::cos(2.0), 1e-6);
  EXPECT_NEAR(table[5 * 12 + 1], std::sin(5 * std::pow(10000.0, -0.25)), 1e-6);
  EXPECT_NEAR(table[5 * 12 + 9], std::cos(5 * 1e-4), 1e-6);
  EXPECT_EQ(table[5 * 12 + 10], 0.0f);
}

}  // namespace
}  // namespace lapilli::model
