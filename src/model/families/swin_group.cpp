#include "model/families/swin_group.hpp"

#include <nlohmann/json.hpp>

#include "model/families/vit_group.hpp"
#include "model/patches.hpp"

namespace lapilli::model {

namespace {

constexpr uint32_t kMostStages = 8, kLargestWindow = 64;

// A list with a number per stage.
Result<std::vector<uint32_t>> get_list(const JsonView& v, const char* key, const std::vector<uint32_t>& missing) {
  if (!has(v, key)) return missing;
  const auto& list = v.json[key];
  if (!list.is_array() || list.empty() || list.size() > kMostStages)
    return fail(ErrorCode::invalid_data, "%s: %s is no list of 1 to %u numbers", v.where, key, kMostStages);
  std::vector<uint32_t> numbers;
  for (const auto& number : list) {
    const nlohmann::json one = {{key, number}};
    LAPILLI_TRY(numbers.emplace_back(), get_size({one, v.where}, key, kMaxModelWidth));
  }
  return numbers;
}

// Reads the fields that all stages share.
Status read_layers(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(s.type, get_string(v, "model_type"));
  LAPILLI_CHECK(read_activation(v, "hidden_act", "gelu", s));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "layer_norm_eps", 1e-5f));
  LAPILLI_TRY(s.qkv_bias, get_bool(v, "qkv_bias", true));
  LAPILLI_CHECK(check_flag(v, "use_absolute_embeddings", false));
  s.pre_norm = true;
  return {};
}

Status read_stage(const JsonView& v, const StackConfig& common, StageConfig& stage) {
  LAPILLI_TRY(stage.side, get_size(v, "window_size", kLargestWindow, 7));
  LAPILLI_TRY(const float ratio, get_float(v, "mlp_ratio", 4.0f));
  const double ffn = static_cast<double>(ratio) * stage.stack.d_model;
  if (!(ffn >= 1 && ffn <= kMaxFeedForward))
    return fail(ErrorCode::invalid_data, "%s: mlp_ratio %g", v.where, static_cast<double>(ratio));
  StackConfig s = common;
  s.layers = stage.stack.layers;
  s.heads = stage.stack.heads;
  s.d_model = stage.stack.d_model;
  s.ffn = static_cast<uint32_t>(ffn);
  stage.stack = std::move(s);
  return check_stack(v, "encoder", stage.stack);
}

Status read_stages(const JsonView& v, const StackConfig& common, std::vector<StageConfig>& stages) {
  LAPILLI_TRY(const auto depths, get_list(v, "depths", {2, 2, 6, 2}));
  LAPILLI_TRY(const auto heads, get_list(v, "num_heads", {3, 6, 12, 24}));
  LAPILLI_TRY(uint32_t width, get_size(v, "embed_dim", kMaxModelWidth, 96));
  if (depths.size() != heads.size())
    return fail(ErrorCode::invalid_data, "%s: %u depths and %u num_heads are not the same stages", v.where,
                depths.size(), heads.size());
  for (size_t i = 0; i < depths.size(); ++i, width *= 2) {
    StageConfig& stage = stages.emplace_back();
    stage.stack.layers = depths[i];
    stage.stack.heads = heads[i];
    stage.stack.d_model = width;
    stage.merges = i + 1 < depths.size();
    LAPILLI_CHECK(read_stage(v, common, stage));
  }
  return {};
}

AttentionNames swin_attention(const std::string& layer) {
  const std::string self = layer + "attention.self.";
  AttentionNames n = {self + "query", self + "key", self + "value", layer + "attention.output.dense",
                      layer + "layernorm_before"};
  n.relative_bias = self + "relative_position_bias_table";
  return n;
}

}  // namespace

bool is_swin_encoder(const std::string& model_type) { return model_type == "donut-swin"; }

Status read_swin_encoder(const JsonView& v, Config& c) {
  StackConfig common;
  LAPILLI_CHECK(read_layers(v, common));
  LAPILLI_CHECK(read_stages(v, common, c.stages));
  LAPILLI_CHECK(read_patches(v, c.patches));
  c.patches.filled = true;
  c.encoder = c.stages.back().stack;
  c.encoder.embedding_norm = true;
  c.encoder.layers = 0;
  for (const StageConfig& stage : c.stages) c.encoder.layers += stage.stack.layers;
  LAPILLI_TRY(const uint32_t width, get_size(v, "hidden_size", kMaxModelWidth, c.encoder.d_model));
  if (width != c.encoder.d_model)
    return fail(ErrorCode::invalid_data, "%s: hidden_size %u, but the last stage is %u wide", v.where, width,
                c.encoder.d_model);
  c.features.width = c.patches.numbers();
  c.features.layers = {{1, 1, 0, 0, c.stages[0].stack.d_model, Activation::none, true}};
  c.source_vocabulary = 0;
  c.shared_embeddings = false;
  return fit_picture(c, v.where);
}

void name_swin_encoder(const Config& c, const std::string& prefix, Names& names) {
  names.encoder.input = {prefix + "embeddings.patch_embeddings.projection"};
  names.encoder.embedding_norm = prefix + "embeddings.norm";
  for (size_t i = 0; i < c.stages.size(); ++i) {
    const std::string stage = prefix + "encoder.layers." + std::to_string(i) + ".", layer = stage + "blocks.{}.";
    StageNames& n = names.stages.emplace_back();
    n.stack.layer.self = swin_attention(layer);
    n.stack.layer.fc1 = layer + "intermediate.dense";
    n.stack.layer.fc2 = layer + "output.dense";
    n.stack.layer.norm = layer + "layernorm_after";
    n.merge_norm = stage + "downsample.norm";
    n.merge = stage + "downsample.reduction";
  }
}

}  // namespace lapilli::model
