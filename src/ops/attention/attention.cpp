// "attention": see attention.hpp.
#include <algorithm>

#include "ops/attention/attention_cases.hpp"
#include "ops/attention/attention_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/spans.hpp"
#include "ops/core/state.hpp"
#include "ops/core/tuning.hpp"
#include "vulkan/caps/bindings.hpp"

namespace lapilli {
namespace attention_impl {
namespace {

using ull = unsigned long long;

struct Push {
  LAPILLI_PUSH_BEHIND(AttentionPush, common, uint32_t queries, query_begin, query_end, tiles; uint32_t keys, causal;
                      uint32_t weights_begin, weights_ld;
                      uint32_t window, global_queries, globals_begin, globals_stride;
                      uint32_t map_rows, map_columns, map_shift;)
};
struct WindowPush {
  LAPILLI_PUSH_BEHIND(AttentionPush, common, uint32_t queries, query_begin, query_end, tiles; uint32_t keys, causal;
                      uint32_t weights_begin, weights_ld;
                      uint32_t window, global_queries, globals_begin, globals_stride, window_after;)
};
struct TermsPush {
  LAPILLI_PUSH_BEHIND(AttentionPush, common, uint32_t queries, query_begin, query_end, tiles; uint32_t keys, causal;
                      uint32_t weights_begin, weights_ld;
                      uint32_t line_words, first_line, key_column, key_stride, segment_column, type_column;
                      uint32_t mask_begin;)
};
// Inputs after q, kv and lengths.
constexpr size_t kDistances = 3, kGlobals = 5, kContext = 6, kVectors = 7, kMask = 8;
constexpr uint64_t kQueriesPerGroup = state::TILE_ROWS, kQueriesPerSubgroup = 16;

// With terms the causal mask has the window.
bool has_window(const AttentionAttributes& a) { return a.window != kNoWindow && a.bias.form != BiasForm::terms; }

Status infer_window(const graph::Graph& g, const graph::Node& node, const AttentionAttributes& a) {
  if (!has_window(a))
    return a.global_queries ? Status(node_error(node, "global queries belong to a window")) : Status{};
  if (a.window >= 1u << 30 || a.window_after >= 1u << 30)
    return node_error(node, "a window of %u positions before a query and %u behind it", a.window, a.window_after);
  if (a.causal || a.bias.form != BiasForm::none || operand(node.outputs, 1) != graph::kNone)
    return node_error(node, "attention with a window has no causal mask, relative positions or weights");
  if ((a.globals_stride == 0 && a.global_queries) || (a.queries != a.keys && !a.spans))
    return node_error(node, "a window asks for a list of its global queries, and for as many queries as keys");
  if (a.globals_stride != 0) {
    LAPILLI_CHECK(expect_input(g, node, kGlobals, {"globals", 0, 0, graph::DType::u32}));
    LAPILLI_CHECK(expect_words(g, node, node.inputs[kGlobals], "globals", uint64_t{a.batch} * a.globals_stride));
  }
  const auto into = operand(node.inputs, kContext);
  const bool in_place = into != graph::kNone && g.root(into) == g.root(node.outputs[0]);
  if (in_place != (a.global_queries != 0)) return node_error(node, "global queries update a context in place");
  return {};
}

bool may_cap(const AttentionAttributes& a) { return a.bias.form != BiasForm::terms && a.bias.form != BiasForm::map; }

// The columns that the terms need in q, and in a line of vectors.
Status infer_terms_columns(const graph::Graph& g, const graph::Node& node, const AttentionAttributes& a) {
  const uint64_t inner = uint64_t{a.kv.heads} * a.kv.head_dim, head = a.kv.head_dim;
  const auto &q = g.tensor(node.inputs[0]), &lines = g.tensor(node.inputs[kVectors]);
  const RelativeTerms& t = a.terms;
  const uint64_t last_key = t.key_column + uint64_t{a.kv.heads - 1} * t.key_stride + head;
  if ((t.by_query && (a.bias.column + inner > q.cols || last_key > lines.cols)) || (t.by_key && inner > lines.cols) ||
      (t.by_segment && (t.segment_column + inner > q.cols || t.type_column >= q.cols)))
    return node_error(node, "rows of %u columns and lines of %u are too narrow for %u heads of %u", q.cols, lines.cols,
                      a.kv.heads, a.kv.head_dim);
  if (heads_are_vec4(a.kv) && (a.bias.column % 4 || t.key_column % 4 || t.key_stride % 4))
    return node_error(node, "vectors that are no whole vec4s");
  return {};
}

Status infer_mask(const graph::Graph& g, const graph::Node& node, const AttentionAttributes& a) {
  if (!a.terms.by_mask) return {};
  if (a.spans || a.keys > 32 * kBiasWords / 2)
    return node_error(node, "a mask for rows of a pass, or for %u keys", a.keys);
  LAPILLI_CHECK(expect_input(g, node, kMask, {"mask", 0, 0, graph::DType::u32}));
  const uint64_t rows = a.terms.mask_row + uint64_t{a.batch} * a.queries;
  return expect_words(g, node, node.inputs[kMask], "mask", rows * mask_words(a.keys) + kBiasWords);
}

Status infer_terms(const graph::Graph& g, const graph::Node& node, const AttentionAttributes& a) {
  if (a.bias.form != BiasForm::terms) return {};
  const RelativeTerms& t = a.terms;
  if (a.kv.group != 1 || (a.queries > a.keys && !a.spans))
    return node_error(node, "attention with terms has no shared keys, nor fewer keys than queries");
  if (a.window != kNoWindow && (!a.causal || a.window >= 1u << 30))
    return node_error(node, "attention with terms has windows behind a causal mask, up to %u", 1u << 30);
  if ((operand(node.outputs, 0) == graph::kNone) == (operand(node.outputs, 1) == graph::kNone))
    return node_error(node, "attention with terms has either a context or weights");
  LAPILLI_CHECK(expect_input(g, node, kVectors, {"vectors", 0, 0}));
  LAPILLI_CHECK(infer_terms_columns(g, node, a));
  LAPILLI_CHECK(infer_mask(g, node, a));
  if (!t.by_segment) return {};
  const uint64_t words = 2 * uint64_t{a.kv.heads} * a.kv.head_dim;
  if (words > kBiasWords)
    return node_error(node, "segments of %u numbers; at most %u are supported", words, kBiasWords);
  return expect_words(g, node, operand(node.inputs, kDistances + 1), "segments", kBiasWords);
}

Status infer_spans(const graph::Graph& g, const graph::Node& node, const AttentionAttributes& a) {
  if (a.batch == 0 || a.batch > state::MAX_ROWS || a.queries == 0 || a.kv.slots != 1 || a.queries > a.kv.positions)
    return node_error(node, "%u rows of %u sentences do not fit %u slots of %u positions", a.queries, a.batch,
                      a.kv.slots, a.kv.positions);
  if (a.bias.form == BiasForm::rows || operand(node.outputs, 1) != graph::kNone)
    return node_error(node, "the rows of a pass have no bias in rows and no weights");
  LAPILLI_CHECK(expect_input(g, node, 0, {"q", a.queries}));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, 2), "spans", state::SPAN_WORDS));
  LAPILLI_CHECK(infer_bias(g, node, a.kv, {a.bias, kDistances}));
  return infer_window(g, node, a);
}

