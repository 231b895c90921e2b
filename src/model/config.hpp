// Configuration of a Transformer (Vaswani et al. 2017) as plain data: encoder and decoder, or one of them alone.
// Families fill it from config.json; blocks read it. Fields are named after their function, not after a family.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ops/attention/attention.hpp"
#include "ops/products/matmul.hpp"
#include "ops/rows/basic.hpp"

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
  // Tables that are always stored.
  learned,
  sinusoid_stored,  // in another order than those above, or with something added to them
};

constexpr uint32_t kNoPositionId = ~0u;
constexpr uint32_t kAllRows = ~0u;

// The most rows of one sequence that a pass over prompt ids has.
constexpr uint32_t kMostPromptRows = 256;

// Vectors of relative positions, from which self attention makes terms of its scores (ops/attention/attention.hpp): a
// table with a row for each bucket of distances (relative.hpp), and a projection in each layer.
struct DistanceVectors {
  enum class Table : uint8_t { none, stored, sinusoids } table = Table::none;
  uint32_t buckets = 0;     // stored: on either side; 0: each distance has a row
  uint32_t distance = 0;    // stored: where buckets or rows end; sinusoids: greater ones have its row; 0: none are
  bool normalized = false;  // the stored rows are normalized first
  bool by_query = false, by_key = false;  // the terms
  bool shared = false;                    // the layer's own projections of queries and keys make the vectors
};

// A change of the frequencies of rotary positions (Chen et al. 2023; the Llama 3 herd 2024), for texts longer than
// those of the training.
struct RotaryScaling {
  enum class Kind : uint8_t {
    none,
    linear,  // all are divided by `factor`
    llama3,  // those with waves longer than original / low are, those with waves below original / high are kept
  } kind = Kind::none;
  double factor = 1;
  double low = 1, high = 4, original = 8192;  // llama3
};

