// Encoders of text alone: which head a file's class asks for, names of tensors old and new, what the families add to
// BERT, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/network.hpp"
#include "support/safetensors_file.hpp"

namespace lapilli::model {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class TextEncoders : public testing::Test {
 protected:
  void read(const std::string& name, const std::string& folder = "model") {
    const std::string directory = LAPILLI_TEST_DATA "/models/" + name + "/" + folder;
    json_ = *read_json_file(directory + "/config.json");
    file_.tensors.clear();
    const auto checkpoint = Checkpoint::open(directory);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    for (const StoredTensor& t : checkpoint->tensors()) file_.tensors[t.name] = {t.shape, *read_floats(t)};
  }
  [[nodiscard]] Result<Config> parsed() const {
    return find_family(json_.value("model_type", std::string()))->config(json_, "config.json");
  }
  [[nodiscard]] std::string refusal() const {
    const auto config = parsed();
    return config ? "taken" : config.error().message;
  }
  // The refusal of a file with this value.
  [[nodiscard]] std::string refusal_of(const char* key, const nlohmann::json& value) {
    const nlohmann::json before = json_;
    json_[key] = value;
    const std::string message = refusal();
    json_ = before;
    return message;
  }
  Result<Network> bound() {
    file_.write();
    checkpoint_ = *Checkpoint::open_file(file_.path());
    LAPILLI_TRY(const auto config, parsed());
    return bind_weights(config, find_family(config.family)->names(config), checkpoint_);
  }
  std::string binding() {
    const auto network = bound();
    return network ? "bound" : network.error().message;
  }
  void erase(const std::string& name) { ASSERT_EQ(file_.tensors.erase(name), 1u) << name; }
  // Gives every tensor the name that `change` makes of it.
  template <class Change>
  void rename(const Change& change) {
    std::map<std::string, testing_support::SafetensorsFile::Tensor> renamed;
    for (auto& [name, tensor] : file_.tensors) renamed[change(name)] = std::move(tensor);
    file_.tensors = std::move(renamed);
  }
  nlohmann::json json_;
  testing_support::SafetensorsFile file_;
  Checkpoint checkpoint_;
};

std::string replaced(std::string name, const std::string& from, const std::string& to) {
  if (const auto at = name.find(from); at != std::string::npos) name.replace(at, from.size(), to);
  return name;
}

TEST_F(TextEncoders, TheClassSelectsTheHead) {
  struct Expected {
    const char* name;
    HeadKind kind;
    bool every_row;
    uint32_t pooled, columns;
  };
  read("bert");
  const Expected all[] = {{"BertModel", HeadKind::vectors, false, 32, 0},
                          {"BertForMaskedLM", HeadKind::tokens, true, 0, 0},
                          {"BertForPreTraining", HeadKind::tokens, true, 0, 0},
                          {"BertForSequenceClassification", HeadKind::classes, false, 32, 2},
                          {"BertForTokenClassification", HeadKind::tags, true, 0, 2},
                          {"BertForQuestionAnswering", HeadKind::spans, true, 0, 2}};
  for (const Expected& e : all) {
    json_["architectures"] = {e.name};
    const auto config = parsed();
    ASSERT_TRUE(config.ok()) << e.name << ": " << config.error().message;
    const HeadConfig& head = config->heads.front();
    EXPECT_EQ(head.kind, e.kind) << e.name;
    EXPECT_EQ(head.every_row, e.every_row) << e.name;
    EXPECT_EQ(head.pooled, e.pooled) << e.name;
    EXPECT_EQ(head.columns, e.columns) << e.name;
  }
  json_.erase("architectures");
  EXPECT_EQ(parsed()->heads.front().kind, HeadKind::vectors);
}

TEST_F(TextEncoders, ClassesOfOthersAreRefusedByName) {
  read("bert");
  for (const char* name : {"BertForMultipleChoice", "BertForNextSentencePrediction", "BertLMHeadModel", "JinaBertModel",
                           "RobertaModel", "BertModelForNothing"}) {
    const std::string message = refusal_of("architectures", {name});
    EXPECT_THAT(message, AllOf(HasSubstr(name), HasSubstr("BertModel is, and BertFor... MaskedLM"))) << name;
  }
  read("camembert-masked-lm");
  EXPECT_EQ(refusal_of("architectures", {"RobertaForMaskedLM"}), "taken");
}

TEST_F(TextEncoders, OtherNetworksUnderAKnownName) {
  read("bert");
  EXPECT_THAT(refusal_of("position_embedding_type", "alibi"), HasSubstr("alibi"));
  EXPECT_THAT(refusal_of("auto_map", {{"AutoConfig", "c.C"}, {"AutoModel", "them/code--modeling.JinaBertModel"}}),
              AllOf(HasSubstr("auto_map"), HasSubstr("JinaBertModel")));
  EXPECT_EQ(refusal_of("auto_map", {{"AutoConfig", "c.C"}}), "taken");
  EXPECT_THAT(refusal_of("is_decoder", true), HasSubstr("is_decoder"));
  EXPECT_THAT(refusal_of("add_cross_attention", true), HasSubstr("add_cross_attention"));
}

TEST_F(TextEncoders, NumbersOfLabels) {
  read("bert-sequence-classification");
  EXPECT_EQ(parsed()->heads.front().columns, 5u);
  json_["problem_type"] = "regression";
  EXPECT_EQ(parsed()->heads.front().kind, HeadKind::regression);
  json_.erase("id2label");
  EXPECT_EQ(parsed()->heads.front().columns, 2u);
  json_["num_labels"] = 3;
  EXPECT_EQ(parsed()->heads.front().columns, 3u);
  EXPECT_THAT(refusal_of("num_labels", 0), HasSubstr("num_labels"));
  EXPECT_THAT(refusal_of("id2label", nlohmann::json::object()), HasSubstr("id2label"));
  EXPECT_THAT(binding(), AllOf(HasSubstr("classifier.weight has shape [5, 32]"), HasSubstr("[3, 32]")));
}

TEST_F(TextEncoders, AHeadWithoutWeightsIsNamed) {
  const std::pair<const char*, const char*> needed[] = {
      {"bert-sequence-classification", "classifier.weight"},
      {"bert-sequence-classification", "bert.pooler.dense.weight"},
      {"bert-question-answering", "qa_outputs.weight"},
      {"bert-masked-lm", "cls.predictions.transform.dense.weight"},
      {"roberta-sequence-classification", "classifier.out_proj.weight"},
      {"roberta-masked-lm", "lm_head.layer_norm.weight"},
      {"distilbert-sequence-classification", "pre_classifier.weight"},
      {"modernbert-token-classification", "head.norm.weight"}};
  for (const auto& [folder, tensor] : needed) {
    read(folder);
    erase(tensor);
    EXPECT_THAT(binding(), AllOf(HasSubstr("lacks tensor"), HasSubstr(replaced(tensor, ".weight", "")))) << folder;
  }
  read("bert");
  erase("pooler.dense.weight");
  const auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_EQ(network->heads.front().pooled, kNoWeight);
}

TEST_F(TextEncoders, NamesOf2018) {
  read("bert-masked-lm");
  rename([](const std::string& name) {
    return replaced(replaced(name, "LayerNorm.weight", "LayerNorm.gamma"), "LayerNorm.bias", "LayerNorm.beta");
  });
  EXPECT_EQ(binding(), "bound");
  rename([](const std::string& name) { return name.starts_with("bert.") ? name.substr(5) : name; });
  EXPECT_EQ(binding(), "bound");
  read("bert");
  rename([](const std::string& name) { return "bert." + name; });
  EXPECT_EQ(binding(), "bound");
}

TEST_F(TextEncoders, ADecoderOfItsOwnIsUsed) {
  read("bert-masked-lm");
  auto decoder = file_.tensors.at("bert.embeddings.word_embeddings.weight");
  file_.tensors["cls.predictions.decoder.weight"] = decoder;
  auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_EQ(network->encoder.embedding, network->output);
  decoder.values[3] += 1;
  file_.tensors["cls.predictions.decoder.weight"] = decoder;
  network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_NE(network->encoder.embedding, network->output);
  json_["tie_word_embeddings"] = false;
  erase("cls.predictions.decoder.weight");
  EXPECT_THAT(binding(), HasSubstr("cls.predictions.decoder.weight"));
}

TEST_F(TextEncoders, TypesOfRows) {
  read("bert");
  EXPECT_EQ(parsed()->encoder.row_types, 2u);
  EXPECT_FALSE(parsed()->encoder.token_types);
  EXPECT_THAT(refusal_of("type_vocab_size", 65), HasSubstr("type_vocab_size 65"));
  json_["type_vocab_size"] = 3;
  EXPECT_THAT(binding(), AllOf(HasSubstr("token_type_embeddings.weight has shape [2, 32]"), HasSubstr("[3, 32]")));
  json_["type_vocab_size"] = 0;
  EXPECT_EQ(binding(), "bound");
  read("roberta");
  EXPECT_EQ(parsed()->encoder.row_types, 0u);
  EXPECT_TRUE(parsed()->encoder.token_types);
}

TEST_F(TextEncoders, PositionsBehindThePadding) {
  read("xlm-roberta");
  json_["pad_token_id"] = 5;
  EXPECT_EQ(parsed()->encoder.position_offset, 6u);
  EXPECT_EQ(parsed()->encoder.max_positions, 36u);
  EXPECT_THAT(refusal_of("pad_token_id", 41), HasSubstr("pad_token_id 41"));
  read("mpnet");
  json_["pad_token_id"] = 5;  // the reference does not read it
  EXPECT_EQ(parsed()->encoder.uncounted_id, 1u);
  EXPECT_EQ(parsed()->encoder.max_positions, 50u);
}

TEST_F(TextEncoders, LayersShareWeights) {
  read("albert");
  auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  const auto& layers = network->encoder.layers;
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].self.qkv, layers[2].self.qkv);
  EXPECT_EQ(layers[0].norm, layers[1].norm);
  EXPECT_THAT(refusal_of("inner_group_num", 2), HasSubstr("inner_group_num 2"));
  EXPECT_THAT(refusal_of("num_hidden_groups", 4), HasSubstr("num_hidden_groups 4"));
  json_["num_hidden_groups"] = 2;
  EXPECT_THAT(binding(), HasSubstr("albert_layer_groups.1."));
  EXPECT_EQ(parsed()->encoder.stored_layer(1), 0u);
  EXPECT_EQ(parsed()->encoder.stored_layer(2), 1u);
}