Status infer_map(const graph::Graph& g, const graph::Node& node, const AttentionAttributes& a) {
  if (!a.map.makes_sense() || a.bias.form != BiasForm::map || a.queries != a.map.area() || a.keys != a.queries ||
      a.kv.positions != a.keys || a.batch == 0 || a.batch > a.kv.slots || a.batch % a.map.count() != 0)
    return node_error(node, "%u sentences of %u keys are no windows of maps", a.batch, a.keys);
  if (a.causal || a.spans || a.window != kNoWindow || a.global_queries || operand(node.outputs, 1) != graph::kNone)
    return node_error(node, "windows of maps have no causal mask, spans, other windows or weights");
  LAPILLI_CHECK(expect_input(g, node, 0, {"q", uint64_t{a.batch} * a.queries}));
  const uint64_t distances = 2 * uint64_t{a.map.side} - 1;
  return expect_words(g, node, operand(node.inputs, kDistances + 1), "bias",
                      distances * distances * a.kv.query_heads());
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<AttentionAttributes>();
  LAPILLI_CHECK(infer_heads(g, node, a.kv, a.bias, KvReader::sequence));
  LAPILLI_CHECK(infer_terms(g, node, a));
  LAPILLI_CHECK(check_cap(node, a.cap));
  if (has_log_sums(g, node, a.kv) && (a.spans || a.map.side || a.globals_stride))
    return node_error(node, "logarithms of sums of a pass, a map or listed positions");
  if (a.cap != 0 && !may_cap(a)) return node_error(node, "scores with terms or of a map have no cap");
  if (a.map.side || a.bias.form == BiasForm::map) return infer_map(g, node, a);
  if (a.spans) return infer_spans(g, node, a);
  if (a.batch == 0 || a.queries == 0 || a.batch > a.kv.slots || a.keys > a.kv.positions || a.batch > state::MAX_ROWS)
    return node_error(node, "%u sentences with %u keys do not fit %u slots of %u positions", a.batch, a.keys,
                      a.kv.slots, a.kv.positions);
  LAPILLI_CHECK(expect_input(g, node, 0, {"q", uint64_t{a.batch} * a.queries}));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, 2), "lengths", 2 * uint64_t{a.batch}));
  if (operand(node.outputs, 1) != graph::kNone)
    LAPILLI_CHECK(expect_output(g, node, 1, {"weights", uint64_t{a.batch} * a.kv.query_heads() * a.queries, a.keys}));
  LAPILLI_CHECK(infer_bias(g, node, a.kv, {a.bias, kDistances}));
  return infer_window(g, node, a);
}

