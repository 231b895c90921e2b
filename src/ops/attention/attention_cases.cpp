#include "ops/attention/attention_cases.hpp"

#include <algorithm>
#include <numeric>

namespace lapilli {

RelativeBias bias_case(BiasForm form, int32_t low, int32_t high, const KvShape& kv) {
  RelativeBias b;
  b.form = form;
  b.low = low;
  b.count = static_cast<uint32_t>(high - low + 1);
  b.buckets = 7;
  b.column = form == BiasForm::rows ? kv.query_heads() * kv.head_dim + 3 : 0;
  return b;
}

uint64_t bias_columns(const RelativeBias& bias, const KvShape& kv) {
  if (bias.form != BiasForm::rows) return uint64_t{kv.query_heads()} * kv.head_dim;
  return bias.column + uint64_t{bias.buckets} * kv.query_heads();
}

BiasInputs add_bias_inputs(OpCase& c, const RelativeBias& bias, const KvShape& kv, CaseRandom& random) {
  BiasInputs added;
  if (bias.form == BiasForm::none) return added;
  HostTensor table;
  table.f.assign(kBiasWords, 0.0);
  for (uint32_t i = 0; i < bias.count; ++i) table.f[i] = random.below(bias.buckets);
  added.distances = add_weight(c.graph, "distances", kBiasWords);
  c.inputs.emplace_back(added.distances, std::move(table));
  if (bias.form == BiasForm::rows) return added;
  HostTensor v;
  v.f.assign(kBiasWords, 0.0);
  for (uint32_t i = 0; i < bias.buckets * kv.query_heads(); ++i)
    v.f[i] = static_cast<double>(static_cast<float>(3 * random.unit()));
  added.values = add_weight(c.graph, "bias", kBiasWords);
  c.inputs.emplace_back(added.values, std::move(v));
  return added;
}

namespace {

struct CaseShape {
  uint32_t batch, queries, keys, heads, head_dim;
  bool causal = false, weights = false;
  uint32_t slots = 0, positions = 0;  // 0: same as batch and keys
  BiasForm bias = BiasForm::none;
  uint32_t window = kNoWindow, window_after = kNoWindow;  // kNoWindow: as before
  std::vector<std::vector<uint32_t>> globals;             // per sentence, with a window; without lists no case has one
  bool global_queries = false;
  bool slow = false;
  double shift = 0;  // added to all values
  // Not empty: an encode pass of these sentences with `queries` rows, which may be more than the sentences have.
  std::vector<uint32_t> pass;
  uint32_t group = 1;
  float cap = 0;
  bool log_sums = false;
};

std::string pass_name(const CaseShape& s) {
  std::string name = format("pass of %u rows %u heads %ux%u", s.pass.size(), s.queries, s.heads, s.head_dim);
  if (s.causal) name += " causal";
  if (s.bias != BiasForm::none) name += " bias";
  if (s.window != kNoWindow) name += format(" window %u%s", s.window, s.global_queries ? " global queries" : "");
  if (s.window_after != kNoWindow) name += format(" and %u after", s.window_after);
  return name;
}

std::string case_name(const CaseShape& s) {
  if (s.log_sums) {
    CaseShape plain = s;
    plain.log_sums = false;
    return case_name(plain) + ", logarithms";
  }
  if (s.cap != 0) {
    CaseShape plain = s;
    plain.cap = 0;
    return case_name(plain) + format(" cap %g", s.cap);
  }
  if (s.group > 1) {
    CaseShape plain = s;
    plain.group = 1;
    return case_name(plain) + format(" %u share keys", s.group);
  }
  if (!s.pass.empty()) return pass_name(s);
  std::string name = format("batch %u queries %u keys %u heads %ux%u%s%s", s.batch, s.queries, s.keys, s.heads,
                            s.head_dim, s.causal ? " causal" : "", s.weights ? " weights" : "");
  if (s.bias != BiasForm::none) name += s.bias == BiasForm::table ? " bias" : " bias in rows";
  if (s.shift != 0) name += format(" values about %g", s.shift);
  if (s.window == kNoWindow) return name;
  size_t listed = 0;
  for (const auto& g : s.globals) listed += g.size();
  if (s.window_after != kNoWindow) name += format(" %u after", s.window_after);
  return name + format(" window %u, %u global%s", s.window, listed, s.global_queries ? " queries" : "");
}

HostTensor global_words(const CaseShape& s, uint32_t stride) {
  std::vector<uint32_t> words(uint64_t{s.batch} * stride, 0);
  for (size_t b = 0; b < s.globals.size(); ++b) {
    words[b * stride] = static_cast<uint32_t>(s.globals[b].size());
    std::copy(s.globals[b].begin(), s.globals[b].end(), words.begin() + static_cast<ptrdiff_t>(b * stride + 1));
  }
  return words_of(std::move(words));
}

OpCase make_case(const CaseShape& s, const std::vector<std::pair<uint32_t, uint32_t>>& lengths) {
  OpCase c;
  c.name = case_name(s);
  AttentionAttributes a;
  a.batch = s.batch;
  a.queries = s.queries;
  a.keys = s.keys;
  a.causal = s.causal;
  a.scale = 0.25f;
  a.cap = s.cap;
  a.kv = {s.heads, s.head_dim, s.slots ? s.slots : s.batch, s.positions ? s.positions : s.keys};
  a.kv.group = s.group;
  const bool pass = !s.pass.empty();
  if (pass) {
    a.spans = 1;
    a.kv.slots = 1;
    a.kv.positions = s.queries;
  }
  CaseRandom random(s.batch * 3 + s.queries * 5 + s.keys * 7 + s.head_dim);
  if (s.bias != BiasForm::none) {
    const auto reach = static_cast<int32_t>(s.keys) / 2;
    a.bias = bias_case(s.bias, -reach, s.causal ? 0 : reach, a.kv);
  }
  const uint64_t rows = (pass ? 1 : uint64_t{s.batch}) * s.queries, columns = uint64_t{a.kv.query_heads()} * s.head_dim;
  const auto q = c.graph.activation("q", rows, bias_columns(a.bias, a.kv));
  const auto kv = add_kv(c.graph, StateKind::cross_kv, {a.kv, KvFormat::fp32});
  const auto l = pass ? add_spans(c, s.pass) : add_lengths(c.graph);
  ops::AttentionOperands reads{q, kv, l};
  const BiasInputs bias = add_bias_inputs(c, a.bias, a.kv, random);
  reads.distances = bias.distances;
  reads.bias = bias.values;
  if (s.window != kNoWindow) {
    a.window = s.window;
    a.window_after = s.window_after == kNoWindow ? s.window : s.window_after;
  }
  if (s.window != kNoWindow && !s.globals.empty()) {
    a.global_queries = s.global_queries;
    a.globals_stride = s.keys + 1;
    reads.globals =
        add_state(c.graph, "globals", StateKind::lists, uint64_t{s.batch} * a.globals_stride, graph::DType::u32);
    c.inputs.emplace_back(reads.globals, global_words(s, a.globals_stride));
  }
  if (s.global_queries) {
    reads.context = c.graph.activation("local context", rows, columns);
    c.inputs.emplace_back(reads.context, random_values(c.graph.tensor(reads.context), random, 1));
  }
  ops::attention(c.graph, "context", reads, a, {s.weights, s.log_sums});
  if (!pass) c.inputs.emplace_back(l, length_values(lengths));
  c.prepare = [q, kv, random, shift = s.shift, width = s.head_dim](OpCase& into) mutable {
    into.inputs.emplace_back(q, random_values(into.graph.tensor(q), random, 2));
    auto cache = random_values(into.graph.tensor(kv), random, 2);
    for (size_t i = 0; i < cache.f.size(); ++i)
      if (i % (2 * width) >= width) cache.f[i] = static_cast<double>(static_cast<float>(cache.f[i] + shift));
    into.inputs.emplace_back(kv, std::move(cache));
  };
  c.slow = s.slow;
  return c;
}

// Cases small enough for the self-test, with the head sizes of published models: otherwise a device would be tested
// with kernels of other constants than those it will run.
constexpr uint32_t kUsualHeads[] = {8, 16, 32, 36, 40, 52, 64, 80, 128};

void add_usual_heads(std::vector<OpCase>& all, BiasForm bias) {
  for (const uint32_t head_dim : kUsualHeads)
    for (const bool weights : {false, true}) {
      CaseShape s{1, 33, 33, 1, head_dim, weights, weights};
      s.bias = bias;
      all.push_back(make_case(s, {{0, 31}}));
    }
}

// Heads of queries that share a head of keys and values.
void add_groups(std::vector<OpCase>& all) {
  const auto add = [&](CaseShape s, uint32_t group, const std::vector<std::pair<uint32_t, uint32_t>>& lengths) {
    s.group = group;
    all.push_back(make_case(s, lengths));
  };
  for (const uint32_t head_dim : {64u, 128u})
    for (const uint32_t group : {2u, 4u}) {
      add({1, 17, 17, 1, head_dim, true}, group, {{0, 17}});
      add({1, 17, 17, 1, head_dim, true, true}, group, {{0, 17}});
    }
  add({3, 5, 11, 3, 12}, 3, {{0, 11}, {4, 9}, {5, 5}});
  add({2, 5, 6, 3, 5, true, true}, 2, {{0, 6}, {0, 4}});
  add({4, 17, 23, 8, 64, false, false, 5, 31}, 2, {{0, 23}, {0, 1}, {22, 23}, {0, 0}});  // sliced, small bindings
  CaseShape biased{2, 7, 7, 4, 8, true};
  biased.bias = BiasForm::table;
  add(biased, 2, {{0, 7}, {0, 3}});
  CaseShape near{2, 13, 13, 3, 12};
  near.window = 2;
  near.globals = {{0, 5, 6, 7, 12}, {}};
  add(near, 2, {{0, 13}, {3, 8}});
}

void add_biased(std::vector<OpCase>& all, BiasForm bias) {
  const auto add = [&](CaseShape s, const std::vector<std::pair<uint32_t, uint32_t>>& lengths) {
    s.bias = bias;
    all.push_back(make_case(s, lengths));
  };
  add({1, 1, 1, 1, 8}, {{0, 1}});
  add({2, 7, 7, 4, 8}, {{0, 7}, {0, 3}});
  add({2, 7, 7, 4, 8, true}, {{0, 7}, {0, 3}});
  add({3, 5, 11, 3, 12, false, true}, {{0, 11}, {4, 9}, {5, 5}});
  add({2, 5, 6, 3, 5}, {{0, 6}, {1, 4}});
  add({2, 5, 6, 3, 5, true, true}, {{0, 6}, {0, 4}});
  add({1, 131, 131, 2, 64, true}, {{0, 131}});
  add({1, 150, 150, 3, 32}, {{0, 149}});
  add_usual_heads(all, bias);
}

void add_windows(std::vector<OpCase>& all) {
  const auto add = [&](CaseShape s, uint32_t window, std::vector<std::vector<uint32_t>> globals,
                       const std::vector<std::pair<uint32_t, uint32_t>>& lengths) {
    s.window = window;
    s.globals = std::move(globals);
    all.push_back(make_case(s, lengths));
    s.global_queries = true;
    all.push_back(make_case(s, lengths));
  };
  add({1, 1, 1, 1, 8}, 1, {{}}, {{0, 1}});
  add({1, 9, 9, 2, 8}, 0, {{4}}, {{0, 9}});
  add({2, 13, 13, 3, 12}, 2, {{0, 5, 6, 7, 12}, {}}, {{0, 13}, {3, 8}});  // global keys inside and outside windows
  add({3, 40, 40, 2, 64}, 5, {{0}, {39}, {2, 30}}, {{0, 40}, {0, 40}, {0, 31}});
  add({1, 40, 40, 1, 64}, 5, {{0, 17}}, {{0, 40}});               // for the self-test: LED's heads
  add({1, 300, 300, 2, 16}, 70, {{0, 1, 150, 299}}, {{0, 300}});  // more than a chunk of keys
  add({2, 11, 11, 3, 5}, 3, {{0, 10}, {0, 1, 2, 3, 4, 5}}, {{0, 11}, {0, 6}});
  CaseShape long_input{1, 16384, 16384, 1, 64};  // LED's maximum number of positions
  long_input.window = 256;
  long_input.globals = {{0, 8000, 16383}};
  long_input.global_queries = long_input.slow = true;
  all.push_back(make_case(long_input, {{0, 16384}}));
  add({2, 20, 20, 2, 32}, 200, {{3}, {}}, {{0, 20}, {0, 0}});  // a window wider than everything; no keys at all
}

// Windows of other widths behind the query than before it, as a decoder's; mostly without lists of global positions.
void add_uneven_windows(std::vector<OpCase>& all) {
  const auto add = [&](CaseShape s, uint32_t before, uint32_t after,
                       const std::vector<std::pair<uint32_t, uint32_t>>& lengths) {
    s.window = before;
    s.window_after = after;
    all.push_back(make_case(s, lengths));
  };
  add({1, 1, 1, 1, 8}, 3, 0, {{0, 1}});
  add({1, 9, 9, 2, 8}, 0, 0, {{0, 9}});
  add({2, 13, 13, 3, 12}, 2, 0, {{0, 13}, {3, 8}});
  add({2, 13, 13, 3, 5}, 4, 1, {{0, 13}, {0, 0}});
  add({2, 13, 13, 3, 12}, 0, 4, {{0, 13}, {3, 8}});
  add({1, 300, 300, 2, 64}, 150, 0, {{0, 300}});  // more than a chunk of keys
  add({3, 40, 40, 2, 64}, 5, 2, {{0, 40}, {0, 40}, {0, 31}});
  add({2, 20, 20, 2, 32}, 200, 0, {{0, 20}, {0, 11}});
  CaseShape shared{2, 13, 13, 3, 12};
  shared.group = 3;
  add(shared, 5, 0, {{0, 13}, {3, 8}});
  CaseShape listed{2, 13, 13, 3, 12};
  listed.globals = {{0, 5, 6, 7, 12}, {}};
  add(listed, 1, 3, {{0, 13}, {3, 8}});
  for (const uint32_t head_dim : kUsualHeads) add({1, 33, 33, 1, head_dim}, 6, 0, {{0, 31}});
}

// Windows of `maps` maps.
OpCase make_map(const SwinWindows& map, uint32_t maps, uint32_t heads, uint32_t head_dim) {
  OpCase c;
  c.name = format("%u maps of %ux%u, windows of %u, %u off, heads %ux%u", maps, map.height, map.width, map.side,
                  map.shift, heads, head_dim);
  AttentionAttributes a;
  a.batch = static_cast<uint32_t>(maps * map.count());
  a.queries = a.keys = static_cast<uint32_t>(map.area());
  a.kv = {heads, head_dim, a.batch, a.keys};
  a.scale = 0.25f;
  a.map = map;
  a.bias.form = BiasForm::map;
  const uint64_t distances = 2 * uint64_t{map.side} - 1;
  const auto q = c.graph.activation("q", uint64_t{a.batch} * a.queries, uint64_t{heads} * head_dim);
  const auto kv = add_kv(c.graph, StateKind::cross_kv, {a.kv, KvFormat::fp32});
  ops::AttentionOperands reads{q, kv};
  reads.bias = add_weight(c.graph, "bias", distances * distances * heads);
  ops::attention(c.graph, "context", reads, a, false);
  c.prepare = [q, kv, bias = reads.bias](OpCase& into) {
    CaseRandom random(into.graph.tensor(q).rows);
    for (const auto t : {q, kv, bias}) into.inputs.emplace_back(t, random_values(into.graph.tensor(t), random, 2));
  };
  return c;
}

void add_maps(std::vector<OpCase>& all) {
  all.push_back(make_map({1, 1, 1, 0}, 1, 1, 8));
  all.push_back(make_map({6, 9, 3, 0}, 1, 2, 8));
  all.push_back(make_map({7, 5, 4, 2}, 2, 3, 12));  // rows and columns of the last windows are apart
  all.push_back(make_map({7, 5, 4, 2}, 1, 2, 5));   // heads that are not whole vec4s
  all.push_back(make_map({4, 12, 4, 2}, 3, 1, 16));
  all.push_back(make_map({7, 5, 4, 2}, 1, 1, 32));     // for the self-test: Swin's heads
  all.push_back(make_map({13, 13, 12, 6}, 1, 2, 32));  // more than a chunk of keys
  all.push_back(make_map({45, 40, 5, 2}, 1, 4, 32));   // sliced on devices with small bindings
}

// Sentences of an encode pass, one after another. `slack`: rows after the last one.
OpCase make_pass(CaseShape s, std::vector<uint32_t> lengths, uint32_t slack = 0) {
  s.batch = static_cast<uint32_t>(lengths.size());
  s.keys = *std::max_element(lengths.begin(), lengths.end());
  s.queries = std::accumulate(lengths.begin(), lengths.end(), slack);
  s.pass = std::move(lengths);
  return make_case(s, {});
}

void add_passes(std::vector<OpCase>& all) {
  const auto shape = [](uint32_t heads, uint32_t head_dim) {
    CaseShape s{};
    s.heads = heads;
    s.head_dim = head_dim;
    return s;
  };
  const std::vector<uint32_t> mixed{5, 1, 33, 4, 3, 130, 1};
  all.push_back(make_pass(shape(1, 8), {1}));
  all.push_back(make_pass(shape(2, 8), {5, 4, 1}, 3));
  all.push_back(make_pass(shape(2, 16), {3}, 5));
  all.push_back(make_pass(shape(3, 12), {4, 1, 3, 5}, 3));
  all.push_back(make_pass(shape(4, 32), {5, 4, 1}, 6));
  all.push_back(make_pass(shape(2, 64), mixed, 11));
  all.push_back(make_pass(shape(16, 16), mixed, 0));  // q sliced on devices with small bindings, at edges that cut
                                                      // tiles
  all.push_back(make_pass(shape(3, 5), {5, 1, 6, 2}, 2));
  all.push_back(make_pass(shape(1, 256), {9, 2}));
  for (const uint32_t head_dim : {12u, 64u, 128u})
    for (const uint32_t group : {2u, 4u}) {
      CaseShape s = shape(2, head_dim);
      s.group = group;
      all.push_back(make_pass(s, {5, 4, 1, 30}, 3));
    }
  all.push_back(
      make_pass(shape(1, 8), std::vector<uint32_t>(state::MAX_ROWS, 1), 9));  // no entry after the last sentence
  for (const uint32_t head_dim : {12u, 5u, 64u}) {
    CaseShape s = shape(3, head_dim);
    s.bias = BiasForm::table;
    all.push_back(make_pass(s, {5, 1, 33, 4}, 7));
  }
  for (const uint32_t head_dim : kUsualHeads)
    for (const auto bias : {BiasForm::none, BiasForm::table}) {
      CaseShape s = shape(1, head_dim);
      s.bias = bias;
      all.push_back(make_pass(s, {5, 1, 33, 4}, 7));
    }
  for (const auto bias : {BiasForm::none, BiasForm::table})
    for (const uint32_t head_dim : {5u, 12u, 64u, 128u}) {
      CaseShape s = shape(2, head_dim);
      s.causal = true;
      s.bias = bias;
      s.group = head_dim > 12 ? 2 : 1;
      all.push_back(make_pass(s, head_dim > 64 ? std::vector<uint32_t>{33, 1, 60} : mixed, 5));
    }
  const auto window = [&](CaseShape s, uint32_t width, std::vector<std::vector<uint32_t>> globals,
                          const std::vector<uint32_t>& lengths) {
    s.window = width;
    uint32_t first = 0;  // the lists hold rows of the pass
    for (size_t i = 0; i < globals.size(); first += lengths[i++])
      for (uint32_t& g : globals[i]) g += first;
    s.globals = std::move(globals);
    all.push_back(make_pass(s, lengths, 4));
    s.global_queries = true;
    all.push_back(make_pass(s, lengths, 4));
  };
  window(shape(1, 8), 1, {{}}, {1});
  window(shape(3, 12), 2, {{0, 5, 6, 7, 12}, {}, {2}}, {13, 5, 3});
  window(shape(2, 64), 5, {{0}, {39}, {2, 30}, {}}, {40, 40, 31, 1});
  window(shape(1, 64), 5, {{0}, {2, 20}}, {40, 21});            // for the self-test: LED's heads
  window(shape(2, 16), 70, {{4}, {0, 1, 150, 299}}, {5, 300});  // more than a chunk of keys
  window(shape(2, 5), 3, {{0, 10}, {0, 1, 2, 3, 4, 5}}, {11, 6});
  const auto uneven = [&](CaseShape s, uint32_t before, uint32_t after, const std::vector<uint32_t>& lengths) {
    s.window = before;
    s.window_after = after;
    all.push_back(make_pass(s, lengths, 4));
  };
  uneven(shape(3, 12), 2, 0, {13, 5, 3});
  uneven(shape(3, 5), 1, 3, {13, 5, 3});
  uneven(shape(1, 64), 5, 0, {40, 21});
  uneven(shape(2, 16), 170, 0, {5, 300});
  window(shape(16, 16), 9, {{3}, {0, 20, 100, 129}, {0}}, {4, 130, 33});  // sliced on devices with small bindings
}

// Attention with terms, over the sentences of a pass or, without `pass`, one after another as far apart as the longest.
struct TermsCase {
  uint32_t heads, head_dim;
  bool by_query, by_key, by_segment;
  std::vector<uint32_t> lengths;
  bool pass = true, weights = false;
  uint32_t slack = 0;   // rows of a pass after the last sentence
  uint32_t before = 0;  // not a pass: keys before those of the queries, one fewer in every second sentence
  uint32_t past = kNoWindow;
  bool causal = false, mask = false;
};

AttentionAttributes terms_attributes(const TermsCase& s) {
  AttentionAttributes a;
  a.batch = static_cast<uint32_t>(s.lengths.size());
  a.keys = *std::max_element(s.lengths.begin(), s.lengths.end());
  a.queries = s.pass ? std::accumulate(s.lengths.begin(), s.lengths.end(), s.slack) : a.keys;
  a.keys += s.before;
  a.kv = {s.heads, s.head_dim, s.pass ? 1 : a.batch, s.pass ? a.queries : a.keys};
  a.causal = s.causal;
  a.window = s.past;
  a.scale = 0.25f;
  a.spans = s.pass ? 1 : 0;
  const uint32_t inner = s.heads * s.head_dim;
  a.terms = {s.by_query, s.by_key, s.by_segment, s.mask, 2, inner, 2 * s.head_dim, 2 * inner, 3 * inner + 1};
  a.terms.mask_row = s.mask ? 3 : 0;
  a.bias = bias_case(BiasForm::terms, -static_cast<int32_t>(a.keys / 2), static_cast<int32_t>(a.keys / 3), a.kv);
  a.bias.column = s.by_segment ? inner : 0;
  return a;
}

HostTensor some_types(const graph::Tensor& q, HostTensor values, const AttentionAttributes& a, CaseRandom& random) {
  for (uint64_t r = 0; r < q.rows && a.terms.by_segment; ++r)
    values.f[r * q.ld + a.terms.type_column] = random.below(3);
  return values;
}

// Lines `first_line` and up to 6 after it.
HostTensor some_lines(const AttentionAttributes& a, CaseRandom& random) {
  HostTensor lines;
  lines.f.assign(kBiasWords, 0.0);
  for (uint32_t i = 0; i < a.bias.count; ++i) lines.f[i] = a.terms.first_line + random.below(a.bias.buckets);
  return lines;
}

// Hides some keys of each query, all of them from the first query.
HostTensor some_masks(const graph::Tensor& mask, const AttentionAttributes& a, CaseRandom& random) {
  std::vector<uint32_t> words(mask.elements());
  const uint64_t first = uint64_t{a.terms.mask_row} * mask_words(a.keys);
  for (uint64_t i = 0; i < words.size(); ++i)
    words[i] = i - first < mask_words(a.keys) ? ~0u : random.below(1u << 16) << 16 | random.below(1u << 16);
  return words_of(std::move(words));
}

graph::TensorId add_mask(OpCase& c, const AttentionAttributes& a) {
  if (!a.terms.by_mask) return graph::kNone;
  const uint64_t rows = a.terms.mask_row + uint64_t{a.batch} * a.queries;
  return add_state(c.graph, "mask", StateKind::key_masks, rows * mask_words(a.keys) + kBiasWords, graph::DType::u32);
}

OpCase make_terms(const TermsCase& s) {
  OpCase c;
  const AttentionAttributes a = terms_attributes(s);
  c.name = format("%s of %u rows %u heads %ux%u, terms%s%s%s%s", s.pass ? "pass" : "sentences", a.batch, a.queries,
                  s.heads, s.head_dim, s.by_query ? " by query" : "", s.by_key ? " by key" : "",
                  s.by_segment ? " by segment" : "", s.weights ? ", weights" : "");
  if (s.before) c.name += format(", %u keys before", s.before);
  if (s.mask) c.name += ", mask";
  if (s.causal) c.name += s.past == kNoWindow ? ", causal" : format(", causal and %u back", s.past);
  const uint64_t inner = uint64_t{s.heads} * s.head_dim, rows = (s.pass ? 1 : uint64_t{a.batch}) * a.queries;
  const auto q = c.graph.activation("q", rows, s.by_segment ? 3 * inner + 4 : inner);
  const auto kv = add_kv(c.graph, StateKind::cross_kv, {a.kv, KvFormat::fp32});
  ops::AttentionOperands reads{q, kv, s.pass ? add_spans(c, s.lengths) : add_lengths(c.graph)};
  reads.distances = add_weight(c.graph, "distances", kBiasWords);
  if (s.by_segment) reads.bias = add_weight(c.graph, "segments", kBiasWords);
  reads.vectors = c.graph.activation("vectors", a.bias.buckets, 3 * inner);
  reads.mask = add_mask(c, a);
  ops::attention(c.graph, "context", reads, a, s.weights);
  if (!s.pass) {
    std::vector<std::pair<uint32_t, uint32_t>> lengths;
    for (const uint32_t n : s.lengths) lengths.emplace_back(s.before ? n % 2 : 0, n + s.before);
    c.inputs.emplace_back(reads.lengths, length_values(lengths));
  }
  c.prepare = [=](OpCase& into) {
    CaseRandom random(a.queries * 5 + a.keys * 7 + a.kv.head_dim);
    const auto& g = into.graph;
    into.inputs.emplace_back(q, some_types(g.tensor(q), random_values(g.tensor(q), random, 2), a, random));
    into.inputs.emplace_back(reads.distances, some_lines(a, random));
    if (s.mask) into.inputs.emplace_back(reads.mask, some_masks(g.tensor(reads.mask), a, random));
    for (const auto t : {kv, reads.vectors, reads.bias})
      if (t != graph::kNone) into.inputs.emplace_back(t, random_values(g.tensor(t), random, 1));
  };
  return c;
}

// Sentences behind keys of an earlier segment.
void add_terms_with_memory(std::vector<OpCase>& all) {
  const auto add = [&](TermsCase s) {
    s.pass = false;
    for (const bool weights : {false, true}) {
      s.weights = weights;
      all.push_back(make_terms(s));
    }
  };
  const auto causal = [&](TermsCase s, uint32_t past) {
    s.causal = true;
    s.past = past;
    add(s);
  };
  add({3, 12, true, false, true, {5, 1, 4}, false, false, 0, 3});
  add({2, 5, true, true, true, {9, 2}, false, false, 0, 140});
  causal({2, 8, true, false, false, {1, 7, 6}, false, false, 0, 6}, 5);
  causal({3, 12, true, false, false, {130, 4}, false, false, 0, 9}, kNoWindow);
  causal({2, 5, true, false, false, {11, 3}, false, false, 0, 150}, 149);
  causal({1, 64, true, true, false, {33, 6}}, 2);
  causal({2, 64, true, false, false, {40}, false, false, 0, 17}, 17);  // for the self-test
}

// Masks of a bit for each query and key, which lie apart from each other on devices with small bindings.
void add_terms_with_masks(std::vector<OpCase>& all) {
  const auto add = [&](TermsCase s) {
    s.pass = false;
    s.mask = true;
    for (const bool weights : {false, true}) {
      s.weights = weights;
      all.push_back(make_terms(s));
    }
  };
  add({3, 12, true, false, true, {5, 1, 4}});
  add({2, 5, true, false, true, {33, 32, 31}});
  add({2, 5, true, true, false, {9, 2}, false, false, 0, 140});
  add({1, 8, true, false, true, {700, 3}});  // more words than a binding has
  for (const uint32_t head_dim : {8u, 16u, 32u, 64u}) add({2, head_dim, true, false, true, {6, 3}});
}

void add_terms(std::vector<OpCase>& all) {
  const auto add = [&](TermsCase s) {
    all.push_back(make_terms(s));
    s.pass = false;
    all.push_back(make_terms(s));
    s.weights = true;
    all.push_back(make_terms(s));
  };
  add({1, 8, true, true, false, {1}});
  add({3, 12, true, true, false, {5, 4, 1}, true, false, 3});
  add({3, 12, true, false, true, {5, 4, 1}, true, false, 3});
  add({2, 5, true, true, false, {5, 1, 6, 2}});  // heads that are not whole vec4s
  add({3, 5, true, false, true, {5, 1, 6, 2}});
  add({2, 64, true, true, false, {5, 1, 33, 4, 3, 130, 1}, true, false, 11});  // more than a chunk of keys
  add({2, 16, true, false, true, {150, 3}});
  add({16, 16, true, true, true, {4, 130, 33}});  // sliced on devices with small bindings
  for (const uint32_t head_dim : {8u, 16u, 32u, 64u, 80u, 96u, 128u}) {
    add({1, head_dim, true, true, false, {21, 4}});  // for the self-test: DeBERTa's heads
    add({1, head_dim, true, false, true, {21, 4}});  // XLNet's
    add({1, head_dim, true, false, false, {21, 4}});
    add({1, head_dim, false, true, false, {21, 4}});
  }
}

// Contexts with the logarithms of sums behind the heads.
void add_log_sums(std::vector<OpCase>& all) {
  const auto add = [&](CaseShape s, const std::vector<std::pair<uint32_t, uint32_t>>& lengths) {
    s.log_sums = true;
    all.push_back(make_case(s, lengths));
  };
  for (const bool weights : {false, true}) {
    add({2, 7, 7, 4, 8, true, weights}, {{0, 7}, {0, 3}});
    add({3, 5, 11, 3, 7, false, weights}, {{0, 11}, {4, 9}, {5, 5}});  // no keys at all
    CaseShape biased{2, 7, 7, 3, 12, true, weights};
    biased.bias = BiasForm::table;
    add(biased, {{0, 7}, {0, 3}});
  }
  CaseShape near{2, 13, 13, 3, 12};
  near.window = 2;
  near.window_after = 0;
  add(near, {{0, 13}, {3, 8}});
  CaseShape shared{1, 6, 6, 1, 256};
  shared.group = 4;
  add(shared, {{0, 6}});
  add({4, 17, 23, 8, 64, false, false, 5, 31}, {{0, 23}, {0, 1}, {22, 23}, {0, 0}});  // sliced, small bindings
}

// Scores that a tanh caps; 50 is that of published models, with heads of 64 and 256.
void add_capped(std::vector<OpCase>& all) {
  const auto sentences = [&](CaseShape s, float cap, const std::vector<std::pair<uint32_t, uint32_t>>& lengths) {
    s.cap = cap;
    all.push_back(make_case(s, lengths));
  };
  const auto pass = [&](CaseShape s, float cap, const std::vector<uint32_t>& lengths) {
    s.cap = cap;
    all.push_back(make_pass(s, lengths, 4));
  };
  const auto near = [](CaseShape s, uint32_t before, uint32_t after) {
    s.window = before;
    s.window_after = after;
    return s;
  };
  const auto biased = [](CaseShape s, BiasForm bias) {
    s.bias = bias;
    return s;
  };
  for (const bool weights : {false, true}) {
    sentences({2, 7, 7, 4, 8, true, weights}, 0.5f, {{0, 7}, {0, 3}});
    sentences({2, 5, 6, 3, 5, false, weights}, 1.5f, {{0, 6}, {1, 4}});
    for (const auto bias : {BiasForm::table, BiasForm::rows})
      sentences(biased({2, 7, 7, 3, 12, false, weights}, bias), 0.5f, {{0, 7}, {0, 3}});
  }
  sentences(near({2, 13, 13, 3, 12}, 2, 0), 0.5f, {{0, 13}, {3, 8}});
  sentences(near({2, 13, 13, 3, 5}, 4, 1), 0.5f, {{0, 13}, {0, 0}});
  CaseShape shape{};
  for (const uint32_t head_dim : {5u, 12u, 64u, 256u}) {
    shape.heads = head_dim > 64 ? 1 : 2;
    shape.head_dim = head_dim;
    shape.group = head_dim > 64 ? 2 : 1;
    std::vector<uint32_t> lengths{5, 1, 20, 4};
    if (head_dim > 64) lengths = {5, 1};  // for the self-test
    const float cap = head_dim < 64 ? 0.75f : 50;
    pass(shape, cap, lengths);
    pass(biased(shape, BiasForm::table), cap, lengths);
    pass(near(shape, 3, 3), cap, lengths);
  }
}

}  // namespace

std::vector<OpCase> attention_cases() {
  std::vector<OpCase> all;
  all.push_back(make_case({1, 1, 1, 1, 8}, {{0, 1}}));
  all.push_back(make_case({2, 7, 7, 4, 8}, {{0, 7}, {0, 3}}));
  all.push_back(make_case({2, 7, 7, 4, 8, true}, {{0, 7}, {0, 3}}));
  all.push_back(make_case({3, 5, 11, 3, 12}, {{0, 11}, {4, 9}, {5, 5}}));  // left padding; no keys at all
  all.push_back(make_case({3, 5, 11, 3, 12, false, true}, {{0, 11}, {4, 9}, {5, 5}}));
  all.push_back(make_case({2, 13, 13, 2, 16, true, true}, {{0, 13}, {2, 13}}));
  all.push_back(make_case({1, 131, 131, 2, 64}, {{0, 131}}));  // more than a chunk of keys
  all.push_back(make_case({1, 131, 131, 2, 64, true}, {{0, 131}}));
  all.push_back(make_case({1, 9, 300, 2, 32, false, true}, {{3, 290}}));
  all.push_back(make_case({2, 5, 6, 3, 5}, {{0, 6}, {1, 4}}));  // heads that are not whole vec4s, padded rows
  all.push_back(make_case({2, 5, 6, 3, 5, true, true}, {{0, 6}, {0, 4}}));
  all.push_back(make_case({1, 3, 5, 1, 255}, {{0, 5}}));
  all.push_back(make_case({1, 3, 9, 2, 256}, {{0, 9}}));
  all.push_back(make_case({1, 1, 1, 5000, 1}, {{0, 1}}));  // a three-dimensional grid on devices with small limits
  all.push_back(make_case({4, 17, 23, 8, 64, false, false, 5, 31}, {{0, 23}, {0, 1}, {22, 23}, {0, 0}}));
  all.push_back(make_case({3, 40, 60, 4, 64, false, true}, {{0, 60}, {0, 17}, {0, 59}}));
  {  // sums of very many numbers of one sign
    CaseShape s{1, 5, 16000, 2, 8};
    s.shift = 100;
    all.push_back(make_case(s, {{0, 15999}}));
  }
  add_usual_heads(all, BiasForm::none);
  add_groups(all);
  add_biased(all, BiasForm::table);
  add_biased(all, BiasForm::rows);
  add_windows(all);
  add_uneven_windows(all);
  add_passes(all);
  add_maps(all);
  add_terms(all);
  add_terms_with_memory(all);
  add_terms_with_masks(all);
  add_capped(all);
  add_log_sums(all);
  return all;
}

}  // namespace lapilli
