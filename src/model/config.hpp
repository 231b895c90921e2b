// What a Transformer encoder-decoder is, as plain data. Families fill it from config.json; blocks read it.
// Source of the architecture: Vaswani et al. 2017; fields are named after what they do, not after a family.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/matmul.hpp"

namespace lapilli::model {

struct StackConfig {
  uint32_t layers = 0, heads = 0, ffn = 0;
};

enum class Positions : uint8_t {
  none,
  sinusoid_split,  // sine in the first half, cosine in the second, frequency 10000^(-2i/d), row = position (Marian)
  learned,         // a stored table, row = position + position_offset
};

struct Config {
  std::string family;     // config.json's model_type
  std::string tokenizer;  // kind, for load_tokenizer
  uint32_t d_model = 0;
  StackConfig encoder, decoder;
  uint32_t source_vocabulary = 0, target_vocabulary = 0;
  uint32_t max_positions = 0;  // rows of the position tables; longer inputs are refused
  Activation activation = Activation::relu;
  std::string activation_name;
  bool pre_norm = false;  // normalization before each sublayer, and once at the end of a stack
  bool final_norm = false;
  bool embedding_norm = false;
  float embedding_scale = 1;
  float norm_epsilon = 1e-5f;
  Positions positions = Positions::sinusoid_split;
  uint32_t position_offset = 0;
  bool tied_output = true;        // the output projection is the target embedding unless the file has its own
  bool shared_embeddings = true;  // source and target embedding are one
  bool logits_bias = false;       // a bias on the logits is stored

  [[nodiscard]] uint32_t encoder_head_dim() const { return d_model / encoder.heads; }
  [[nodiscard]] uint32_t decoder_head_dim() const { return d_model / decoder.heads; }
};

// Where a family keeps its tensors. "{}" is the layer's number. A weight's name gets ".weight" or ".bias" behind it.
struct AttentionNames {
  std::string q, k, v, out, norm;
};
struct LayerNames {
  AttentionNames self, cross;  // cross: decoder only
  std::string fc1, fc2, norm;
};
struct Names {
  // Full names in order of preference; the first one in the checkpoint is taken.
  std::vector<std::string> source_embedding, target_embedding, output, source_positions, target_positions, logits_bias;
  std::string source_embedding_norm, target_embedding_norm, source_final_norm, target_final_norm;
  LayerNames encoder, decoder;
};

}  // namespace lapilli::model