enum : uint32_t { kTogether, kSimple, kLanes };

// attention_lanes.comp: a lane has at most two vec4s of a head, and loop limits bound the keys
// (docs/inside/adding-an-op.md). Sixteen queries need more registers than GPUs can spare.
bool lanes_fit(const Capabilities& caps, const AttentionAttributes& a) {
  return a.spans && a.window == kNoWindow && a.bias.form != BiasForm::terms && heads_are_vec4(a.kv) &&
         has_lanes(caps) && caps.texels && a.kv.head_dim <= 8 * caps.subgroup_size && a.keys <= 16384;
}

uint64_t keys_near(const AttentionAttributes& a) { return uint64_t{a.window} + a.window_after; }

// In a pass the longest sentence is not known.
uint64_t most_keys(const AttentionAttributes& a) {
  if (a.spans) return 0;
  return !has_window(a) || a.global_queries ? a.keys : keys_near(a) + state::TILE_ROWS + a.globals_stride;
}

std::vector<Variant> variants(const Capabilities& caps, const graph::Graph&, const graph::Node& node) {
  const auto a = node.attributes.as<AttentionAttributes>();
  std::vector<Variant> list;
  if (lanes_fit(caps, a)) list.push_back({kLanes, "lanes 16", true, {caps.subgroup_size}});
  list.push_back(
      {kTogether, "workgroup a head", true, attention_numbers(caps, Tuned::attention, a.kv, heads_are_vec4(a.kv))});
  if (simple_attention_fits(a.kv, most_keys(a)))
    list.push_back({kSimple, "simple", true, simple_attention_numbers(a.kv)});
  return list;
}

class Lowering {
 public:
  Lowering(const LowerContext& context, const graph::Node& node, const Variant& v, std::vector<Dispatch>& out)
      : context_(context),
        node_(node),
        simple_(v.id == kSimple),
        lanes_(v.id == kLanes),
        together_(lanes_ ? kQueriesPerSubgroup : kQueriesPerGroup),
        numbers_(v.numbers),
        out_(out),
        a_(node.attributes.as<AttentionAttributes>()),
        vec_(!simple_ && heads_are_vec4(a_.kv)),
        context_tensor_(operand(node.outputs, 0)),
        weights_(operand(node.outputs, 1)),
        ld_(context.graph.tensor(node.inputs[0]).ld),
        out_ld_(context_tensor_ == graph::kNone ? 0 : context.graph.tensor(context_tensor_).ld) {
    limit_ = context.caps.max_storage_range;
    room_ = limit_ - std::min(limit_, context.caps.storage_alignment);
  }

  Status run() {
    LAPILLI_CHECK(lanes_ ? check_subgroup(context_, node_, numbers_)
                         : check_attention(context_, node_, numbers_, a_.kv, vec_));
    if (a_.terms.by_segment && q_tensor().rows * ld_ * 4 > limit_)
      return node_error(node_, "%u rows exceed this device's binding limit of %u bytes; use fewer texts at a time",
                        q_tensor().rows, ull{limit_});
    return a_.spans ? run_spans() : run_sentences();
  }

 private:
  [[nodiscard]] const graph::Tensor& q_tensor() const { return context_.graph.tensor(node_.inputs[0]); }

  Status run_sentences() {
    LAPILLI_TRY(auto block, kv_block(context_, node_, node_.inputs[1], a_.kv, 1));
    block.slots = std::min<uint64_t>(block.slots, a_.batch);
    uint64_t queries = a_.queries;
    LAPILLI_CHECK(fit_rows(block, queries));
    for (uint64_t h = 0; h < a_.kv.heads; h += block.heads)
      for (uint64_t b = 0; b < a_.batch; b += block.slots)
        for (uint64_t i = 0; i < a_.queries; i += queries)
          LAPILLI_CHECK(emit(
              {h, std::min<uint64_t>(a_.kv.heads, h + block.heads), b, std::min<uint64_t>(a_.batch, b + block.slots)},
              i, std::min<uint64_t>(a_.queries, i + queries)));
    return {};
  }

  // The rows of a pass, split by heads, then by rows. Each part runs all tiles and takes those that begin within its
  // rows, so the rows of its last tile may extend past them.
  Status run_spans() {
    LAPILLI_TRY(auto block, kv_block(context_, node_, node_.inputs[1], a_.kv, 0));
    uint64_t rows = a_.queries;
    const auto rows_fit = [&] {
      return rows == a_.queries ? rows * ld_ * 4 <= limit_ : (rows + together_ - 1) * ld_ * 4 <= room_;
    };
    const auto work_fits = [&] { return context_.work.allows(cost(block.heads * rows)); };
    while (!rows_fit() || (!work_fits() && block.heads * rows > 1)) {
      if (!work_fits() && block.heads > 1)
        block.heads = div_up<uint64_t>(block.heads, 2);
      else if (rows > 1)
        rows = div_up<uint64_t>(rows, 2);
      else
        return node_error(node_, "one query exceeds this device's binding limit of %u bytes", ull{limit_});
    }
    for (uint64_t h = 0; h < a_.kv.heads; h += block.heads)
      for (uint64_t i = 0; i < a_.queries; i += rows)
        LAPILLI_CHECK(emit({h, std::min<uint64_t>(a_.kv.heads, h + block.heads), 0, 1}, i,
                           std::min<uint64_t>(a_.queries, i + rows)));
    return {};
  }