// One side. Encoder and decoder may differ in all fields. Without layers: the model has no such side.
struct StackConfig {
  uint32_t layers = 0, heads = 0, ffn = 0;
  uint32_t d_model = 0;
  // Not 0: embeddings, positions, their norm and the output projection have this width, and a linear layer takes the
  // embeddings to d_model (models with one side).
  uint32_t embedding_width = 0;
  bool wide_positions = false;  // with embedding_width: positions have d_model columns and follow the linear layer
  // Not 0: layers share weights in so many groups of neighbours.
  uint32_t layer_groups = 0;
  uint32_t head_dim = 0;  // of queries, keys and values; heads * head_dim may differ from d_model
  // Heads of keys and values, each for as many heads of queries; a divisor of `heads`. 0: as many as `heads`.
  uint32_t cache_heads = 0;
  Activation activation = Activation::relu;
  std::string activation_name;
  bool gated = false;              // feed-forward act(fc1(x)) * gate(x), not act(fc1(x))
  uint32_t middle_layers = 0;      // feed-forward: square layers between fc1 and fc2, each with the activation
  bool linear_bias = true;         // all linear layers have a stored bias; otherwise none has
  bool key_bias = true;            // with linear_bias: keys have a bias
  bool qkv_bias = true;            // with linear_bias: queries, keys and values have a bias
  bool out_bias = true;            // with linear_bias: the projection after attention has a bias
  bool ffn_bias = true;            // with linear_bias: the feed-forward layers have a bias
  bool transposed_linear = false;  // weights of linear layers are stored [depth, columns]
  bool pre_norm = false;           // normalization before each sublayer, not after it
  bool first_norm = true;          // with pre_norm: the first layer's attention has one too
  bool query_norm_alone = false;   // with pre_norm: keys and values of self attention come from rows as they are
  bool final_norm = false;         // another normalization at the end of the stack
  bool states_before_final_norm =
      false;  // the reference's last hidden state is the input of the final norm, not its output
  bool embedding_norm = false;
  bool embedding_norm_first = false;  // the embeddings are normalized before positions are added, not after
  bool embedding_norm_last = false;   // with embedding_width: they are normalized after the linear layer
  bool embedding_projection_bias = true;
  Norm norm = Norm::layer;
  bool norm_bias = true;       // of layer norms
  bool norm_plus_one = false;  // rows are multiplied with 1 + weight
  bool branch_norm = false;    // with pre_norm: the result of each sublayer is normalized before it is added
  float norm_epsilon = 1e-5f;
  bool scaled_attention = true;  // scores are divided by sqrt(head_dim * score_parts)
  uint32_t score_parts = 1;
  float score_scale = 0;    // not 0: scores are multiplied by this instead
  float score_cap = 0;      // not 0: scores then become cap * tanh(score / cap)
  DistanceVectors vectors;  // an encoder alone
  // Not 0: each distance of self attention, clipped to so many on either side, has a vector, which is added to keys and
  // values (Shaw et al. 2018). No windows, no rotation.
  uint32_t reach = 0;
  // An encoder alone: scores have a term by whether the rows' types are equal, instead of embeddings of types. Queries
  // then have a bias for each kind of term, and projections of attention are stored by head.
  bool segments = false;
  // Not 0: the next segment of a source attends to the inputs that each layer had for so many of the last rows, as keys
  // before its own (Dai et al. 2019); kAllRows: for all of them. `reused`, if not 0: the first rows of a segment that
  // count.
  uint32_t memory = 0, reused = 0;
  // A decoder alone with memory: the rows before a text are zeros, and attended to. Queries then have a bias for the
  // terms by relative position besides that for keys.
  bool recurrent = false;
  // With `recurrent`: each row sees `memory` rows, its own included. Otherwise it sees all of its segment before it and
  // the memory.
  bool same_length = false;
  uint32_t distances = 0;  // with `recurrent`: those that have vectors of their own; greater ones have the last one's
  // Not 0: a convolution with this kernel over the embeddings is added to the first layer's output, which is then
  // normalized (an encoder alone).
  uint32_t convolution = 0;
  Activation convolution_activation = Activation::tanh;
  float embedding_scale = 1;
  // States between the layers are smaller than the reference's by this factor (Granite: a network whose sublayers are
  // scaled equals one whose states are divided by it), except behind a final norm.
  float state_scale = 1;
  bool token_types = false;  // the embedding of token type 0 is added to every position (BERT)
  // An encoder's sources tell the token type of each row, one of so many (the two texts of a pair), whose embedding is
  // added; without token_types. 0: they do not.
  uint32_t row_types = 0;
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
  // neighbours (or of columns i and rotary / 2 + i), pair i by position * rotary_base^(-2i / rotary). 0: none.
  uint32_t rotary = 0;
  double rotary_base = 10000;
  double window_rotary_base = 10000;  // of layers with a window
  bool rotary_halves = false;
  RotaryScaling rotary_scaling, window_rotary_scaling;
  std::vector<uint8_t> rotated;  // per layer: 0: queries and keys are not rotated; empty: all are
  bool head_norm = false;        // with rotary positions: heads of queries and keys are normalized before the rotation
  bool head_norm_last = false;   // with head_norm: after the rotation instead
  // Predicting streams beside the main one (ProphetNet; decoder only). 0: an ordinary decoder. With streams, the
  // relative bias is a linear layer of the query's hidden state instead of a table.
  uint32_t streams = 0;
  // Window attention, per layer: keys before its own that a query sees besides the global ones; kNoWindow: it sees all.
  // Empty: all layers see all. `windows_after`: the keys behind it; empty: in an encoder as many, in a decoder none.
  std::vector<uint32_t> windows, windows_after;
  bool rings = true;  // caches of layers with windows are rings; false: they hold all positions, for tests
  // A decoder whose layers have a recurrent cell in place of self attention (ops/rows/recurrent_cell.hpp).
  bool cells = false;
  // A decoder whose self attention sees the encoder's output, too (T5Gemma 2): its keys and values, made by the same
  // projections and not rotated, stand beside the decoder's own under one softmax. Layers have no cross attention.
  bool merged_attention = false;
  // An encoder alone, made of a decoder's layers: a row sees itself and those before it.
  bool causal = false;
  bool sees_ahead = false;  // a decoder whose rows see all: it represents texts as an encoder, and writes none
  // With windows: sources may have global positions, which have projections of their own (global_q...).
  bool global_positions = false;
  std::string type;  // model_type of the side, in families with one per side