TEST_F(TextEncoders, NarrowEmbeddings) {
  read("electra");
  EXPECT_EQ(parsed()->encoder.embedding_width, 24u);
  json_["embedding_size"] = 32;
  EXPECT_EQ(parsed()->encoder.embedding_width, 0u);
  EXPECT_EQ(parsed()->encoder.embedding_columns(), 32u);
  EXPECT_EQ(refusal_of("architectures", {"ElectraForPreTraining"}), "taken");
  json_["architectures"] = {"ElectraForPreTraining"};
  EXPECT_EQ(parsed()->heads.front().kind, HeadKind::vectors);
}

TEST_F(TextEncoders, WindowsOfModernBert) {
  read("modernbert");
  const auto newer = parsed();
  ASSERT_TRUE(newer.ok()) << newer.error().message;
  EXPECT_THAT(newer->encoder.windows, ElementsAre(kNoWindow, 4, 4, kNoWindow));
  EXPECT_EQ(newer->encoder.rotary_base, 160000);
  EXPECT_EQ(newer->encoder.window_rotary_base, 10000);
  json_["layer_types"][1] = "full_attention";
  EXPECT_THAT(parsed()->encoder.windows, ElementsAre(kNoWindow, kNoWindow, 4, kNoWindow));
  EXPECT_THAT(refusal_of("layer_types", {"full_attention"}), HasSubstr("layer_types"));
  EXPECT_THAT(refusal_of("layer_types", {1, 2, 3, 4}), HasSubstr("layer_types"));
  EXPECT_THAT(refusal_of("layer_types", {"a", "b", "c", "d"}), HasSubstr("'a'"));
  EXPECT_THAT(refusal_of("local_attention", 0), HasSubstr("local_attention"));
  EXPECT_THAT(refusal_of("classifier_pooling", "max"), "taken");
  auto parameters = json_["rope_parameters"];
  parameters["full_attention"]["rope_type"] = "yarn";
  EXPECT_THAT(refusal_of("rope_parameters", parameters), HasSubstr("'yarn'"));
  parameters["full_attention"] = {{"rope_theta", -1.0}};
  EXPECT_THAT(refusal_of("rope_parameters", parameters), HasSubstr("rope_theta"));
  read("modernbert", "model-older-config");
  EXPECT_EQ(parsed()->encoder.windows, newer->encoder.windows);
  EXPECT_EQ(parsed()->encoder.rotary_base, 160000);
  json_["local_rope_theta"] = nullptr;
  EXPECT_EQ(parsed()->encoder.window_rotary_base, 160000);
}