  // The listed queries may be anywhere in a sentence.
  [[nodiscard]] bool whole_sentences() const { return a_.global_queries != 0; }
  // The most tiles of a pass: each sentence may end with a partial tile.
  [[nodiscard]] uint64_t span_tiles() const {
    return std::min<uint64_t>(a_.queries, (a_.queries + (kQueriesPerGroup - 1) * a_.batch) / kQueriesPerGroup);
  }
  // Rows of q from the first to the last; and bytes of the weights.
  [[nodiscard]] uint64_t q_rows(uint64_t sentences, uint64_t queries) const {
    return (sentences - 1) * a_.queries + (whole_sentences() ? a_.queries : queries);
  }
  [[nodiscard]] uint64_t weight_bytes(uint64_t sentences, uint64_t heads, uint64_t queries) const {
    if (weights_ == graph::kNone) return 0;
    const uint64_t rows = ((sentences - 1) * a_.kv.query_heads() + heads * a_.kv.group - 1) * a_.queries + queries;
    return rows * context_.graph.tensor(weights_).ld * 4;
  }

  [[nodiscard]] double cost(uint64_t queries_of_heads) const {
    const bool near = has_window(a_) && a_.global_queries == 0;
    const double keys = near ? std::min<double>(a_.keys, static_cast<double>(keys_near(a_)) + 8) : a_.keys;
    const double lanes = simple_ ? numbers_.local : 1;  // each lane repeats the whole work
    const double parts = 4.0 + 2.0 * (a_.terms.by_query + a_.terms.by_key);
    return parts * static_cast<double>(queries_of_heads * a_.kv.group) * keys * a_.kv.head_dim * lanes;
  }

  // Takes fewer sentences, then heads, then queries, until the rows fit.
  Status fit_rows(KvBlock& block, uint64_t& queries) const {
    const auto rows_fit = [&] {
      const bool whole = block.slots == a_.batch && queries == a_.queries;
      return q_rows(block.slots, queries) * std::max(ld_, out_ld_) * 4 <= (whole ? limit_ : room_);
    };
    const auto weights_fit = [&] {
      return weight_bytes(block.slots, block.heads, queries) <= room_ || weights_ == graph::kNone;
    };
    const auto globals_fit = [&] { return !has_window(a_) || block.slots * a_.globals_stride * 4 <= room_; };
    const auto work_fits = [&] {
      return context_.work.allows(cost(block.slots * block.heads * queries)) ||
             block.slots * block.heads * (whole_sentences() ? 1 : queries) == 1;
    };
    const auto mask_fits = [&] {
      const uint64_t room = kBiasWords - context_.caps.uniform_alignment / 4;
      return !a_.terms.by_mask || q_rows(block.slots, queries) * mask_words(a_.keys) <= room;
    };
    while (!rows_fit() || !weights_fit() || !globals_fit() || !mask_fits() || !work_fits()) {
      if (block.slots > 1)
        block.slots = div_up<uint64_t>(block.slots, 2);
      else if ((!weights_fit() || !work_fits()) && block.heads > 1)
        block.heads = div_up<uint64_t>(block.heads, 2);
      else if (queries > 1 && !whole_sentences())
        queries = div_up<uint64_t>(queries, 2);
      else
        return node_error(node_, "one %s exceeds this device's binding limit of %u bytes",
                          whole_sentences() ? "sentence" : "query", ull{limit_});
    }
    return {};
  }

