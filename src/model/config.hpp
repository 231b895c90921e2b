// What a Transformer encoder-decoder is, as plain data. Families fill it from config.json; blocks read it.
// Source of the architecture: Vaswani et al. 2017; fields are named after what they do, not after a family.
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
  // Tables that are computed unless they are stored.
  sinusoid_split,    // sine in the first half, cosine in the second, frequency 10000^(-2i/d) (Marian, Pegasus)
  sinusoid_fairseq,  // the same halves, frequency 10000^(-i/(d/2-1)), row position_offset - 1 is zero (M2M100, FSMT)
  learned,           // always stored
};

constexpr uint32_t kNoPositionId = ~0u;

// One side. Encoder and decoder may differ in all of it.
struct StackConfig {
  uint32_t layers = 0, heads = 0, ffn = 0;
  uint32_t d_model = 0;
  uint32_t head_dim = 0;  // of queries, keys and values; heads * head_dim need not be d_model
  Activation activation = Activation::relu;
  std::string activation_name;
  bool gated = false;              // feed-forward act(fc1(x)) * gate(x), not act(fc1(x))
  bool linear_bias = true;         // every linear layer has a stored bias; otherwise none has
  bool key_bias = true;            // with linear_bias: keys have one as well
  bool qkv_bias = true;            // so have queries, keys and values, if others have
  bool out_bias = true;            // and so has what comes behind attention
  bool transposed_linear = false;  // weights of linear layers are stored [depth, columns]
  bool pre_norm = false;           // normalization before each sublayer, not after it
  bool final_norm = false;         // one more at the end of the stack
  bool states_before_final_norm =
      false;  // the reference's last hidden state is what enters that one, not what leaves it
  bool embedding_norm = false;
  bool embedding_norm_first = false;  // the embeddings are normalized before positions are added, not after it
  Norm norm = Norm::layer;
  bool norm_bias = true;  // of layer norms
  float norm_epsilon = 1e-5f;
  bool scaled_attention = true;  // scores are divided by sqrt(head_dim)
  float embedding_scale = 1;
  bool token_types = false;  // embedding of token type 0 is added to every position (BERT)
  Positions positions = Positions::none;
  uint32_t position_offset = 0;  // table row of the first position
  // This id takes the row before position_offset and is not counted (padding in families that derive positions from
  // ids). In a step of decoding only the newest id is asked, as the reference does.
  uint32_t uncounted_id = kNoPositionId;
  uint32_t max_positions =
      0;  // longest sequence, longer ones are refused; 0: any. Tables have position_offset more rows
  // Relative position bias of self attention: a stored table [buckets, heads]. 0 buckets: none.
  uint32_t relative_buckets = 0, relative_distance = 0;
  bool relative_per_layer = false;  // otherwise the first layer's serves all
  // Rotary positions of self attention: so many columns of each head's queries and keys are turned, pairs of
  // neighbours, pair i by position * rotary_base^(-2i / rotary). 0: none.
  uint32_t rotary = 0;
  double rotary_base = 10000;
  // Predicting streams beside the main one (ProphetNet; decoder only). 0: an ordinary decoder. With streams the
  // relative bias is no table but a linear layer of the query's hidden state.
  uint32_t streams = 0;
  // Window attention, per layer: keys on either side that a query sees besides the global ones. Empty: it sees all.
  // Global positions have queries, keys and values of their own (global_q...).
  std::vector<uint32_t> windows;
  std::string type;  // model_type of the side, in families whose sides have one

  [[nodiscard]] uint32_t rotary_pairs() const { return (rotary + 1) / 2; }
  [[nodiscard]] uint32_t inner() const { return heads * head_dim; }  // width of queries, keys and values
};

// A layer of an encoder's input: a 1-D convolution over the rows of a source (with a kernel of 1 a linear layer), then
// an activation; where wanted a gate or a normalization.
struct InputLayer {
  uint32_t kernel = 1, stride = 1;
  uint32_t before = 0, after = 0;  // rows of zeros on either side of a source (padding)
  uint32_t columns = 0;            // of the result
  Activation activation = Activation::none;
  bool bias = true;
  bool gated = false;       // twice the columns are stored: values, then what is activated and multiplied with them
  bool group_norm = false;  // one group: over all rows and columns of a source
};

// Sources that are matrices of numbers, not ids: frames of filter banks, samples, patches. Their rows go through the
// layers; what comes out, with positions (StackConfig), enters the encoder. See model/features.hpp for the numbers of
// rows.
struct FeatureInput {
  uint32_t width = 0;  // columns of a source; 0: sources are ids
  uint32_t rows = 0;   // that every source has; 0: any number
  uint32_t most = 0;   // rows that a source may have; 0: any number
  std::vector<InputLayer> layers;
  // Not 0: rows that leave the encoder, where its stages make fewer of `rows`.
  uint32_t merged = 0;
  uint32_t front = 0;  // rows that come before the source's own (class tokens); their values stand in the positions
};