  [[nodiscard]] uint32_t embedding_columns() const { return embedding_width ? embedding_width : d_model; }
  // The number of a layer's weights.
  [[nodiscard]] uint32_t stored_layer(uint32_t layer) const {
    return layer_groups ? static_cast<uint32_t>(uint64_t{layer} * layer_groups / layers) : layer;
  }
  [[nodiscard]] uint32_t window(uint32_t layer) const { return windows.empty() ? kNoWindow : windows[layer]; }
  // Positions that a layer's cache holds when sequences have so many. With a window it is a ring: a window and one pass
  // over prompt ids, whose rows are all written before the first of them looks back.
  [[nodiscard]] uint32_t cache_positions(uint32_t layer, uint32_t most) const {
    if (!rings) return most;
    return static_cast<uint32_t>(std::min<uint64_t>(most, uint64_t{window(layer)} + kMostPromptRows));
  }
  // Words of a source's list of global positions, for sources of this many positions.
  [[nodiscard]] uint32_t globals_stride(uint32_t most) const { return global_positions ? most + 1 : 1; }
  [[nodiscard]] bool rotates(uint32_t layer) const { return rotary > 0 && (rotated.empty() || rotated[layer] != 0); }
  [[nodiscard]] uint32_t position_columns() const { return wide_positions ? d_model : embedding_columns(); }
  [[nodiscard]] uint32_t rotary_pairs() const { return (rotary + 1) / 2; }
  [[nodiscard]] uint32_t kv_heads() const { return cache_heads ? cache_heads : heads; }
  [[nodiscard]] uint32_t group() const { return kv_heads() ? heads / kv_heads() : 1; }
  [[nodiscard]] uint32_t inner() const { return heads * head_dim; }  // width of queries
  // With segments: queries with each bias, and a vec4 that begins with the row's type. Recurrent: queries with each
  // bias.
  [[nodiscard]] uint32_t query_columns() const {
    return segments ? 3 * inner() + 4 : recurrent ? round_up(inner(), 4u) + inner() : inner();
  }
  [[nodiscard]] uint32_t kv_inner() const { return kv_heads() * head_dim; }  // of keys; of values
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

// The result of a head, for each of its rows.
enum class HeadKind : uint8_t {
  tokens,      // a score for each id of the vocabulary
  classes,     // a score for each class
  tags,        // a score for each class of a word or a part of one
  spans,       // two scores: an answer begins here, ends here
  vectors,     // numbers that represent the source
  sentences,   // vectors of whole texts, as sentence-transformers makes them (Reimers and Gurevych 2019)
  regression,  // numbers, each a measure of its own
};

// A step behind the pooling of a sentence: a linear layer with an activation, or, without columns, the division by the
// Euclidean length.
struct SentenceStep {
  uint32_t columns = 0;
  Activation activation = Activation::none;
  bool bias = true;
};

// Ids of similar frequency, with a table of their own (Grave et al. 2017, adaptive softmax): every cluster but the
// first has an entry behind the ids of the first, and an id's probability is its cluster's times its own within that.
struct Cluster {
  uint32_t first = 0, ids = 0;
  uint32_t width = 0;  // of its table; a linear layer without bias takes it to d_model, if projected
  bool projected = true;
  bool tied_projection = false;                // the output's is the table's unless the file has its own
  uint32_t stored_first = 0, stored_rows = 0;  // its rows in the stored table, and all of that table
};

// A head: a linear layer on rows of the last stack's output.
struct HeadConfig {
  HeadKind kind = HeadKind::tokens;
  bool every_row = true;  // otherwise one row for each source:
  Pooling pooling = Pooling::row;
  uint32_t row = 0;     // with Pooling::row: which of the source's rows
  uint32_t pooled = 0;  // columns of a linear layer with an activation before it, if stored; 0: none
  Activation activation = Activation::tanh;
  bool pooled_bias = true;   // this layer has a bias
  bool pooled_norm = false;  // a normalization follows it, of the last stack's kind
  uint32_t columns = 0;      // of the result; 0: the pooled row itself. Of tokens: the target vocabulary
  bool distilled = false;    // classes: another such layer reads the second row; scores are the mean of both
  // Sentences: rows made by these poolings stand side by side behind the first, then the steps follow. A prompt's rows
  // may be left out of all poolings.
  std::vector<Pooling> beside;
  std::vector<SentenceStep> steps;
  bool pools_prompt = true;
};

// The rows of a source: token ids, numbers (frames of filter banks, or samples of sound), or patches of a picture. A
// decoder alone has no source, only a prompt.
enum class Reads : uint8_t { nothing, ids, sound, pictures };

// The kind of a model, which follows from its Config: everybody asks this instead of looking at the fields behind it.
struct Kind {
  Reads reads = Reads::ids;
  bool encodes = true;  // it has an encoder
  bool decodes = true;  // it has a decoder
  bool writes = true;   // a decoder with scores of tokens: a search can run
  bool attends = true;  // the decoder attends to the encoder's output
  [[nodiscard]] bool reads_text() const { return reads == Reads::ids || reads == Reads::nothing; }
};

struct Config {
  [[nodiscard]] Kind kind() const {
    const bool encodes = encoder.layers > 0, decodes = decoder.layers > 0;
    return {reads(), encodes, decodes, decodes && head(HeadKind::tokens), encodes && decodes && cross_attention};
  }
  [[nodiscard]] Reads reads() const {
    if (encoder.layers == 0) return Reads::nothing;
    return patches.channels > 0 ? Reads::pictures : features.width > 0 ? Reads::sound : Reads::ids;
  }
  // The first head of this kind; null: the model has none.
  [[nodiscard]] const HeadConfig* head(HeadKind kind) const {
    const auto it = std::find_if(heads.begin(), heads.end(), [&](const HeadConfig& h) { return h.kind == kind; });
    return it == heads.end() ? nullptr : &*it;
  }
  // The side whose hidden states leave the model.
  [[nodiscard]] const StackConfig& last_stack() const { return decoder.layers > 0 ? decoder : encoder; }