  Status emit(const KvPart& part, uint64_t query_begin, uint64_t query_end) {
    Dispatch d;
    d.shader = shader();
    d.constants = {numbers_.local, a_.kv.head_dim, a_.kv.group};
    if (may_cap(a_)) d.constants.push_back(cap_constant(a_.cap));
    if (terms())
      d.constants.push_back(a_.terms.by_query + 2 * a_.terms.by_key + 4 * a_.terms.by_segment + 8 * a_.terms.by_mask);
    Push p{};
    const uint64_t sentences = part.s1 - part.s0, queries = query_end - query_begin;
    const uint64_t heads = (part.h1 - part.h0) * a_.kv.group;
    const uint64_t tiles = a_.spans ? span_tiles() : div_up(queries, kQueriesPerGroup);
    const uint64_t each = simple_ ? kQueriesPerGroup : 1;  // workgroups per tile
    d.groups = tiles * sentences * heads * each;
    if (d.groups > max_groups(context_.caps))
      return node_error(node_, "%u workgroups exceed this device's grid", ull{d.groups});
    if (a_.spans) {
      follow_live_rows(d, static_cast<uint32_t>(heads * each), 1);
      d.follows = Follows::tiles;
    }
    const uint64_t begin = part.s0 * a_.queries + query_begin;
    const uint64_t end =
        a_.spans ? std::min<uint64_t>(a_.queries, query_end + together_ - 1) : begin + q_rows(sentences, queries);
    uint32_t delta = 0;
    // The rows of q tell the segments of keys, too.
    const uint64_t q_begin = a_.terms.by_segment ? 0 : begin, q_end = a_.terms.by_segment ? q_tensor().rows : end;
    d.operands.push_back(
        bind_range(context_, 0, {node_.inputs[0], q_begin * ld_ * 4, q_end * ld_ * 4, graph::Access::read}, delta));
    p.common.q_begin = static_cast<uint32_t>(delta - q_begin * ld_);
    d.operands.push_back(bind_kv(context_, {node_.inputs[1], lanes_ ? kTexelBinding : 1}, a_.kv, part, p.common));
    if (context_tensor_ != graph::kNone) {
      d.operands.push_back(bind_range(
          context_, 2, {context_tensor_, begin * out_ld_ * 4, end * out_ld_ * 4, graph::Access::write}, delta));
      p.common.out_begin = static_cast<uint32_t>(delta - begin * out_ld_);
    }
    if (has_window(a_)) bind_globals(part, d, p);
    if (weights_ != graph::kNone) bind_weights(part, query_begin, queries, d, p);
    LAPILLI_CHECK(a_.map.side ? bind_map(d, p) : bind_keys(d, p));
    p.common.groups = static_cast<uint32_t>(d.groups);
    p.common.ld = static_cast<uint32_t>(ld_);
    p.common.out_ld = static_cast<uint32_t>(out_ld_);
    p.common.scale = a_.scale;
    p.queries = a_.queries;
    p.query_begin = static_cast<uint32_t>(query_begin);
    p.query_end = static_cast<uint32_t>(query_end);
    p.tiles = static_cast<uint32_t>(tiles);
    p.keys = a_.spans ? a_.queries : a_.keys;
    p.causal = a_.causal;
    if (terms() && a_.causal) p.causal = a_.window == kNoWindow ? kNoWindow : a_.window + 1;
    if (terms())
      d.set_push(terms_push(p, a_.spans ? 0 : bind_mask(begin, d)));
    else if (a_.window != kNoWindow)
      d.set_push(window_push(p));
    else
      d.set_push(p);
    d.cost = cost(sentences * (part.h1 - part.h0) * queries);
    out_.push_back(std::move(d));
    return {};
  }

  // Without lists the queries stand in for them: a declared binding must be valid.
  void bind_globals(const KvPart& part, Dispatch& d, Push& p) const {
    p.window = a_.window;
    p.global_queries = a_.global_queries;
    if (a_.globals_stride == 0) {
      d.operands.push_back(d.operands.front());
      d.operands.back().binding = 3;
      return;
    }
    const uint64_t first = part.s0 * a_.globals_stride, last = (a_.spans ? a_.batch : part.s1) * a_.globals_stride;
    uint32_t delta = 0;
    d.operands.push_back(
        bind_range(context_, 3, {node_.inputs[kGlobals], first * 4, last * 4, graph::Access::read}, delta));
    p.globals_begin = static_cast<uint32_t>(delta - first);
    p.globals_stride = a_.globals_stride;
  }

  void bind_weights(const KvPart& part, uint64_t query_begin, uint64_t queries, Dispatch& d, Push& p) const {
    const uint64_t ld = context_.graph.tensor(weights_).ld;
    const uint64_t head = part.s0 * a_.kv.query_heads() + part.h0 * a_.kv.group;
    const uint64_t first = (head * a_.queries + query_begin) * ld;
    const uint64_t bytes = weight_bytes(part.s1 - part.s0, part.h1 - part.h0, queries);
    uint32_t delta = 0;
    d.operands.push_back(bind_range(context_, terms() ? 2 : 3,
                                    {weights_, first * 4, first * 4 + bytes, graph::Access::read_write}, delta));
    p.weights_begin = static_cast<uint32_t>(delta - first);
    p.weights_ld = static_cast<uint32_t>(ld);
  }

  // Binds the ends of the keys and the relative positions.
  Status bind_keys(Dispatch& d, Push& p) const {
    LAPILLI_TRY(const auto lengths, bind_whole(context_, a_.spans ? 4 : 6, node_.inputs[2], graph::Access::read));
    d.operands.push_back(lengths);
    if (terms()) return bind_terms(d, p);
    return bind_bias(context_, node_, {a_.bias, kDistances}, d, p.common);
  }

