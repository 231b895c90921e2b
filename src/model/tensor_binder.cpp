#include "model/tensor_binder.hpp"

#include <algorithm>

namespace lapilli::model {

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string with_layer(const std::string& pattern, uint32_t layer) {
  std::string name = pattern;
  const auto at = name.find("{}");
  if (at != std::string::npos) name.replace(at, 2, std::to_string(layer));
  return name;
}

WeightPart whole(const StoredTensor* t, bool bias, uint64_t destination) {
  WeightPart part;
  part.tensor = t;
  part.bias = bias;
  part.destination = destination;
  return part;
}

WeightPart columns(uint32_t first, uint32_t group, uint32_t stride) {
  WeightPart part;
  part.first_column = first;
  part.group = group;
  part.group_stride = stride;
  return part;
}

const StoredTensor* TensorBinder::stored(const std::string& name) const {
  if (const StoredTensor* t = checkpoint_.find(name)) return t;
  const std::string& base = names_.base_prefix;
  if (!base.empty() && name.starts_with(base))
    if (const StoredTensor* t = checkpoint_.find(name.substr(base.size()))) return t;
  for (const auto& [prefix, other] : names_.other_prefixes)
    if (name.starts_with(prefix))
      if (const StoredTensor* t = checkpoint_.find(other + name.substr(prefix.size()))) return t;
  return nullptr;
}

std::optional<WeightFormat> TensorBinder::in_words(std::optional<WeightFormat> packed) {
  return packed && packed::has_scales(*packed) ? packed : std::nullopt;
}

Result<const StoredTensor*> TensorBinder::find_matrix(const std::vector<std::string>& names, uint64_t n, uint64_t k) {
  const StoredTensor* t = nullptr;
  for (const auto& name : names)
    if (!t) t = stored(name);
  if (!t || !packed_ || !is_packed(*t)) return find(names, {n, k});
  const std::vector<uint64_t> shape{n, packed::row_words(*packed_, k)};
  if (t->shape == shape) return t;
  return fail(ErrorCode::invalid_data, "tensor %s has shape %s, a matrix of %u x %u packed as %s has %s", t->name,
              shape_text(t->shape), n, k, lapilli::name(*packed_), shape_text(shape));
}

Status TensorBinder::take_format(WeightSpec& spec, const StoredTensor& t) const {
  const WeightFormat format = is_packed(t) ? *packed_ : WeightFormat::fp32;
  if (spec.parts.empty()) {
    spec.format = format;
    spec.words = WeightLayout(spec.n, spec.k, format).words();
    return {};
  }
  if (format == spec.format) return {};
  return fail(ErrorCode::invalid_data, "tensor %s is stored as %s, others of the same matrix (%s) are not", t.name,
              stored_type_name(t.type), spec.name);
}

Failure TensorBinder::not_floating(const StoredTensor& t) {
  return fail(ErrorCode::unsupported, "tensor %s is stored as %s; f32, f16 and bf16 are supported", t.name,
              stored_type_name(t.type));
}

Result<const StoredTensor*> TensorBinder::find(const std::vector<std::string>& names,
                                               const std::vector<uint64_t>& shape) {
  for (const auto& name : names) {
    const StoredTensor* t = stored(name);
    if (!t) continue;
    if (t->shape != shape)
      return fail(ErrorCode::invalid_data, "tensor %s has shape %s, config.json asks for %s", name,
                  shape_text(t->shape), shape_text(shape));
    if (!floating(t->type)) return not_floating(*t);
    return t;
  }
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : " or ") + name;
  return fail(ErrorCode::invalid_data, "the checkpoint lacks tensor %s", all);
}

WeightIndex TensorBinder::add(WeightSpec spec) {
  net_.weights.push_back(std::move(spec));
  return static_cast<WeightIndex>(net_.weights.size() - 1);
}

bool TensorBinder::tied(const StoredTensor* t, const StoredTensor* of) {
  if (!of || !same_values(*t, *of)) return false;
  if (t->name != of->name) net_.tied.emplace_back(t->name, of->name);
  return true;
}

// Cuts a view, whose first dimension is that of rows.
static void cut_rows(StoredTensor& view, uint64_t first, uint64_t rows) {
  view.shape[0] = rows;
  const uint64_t size = stored_bytes(view.type), begin = first * view.strides[0] * size;
  uint64_t reach = 1;
  for (size_t d = 0; d < view.shape.size(); ++d) reach += (view.shape[d] - 1) * view.strides[d];
  if (!view.bytes.empty()) view.bytes = view.bytes.subspan(begin, reach * size);
  view.stored.offset += begin;
  view.stored.bytes = reach * size;
}

void TensorBinder::take_rows(const StoredTensor* all, uint64_t first, uint64_t rows, WeightPart& place) {
  place.tensor = all;
  if (rows == all->shape[0]) return;
  auto view = std::make_shared<StoredTensor>(*all);
  cut_rows(*view, first, rows);
  place.tensor = view.get();
  place.rows_of = all;
  place.view = std::move(view);
}

void TensorBinder::count(const StoredTensor* t) {
  uint64_t n = 1;
  for (const uint64_t d : t->shape) n *= d;
  net_.parameters += n;
}

