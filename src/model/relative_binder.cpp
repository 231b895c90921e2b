#include "model/relative_binder.hpp"

#include "model/positions.hpp"
#include "ops/attention/attention.hpp"

namespace lapilli::model {

Result<WeightPart> RelativeBinder::head_matrix(const std::string& name, const StackConfig& s, bool from_heads,
                                               WeightPart place) {
  LAPILLI_TRY(const auto* t, find({name}, {s.d_model, s.heads, s.head_dim}));
  if (t->strides[1] != s.head_dim * t->strides[2])
    return fail(ErrorCode::unsupported, "tensor %s has heads apart from each other; store it without gaps",
                t->describe());
  auto view = std::make_shared<StoredTensor>(*t);
  view->shape = {s.d_model, s.inner()};
  view->strides = {t->strides[0], t->strides[2]};
  if (!from_heads) {
    std::swap(view->shape[0], view->shape[1]);
    std::swap(view->strides[0], view->strides[1]);
  }
  place.tensor = view.get();
  place.view = std::move(view);
  return place;
}

Status RelativeBinder::head_part(WeightSpec& spec, const std::string& name, const std::string& bias, const Place& at,
                                 WeightPart place) {
  LAPILLI_TRY(auto part, head_matrix(with_layer(name, at.layer), at.s, false, place));
  LAPILLI_CHECK(take_format(spec, *part.tensor));
  spec.parts.push_back(std::move(part));
  if (bias.empty()) return {};
  LAPILLI_TRY(place.tensor, find({with_layer(bias, at.layer)}, {at.s.heads, at.s.head_dim}));
  place.bias = true;
  count(place.tensor);
  spec.parts.push_back(std::move(place));
  return {};
}

Status RelativeBinder::segment_attention(const AttentionNames& n, const Place& at, AttentionWeights& w) {
  const uint32_t d = at.s.d_model, inner = at.s.inner(), q = at.s.query_columns(), head = at.s.head_dim;
  WeightSpec qkv = matrix(with_layer(n.q, at.layer) + "+k+v", q + 2 * inner, d);
  const std::string* biases[] = {&n.content_bias, &n.position_bias, &n.segment_bias};
  for (uint32_t i = 0; i < std::size(biases); ++i)
    LAPILLI_CHECK(head_part(qkv, n.q, *biases[i], at, columns(i * inner)));
  LAPILLI_CHECK(head_part(qkv, n.k, "", at, columns(q, head, 2 * head)));
  LAPILLI_CHECK(head_part(qkv, n.v, "", at, columns(q + head, head, 2 * head)));
  w.qkv = add(std::move(qkv));
  WeightSpec out = matrix(with_layer(n.out, at.layer), d, inner);
  LAPILLI_TRY(auto part, head_matrix(out.name, at.s, true, {}));
  LAPILLI_CHECK(take_format(out, *part.tensor));
  out.parts.push_back(std::move(part));
  w.out = add(std::move(out));
  net_.parameters += 4 * uint64_t{d} * inner;
  LAPILLI_CHECK(segments(n, at, w));
  return norm(with_layer(n.norm, at.layer), at.s, w.norm);
}

Status RelativeBinder::segments(const AttentionNames& n, const Place& at, AttentionWeights& w) {
  WeightSpec spec;
  spec.kind = WeightSpec::Kind::vector;
  spec.name = with_layer(n.segments, at.layer);
  spec.words = kBiasWords;
  if (2 * uint64_t{at.s.inner()} > kBiasWords)
    return fail(ErrorCode::unsupported, "%s: segments of %u heads of %u; at most %u columns are supported", spec.name,
                at.s.heads, at.s.head_dim, kBiasWords / 2);
  LAPILLI_TRY(const auto* t, find({spec.name}, {2, at.s.heads, at.s.head_dim}));
  spec.parts.push_back(whole(t));
  count(t);
  w.segments = add(std::move(spec));
  return {};
}

Status RelativeBinder::distance_vectors(const StackConfig& s, const StackNames& names, StackWeights& w) {
  const bool stored = s.vectors.table == DistanceVectors::Table::stored;
  LAPILLI_TRY(auto table, distance_table(s.vectors));
  WeightSpec spec;
  spec.name = "distance vectors";
  spec.k = s.d_model;
  if (stored) {
    LAPILLI_CHECK(stored_vectors(s, names, spec));
  } else {
    spec.kind = WeightSpec::Kind::values;
    spec.values = distance_sinusoids(s.d_model, s.vectors.distance);
    spec.n = static_cast<uint32_t>(table.buckets.size());
  }
  spec.words = uint64_t{spec.n} * round_up<uint64_t>(spec.k, 4);
  w.vectors = add(std::move(spec));
  if (s.vectors.normalized) LAPILLI_CHECK(norm(names.vectors_norm, s, w.vectors_norm));
  distance_rows(s, std::move(table), w);
  return {};
}

Status RelativeBinder::stored_vectors(const StackConfig& s, const StackNames& names, WeightSpec& spec) {
  spec.kind = WeightSpec::Kind::table;
  spec.n = 2 * (s.vectors.buckets ? s.vectors.buckets : s.vectors.distance);
  LAPILLI_TRY(const auto* t, find({names.vectors}, {spec.n, spec.k}));
  spec.parts.push_back(whole(t));
  count(t);
  return {};
}

void RelativeBinder::distance_rows(const StackConfig& s, RelativeTable table, StackWeights& w) {
  const auto count = static_cast<uint32_t>(table.buckets.size());
  table.buckets.resize(kBiasWords, 0.0f);
  const WeightIndex index = shared_values("distances", 1, kBiasWords, std::move(table.buckets));
  for (uint32_t i = 0; i < s.layers; ++i) {
    w.layers[i].self.distances = index;
    w.layers[i].self.distance_low = table.low;
    w.layers[i].self.distance_count = count;
  }
}

Status RelativeBinder::vector_projection(const AttentionNames& n, const Place& at, AttentionWeights& w) {
  const DistanceVectors& v = at.s.vectors;
  if (v.shared || (!v.by_query && !v.by_key)) return {};
  const uint32_t inner = at.s.inner(), keys = v.by_key ? inner : 0;
  WeightSpec spec = matrix(with_layer(n.vector_k, at.layer), keys + (v.by_query ? inner : 0), at.s.d_model);
  if (at.s.segments) {
    net_.parameters += uint64_t{at.s.d_model} * inner;
    LAPILLI_CHECK(head_part(spec, n.vector_k, "", at, {}));
  } else {
    if (v.by_key) LAPILLI_CHECK(linear_part(spec, at.linear(n.vector_q), inner, {}));
    if (v.by_query) LAPILLI_CHECK(linear_part(spec, at.linear(n.vector_k), inner, columns(keys)));
  }
  w.vectors = add(std::move(spec));
  return {};
}

void RelativeBinder::segment_types(const StackConfig& s, StackWeights& w) {
  const WeightLayout layout(s.row_types, s.query_columns());
  std::vector<float> values(layout.words(), 0.0f);
  for (uint32_t type = 0; type < s.row_types; ++type)
    values[layout.word(type, 3 * s.inner())] = static_cast<float>(type);
  const auto words = static_cast<uint32_t>(values.size());
  w.segment_types = shared_values("segment types", 1, words, std::move(values));
}

}  // namespace lapilli::model
