#include "model/relative_binder.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

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

Status RelativeBinder::reach_vectors(const AttentionNames& n, const Place& at, AttentionWeights& w) {
  WeightSpec spec;
  spec.kind = WeightSpec::Kind::vector;
  spec.name = with_layer(n.distance_table, at.layer);
  spec.words = kBiasWords;
  const uint64_t rows = 2 * uint64_t{at.s.reach} + 1;
  if (rows * at.s.head_dim > kBiasWords)
    return fail(ErrorCode::unsupported, "%s: vectors of %u numbers for distances up to %u; at most %u numbers are read",
                spec.name, at.s.head_dim, at.s.reach, kBiasWords);
  LAPILLI_TRY(const auto* t, find({spec.name}, {rows, at.s.head_dim}));
  spec.parts.push_back(whole(t));
  count(t);
  w.distance_table = add(std::move(spec));
  return {};
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

Status RelativeBinder::second_stream(const StackConfig& s, const StackNames& names, StackWeights& w) {
  if (names.second_stream.empty() || !stored(names.second_stream)) return {};
  LAPILLI_TRY(const auto* t, find({names.second_stream}, {1, 1, s.d_model}));
  count(t);
  LAPILLI_TRY(const auto vector, read_floats(*t));
  const WeightLayout layout(s.row_types, s.d_model);
  std::vector<float> values(layout.words(), 0.0f);
  for (uint32_t type = 0; type < s.row_types; ++type)
    for (uint32_t i = 0; i < s.d_model; ++i) values[layout.word(type, i)] = vector[i];
  const auto words = static_cast<uint32_t>(values.size());
  w.second_stream = shared_values("second stream", 1, words, std::move(values));
  return {};
}

namespace {

// A tensor of computed numbers.
struct ComputedTensor : StoredTensor {
  explicit ComputedTensor(std::vector<float> values) : numbers(std::move(values)) {
    shape = {numbers.size()};
    strides = {1};
    bytes = std::as_bytes(std::span(numbers));
  }
  const std::vector<float> numbers;
};

WeightPart computed_bias(std::vector<float> values, uint32_t first_column) {
  WeightPart part = columns(first_column);
  part.bias = true;
  part.view = std::make_shared<const ComputedTensor>(std::move(values));
  part.tensor = part.view.get();
  return part;
}

// matrix [n, k] times a vector of k.
std::vector<float> product(std::span<const float> matrix, std::span<const float> vector) {
  std::vector<float> result;
  for (auto row = matrix; !row.empty(); row = row.subspan(vector.size()))
    result.push_back(static_cast<float>(std::inner_product(vector.begin(), vector.end(), row.begin(), 0.0)));
  return result;
}

// The vectors of distances, sines before cosines of the frequencies 10000^(-2i / d), through a projection [inner, d].
Result<std::vector<float>> projected_lines(const StoredTensor& projection, const StackConfig& s) {
  LAPILLI_TRY(const auto p, read_floats(projection));
  const uint64_t inner = s.inner(), d = s.d_model, ld = round_up<uint64_t>(inner, 4);
  const uint64_t last = s.vectors.distance ? s.vectors.distance : s.distances;  // greater ones count as this
  std::vector<float> turned(d * inner), lines(s.distances * ld, 0.0f);
  for (uint64_t c = 0; c < inner; ++c)
    for (uint64_t k = 0; k < d; ++k) turned[k * inner + c] = p[c * d + k];
  for (uint64_t i = 0; i < s.distances; ++i)
    for (uint64_t k = 0; k < d; ++k) {
      const uint64_t pair = k < d / 2 ? k : k - d / 2;
      const double angle = static_cast<double>(std::min<uint64_t>(i, last)) *
                           std::pow(10000.0, -2.0 * static_cast<double>(pair) / static_cast<double>(d));
      const auto x = static_cast<float>(k < d / 2 ? std::sin(angle) : std::cos(angle));
      for (uint64_t c = 0; c < inner; ++c) lines[i * ld + c] += x * turned[k * inner + c];
    }
  return lines;
}

}  // namespace

Result<std::vector<float>> RelativeBinder::projected_bias(const AttentionNames& n, const Place& at) {
  const uint64_t d = at.s.d_model, inner = at.s.inner();
  if (!at.s.pre_norm) return std::vector<float>(3 * inner, 0.0f);
  LAPILLI_TRY(const auto* weight, find({with_layer(n.q, at.layer) + ".weight"}, {3 * inner, d}));
  LAPILLI_TRY(const auto* bias, find({with_layer(n.norm, at.layer) + ".bias"}, {d}));
  count(bias);
  LAPILLI_TRY(const auto matrix, read_floats(*weight));
  LAPILLI_TRY(const auto vector, read_floats(*bias));
  return product(matrix, vector);
}

Status RelativeBinder::recurrent_queries(WeightSpec& spec, const AttentionNames& n, const Place& at,
                                         std::span<const float> added) {
  Linear layer = projection(n, at, kQueries);
  layer.bias = false;
  const std::string *biases[] = {&n.content_bias, &n.position_bias},
                    *shared[] = {&n.shared_content_bias, &n.shared_position_bias};
  for (uint32_t i = 0; i < std::size(biases); ++i) {
    const uint32_t column = i * round_up(at.s.inner(), 4u);
    LAPILLI_CHECK(linear_part(spec, layer, at.s.inner(), columns(column)));
    LAPILLI_TRY(const auto* t, find({with_layer(*biases[i], at.layer), *shared[i]}, {at.s.heads, at.s.head_dim}));
    if (t->name != *shared[i] || at.layer == 0) count(t);
    LAPILLI_TRY(auto values, read_floats(*t));
    std::transform(values.begin(), values.end(), added.begin(), values.begin(), std::plus<>());
    spec.parts.push_back(computed_bias(std::move(values), column));
  }
  net_.parameters -= uint64_t{at.s.inner()} * spec.k;  // the second time
  return {};
}

Status RelativeBinder::recurrent_attention(const AttentionNames& n, const Place& at, AttentionWeights& w) {
  const uint32_t d = at.s.d_model, inner = at.s.inner(), q = at.s.query_columns();
  LAPILLI_TRY(const auto added, projected_bias(n, at));
  WeightSpec qkv = matrix(with_layer(n.q, at.layer) + "+k+v", q + 2 * inner, d);
  LAPILLI_CHECK(recurrent_queries(qkv, n, at, added));
  LAPILLI_CHECK(keys_values(qkv, n, at, q));
  w.qkv = add(std::move(qkv));
  LAPILLI_CHECK(recurrent_out(n, at, std::span(added).subspan(2 * inner), w.out));
  LAPILLI_CHECK(lines(n, at, w));
  return norm(with_layer(n.norm, at.layer), d, true, !at.s.pre_norm, w.norm);
}

Status RelativeBinder::recurrent_out(const AttentionNames& n, const Place& at, std::span<const float> values,
                                     WeightIndex& index) {
  const uint32_t d = at.s.d_model;
  WeightSpec out = matrix(with_layer(n.out, at.layer), d, at.s.inner());
  Linear layer = at.linear(n.out);
  layer.bias = false;
  LAPILLI_CHECK(linear_part(out, layer, d, {}));
  if (at.s.pre_norm) {
    LAPILLI_TRY(const auto matrix, read_floats(*out.parts.front().tensor));
    out.parts.push_back(computed_bias(product(matrix, values), 0));
  }
  index = add(std::move(out));
  return {};
}

Status RelativeBinder::lines(const AttentionNames& n, const Place& at, AttentionWeights& w) {
  const StackConfig& s = at.s;
  LAPILLI_TRY(const auto* t, find({with_layer(n.vector_k, at.layer) + ".weight"}, {s.inner(), s.d_model}));
  count(t);
  WeightSpec spec;
  spec.kind = WeightSpec::Kind::values;
  spec.name = with_layer(n.vector_k, at.layer) + " of distances";
  spec.n = s.distances;
  spec.k = s.inner();
  spec.words = uint64_t{spec.n} * round_up<uint64_t>(spec.k, 4);
  spec.make = [t, s] { return projected_lines(*t, s); };
  w.lines = add(std::move(spec));
  std::vector<float> buckets(kBiasWords, 0.0f);
  for (uint32_t i = 0; i < s.distances; ++i) buckets[i] = static_cast<float>(s.distances - 1 - i);
  w.distances = shared_values("distances", 1, kBiasWords, std::move(buckets));
  w.distance_low = 1 - static_cast<int32_t>(s.distances);
  w.distance_count = s.distances;
  return {};
}

}  // namespace lapilli::model
