// Configuration of a Transformer encoder-decoder (Vaswani et al. 2017) as plain data. Families fill it from
// config.json; blocks read it. Fields are named after their function, not after a family.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ops/products/matmul.hpp"

namespace lapilli::model {

enum class Norm : uint8_t {
  layer,  // mean and variance, weight and bias
  rms,    // root mean square, weight alone
};

enum class Positions : uint8_t {
  none,
  // Tables that are computed unless stored.
  sinusoid_split,    // sine in the first half, cosine in the second, frequency 10000^(-2i/d) (Marian, Pegasus)
  sinusoid_fairseq,  // the same halves, frequency 10000^(-i/(d/2-1)), row position_offset - 1 is zero (M2M100, FSMT)
  learned,           // always stored
};

constexpr uint32_t kNoPositionId = ~0u;

// One side. Encoder and decoder may differ in all fields.
struct StackConfig {
  uint32_t layers = 0, heads = 0, ffn = 0;
  uint32_t d_model = 0;
  uint32_t head_dim = 0;  // of queries, keys and values; heads * head_dim may differ from d_model
  Activation activation = Activation::relu;
  std::string activation_name;
  bool gated = false;              // feed-forward act(fc1(x)) * gate(x), not act(fc1(x))
  bool linear_bias = true;         // all linear layers have a stored bias; otherwise none has
  bool key_bias = true;            // with linear_bias: keys have a bias
  bool qkv_bias = true;            // with linear_bias: queries, keys and values have a bias
  bool out_bias = true;            // with linear_bias: the projection after attention has a bias
  bool transposed_linear = false;  // weights of linear layers are stored [depth, columns]
  bool pre_norm = false;           // normalization before each sublayer, not after it
  bool final_norm = false;         // another normalization at the end of the stack
  bool states_before_final_norm =
      false;  // the reference's last hidden state is the input of the final norm, not its output
  bool embedding_norm = false;
  bool embedding_norm_first = false;  // the embeddings are normalized before positions are added, not after
  Norm norm = Norm::layer;
  bool norm_bias = true;  // of layer norms
  float norm_epsilon = 1e-5f;
  bool scaled_attention = true;  // scores are divided by sqrt(head_dim)
  float embedding_scale = 1;
  bool token_types = false;  // the embedding of token type 0 is added to every position (BERT)
  Positions positions = Positions::none;
  uint32_t position_offset = 0;  // table row of the first position
  // This id takes the row before position_offset and is not counted (padding in families that derive positions from
  // ids). A decoding step checks only the newest id, as the reference does.
  uint32_t uncounted_id = kNoPositionId;
  uint32_t max_positions =
      0;  // longest sequence, longer ones are refused; 0: unlimited. Tables have position_offset more rows
  // Relative position bias of self attention: a stored table [buckets, heads]. 0 buckets: none.
  uint32_t relative_buckets = 0, relative_distance = 0;
  bool relative_per_layer = false;  // otherwise all layers use the first layer's
  // Rotary positions of self attention: the columns of each head's queries and keys that are rotated, in pairs of
  // neighbours, pair i by position * rotary_base^(-2i / rotary). 0: none.
  uint32_t rotary = 0;
  double rotary_base = 10000;
  // Predicting streams beside the main one (ProphetNet; decoder only). 0: an ordinary decoder. With streams, the
  // relative bias is a linear layer of the query's hidden state instead of a table.
  uint32_t streams = 0;
  // Window attention, per layer: keys on either side that a query sees besides the global ones. Empty: it sees all.
  // Global positions have projections of their own (global_q...).
  std::vector<uint32_t> windows;
  std::string type;  // model_type of the side, in families with one per side

