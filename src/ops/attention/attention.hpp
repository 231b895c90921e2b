// Scaled dot-product attention over KV tensors (see KvShape): "attention" for whole sequences (no n x n buffer unless
// the weights are asked for), "attention_step" for one query per row while decoding.
#pragma once

#include "graph/graph.hpp"
#include "ops/attention/swin_windows.hpp"
#include "ops/core/kv_layout.hpp"

namespace lapilli {

// A bias on the scores (after scaling) by relative position: a bucket for each distance (position of the key - position
// of the query), and a value per bucket and head.
//   table: values [buckets][heads] in a tensor of kBiasWords words, the same for all queries (T5)
//   rows:  values [buckets][heads] in the columns of q's row, from `column` on (ProphetNet)
//   map:   values [(2 * side - 1)^2][heads] in a storage buffer, by SwinWindows::distance (Swin); no distances
//   terms: no values but products, before scaling: see RelativeTerms
// Buckets are data: entry i of a tensor of kBiasWords words is the bucket (a whole number) of distance low + i, for i <
// count; distances beyond either end use the bucket of that end.
enum class BiasForm : uint32_t { none, table, rows, map, terms };
constexpr uint32_t kBiasWords = 4096;  // 16 KiB, which every device binds as a uniform buffer
struct RelativeBias {
  BiasForm form = BiasForm::none;
  int32_t low = 0;
  uint32_t count = 0, buckets = 0;
  uint32_t column = 0;
};

// Terms of the scores that are products with vectors of relative positions (Dai et al. 2019, Transformer-XL; He et al.
// 2021, DeBERTa), for BiasForm::terms. The vectors of a distance are in one line, whose number is the distance's bucket
// minus `first_line`: head h has its keys from column key_column + h * key_stride on, its queries from h * head_dim on.
//   by_query:   the head's columns in q from `bias.column` on, times the line's keys
//   by_key:     the key, times the line's queries
//   by_segment: the head's columns in q from segment_column on, times one of two vectors: a tensor of kBiasWords words
//               holds [same, other][heads * head_dim]. Rows of q tell their segment in column type_column.
//   by_mask:    no product: a mask hides keys from queries. It has words of bits, one for each key, ceil(keys / 32)
//               words for each query; those of query 0 of the first sentence begin at row mask_row. Behind the last row
//               there are kBiasWords more words. Not with spans.
// There may be more keys than queries: the queries are the last positions then, and keys before them, whose rows are
// not in q (a memory of an earlier segment), have segment 0.
struct RelativeTerms {
  uint8_t by_query = 0, by_key = 0, by_segment = 0, by_mask = 0;
  uint32_t first_line = 0, key_column = 0, key_stride = 0;
  uint32_t segment_column = 0, type_column = 0;
  uint32_t mask_row = 0;
};
// Words of a mask's row.
constexpr uint32_t mask_words(uint32_t keys) { return (keys + 31) / 32; }

// "attention": q [batch * queries, heads * head_dim (and the bias, if it is in rows)]; row b * queries + i is query i
// of sentence b and sees the keys [begin, end) of the sentence's lengths entry, restricted to positions <= i if causal.
// A query without any key gives zeros (and zero weights). A window (Beltagy et al. 2020) restricts these keys to those
// at most `window` positions before the query and `window_after` behind it, plus the sentence's listed (global) ones.
// The listed queries are a node of their own, global_queries: it sees all keys and writes only the rows of the listed
// positions, into an existing context.
// inputs: q, kv (arena or state; slot = sentence), lengths (uniform), distances and bias (table; with terms the
// segments' vectors) or kNone, globals or kNone
//   (u32; per sentence globals_stride words: count, ascending positions within the lengths; a stride of 0: no lists),
//   context or kNone, and with terms the lines of vectors, then the mask (uniform) or kNone.
// With `spans` the rows are those of an encode pass, counted through all of its sentences: q [queries, ...], kv has one
// slot with that many positions, and row r sees the rows of its own sentence; `batch` and `keys` are the maximum number
// of sentences and of ids in one. Lengths are then the spans (uniform), and the lists hold rows of the pass, by the
// sentence's number in it. No weights, no bias in rows. Rows past the last sentence are not written.
// outputs: context [batch * queries, heads * head_dim], and if wanted weights [batch * heads * queries, keys] (not with
// a window). With terms the weights are the only output of their node, which has another one beside it for the context;
// there are no heads that share keys, and with a causal mask `window` bounds the keys before its own that a query sees.
// A context may be wider than the heads: it then has the logarithm of the softmax's denominator for each head, in the
// first of four columns from log_sums_column on (MASKED where a query sees no key), for "join_contexts". Not with spans
// or a map, nor with lists.
// With a `map` (and BiasForm::map, always together) sentences are the windows of maps, with map.area() queries and keys
// each: no lengths, spans, weights, causal mask or `window`. Keys that are apart from the query get kApart added.
constexpr uint32_t kNoWindow = 0xffffffffu;
inline uint32_t log_sums_column(const KvShape& kv) { return round_up(kv.query_heads() * kv.head_dim, 4u); }
inline uint32_t columns_with_log_sums(const KvShape& kv) { return log_sums_column(kv) + 4 * kv.query_heads(); }
struct AttentionAttributes {
  uint32_t batch = 0, queries = 0, keys = 0;  // keys: the maximum of any sentence (columns of the weights)
  KvShape kv;
  uint32_t causal = 0;
  float scale = 1;
  RelativeBias bias;
  uint32_t window = kNoWindow;  // keys before the query
  uint32_t window_after = 0;    // keys behind it
  uint32_t global_queries = 0;  // 1: the queries are the listed ones; `window` must be set but its value is ignored
  uint32_t globals_stride = 0;
  uint32_t spans = 0;  // 1: the rows of an encode pass
  SwinWindows map;     // side 0: no map
  RelativeTerms terms;
  float cap = 0;  // not 0: scaled scores become cap * tanh(score / cap); not with a map or terms
};

// "attention_step": a row's word gives its beam slot and position. Self attention sees the positions up to the row's
// own, or the last `window` of these and its own; each is read from the cache of the slot that lineage (of the
// position's parity) names for it, except the row's own position, which is in the row's own slot. Cross attention sees
// the keys [begin, end) of slot `beam slot / beams`. Rows at or beyond `live` write nothing. inputs: q, kv, lineage or
// kNone (cross), step, lengths or kNone (self), distances and bias (table) or kNone (self attention only). outputs:
// context, and space for running sums: where the cache of a sentence's slots fits no binding, attention processes parts
// of it in sequence; on GPUs chunks of many keys may run in parallel. A context may have logarithms as that of
// "attention". A sink joins the scores
// of a head's keys and has no value (Xiao et al. 2024).
struct AttentionStepAttributes {
  KvShape kv;                                              // slots: beam slots (self) or slots (cross) of the session
  uint32_t self = 1;                                       // 0: cross
  uint32_t lineage_beam_slots = 0, lineage_positions = 0;  // strides of lineage
  float scale = 1;
  // Beam slots per slot. If self attention knows them, it can be split by sentences when a head of the cache exceeds a
  // binding; 0: unknown. Cross attention requires them.
  uint32_t beams = 0;
  RelativeBias bias;
  uint32_t longest = 0;     // maximum positions of any session; 0: unknown
  uint32_t part_cells = 0;  // for tests; if not 0, forces self attention in parts of this many (slot, position) cells
  // Positions before its own that a row of self attention sees, fewer than the cache has; kNoWindow: all.
  uint32_t window = kNoWindow;
  uint32_t sink_column = 0;  // not 0: the column of q with the first head's sink, with BiasForm::rows
  float cap = 0;             // as above; a sink has none
  // 1: rows of prompts (self attention). Those of a text follow one another at consecutive positions, in one beam slot
  // that holds all of them, and lineage of both parities names the same slots for the positions before.
  uint32_t prompt = 0;
};

// "rotate": rotary positions (Jianlin Su et al. 2021). The first 2 * pairs columns of each head's queries and keys are
// rotated as pairs of neighbours, or with `halves` of columns i and pairs + i: (a, b) becomes (a cos - b sin, b cos + a
// sin), each pair by its own angle, which depends on the position. Both in place, for the rows that linear_kv() has
// written with the same shape (RowLayout::batch or step). With norms, each head is divided by
// its root mean square and multiplied with weights first: those of queries, then those of keys, round_up(head_dim, 4)
// words each. inputs: q [rows, heads * head_dim], kv, table, step, spans or kNone, norms or kNone. outputs: q, kv. The
// table has 2 * kRotationRows rows of round_up(2 * pairs, 4) words: row i holds cosine and sine of each pair's angle at
// position i, row kRotationRows + i those at position i * kRotationRows. Adding the angles of both lets a small table
// serve positions below kRotationRows squared. A position is the one in kv; with `spans` (rows of an encode pass), the
// one in the row's sentence.
constexpr uint32_t kRotationRows = 256;
constexpr uint32_t kMostNormedHeads = 512;  // of queries and keys together
struct RotateAttributes {
  KvShape kv;
  uint32_t pairs = 0;
  uint32_t spans = 0;   // 1: the rows of an encode pass
  uint32_t halves = 0;  // 1: pairs of a column in each half, not of neighbours
  uint32_t norms = 0;   // 1: heads are normalized; all of their columns are rotated then
  float epsilon = 0;
  uint32_t norms_last = 0;  // 1: after the rotation, not before it
};

namespace ops {
struct AttentionResult {
  graph::TensorId context, weights;
};
struct AttentionOperands {
  graph::TensorId q = graph::kNone, kv = graph::kNone, lengths = graph::kNone;
  // Only for some forms of attention:
  graph::TensorId distances = graph::kNone, bias = graph::kNone;  // for a RelativeBias
  graph::TensorId globals = graph::kNone;                         // for a window
  graph::TensorId context = graph::kNone;                         // global_queries: updated in place
  graph::TensorId vectors = graph::kNone;                         // for RelativeTerms; `bias` has those of segments
  graph::TensorId mask = graph::kNone;                            // for RelativeTerms::by_mask
};
// Results beside the heads' columns.
struct AttentionWants {
  AttentionWants(bool all_weights, bool logarithms = false) : weights(all_weights), log_sums(logarithms) {}  // NOLINT
  bool weights, log_sums;
};
AttentionResult attention(graph::Graph& g, const std::string& label, const AttentionOperands& operands,
                          const AttentionAttributes& attributes, AttentionWants wants);
struct RotateOperands {
  graph::TensorId q = graph::kNone, kv = graph::kNone, table = graph::kNone;
  graph::TensorId step_or_spans = graph::kNone, norms = graph::kNone;
};
void rotate(graph::Graph& g, const std::string& label, const RotateOperands& operands,
            const RotateAttributes& attributes);
// State tensors that steps read.
struct StepTensors {
  graph::TensorId step = graph::kNone, lineage = graph::kNone, lengths = graph::kNone;
  graph::TensorId distances = graph::kNone, bias = graph::kNone;  // for a RelativeBias
};
struct AttentionStepOperands {
  graph::TensorId q = graph::kNone, kv = graph::kNone;
  StepTensors state;
  bool log_sums = false;  // the context has them
};
graph::TensorId attention_step(graph::Graph& g, const std::string& label, const AttentionStepOperands& operands,
                               const AttentionStepAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