WeightSpec TensorBinder::matrix(std::string name, uint32_t n, uint32_t k) {
  WeightSpec spec;
  spec.kind = WeightSpec::Kind::matrix;
  spec.name = std::move(name);
  spec.n = n;
  spec.k = k;
  spec.words = WeightLayout(n, k).words();
  return spec;
}

Status TensorBinder::norm(const std::string& name, const StackConfig& s, WeightIndex& index) {
  return norm(name, s, s.d_model, index);
}

Status TensorBinder::norm(const std::string& name, const StackConfig& s, uint32_t width, WeightIndex& index) {
  LAPILLI_CHECK(norm(name, width, s.norm == Norm::layer, s.norm_bias, index));
  if (s.norm_plus_one) net_.weights[index].plus = 1;
  return {};
}

Status TensorBinder::norm(const std::string& name, uint32_t width, bool room, bool stored_bias, WeightIndex& index) {
  WeightSpec spec;
  spec.kind = WeightSpec::Kind::vector;
  spec.name = name;
  const uint64_t ld = round_up<uint64_t>(width, 4);
  spec.words = room ? 2 * ld : ld;
  LAPILLI_TRY(const auto* weight, find({name + ".weight", name + ".gamma"}, {width}));
  spec.parts.push_back(whole(weight));
  count(weight);
  if (room && stored_bias) {
    LAPILLI_TRY(const auto* bias, find({name + ".bias", name + ".beta"}, {width}));
    spec.parts.push_back(whole(bias, false, ld));
    count(bias);
  }
  index = add(std::move(spec));
  return {};
}

void TensorBinder::take_share(const StoredTensor* all, const Linear& layer, WeightPart& place) {
  const bool turned = layer.transposed && all->shape.size() == 2;
  place.tensor = all;
  if (!turned && layer.of == 1) return;
  auto view = std::make_shared<StoredTensor>(*all);
  if (turned) {
    std::swap(view->shape[0], view->shape[1]);
    std::swap(view->strides[0], view->strides[1]);
  }
  const uint64_t rows = view->shape[0] / layer.of;
  cut_rows(*view, layer.share * rows, rows);
  place.tensor = view.get();
  place.rows_of = turned ? nullptr : all;
  place.view = std::move(view);
}

Status TensorBinder::linear_part(WeightSpec& spec, const Linear& layer, uint32_t n, WeightPart place) {
  const std::vector<std::string> names{layer.name + ".weight"};
  std::vector<uint64_t> shape{uint64_t{n} * layer.of, spec.k};
  if (layer.transposed) std::swap(shape[0], shape[1]);
  LAPILLI_TRY(const auto* weight, layer.transposed ? find(names, shape) : find_matrix(names, shape[0], spec.k));
  LAPILLI_CHECK(take_format(spec, *weight));
  take_share(weight, layer, place);
  net_.parameters += uint64_t{n} * spec.k;
  spec.parts.push_back(place);
  if (layer.bias) {
    LAPILLI_TRY(const auto* bias, find({layer.name + ".bias"}, {uint64_t{n} * layer.of}));
    place.view = nullptr;
    take_share(bias, layer, place);
    place.bias = true;
    count(place.tensor);
    spec.parts.push_back(place);
  }
  return {};
}

Status TensorBinder::linear(const Linear& layer, uint32_t n, uint32_t k, WeightIndex& index) {
  WeightSpec spec = matrix(layer.name, n, k);
  LAPILLI_CHECK(linear_part(spec, layer, n, {}));
  index = add(std::move(spec));
  return {};
}

WeightIndex TensorBinder::shared_values(const char* name, uint32_t n, uint32_t k, std::vector<float> values) {
  for (size_t i = 0; i < net_.weights.size(); ++i)
    if (net_.weights[i].name == name && net_.weights[i].values == values) return static_cast<WeightIndex>(i);
  WeightSpec spec;
  spec.kind = WeightSpec::Kind::values;
  spec.name = name;
  spec.n = n;
  spec.k = k;
  spec.words = values.size();
  spec.values = std::move(values);
  return add(std::move(spec));
}

TensorBinder::Linear TensorBinder::projection(const AttentionNames& n, const Place& at, Projected which) {
  const std::string* names[] = {&n.q, &n.k, &n.v};
  Linear layer = at.linear(*names[which]);
  layer.bias = layer.bias && at.s.qkv_bias && (which != kKeys || at.s.key_bias);
  layer.of = 0;
  for (size_t i = 0; i < std::size(names); ++i) {
    if (*names[i] != *names[which]) continue;
    ++layer.of;
    if (i < which) ++layer.share;
  }
  return layer;
}

Status TensorBinder::keys_values(WeightSpec& spec, const AttentionNames& n, const Place& at, uint32_t q_columns) {
  const uint32_t inner = at.s.kv_inner(), head = at.s.head_dim;
  LAPILLI_CHECK(linear_part(spec, projection(n, at, kKeys), inner, columns(q_columns, head, 2 * head)));
  return linear_part(spec, projection(n, at, kValues), inner, columns(q_columns + head, head, 2 * head));
}

}  // namespace lapilli::model
