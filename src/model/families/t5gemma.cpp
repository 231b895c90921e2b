// T5Gemma (2025) and T5Gemma 2, its text part alone: an encoder and a decoder of Gemma's layers, each with a
// configuration of its own. The second has one embedding, norms of heads, two base frequencies, no capped scores, and a
// decoder whose one attention per layer sees the source as well.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/quote.hpp"
#include "model/families/decoders/gemma_group.hpp"

namespace lapilli::model {

extern const Family family_t5gemma, family_t5gemma2;

namespace {

constexpr LlamaClass kT5Gemma{.family = "t5gemma",
                              .d_model = 2304,
                              .ffn = 9216,
                              .layers = 26,
                              .heads = 8,
                              .cache_heads = 4,
                              .head_dim = 256,
                              .vocabulary = 256000,
                              .positions = 8192,
                              .tied_output = true,
                              .activation_key = "hidden_activation",
                              .activation = "gelu_pytorch_tanh",
                              .mlp_bias = false,
                              .local = LocalLayers::pattern,
                              .pattern = 2};

constexpr LlamaClass second_class() {
  LlamaClass of = kT5Gemma;
  of.family = "t5gemma2";
  of.vocabulary = 262208;
  of.positions = 131072;
  of.rotary_base = 1e6f;
  of.pattern = 6;
  return of;
}

// A side's stack, and its vocabulary and caps as those of a decoder alone.
Result<Config> read_side(const JsonView& v, const LlamaClass& of) {
  LAPILLI_TRY(Config c, llama_config(v, of));
  StackConfig& s = c.decoder;
  LAPILLI_CHECK(read_gemma_scores(v, s));
  s.norm_plus_one = s.branch_norm = true;
  s.embedding_scale = std::sqrt(static_cast<float>(s.d_model));
  return c;
}

Result<Config> read_first(const JsonView& v) {
  LAPILLI_TRY(Config c, read_side(v, kT5Gemma));
  LAPILLI_CHECK(read_cap(v, "attn_logit_softcapping", 50, c.decoder.score_cap));
  LAPILLI_CHECK(read_cap(v, "final_logit_softcapping", 30, c.output_cap));
  return c;
}

Result<Config> read_second(const JsonView& v) {
  LAPILLI_TRY(Config c, read_side(v, second_class()));
  LAPILLI_CHECK(check_head_norms(v, c.decoder));
  LAPILLI_CHECK(read_near_rotary(v, c.decoder));
  if (has(v, "attn_logit_softcapping"))
    return fail(ErrorCode::unsupported,
                "%s: attn_logit_softcapping: scores of this family are not capped; in published models of this kind "
                "the field is null",
                v.where);
  LAPILLI_CHECK(read_cap(v, "final_logit_softcapping", 0, c.output_cap));
  return c;
}

// ---- windows of encoders -------------------------------------------------------------------------------------------

Result<uint64_t> window_size(const JsonView& v, const StackConfig& s) {
  LAPILLI_TRY(const uint32_t size,
              get_u32(v, "sliding_window", v.json.contains("sliding_window") ? s.max_positions : 4096));
  return uint64_t{size};
}

// Keys of a layer with a window: so many before the query, and behind it.
void set_windows(uint64_t before, uint64_t after, StackConfig& s) {
  const auto limited = [&](uint64_t keys) { return static_cast<uint32_t>(std::min<uint64_t>(keys, s.max_positions)); };
  for (uint32_t& of_layer : s.windows) {
    s.windows_after.push_back(of_layer == kNoWindow ? kNoWindow : limited(after));
    if (of_layer != kNoWindow) of_layer = limited(before);
  }
}

// ---- both sides ----------------------------------------------------------------------------------------------------

using SideReader = Result<Config> (*)(const JsonView&);
struct TextSides {
  JsonView encoder, decoder;
};

Status check_class(const JsonView& v) {
  const std::string name = architecture(v);
  if (name.empty() || name.find("For") == std::string::npos || name.ends_with("ForConditionalGeneration")) return {};
  return fail(ErrorCode::unsupported,
              "%s: %s has another head than one that writes, and this version does not run it; take the model that it "
              "was made from",
              v.where, quote_name(name, 60));
}

Result<Config> read_both(const JsonView& v, const TextSides& sides, SideReader read) {
  LAPILLI_CHECK(check_class(v));
  LAPILLI_TRY(Config c, read(sides.decoder));
  LAPILLI_TRY(const Config source, read(sides.encoder));
  c.encoder = source.decoder;
  c.source_vocabulary = source.target_vocabulary;
  if (c.encoder.d_model != c.decoder.d_model)
    return fail(ErrorCode::invalid_data, "%s: the encoder has a hidden_size of %u, the decoder of %u; they are equal",
                v.where, c.encoder.d_model, c.decoder.d_model);
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", c.tied_output));
  return c;
}

// The encoder sees `sliding_window` positions on either side of its own, as the reference does since its version 5; its
// first versions saw one less.
Result<Config> read_t5gemma(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(const auto encoder, get_object(v, "encoder"));
  LAPILLI_TRY(const auto decoder, get_object(v, "decoder"));
  LAPILLI_TRY(Config c, read_both(v, {encoder, decoder}, read_first));
  LAPILLI_TRY(const uint64_t window, window_size(encoder, c.encoder));
  set_windows(window, window, c.encoder);
  c.shared_embeddings = false;
  return c;
}

// Half of the window lies on either side of an encoder's position.
Result<Config> read_t5gemma2(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(const auto encoder, get_object(v, "encoder"));
  LAPILLI_TRY(const auto text, get_object(encoder, "text_config"));
  LAPILLI_TRY(const auto decoder, get_object(v, "decoder"));
  LAPILLI_TRY(Config c, read_both(v, {text, decoder}, read_second));
  LAPILLI_TRY(const uint64_t window, window_size(text, c.encoder));
  set_windows((window + 1) / 2 - 1, window / 2, c.encoder);
  c.decoder.merged_attention = true;
  return c;
}

// ---- names ---------------------------------------------------------------------------------------------------------

AttentionNames gemma_attention(const std::string& layer, const std::string& name) {
  const std::string prefix = layer + name + ".", norm = name + "_layernorm";
  AttentionNames n{prefix + "q_proj", prefix + "k_proj",     prefix + "v_proj",
                   prefix + "o_proj", layer + "pre_" + norm, ""};
  n.after_norm = layer + "post_" + norm;
  n.q_norm = prefix + "q_norm";
  n.k_norm = prefix + "k_norm";
  return n;
}

StackNames gemma_stack(const std::string& prefix) {
  const std::string layer = prefix + "layers.{}.";
  StackNames n;
  n.embedding = {prefix + "embed_tokens.weight"};
  n.layer.self = gemma_attention(layer, "self_attn");
  n.layer.cross = gemma_attention(layer, "cross_attn");
  n.layer.fc1 = layer + "mlp.gate_proj";
  n.layer.gate = layer + "mlp.up_proj";
  n.layer.fc2 = layer + "mlp.down_proj";
  n.layer.norm = layer + "pre_feedforward_layernorm";
  n.layer.after_norm = layer + "post_feedforward_layernorm";
  n.final_norm = prefix + "norm";
  return n;
}

Names stack_names() {
  Names n;
  n.base_prefix = "model.";
  n.encoder = gemma_stack("model.encoder.");
  n.decoder = gemma_stack("model.decoder.");
  return n;
}

Names t5gemma_names(const Config& c) {
  Names n = stack_names();
  name_output("lm_head.out_proj.weight", c, n);
  return n;
}

// Encoder, decoder and output have one embedding; newer files call the encoder's text part by name.
Names t5gemma2_names(const Config& c) {
  Names n = stack_names();
  const std::string encoder = n.encoder.embedding.front(), decoder = n.decoder.embedding.front();
  n.encoder.embedding = {encoder, decoder};
  n.decoder.embedding = {decoder, encoder};
  n.decoder.layer.cross = n.decoder.layer.self;
  name_output("lm_head.out_proj.weight", c, n);
  if (c.tied_output) {
    n.output.push_back(encoder);
    n.encoder.embedding.push_back(n.output.front());
  }
  n.other_prefixes = {{"model.encoder.", "model.encoder.text_model."}};
  return n;
}

}  // namespace

const Family family_t5gemma = {"t5gemma", "T5Gemma, for text", read_t5gemma, t5gemma_names};
const Family family_t5gemma2 = {"t5gemma2", "T5Gemma 2, its text part alone", read_t5gemma2, t5gemma2_names};

}  // namespace lapilli::model
