#include "model/families/decoders/llama_group.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/quote.hpp"
#include "ops/attention/attention.hpp"

namespace lapilli::model {

namespace {

// The table of rotations ends there.
constexpr uint32_t kMostPositions = kRotationRows * kRotationRows;

// ---- sizes ---------------------------------------------------------------------------------------------------------

// A field that means one thing where it is absent and another where it is null.
Result<uint32_t> size_or(const JsonView& v, const char* key, uint32_t absent, uint32_t null) {
  const auto it = v.json.find(key);
  return get_size(v, key, kMaxModelWidth, it != v.json.end() && it->is_null() ? null : absent);
}

Status read_heads(const JsonView& v, const LlamaClass& of, StackConfig& s) {
  LAPILLI_TRY(s.heads, get_size(v, "num_attention_heads", kMaxModelWidth, of.heads));
  LAPILLI_TRY(s.cache_heads, size_or(v, "num_key_value_heads", of.cache_heads ? of.cache_heads : s.heads, s.heads));
  if (s.heads % s.cache_heads != 0)
    return fail(ErrorCode::invalid_data,
                "%s: %u num_attention_heads are no multiple of %u num_key_value_heads%s; each head of keys serves as "
                "many heads of queries",
                v.where, s.heads, s.cache_heads, has(v, "num_key_value_heads") ? "" : " (this family's default)");
  if (of.head_dim || has(v, "head_dim")) {
    LAPILLI_TRY(s.head_dim, get_size(v, "head_dim", kMaxModelWidth, of.head_dim));
  }
  return check_stack(v, "decoder", s);
}

Status read_sizes(const JsonView& v, const LlamaClass& of, Config& c) {
  StackConfig& s = c.decoder;
  LAPILLI_TRY(s.d_model, get_size(v, "hidden_size", kMaxModelWidth, of.d_model));
  LAPILLI_TRY(s.ffn, get_size(v, "intermediate_size", kMaxFeedForward, of.ffn));
  LAPILLI_TRY(s.layers, get_size(v, "num_hidden_layers", kMaxModelLayers, of.layers));
  LAPILLI_CHECK(read_heads(v, of, s));
  LAPILLI_TRY(c.target_vocabulary, get_size(v, "vocab_size", kMaxVocabulary, of.vocabulary));
  LAPILLI_TRY(const uint32_t positions, get_size(v, "max_position_embeddings", 1u << 30, of.positions));
  s.max_positions = std::min(positions, kMostPositions);
  return {};
}

Status read_biases(const JsonView& v, const LlamaClass& of, StackConfig& s) {
  s.qkv_bias = of.qkv_bias;
  s.out_bias = s.ffn_bias = false;
  if (!of.chooses_bias) return {};
  LAPILLI_TRY(s.qkv_bias, get_bool(v, "attention_bias", false));
  s.out_bias = s.qkv_bias;
  if (!of.mlp_bias) return {};
  LAPILLI_TRY(s.ffn_bias, get_bool(v, "mlp_bias", false));
  return {};
}

// ---- rotary positions ----------------------------------------------------------------------------------------------

Result<std::string> rotary_kind(const JsonView& v) {
  LAPILLI_TRY(const auto old, get_string(v, "type", "default"));
  return get_string(v, "rope_type", old);
}

Status read_llama3(const JsonView& top, const JsonView& v, RotaryScaling& r) {
  LAPILLI_TRY(r.low, get_float(v, "low_freq_factor"));
  LAPILLI_TRY(r.high, get_float(v, "high_freq_factor"));
  const char* key = "original_max_position_embeddings";
  LAPILLI_TRY(const auto longest, get_size(top, "max_position_embeddings", 1u << 30, 8192));
  LAPILLI_TRY(const auto within, get_size(v, key, 1u << 30, longest));
  LAPILLI_TRY(r.original, get_size(top, key, 1u << 30, within));
  if (r.low > 0 && r.high > r.low) return {};
  return fail(ErrorCode::invalid_data,
              "%s: low_freq_factor %g and high_freq_factor %g; the first is less, and positive", v.where, r.low,
              r.high);
}

// An alpha stretches the base, whatever the length; the length itself counts where there is none (dynamic scaling).
Status read_alpha(const JsonView& v, const StackConfig& s, double& base) {
  LAPILLI_TRY(const float alpha, get_float(v, "alpha", 0));
  if (!(alpha > 0))
    return fail(ErrorCode::unsupported,
                "%s: rotary positions of the kind dynamic are supported with a positive alpha alone; it is %g", v.where,
                alpha);
  if (s.head_dim <= 2) return fail(ErrorCode::invalid_data, "%s: an alpha, and heads of %u", v.where, s.head_dim);
  base *= std::pow(static_cast<double>(alpha), s.head_dim / (s.head_dim - 2.0));
  return {};
}

Status check_partial(const JsonView& v) {
  LAPILLI_TRY(const float part, get_float(v, "partial_rotary_factor", 1));
  if (part == 1) return {};
  return fail(ErrorCode::unsupported, "%s: partial_rotary_factor %g is not supported in this family", v.where, part);
}

Status read_scaling(const JsonView& top, const JsonView& v, RotaryScaling& r) {
  LAPILLI_TRY(const auto kind, rotary_kind(v));
  if (kind == "default") return {};
  if (kind != "linear" && kind != "llama3")
    return fail(ErrorCode::unsupported,
                "%s: rotary positions of the kind %s are not supported; linear and llama3 are, and none", v.where,
                quote_name(kind, 40));
  r.kind = kind == "linear" ? RotaryScaling::Kind::linear : RotaryScaling::Kind::llama3;
  LAPILLI_TRY(r.factor, get_float(v, "factor"));
  if (!(r.factor > 0)) return fail(ErrorCode::invalid_data, "%s: factor %g is not positive", v.where, r.factor);
  return kind == "linear" ? Status() : read_llama3(top, v, r);
}

// Older files have rope_theta and rope_scaling, which goes before the newer rope_parameters.
Status read_rotary(const JsonView& v, const LlamaClass& of, StackConfig& s) {
  LAPILLI_TRY(float base, get_float(v, "rope_theta", of.rotary_base));
  LAPILLI_CHECK(check_partial(v));
  double stretched = 1;
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (!has(v, key)) continue;
    LAPILLI_TRY(const auto within, get_object(v, key));
    LAPILLI_TRY(base, get_float(within, "rope_theta", base));
    LAPILLI_CHECK(check_partial(within));
    LAPILLI_TRY(const auto kind, rotary_kind(within));
    const bool alpha = of.alpha_rotary && kind == "dynamic";
    LAPILLI_CHECK(alpha ? read_alpha(within, s, stretched) : read_scaling(v, within, s.rotary_scaling));
    break;
  }
  if (!(base > 0)) return fail(ErrorCode::invalid_data, "%s: rope_theta %g is not positive", v.where, base);
  if (s.head_dim % 2 != 0)
    return fail(ErrorCode::invalid_data,
                "%s: heads of %u numbers, of which positions turn pairs; an even head_dim is "
                "needed",
                v.where, s.head_dim);
  s.rotary = s.head_dim;
  s.rotary_base = s.window_rotary_base = static_cast<double>(base) * stretched;
  s.window_rotary_scaling = s.rotary_scaling;
  s.rotary_halves = true;
  return {};
}

// ---- windows -------------------------------------------------------------------------------------------------------

// The layers by layer_types, or none of these if the file has no such list.
Result<std::vector<bool>> listed_layers(const JsonView& v, uint32_t layers) {
  std::vector<bool> local;
  if (!has(v, "layer_types")) return local;
  const auto& list = v.json.at("layer_types");
  if (!list.is_array() || list.size() != layers)
    return fail(ErrorCode::invalid_data, "%s: layer_types is no list of %u layers", v.where, layers);
  for (const auto& type : list) {
    const std::string name = type.is_string() ? type.get<std::string>() : type.dump();
    if (name != "full_attention" && name != "sliding_attention")
      return fail(ErrorCode::unsupported,
                  "%s: layer_types %s is not supported; full_attention and sliding_attention are", v.where,
                  quote_name(name, 40));
    local.push_back(name == "sliding_attention");
  }
  return local;
}

// All but the last of each so many layers.
Result<std::vector<bool>> pattern_layers(const JsonView& v, uint32_t layers, uint32_t pattern) {
  LAPILLI_TRY(auto local, listed_layers(v, layers));
  if (!local.empty()) return local;
  LAPILLI_TRY(const auto saved, get_size(v, "_sliding_window_pattern", kMaxModelLayers, pattern));
  LAPILLI_TRY(const auto each, get_size(v, "sliding_window_pattern", kMaxModelLayers, saved));
  for (uint32_t i = 0; i < layers; ++i) local.push_back((i + 1) % each != 0);
  return local;
}

Result<std::vector<bool>> local_layers(const JsonView& v, const LlamaClass& of, const StackConfig& s) {
  std::vector<bool> local(s.layers, of.local == LocalLayers::all);
  if (of.local == LocalLayers::all || of.local == LocalLayers::none) return local;
  if (of.local == LocalLayers::pattern) return pattern_layers(v, s.layers, of.pattern);
  LAPILLI_TRY(const bool used, get_bool(v, "use_sliding_window", false));
  if (!used) return local;
  LAPILLI_TRY(auto listed, listed_layers(v, s.layers));
  if (!listed.empty()) return listed;
  LAPILLI_TRY(const auto first, get_u32(v, "max_window_layers", 28));
  for (uint32_t i = 0; i < s.layers; ++i) local[i] = of.local == LocalLayers::later ? i >= first : !s.rotates(i);
  return local;
}

// A layer with a window sees the position itself and the rest of the window before it.
Status read_windows(const JsonView& v, const LlamaClass& of, StackConfig& s) {
  LAPILLI_TRY(const auto local, local_layers(v, of, s));
  const auto it = v.json.find("sliding_window");
  const bool null = it != v.json.end() && it->is_null(), apart = of.local == LocalLayers::pattern;
  if ((null && !apart) || std::find(local.begin(), local.end(), true) == local.end()) return {};
  LAPILLI_TRY(const uint32_t given, get_u32(v, "sliding_window", null ? s.max_positions : 4096));
  const uint32_t size = std::min(given, s.max_positions);
  if (size == 0)
    return fail(ErrorCode::invalid_data,
                "%s: a sliding_window of 0 lets a position see nothing, not even itself; null is for no window",
                v.where);
  if (size == s.max_positions && !apart) return {};
  for (uint32_t i = 0; i < s.layers; ++i) s.windows.push_back(local[i] ? size - 1 : kNoWindow);
  return {};
}

// Layers whose queries and keys are not rotated (SmolLM3), every fourth if the file does not list them.
Status read_still_layers(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(const auto interval, get_size(v, "no_rope_layer_interval", kMaxModelLayers, 4));
  for (uint32_t i = 0; i < s.layers; ++i) s.rotated.push_back((i + 1) % interval != 0);
  if (!has(v, "no_rope_layers")) return {};
  const auto& list = v.json.at("no_rope_layers");
  if (!list.is_array() || list.size() != s.layers)
    return fail(ErrorCode::invalid_data, "%s: no_rope_layers is no list of %u layers", v.where, s.layers);
  for (uint32_t i = 0; i < s.layers; ++i) {
    if (list[i] != 0 && list[i] != 1)
      return fail(ErrorCode::invalid_data, "%s: no_rope_layers: layer %u has neither 0 nor 1", v.where, i);
    s.rotated[i] = list[i] == 1;
  }
  return {};
}

}  // namespace