// Sources that are pictures: `channels` planes of height * width numbers, cut into patches, row by row. A patch is a
// row of FeatureInput: its numbers channel by channel, row by row.
struct PatchInput {
  uint32_t channels = 0;  // 0: sources are no pictures
  uint32_t height = 0, width = 0;
  uint32_t patch_height = 0, patch_width = 0;
  // The patches that stored positions are for, where these are brought to another size (set_picture_size). 0: these.
  uint32_t stored_rows = 0, stored_columns = 0;
  bool filled = false;  // what is left over becomes patches by zeros around it; otherwise it belongs to none
  [[nodiscard]] uint32_t rows() const { return (height + (filled ? patch_height - 1 : 0)) / patch_height; }
  [[nodiscard]] uint32_t columns() const { return (width + (filled ? patch_width - 1 : 0)) / patch_width; }
  [[nodiscard]] uint32_t count() const { return rows() * columns(); }
  [[nodiscard]] uint32_t numbers() const { return channels * patch_height * patch_width; }  // of one patch
};

// A stage of an encoder whose rows are places of a map (Liu et al. 2021): layers whose attention stays within windows,
// which every second layer turns by half a side; then, but behind the last stage, four neighbours each become one row
// by a norm and a linear layer without bias.
struct StageConfig {
  StackConfig stack;  // its layers alone
  uint32_t height = 0, width = 0;
  uint32_t side = 0;  // of a window; no side of the map is shorter
  bool merges = true;
  // Of windows in a layer.
  [[nodiscard]] uint32_t shift(uint32_t layer) const {
    return layer % 2 == 0 || height <= side || width <= side ? 0 : side / 2;
  }
};

// What stands behind an encoder alone (its decoder has no layers), on the first row of each source.
struct HeadConfig {
  uint32_t pooled = 0;  // columns of a linear layer with an activation, where it is stored; 0: there is none
  Activation activation = Activation::tanh;
  uint32_t classes = 0;    // columns of a linear layer behind it: a score for each class; 0: there is none
  bool distilled = false;  // another such layer reads the second row, and the scores are the mean of both
};

struct Config {
  std::string family;            // config.json's model_type
  std::string tokenizer;         // kind, for load_tokenizer
  StackConfig encoder, decoder;  // a decoder of no layers: there is none
  // Not empty: the encoder's layers stand here; `encoder` counts them and says what leaves the last stage.
  std::vector<StageConfig> stages;
  FeatureInput features;
  PatchInput patches;
  HeadConfig head;
  uint32_t source_vocabulary = 0, target_vocabulary = 0;  // source: 0 where sources are features
  bool tied_output = true;         // the output projection is the target embedding unless the file has its own
  bool shared_embeddings = true;   // source and target embedding are one unless the file has two
  bool tied_stacks = false;        // what the file lacks of the encoder is the decoder's (tie_encoder_decoder)
  bool logits_bias = false;        // a bias on the logits may be stored
  bool memory_projection = false;  // a linear layer from the encoder's width to the decoder's
  // Between decoder and output projection: a linear layer, activation and normalization (BERT's head), then a factor.
  bool output_transform = false;
  Activation output_activation = Activation::none;
  float output_scale = 1;
};

// Where a family keeps its tensors. "{}" is the layer's number. Names without ".weight" at the end are prefixes: a
// linear layer's name gets ".weight" and ".bias" behind it, a normalization's too (or ".gamma" and ".beta").
// Queries, keys and values of one name lie side by side in one tensor.
struct AttentionNames {
  std::string q, k, v, out, norm;
  std::string relative_bias;                 // full name; of a linear layer with streams; in stages by distance
  std::string global_q, global_k, global_v;  // with windows
};
struct LayerNames {
  AttentionNames self, cross;  // cross: decoder only
  // fc1 and gate of one name lie in one tensor, the gate's rows (what is not activated) first.
  std::string fc1, gate, fc2, norm;
};
struct StackNames {
  // Full names in order of preference; the first one in the checkpoint is taken.
  std::vector<std::string> embedding, positions, token_types, streams;
  std::string embedding_norm, final_norm;
  std::vector<std::string> input, input_norms;  // FeatureInput::layers; of those that have a norm, else empty
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
  // Checkpoints of a bare model lack this beginning of every name; both forms are found. Empty: there is none.
  std::string base_prefix;
  // Beginnings of names that others may stand for: {"encoder.", "encoder.bert."}.
  std::vector<std::pair<std::string, std::string>> other_prefixes;
};

}  // namespace lapilli::model