  // Without segments the distances stand in for them: a declared binding must be valid.
  Status bind_terms(Dispatch& d, Push& p) const {
    LAPILLI_CHECK(bind_distances(context_, node_, {a_.bias, kDistances}, d, p.common));
    const size_t segments = a_.terms.by_segment ? kDistances + 1 : kDistances;
    LAPILLI_TRY(const auto values, bind_whole(context_, 7, node_.inputs[segments], graph::Access::read));
    d.operands.push_back(values);
    LAPILLI_TRY(const auto vectors, bind_whole(context_, 3, node_.inputs[kVectors], graph::Access::read));
    d.operands.push_back(vectors);
    return {};
  }

  // Binds the mask from row `begin` of q on; each binding has as many words as the kernel declares. Without a mask the
  // distances stand in for it. Returns the word where row 0 would begin.
  uint32_t bind_mask(uint64_t begin, Dispatch& d) const {
    const graph::TensorId mask = node_.inputs[a_.terms.by_mask ? kMask : kDistances];
    const uint64_t words = mask_words(a_.keys), first = a_.terms.by_mask ? (a_.terms.mask_row + begin) * words : 0;
    uint32_t delta = 0;
    Operand bound = bind_range(context_, 4, {mask, first * 4, 0, graph::Access::read}, delta);
    bound.end = bound.begin + uint64_t{kBiasWords} * 4;
    bound.used = a_.terms.by_mask != 0;
    d.operands.push_back(bound);
    return static_cast<uint32_t>(delta - begin * words);
  }

  [[nodiscard]] TermsPush terms_push(const Push& p, uint32_t mask_begin) const {
    const RelativeTerms& t = a_.terms;
    const auto words = static_cast<uint32_t>(context_.graph.tensor(node_.inputs[kVectors]).ld);
    return {p.common,     p.queries,        p.query_begin, p.query_end, p.tiles,      p.keys,
            p.causal,     p.weights_begin,  p.weights_ld,  words,       t.first_line, t.key_column,
            t.key_stride, t.segment_column, t.type_column, mask_begin};
  }

  [[nodiscard]] WindowPush window_push(const Push& p) const {
    return {p.common,         p.queries,       p.query_begin,    p.query_end,    p.tiles,
            p.keys,           p.causal,        p.weights_begin,  p.weights_ld,   p.window,
            p.global_queries, p.globals_begin, p.globals_stride, a_.window_after};
  }

  [[nodiscard]] bool terms() const { return a_.bias.form == BiasForm::terms; }

  Status bind_map(Dispatch& d, Push& p) const {
    LAPILLI_TRY(const auto bias, bind_whole(context_, 3, node_.inputs[kDistances + 1], graph::Access::read));
    d.operands.push_back(bias);
    p.window = a_.map.side;
    p.map_rows = a_.map.rows();
    p.map_columns = a_.map.columns();
    p.map_shift = a_.map.shift;
    return {};
  }

  [[nodiscard]] ShaderId shader() const { return simple_ ? simple_of(shader(false)) : shader(vec_); }

  [[nodiscard]] ShaderId shader(bool vec) const {
    const bool weights = weights_ != graph::kNone;
    if (a_.spans) return span_shader(vec);
    if (has_window(a_)) return vec ? ShaderId::attention_vec_window : ShaderId::attention_any_window;
    switch (a_.bias.form) {
      case BiasForm::map: return vec ? ShaderId::attention_vec_map : ShaderId::attention_any_map;
      case BiasForm::table:
      case BiasForm::rows:
        if (weights) return vec ? ShaderId::attention_vec_bias_weights : ShaderId::attention_any_bias_weights;
        return vec ? ShaderId::attention_vec_bias : ShaderId::attention_any_bias;
      case BiasForm::terms:
        if (weights) return vec ? ShaderId::attention_vec_terms_weights : ShaderId::attention_any_terms_weights;
        return vec ? ShaderId::attention_vec_terms : ShaderId::attention_any_terms;
      case BiasForm::none: break;
    }
    if (weights) return vec ? ShaderId::attention_vec_weights : ShaderId::attention_any_weights;
    return vec ? ShaderId::attention_vec : ShaderId::attention_any;
  }

  [[nodiscard]] ShaderId span_shader(bool vec) const {
    if (lanes_)
      return a_.bias.form == BiasForm::table ? ShaderId::attention_lanes_bias_spans : ShaderId::attention_lanes_spans;
    if (has_window(a_)) return vec ? ShaderId::attention_vec_window_spans : ShaderId::attention_any_window_spans;
    if (a_.bias.form == BiasForm::table)
      return vec ? ShaderId::attention_vec_bias_spans : ShaderId::attention_any_bias_spans;
    if (terms()) return vec ? ShaderId::attention_vec_terms_spans : ShaderId::attention_any_terms_spans;
    return vec ? ShaderId::attention_vec_spans : ShaderId::attention_any_spans;
  }

  const LowerContext& context_;
  const graph::Node& node_;
  const bool simple_, lanes_;
  const uint64_t together_;  // rows that a workgroup may take
  const Numbers numbers_;
  std::vector<Dispatch>& out_;
  const AttentionAttributes a_;
  const bool vec_;
  const graph::TensorId context_tensor_, weights_;
  const uint64_t ld_, out_ld_;
  uint64_t limit_ = 0, room_ = 0;
};

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  return Lowering(context, node, v, out).run();
}