Result<Config> llama_config(const JsonView& v, const LlamaClass& of) {
  Config c;
  c.family = of.family;
  c.tokenizer = of.tokenizer;
  LAPILLI_CHECK(check_writes(v, of.represents));
  LAPILLI_CHECK(read_sizes(v, of, c));
  StackConfig& s = c.decoder;
  LAPILLI_CHECK(read_activation(v, has(v, of.activation_key) ? of.activation_key : "hidden_act", of.activation, s));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "rms_norm_eps", of.norm_epsilon));
  LAPILLI_CHECK(read_biases(v, of, s));
  LAPILLI_CHECK(read_rotary(v, of, s));
  if (of.local == LocalLayers::still) LAPILLI_CHECK(read_still_layers(v, s));
  LAPILLI_CHECK(read_windows(v, of, s));
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", of.tied_output));
  s.norm = Norm::rms;
  s.pre_norm = s.final_norm = s.gated = true;
  return c;
}

Status read_rotary_entry(const JsonView& top, const JsonView& kinds, const char* key, double& base,
                         RotaryScaling& scaling) {
  if (!has(kinds, key)) return {};
  LAPILLI_TRY(const auto within, get_object(kinds, key));
  LAPILLI_TRY(const float given, get_float(within, "rope_theta", static_cast<float>(base)));
  base = static_cast<double>(given);
  scaling = {};
  return read_scaling(top, within, scaling);
}