  std::string family;            // config.json's model_type
  std::string tokenizer;         // kind, for load_tokenizer
  StackConfig encoder, decoder;  // at least one of them has layers
  bool cross_attention = true;   // of the decoder, if there is an encoder
  // Not empty: the encoder's layers are here; `encoder` has their number and the output of the last stage.
  std::vector<StageConfig> stages;
  FeatureInput features;
  PatchInput patches;
  std::vector<HeadConfig> heads{HeadConfig()};
  uint32_t source_vocabulary = 0, target_vocabulary = 0;  // source: 0 unless sources are ids
  // A decoder alone: embeddings and scores of tokens are made by clusters; scores are logarithms of probabilities then.
  std::vector<Cluster> clusters;
  bool tied_output = true;        // the output projection is the target embedding unless the file has its own
  bool shared_embeddings = true;  // source and target embedding are one unless the file has two
  // Not kNoPositionId: the decoder reads the source as well, behind this id, and its rows go to a head (BART as a
  // classifier).
  uint32_t shifted_start = kNoPositionId;
  bool tied_stacks = false;        // tensors that the encoder lacks in the file are the decoder's (tie_encoder_decoder)
  bool logits_bias = false;        // a bias on the logits may be stored
  bool memory_projection = false;  // a linear layer from the encoder's width to the decoder's
  // Between last stack and output projection: a linear layer, activation and normalization (BERT's head), then a
  // factor.
  bool output_transform = false;
  bool output_transform_bias = true;
  bool output_transform_norm = true;
  bool transformed_states = false;  // the reference's last hidden state is behind this layer
  Activation output_activation = Activation::none;
  float output_scale = 1;
  // Not 0: logits become cap * tanh(logits / cap).
  float output_cap = 0;
};

// Names of a family's tensors. "{}" is the layer's number. Names without ".weight" at the end are prefixes: a linear
// layer's is completed by ".weight" and ".bias", a normalization's too (or by ".gamma" and ".beta"). Queries, keys and
// values of the same name are side by side in one tensor.
struct ClusterNames {
  // Full names in order of preference.
  std::vector<std::string> embedding, embedding_projection, output, output_projection, output_bias;
};
struct AttentionNames {
  std::string q, k, v, out, norm;
  std::string relative_bias;                 // full name; with streams, a linear layer's; in stages, by distance
  std::string global_q, global_k, global_v;  // with windows
  std::string vector_q, vector_k;            // projections of distance vectors, unless shared
  std::string q_norm, k_norm;                // norms of heads
  std::string distance_table;                // full name, with reach
  std::string after_norm;                    // with branch_norm
  // With segments: full names of the biases of queries, and of the segments' vectors.
  std::string content_bias, position_bias, segment_bias, segments;
  // Recurrent stacks: those of all layers, where a layer has none of its own.
  std::string shared_content_bias, shared_position_bias;
  std::string gate;  // with cells: the layer that makes gates; `v` makes values, without a bias
};
struct LayerNames {
  AttentionNames self, cross;  // cross: decoder only
  // fc1 and gate of the same name are in one tensor, the gate's rows (those not activated) first unless gate_last.
  std::string fc1, gate, fc2, norm, after_norm;
  std::string middle;  // a prefix, completed by the number of the middle layer: "layers.{}.middle."
  bool gate_last = false;
};
struct StackNames {
  // Full names in order of preference; the first one in the checkpoint is taken.
  std::vector<std::string> embedding, positions, token_types, streams;
  std::string embedding_norm, embedding_projection, final_norm;
  std::vector<std::string> input, input_norms;  // by FeatureInput::layers; norms are empty for layers without one
  std::vector<std::string> front;               // full names, of FeatureInput::front rows
  std::string vectors, vectors_norm;            // distance vectors; a full name, and that of a norm
  std::string second_stream;                    // full name of the vector with which rows of a second stream begin
  std::string convolution, convolution_norm;
  LayerNames layer;
};
struct StageNames {
  StackNames stack;
  std::string merge_norm, merge;
};
struct HeadNames {
  std::string pooled, result, second, norm;
  std::vector<std::string> steps;  // as HeadConfig::steps; empty for those without columns
};
struct Names {
  StackNames encoder, decoder;
  std::vector<StageNames> stages;
  std::vector<std::string> output, logits_bias;
  std::vector<ClusterNames> clusters;                 // as Config::clusters
  std::string cluster_entries, cluster_entries_bias;  // full names
  std::string memory_projection, output_transform, output_norm;
  std::vector<HeadNames> heads;  // as Config::heads; those of tokens are in `output`
  // Checkpoints of a bare model lack this prefix; both forms are found. Empty: there is none.
  std::string base_prefix;
  // Prefixes and alternatives for them: {"encoder.", "encoder.bert."}.
  std::vector<std::pair<std::string, std::string>> other_prefixes;
};

}  // namespace lapilli::model
