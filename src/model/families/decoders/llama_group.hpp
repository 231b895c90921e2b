// Common parts of Llama (Touvron et al. 2023) and its relatives: root mean square norms before the sublayers and at the
// end, rotary positions in halves, heads that share keys, a gate with SiLU, hardly any bias.
#pragma once

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

// Layers that see a window of positions.
enum class LocalLayers : uint8_t {
  none,
  all,      // unless sliding_window is null
  later,    // if use_sliding_window: layer_types, else those from max_window_layers on
  still,    // if use_sliding_window: layer_types, else those that do not rotate
  pattern,  // layer_types, else all but the last of each sliding_window_pattern; they stay a kind of their own where
            // the window is wider than all positions
};

// A class of the reference: the values of fields that its files leave out, and what they cannot choose.
struct LlamaClass {
  const char* family;
  const char* tokenizer = "none";  // of directories whose files name no class
  uint32_t d_model = 4096, ffn = 11008, layers = 32, heads = 32;
  uint32_t cache_heads = 0;  // 0: as many as heads
  uint32_t head_dim = 0;     // 0: the width by the number of heads
  uint32_t vocabulary = 32000, positions = 2048;
  float rotary_base = 10000;
  float norm_epsilon = 1e-6f;
  bool tied_output = false;
  const char* activation_key = "hidden_act";
  const char* activation = "silu";
  bool chooses_bias = true;  // by attention_bias and mlp_bias; otherwise:
  bool qkv_bias = false;
  bool mlp_bias = true;  // with chooses_bias: mlp_bias is read
  LocalLayers local = LocalLayers::none;
  uint32_t pattern = 6;       // with LocalLayers::pattern: that of files that say nothing
  bool alpha_rotary = false;  // the kind "dynamic" with an alpha is known: another base for every length
  bool represents = false;    // files may ask for attention to both sides, in models that represent texts
};

// Reads everything that the classes have in common.
Result<Config> llama_config(const JsonView& view, const LlamaClass& of);
// Reads the entry under `key` of the newer form of rotary positions, if `kinds` has it; `top` is the view around.
Status read_rotary_entry(const JsonView& top, const JsonView& kinds, const char* key, double& base,
                         RotaryScaling& scaling);
// Sets the norms of heads, and refuses more heads than they support.
Status check_head_norms(const JsonView& view, StackConfig& stack);
// "model.layers.{}.self_attn.q_proj" and so on.
Names llama_names(const Config& config);

}  // namespace lapilli::model