  [[nodiscard]] uint32_t rotary_pairs() const { return (rotary + 1) / 2; }
  [[nodiscard]] uint32_t inner() const { return heads * head_dim; }  // width of queries, keys and values
};

// A layer of an encoder's input: a 1-D convolution over the rows of a source (a linear layer if the kernel is 1), then
// an activation, optionally with a gate or a normalization.
struct InputLayer {
  uint32_t kernel = 1, stride = 1;
  uint32_t before = 0, after = 0;  // rows of zeros on either side of a source (padding)
  uint32_t columns = 0;            // of the result
  Activation activation = Activation::none;
  bool bias = true;
  bool gated = false;  // stores twice the columns: values, then gates, which are activated and multiplied with them
  bool group_norm = false;  // one group: over all rows and columns of a source
};

// Sources that are matrices of numbers instead of ids: frames of filter banks, samples, patches. Their rows go through
// the layers, then, with positions (StackConfig), into the encoder. See model/features.hpp for the numbers of rows.
struct FeatureInput {
  uint32_t width = 0;  // columns of a source; 0: sources are ids
  uint32_t rows = 0;   // of every source; 0: any number
  uint32_t most = 0;   // limit on a source's rows; 0: unlimited
  std::vector<InputLayer> layers;
  // Not 0: rows that leave the encoder, if its stages merge `rows` into fewer.
  uint32_t merged = 0;
  uint32_t front = 0;  // rows before the source's own (class tokens); the table of positions contains their values
};

// Sources that are pictures: `channels` planes of height * width numbers, cut into patches, row by row. A patch is a
// row of FeatureInput: its numbers channel by channel, row by row.
struct PatchInput {
  uint32_t channels = 0;  // 0: sources are not pictures
  uint32_t height = 0, width = 0;
  uint32_t patch_height = 0, patch_width = 0;
  // The patch grid of the stored positions, if they are resized (set_picture_size). 0: no resizing.
  uint32_t stored_rows = 0, stored_columns = 0;
  bool filled = false;  // the remainder is zero-padded to patches; otherwise it is dropped
  [[nodiscard]] uint32_t rows() const { return (height + (filled ? patch_height - 1 : 0)) / patch_height; }
  [[nodiscard]] uint32_t columns() const { return (width + (filled ? patch_width - 1 : 0)) / patch_width; }
  [[nodiscard]] uint32_t count() const { return rows() * columns(); }
  [[nodiscard]] uint32_t numbers() const { return channels * patch_height * patch_width; }  // of one patch
};

// A stage of an encoder whose rows are places of a map (Liu et al. 2021): layers with attention within windows, shifted
// by half a side in every second layer; then, except after the last stage, a norm and a linear layer without bias merge
// each four neighbours to one row.
struct StageConfig {
  StackConfig stack;  // only its layers
  uint32_t height = 0, width = 0;
  uint32_t side = 0;  // of a window; at most the map's shorter side
  bool merges = true;
  // Shift of the windows in a layer.
  [[nodiscard]] uint32_t shift(uint32_t layer) const {
    return layer % 2 == 0 || height <= side || width <= side ? 0 : side / 2;
  }
};

// Heads on the first row of each source, for an encoder whose decoder has no layers.
struct HeadConfig {
  uint32_t pooled = 0;  // columns of a linear layer with an activation, if stored; 0: none
  Activation activation = Activation::tanh;
  uint32_t classes = 0;    // columns of a linear layer after it: a score for each class; 0: none
  bool distilled = false;  // another such layer reads the second row; scores are the mean of both
};

// The rows of a source: token ids, numbers (frames of filter banks, or samples of sound), or patches of a picture.
enum class Reads : uint8_t { ids, sound, pictures };

struct Config {
  // The kind of the model, which follows from the fields below.
  [[nodiscard]] Reads reads() const {
    return patches.channels > 0 ? Reads::pictures : features.width > 0 ? Reads::sound : Reads::ids;
  }
  [[nodiscard]] bool writes() const { return decoder.layers > 0; }  // it has a decoder
  // The side whose hidden states leave the model.
  [[nodiscard]] const StackConfig& last_stack() const { return writes() ? decoder : encoder; }

  std::string family;            // config.json's model_type
  std::string tokenizer;         // kind, for load_tokenizer
  StackConfig encoder, decoder;  // a decoder without layers: none
  // Not empty: the encoder's layers are here; `encoder` has their number and the output of the last stage.
  std::vector<StageConfig> stages;
  FeatureInput features;
  PatchInput patches;
  HeadConfig head;
  uint32_t source_vocabulary = 0, target_vocabulary = 0;  // source: 0 if sources are features
  bool tied_output = true;         // the output projection is the target embedding unless the file has its own
  bool shared_embeddings = true;   // source and target embedding are one unless the file has two
  bool tied_stacks = false;        // tensors that the encoder lacks in the file are the decoder's (tie_encoder_decoder)
  bool logits_bias = false;        // a bias on the logits may be stored
  bool memory_projection = false;  // a linear layer from the encoder's width to the decoder's
  // Between decoder and output projection: a linear layer, activation and normalization (BERT's head), then a factor.
  bool output_transform = false;
  Activation output_activation = Activation::none;
  float output_scale = 1;
};

// Names of a family's tensors. "{}" is the layer's number. Names without ".weight" at the end are prefixes: a linear
// layer's is completed by ".weight" and ".bias", a normalization's too (or by ".gamma" and ".beta"). Queries, keys and
// values of the same name are side by side in one tensor.
struct AttentionNames {
  std::string q, k, v, out, norm;
  std::string relative_bias;                 // full name; with streams, a linear layer's; in stages, by distance
  std::string global_q, global_k, global_v;  // with windows
};
struct LayerNames {
  AttentionNames self, cross;  // cross: decoder only
  // fc1 and gate of the same name are in one tensor, the gate's rows (those not activated) first.
  std::string fc1, gate, fc2, norm;
};
struct StackNames {
  // Full names in order of preference; the first one in the checkpoint is taken.
  std::vector<std::string> embedding, positions, token_types, streams;
  std::string embedding_norm, final_norm;
  std::vector<std::string> input, input_norms;  // by FeatureInput::layers; norms are empty for layers without one
  std::vector<std::string> front;               // full names, of FeatureInput::front rows
  LayerNames layer;
};
struct StageNames {
  StackNames stack;
  std::string merge_norm, merge;
};
struct Names {
  StackNames encoder, decoder;
  std::vector<StageNames> stages;
  std::vector<std::string> output, logits_bias;
  std::string memory_projection, output_transform, output_norm;
  std::string pooler, classifier, distillation;
  // Checkpoints of a bare model lack this prefix; both forms are found. Empty: there is none.
  std::string base_prefix;
  // Prefixes and alternatives for them: {"encoder.", "encoder.bert."}.
  std::vector<std::pair<std::string, std::string>> other_prefixes;
};

}  // namespace lapilli::model