TEST_F(TextEncoders, RowsOfModernBertsClassifier) {
  read("modernbert-sequence-classification");
  EXPECT_EQ(parsed()->heads.front().pooling, Pooling::mean);
  EXPECT_THAT(refusal_of("classifier_pooling", "max"), HasSubstr("'max'"));
  json_["classifier_bias"] = true;
  EXPECT_THAT(binding(), HasSubstr("head.dense.bias"));
}

TEST_F(TextEncoders, TermsOfDeberta) {
  read("deberta-v2");
  const auto config = parsed();
  ASSERT_TRUE(config.ok()) << config.error().message;
  const StackConfig& s = config->encoder;
  EXPECT_TRUE(s.vectors.by_query && s.vectors.by_key && s.vectors.shared && s.vectors.normalized);
  EXPECT_EQ(s.score_parts, 3u);
  EXPECT_EQ(s.vectors.buckets, 6u);
  EXPECT_EQ(s.vectors.distance, 36u);
  json_["pos_att_type"] = "c2p| P2C";
  EXPECT_EQ(parsed()->encoder.score_parts, 3u);
  json_["pos_att_type"] = "c2p|p2p";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("'p2p'"), HasSubstr("c2p and p2c are")));
  json_["pos_att_type"] = " p2c|";
  EXPECT_EQ(parsed()->encoder.score_parts, 2u);
  EXPECT_FALSE(parsed()->encoder.vectors.by_query);
  json_["relative_attention"] = false;
  EXPECT_EQ(parsed()->encoder.score_parts, 2u);
  EXPECT_EQ(parsed()->encoder.vectors.table, DistanceVectors::Table::none);
}