Status check_head_norms(const JsonView& v, StackConfig& s) {
  s.head_norm = true;
  if (s.heads + s.kv_heads() <= kMostNormedHeads) return {};
  return fail(ErrorCode::unsupported,
              "%s: norms of %u heads of queries and %u of keys; at most %u of both are supported", v.where, s.heads,
              s.kv_heads(), kMostNormedHeads);
}

Names llama_names(const Config& c) {
  Names n;
  n.base_prefix = "model.";
  const std::string layer = n.base_prefix + "layers.{}.", self = layer + "self_attn.";
  n.decoder.embedding = {n.base_prefix + "embed_tokens.weight"};
  n.decoder.layer.self = {self + "q_proj", self + "k_proj",           self + "v_proj",
                          self + "o_proj", layer + "input_layernorm", ""};
  n.decoder.layer.self.q_norm = self + "q_norm";
  n.decoder.layer.self.k_norm = self + "k_norm";
  n.decoder.layer.fc1 = layer + "mlp.gate_proj";
  n.decoder.layer.gate = layer + "mlp.up_proj";
  n.decoder.layer.fc2 = layer + "mlp.down_proj";
  n.decoder.layer.norm = layer + "post_attention_layernorm";
  n.decoder.final_norm = n.base_prefix + "norm";
  name_output("lm_head.weight", c, n);
  return n;
}

}  // namespace lapilli::model