// The positions listed for a sentence.
std::vector<uint64_t> listed_positions(const AttentionAttributes& a, const graph::Node& node, HostTensors& values,
                                       uint64_t sentence) {
  if (!has_window(a) || a.globals_stride == 0) return {};
  const uint32_t* words = values.at(node.inputs[kGlobals]).u.data() + sentence * a.globals_stride;
  return {words + 1, words + 1 + std::min(words[0], a.globals_stride - 1)};
}

// Queries [first, first + count) and keys [begin, end) of one sentence, in the same numbering; `row` is that of query
// 0.
struct HostSentence {
  uint64_t number = 0, slot = 0, row = 0;
  uint64_t first = 0, count = 0, begin = 0, end = 0;
};

std::vector<HostSentence> host_sentences(const AttentionAttributes& a, const std::vector<uint32_t>& words) {
  std::vector<HostSentence> all;
  if (a.spans) {
    for (const Span& s : spans_of(words))
      all.push_back({all.size(), 0, 0, s.row, s.ids, s.row, uint64_t{s.row} + s.ids});
    return all;
  }
  for (uint64_t b = 0; b < a.batch && a.map.side; ++b) all.push_back({b, b, b * a.queries, 0, a.queries, 0, a.keys});
  for (uint64_t b = 0; b < a.batch && !a.map.side; ++b)
    all.push_back(
        {b, b, b * a.queries, 0, a.queries, std::min(words[2 * b], a.keys), std::min(words[2 * b + 1], a.keys)});
  return all;
}

// Positions of keys before the first query's.
uint64_t keys_before(const AttentionAttributes& a) {
  return a.bias.form == BiasForm::terms && !a.spans ? a.keys - a.queries : 0;
}

struct HostPair {
  uint64_t key = 0, query = 0, head = 0;
};
double map_bias(const AttentionAttributes& a, const std::vector<double>& table, uint64_t window, const HostPair& p) {
  const double bias = table[a.map.distance(p.key, p.query) * a.kv.query_heads() + p.head];
  return a.map.apart(window, p.key, p.query) ? bias + SwinWindows::kApart : bias;
}

// True if a mask hides the key from the query in this row of q.
bool hides(const AttentionAttributes& a, const graph::Node& node, HostTensors& values, const HostPair& p) {
  if (!a.terms.by_mask) return false;
  const uint64_t word = (a.terms.mask_row + p.query) * mask_words(a.keys) + p.key / 32;
  return (values.at(node.inputs[kMask]).u[word] >> (p.key % 32) & 1) != 0;
}

// The terms of a score, in double precision.
class HostTerms {
 public:
  HostTerms(const graph::Graph& g, const graph::Node& node, const AttentionAttributes& a, HostTensors& values)
      : a_(a), q_(values.at(node.inputs[0]).f), ld_(g.tensor(node.inputs[0]).ld) {
    if (a.bias.form != BiasForm::terms) return;
    vectors_ = &values.at(node.inputs[kVectors]).f;
    line_ = g.tensor(node.inputs[kVectors]).ld;
    if (a.terms.by_segment) segments_ = &values.at(node.inputs[kDistances + 1]).f;
  }

  // A query's row of q, a key's segment and columns, and the bucket of their distance.
  template <class Key>
  [[nodiscard]] double operator()(uint64_t query, double segment, const Key& k, uint64_t head, uint64_t bucket) const {
    const RelativeTerms& t = a_.terms;
    const uint64_t inner = uint64_t{a_.kv.heads} * a_.kv.head_dim, at = head * a_.kv.head_dim;
    const double *q = q_.data() + query * ld_, *line = vectors_->data() + (bucket - t.first_line) * line_;
    const bool same = t.by_segment && q[t.type_column] == segment;
    double sum = 0;
    for (uint64_t d = 0; d < a_.kv.head_dim; ++d) {
      if (t.by_query) sum += q[a_.bias.column + at + d] * line[t.key_column + head * t.key_stride + d];
      if (t.by_key) sum += k(d) * line[at + d];
      if (t.by_segment) sum += q[t.segment_column + at + d] * (*segments_)[(same ? 0 : inner) + at + d];
    }
    return sum;
  }

  // The segment of key `number` of a sentence whose queries begin at `row` of q.
  [[nodiscard]] double segment(uint64_t row, uint64_t number) const {
    const uint64_t before = keys_before(a_);
    return !a_.terms.by_segment || number < before ? 0 : q_[(row + number - before) * ld_ + a_.terms.type_column];
  }