TEST_F(TextEncoders, DebertaRefusesByName) {
  read("deberta-v2");
  EXPECT_THAT(refusal_of("pos_att_type", 3), HasSubstr("pos_att_type"));
  EXPECT_THAT(refusal_of("pos_att_type", {1}), HasSubstr("pos_att_type"));
  EXPECT_THAT(refusal_of("pos_att_type", {"p2p"}), HasSubstr("'p2p'"));
  EXPECT_THAT(refusal_of("position_buckets", 2), AllOf(HasSubstr("position_buckets"), HasSubstr("2 buckets")));
  EXPECT_THAT(refusal_of("position_buckets", 1u << 30), HasSubstr("position_buckets"));
  EXPECT_THAT(refusal_of("position_buckets", 80), HasSubstr("up to a distance of 36"));
  EXPECT_THAT(refusal_of("max_relative_positions", 60000), HasSubstr("max_relative_positions"));
  EXPECT_THAT(refusal_of("norm_rel_ebd", "rms"), HasSubstr("'rms'"));
  EXPECT_THAT(refusal_of("conv_kernel_size", 4), HasSubstr("conv_kernel_size 4"));
  EXPECT_THAT(refusal_of("conv_groups", 2), HasSubstr("conv_groups 2"));
  EXPECT_THAT(refusal_of("type_vocab_size", 65), HasSubstr("type_vocab_size 65"));
  read("deberta-v2-plain-sequence-classification");
  EXPECT_THAT(refusal_of("pooler_hidden_size", 16), HasSubstr("pooler_hidden_size 16"));
}

