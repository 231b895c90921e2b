#include "model/families/vit_group.hpp"

#include <nlohmann/json.hpp>

#include "model/patches.hpp"

namespace lapilli::model {

namespace {

constexpr uint32_t kLargestPicture = 8'192, kMostChannels = 16;

struct Sides {
  uint32_t height = 0, width = 0;
};

// A single number, or height and width.
Result<Sides> get_sides(const JsonView& v, const char* key, uint32_t missing) {
  Sides s{missing, missing};
  if (!has(v, key)) return s;
  const auto& value = v.json[key];
  if (value.is_array() && value.size() != 2)
    return fail(ErrorCode::invalid_data, "%s: %s has %u numbers, not height and width", v.where, key, value.size());
  const nlohmann::json height = {{key, value.is_array() ? value[0] : value}};
  const nlohmann::json width = {{key, value.is_array() ? value[1] : value}};
  LAPILLI_TRY(s.height, get_size({height, v.where}, key, kLargestPicture));
  LAPILLI_TRY(s.width, get_size({width, v.where}, key, kLargestPicture));
  return s;
}

}  // namespace

Status read_patches(const JsonView& v, PatchInput& p) {
  LAPILLI_TRY(const Sides picture, get_sides(v, "image_size", 224));
  LAPILLI_TRY(const Sides patch, get_sides(v, "patch_size", 16));
  LAPILLI_TRY(p.channels, get_size(v, "num_channels", kMostChannels, 3));
  p.height = picture.height;
  p.width = picture.width;
  p.patch_height = patch.height;
  p.patch_width = patch.width;
  if (uint64_t{p.channels} * p.patch_height * p.patch_width > kMaxModelWidth)
    return fail(ErrorCode::invalid_data, "%s: patches of %u by %u pixels with %u channels", v.where, p.patch_height,
                p.patch_width, p.channels);
  return {};
}

bool is_picture_encoder(const std::string& model_type) { return model_type == "vit" || model_type == "deit"; }

Status read_picture_encoder(const JsonView& v, Config& c) {
  StackConfig& s = c.encoder;
  LAPILLI_TRY(s.type, get_string(v, "model_type"));
  LAPILLI_CHECK(read_patches(v, c.patches));
  LAPILLI_TRY(s.d_model, get_size(v, "hidden_size", kMaxModelWidth, 768));
  LAPILLI_TRY(s.layers, get_u32(v, "num_hidden_layers", 12));
  LAPILLI_TRY(s.heads, get_u32(v, "num_attention_heads", 12));
  LAPILLI_TRY(s.ffn, get_u32(v, "intermediate_size", 3072));
  LAPILLI_CHECK(read_activation(v, "hidden_act", "gelu", s));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "layer_norm_eps", 1e-12f));
  LAPILLI_TRY(s.qkv_bias, get_bool(v, "qkv_bias", true));
  LAPILLI_CHECK(check_stack(v, "encoder", s));
  s.pre_norm = s.final_norm = s.states_before_final_norm = true;
  s.positions = Positions::learned;
  c.features.front = s.type == "deit" ? 2 : 1;
  c.features.width = c.patches.numbers();
  c.features.layers = {{1, 1, 0, 0, s.d_model, Activation::none, true}};
  c.source_vocabulary = 0;
  c.shared_embeddings = false;
  return fit_picture(c, v.where);
}

StackNames picture_encoder_names(const Config& c, const std::string& prefix) {
  const std::string embeddings = prefix + "embeddings.", layer = prefix + "encoder.layer.{}.";
  StackNames n;
  n.input = {embeddings + "patch_embeddings.projection"};
  n.positions = {embeddings + "position_embeddings"};
  n.front = {embeddings + "cls_token"};
  if (c.encoder.type == "deit") n.front.push_back(embeddings + "distillation_token");
  n.layer.self = {layer + "attention.attention.query", layer + "attention.attention.key",
                  layer + "attention.attention.value", layer + "attention.output.dense",
                  layer + "layernorm_before",          ""};
  n.layer.fc1 = layer + "intermediate.dense";
  n.layer.fc2 = layer + "output.dense";
  n.layer.norm = layer + "layernorm_after";
  n.final_norm = prefix + "layernorm";
  return n;
}

}  // namespace lapilli::model
