// Gemma 3 (2025), its models of text and the text part of the others: Llama with four norms a layer, which multiply
// with 1 + weight, norms of heads, and layers of two kinds: near ones have a window and a base frequency of their own.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/decoders/gemma_group.hpp"

namespace lapilli::model {

extern const Family family_gemma3, family_gemma3_text;

namespace {

constexpr LlamaClass kGemma3{.family = "gemma3_text",
                             .d_model = 2304,
                             .ffn = 9216,
                             .layers = 26,
                             .heads = 8,
                             .cache_heads = 4,
                             .head_dim = 256,
                             .vocabulary = 262208,
                             .positions = 131072,
                             .rotary_base = 1e6f,
                             .tied_output = true,
                             .activation_key = "hidden_activation",
                             .activation = "gelu_pytorch_tanh",
                             .local = LocalLayers::pattern,
                             .represents = true};

Status read_gemma_caps(const JsonView& v, Config& c) {
  if (has(v, "attn_logit_softcapping"))
    return fail(ErrorCode::unsupported,
                "%s: attn_logit_softcapping: capped scores are not supported; in published models of this kind the "
                "field is null",
                v.where);
  return read_cap(v, "final_logit_softcapping", 0, c.output_cap);
}

// Models that represent texts (EmbeddingGemma): near layers see half of the window on either side. The reference halves
// the number each time that it reads a file, and adds one: an odd number is that of a copy that was saved again.
Status read_both_sides(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(s.sees_ahead, get_bool(v, "use_bidirectional_attention", false));
  if (!s.sees_ahead) return {};
  LAPILLI_TRY(const uint32_t window, get_u32(v, "sliding_window", 4096));
  const uint32_t side = std::min(window % 2 == 0 ? window / 2 : window - 1, s.max_positions);
  for (uint32_t& of_layer : s.windows)
    if (of_layer != kNoWindow) of_layer = side;
  return {};
}

Result<Config> read_gemma_text(const JsonView& v) {
  LAPILLI_TRY(Config c, llama_config(v, kGemma3));
  StackConfig& s = c.decoder;
  LAPILLI_CHECK(check_head_norms(v, s));
  LAPILLI_CHECK(read_near_rotary(v, s));
  LAPILLI_CHECK(read_gemma_scores(v, s));
  LAPILLI_CHECK(read_gemma_caps(v, c));
  LAPILLI_CHECK(read_both_sides(v, s));
  s.norm_plus_one = s.branch_norm = true;
  s.embedding_scale = std::sqrt(static_cast<float>(s.d_model));
  return c;
}

Result<Config> read_gemma3_text(const nlohmann::json& json, const std::string& where) {
  return read_gemma_text({json, where});
}

// The text part of a model that reads pictures, too.
Result<Config> read_gemma3(const nlohmann::json& json, const std::string& where) {
  LAPILLI_TRY(const auto text, get_object({json, where}, "text_config"));
  LAPILLI_TRY(Config c, read_gemma_text(text));
  c.family = "gemma3";
  return c;
}

Names gemma3_names(const Config& c) {
  Names n = llama_names(c);
  const std::string layer = n.base_prefix + "layers.{}.";
  n.decoder.layer.self.after_norm = layer + "post_attention_layernorm";
  n.decoder.layer.norm = layer + "pre_feedforward_layernorm";
  n.decoder.layer.after_norm = layer + "post_feedforward_layernorm";
  if (c.family != "gemma3") return n;
  n.other_prefixes = {{"model.", "language_model.model."},
                      {"model.", "model.language_model."},
                      {"lm_head.", "language_model.lm_head."}};
  return n;
}

}  // namespace

const Family family_gemma3 = {"gemma3", "Gemma 3, its text part alone", read_gemma3, gemma3_names};
const Family family_gemma3_text = {"gemma3_text", "Gemma 3, models of text", read_gemma3_text, gemma3_names};

}  // namespace lapilli::model