TEST_F(TextEncoders, WeightsBesideDebertasLayers) {
  read("deberta-v2");
  json_["position_buckets"] = 8;
  EXPECT_THAT(binding(), AllOf(HasSubstr("rel_embeddings"), HasSubstr("[16, 32]")));
  json_["position_buckets"] = 6;
  json_["conv_kernel_size"] = 5;
  EXPECT_THAT(binding(), AllOf(HasSubstr("conv.conv"), HasSubstr("[32, 32, 5]")));
  json_["conv_kernel_size"] = 3;
  json_["share_att_key"] = false;
  EXPECT_THAT(binding(), HasSubstr("pos_query_proj"));
  read("deberta-v2-plain-sequence-classification");
  EXPECT_EQ(parsed()->encoder.embedding_width, 24u);
  json_["position_biased_input"] = false;
  EXPECT_EQ(parsed()->encoder.positions, Positions::none);
  EXPECT_EQ(parsed()->encoder.max_positions, 40u);  // texts are cut there all the same
}

TEST_F(TextEncoders, SegmentsOfXlnet) {
  read("xlnet-sequence-classification");
  const auto config = parsed();
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->heads.front().pooling, Pooling::last);
  EXPECT_EQ(config->encoder.row_types, 4u);
  EXPECT_EQ(config->encoder.max_positions, 2048u);
  EXPECT_EQ(refusal_of("clamp_len", 7), "taken");
  EXPECT_THAT(refusal_of("attn_type", "uni"), HasSubstr("'uni'"));
  EXPECT_THAT(refusal_of("bi_data", true), HasSubstr("bi_data"));
  EXPECT_THAT(refusal_of("d_head", 4), HasSubstr("d_head 4"));
  EXPECT_THAT(refusal_of("summary_type", "attn"), HasSubstr("'attn'"));
  EXPECT_EQ(refusal_of("architectures", {"XLNetLMHeadModel"}), "taken");
  rename([](const std::string& name) { return name.ends_with("1.rel_attn.r_s_bias") ? "gone" : name; });
  EXPECT_THAT(binding(), HasSubstr("layer.1.rel_attn.r_s_bias"));
}

TEST_F(TextEncoders, BartClassifiesItsLastRow) {
  read("bart-sequence-classification");
  const auto config = parsed();
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_FALSE(config->kind().writes);
  EXPECT_EQ(config->shifted_start, 2u);
  EXPECT_EQ(config->heads.front().pooling, Pooling::last);
  EXPECT_THAT(refusal_of("decoder_start_token_id", 1 << 20), HasSubstr("decoder_start_token_id"));
}

TEST_F(TextEncoders, T5WithoutADecoder) {
  read("t5");
  json_["architectures"] = {"T5EncoderModel"};
  rename([](const std::string& name) { return name.starts_with("decoder.") ? "gone." + name : name; });
  const auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_FALSE(network->config.kind().decodes);
  EXPECT_TRUE(network->decoder.layers.empty());
}

TEST(ModelTypes, OfFilesThatDoNotSayThem) {
  EXPECT_EQ(type_of_class("BertForMaskedLM"), "bert");
  EXPECT_EQ(type_of_class("XLMRobertaModel"), "xlm-roberta");
  EXPECT_EQ(type_of_class("DistilBertModel"), "distilbert");
  EXPECT_EQ(type_of_class("JinaBertModel"), "");
  EXPECT_EQ(type_of_class(""), "");
  EXPECT_EQ(type_of_tensor("bert.embeddings.LayerNorm.gamma"), "bert");
  EXPECT_EQ(type_of_tensor("roberta.embeddings.LayerNorm.weight"), "roberta");
  EXPECT_EQ(type_of_tensor("embeddings.LayerNorm.weight"), "");
  EXPECT_EQ(class_of_tensor("bert", "cls.predictions.transform.dense.weight"), "BertForMaskedLM");
  EXPECT_EQ(class_of_tensor("camembert", "lm_head.dense.weight"), "CamembertForMaskedLM");
  EXPECT_EQ(class_of_tensor("camembert", "classifier.weight"), "");
}

}  // namespace
}  // namespace lapilli::model