 private:
  const AttentionAttributes& a_;
  const std::vector<double>&q_, *vectors_ = nullptr, *segments_ = nullptr;
  uint64_t ld_, line_ = 0;
};

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<AttentionAttributes>();
  const auto& t = g.tensor(node.inputs[0]);
  const auto& q = values.at(node.inputs[0]).f;
  const HostKv kv(g, node.inputs[1], values);
  const auto context = operand(node.outputs, 0), weights = operand(node.outputs, 1);
  std::vector<double> unwanted(context == graph::kNone ? t.rows * t.ld : 0);
  auto& out = context == graph::kNone ? unwanted : values.at(context).f;
  const uint64_t out_ld = context == graph::kNone ? t.ld : g.tensor(context).ld;
  const RelativeBias none;  // maps have a bias of their own
  const HostBias bias(node, a.kv, {a.map.side ? none : a.bias, kDistances}, values);
  const HostTerms terms(g, node, a, values);
  if (!a.global_queries) std::fill(out.begin(), out.end(), 0.0);
  if (weights != graph::kNone) std::fill(values.at(weights).f.begin(), values.at(weights).f.end(), 0.0);
  for (const HostSentence& s : host_sentences(a, a.map.side ? std::vector<uint32_t>() : values.at(node.inputs[2]).u)) {
    const auto listed = listed_positions(a, node, values, s.number);
    const auto is_listed = [&](uint64_t j) { return std::find(listed.begin(), listed.end(), j) != listed.end(); };
    for (uint64_t h = 0; h < a.kv.query_heads(); ++h)
      for (uint64_t i = s.first; i < s.first + s.count; ++i) {
        if (a.global_queries && !is_listed(i)) continue;
        const uint64_t at = s.row + i;
        double* row = nullptr;
        if (weights != graph::kNone)
          row = values.at(weights).f.data() +
                ((s.number * a.kv.query_heads() + h) * a.queries + i) * g.tensor(weights).ld;
        const uint64_t own = i + keys_before(a);
        const auto seen = [&](uint64_t j) {
          if (hides(a, node, values, {j, at, h})) return false;
          if (a.causal && (j > own || (!has_window(a) && own - j > a.window))) return false;
          if (!has_window(a) || a.global_queries) return true;
          return (j > i ? j - i <= a.window_after : i - j <= a.window) || is_listed(j);
        };
        const auto slot = [&](uint64_t) { return s.slot; };
        const auto added = [&](uint64_t j) {
          if (a.map.side) return map_bias(a, values.at(node.inputs[kDistances + 1]).f, s.number, {j, i, h});
          if (a.bias.form != BiasForm::terms) return bias(j, i, h, q.data() + at * t.ld);
          const auto key = [&](uint64_t d) { return kv[a.kv.number(h, s.slot, j) + d]; };
          return double{a.scale} * terms(at, terms.segment(s.row, j), key, h, bias.bucket(j, own));
        };
        const double log_sum = attend(
            a.kv, kv,
            HostQuery{q.data() + at * t.ld + h * a.kv.head_dim, h, s.begin, s.end, static_cast<double>(a.scale), slot,
                      seen, added, out.data() + at * out_ld + h * a.kv.head_dim, row, static_cast<double>(a.cap)});
        if (has_log_sums(g, node, a.kv)) out[at * out_ld + log_sums_column(a.kv) + 4 * h] = log_sum;
      }
  }
}

std::string tuning_key(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<AttentionAttributes>();
  return format("%u heads of %u%s, rows %u, keys %u%s%s%s%s%s", a.kv.heads, a.kv.head_dim, group_tuning_key(a.kv),
                tuning_class(g.tensor(node.inputs[0]).rows), tuning_class(a.keys), a.causal ? ", causal" : "",
                a.window == kNoWindow ? ""
                : a.window_after == 0 ? ", window before"
                                      : ", window",
                a.bias.form == BiasForm::none    ? ""
                : a.terms.by_mask                ? ", terms and mask"
                : a.bias.form == BiasForm::terms ? ", terms"
                                                 : ", bias",
                a.cap != 0 ? ", capped" : "", kv_tuning_key(g.tensor(node.inputs[1])));
}

constexpr OpDef op{"attention", infer, variants, lower, reference, attention_cases, {tuning_key}};

}  // namespace
}  // namespace attention_impl

constinit const OpDef attention_op = attention_impl::op;

ops::AttentionResult ops::attention(graph::Graph& g, const std::string& label, const AttentionOperands& o,
                                    const AttentionAttributes& a, AttentionWants wants) {
  const uint64_t heads = a.kv.query_heads();
  const bool alone = wants.weights && a.bias.form == BiasForm::terms;
  const auto context = alone              ? graph::kNone
                       : a.global_queries ? g.updated(label, o.context)
                       : wants.log_sums   ? g.rows_like(label, o.q, columns_with_log_sums(a.kv))
                                          : g.rows_like(label, o.q, heads * a.kv.head_dim);
  const auto weights =
      wants.weights ? g.activation(label + " weights", heads * a.batch * a.queries, a.keys) : graph::kNone;
  g.add_node({&attention_op,
              label,
              {o.q, o.kv, o.lengths, o.distances, o.bias, o.globals, o.context, o.vectors, o.mask},
              {context, weights},
              graph::Attributes(a)});
  return {context, weights};
}

}  // namespace lapilli
