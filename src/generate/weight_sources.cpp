#include "generate/weight_sources.hpp"

#include <algorithm>
#include <cstring>

namespace lapilli {

namespace {

StoredFormat stored_format(StoredType type) {
  return type == StoredType::f16    ? StoredFormat::f16
         : type == StoredType::bf16 ? StoredFormat::bf16
                                    : StoredFormat::f32;
}

// The bytes of a tensor in row-major order: the mapping itself, or a copy where strides ask for one.
std::function<Result<std::span<const std::byte>>()> tensor_bytes(const StoredTensor* tensor) {
  const uint64_t size = stored_bytes(tensor->type);
  if (tensor->contiguous())
    return [tensor, size]() -> Result<std::span<const std::byte>> {
      const auto values = tensor->bytes.first(tensor->elements() * size);
      LAPILLI_CHECK(check_numbers(*tensor, values));
      return values;
    };
  auto copy = std::make_shared<std::vector<std::byte>>();
  return [tensor, size, copy]() -> Result<std::span<const std::byte>> {
    const uint64_t n = tensor->elements();
    try {
      copy->resize(n * size);
    } catch (const std::exception&) {  // strides of 0 make large tensors of small files
      return fail(ErrorCode::out_of_memory, "not enough memory to lay out tensor %s", tensor->describe().c_str());
    }
    for (uint64_t i = 0; i < n; ++i) {
      uint64_t rest = i, at = 0;
      for (size_t d = tensor->shape.size(); d-- > 0;) {
        at += rest % tensor->shape[d] * tensor->strides[d];
        rest /= tensor->shape[d];
      }
      std::memcpy(copy->data() + i * size, tensor->bytes.data() + at * size, size);
    }
    LAPILLI_CHECK(check_numbers(*tensor, *copy));
    return std::span<const std::byte>(*copy);
  };
}

// Of the small tables that are laid out on the host.
Result<std::vector<float>> table_values(const StoredTensor& tensor) {
  LAPILLI_CHECK(check_numbers(tensor, tensor.bytes));
  return read_floats(tensor);
}

WeightPiece piece(const model::WeightSpec& spec, const model::WeightPart& part) {
  WeightPiece p;
  p.bytes = tensor_bytes(part.tensor);
  p.format = stored_format(part.tensor->type);
  p.first_column = part.first_column;
  p.group = part.group;
  p.group_stride = part.group_stride;
  p.destination = part.destination;
  if (spec.kind == model::WeightSpec::Kind::matrix && !part.bias) {
    p.kind = WeightPiece::Kind::matrix;
    p.rows = part.tensor->shape[0];
    p.k = part.tensor->shape[1];
  } else {
    p.kind = spec.kind == model::WeightSpec::Kind::matrix ? WeightPiece::Kind::bias : WeightPiece::Kind::plain;
    p.rows = part.tensor->elements();
    p.k = 1;
  }
  return p;
}

Result<WeightSource> source(const model::WeightSpec& spec) {
  WeightSource s;
  s.name = spec.name;
  s.words = spec.words;
  s.n = spec.n;
  s.k = spec.k;
  s.values = spec.values;
  if (spec.kind == model::WeightSpec::Kind::table) {
    // Rows are padded to vec4: done on the host, these tables are small.
    LAPILLI_TRY(const auto values, table_values(*spec.parts.front().tensor));
    const uint64_t ld = round_up<uint64_t>(spec.k, 4);
    s.values.assign(spec.words, 0.0f);
    for (uint64_t r = 0; r < spec.n; ++r)
      std::copy_n(values.begin() + static_cast<ptrdiff_t>(r * spec.k), spec.k,
                  s.values.begin() + static_cast<ptrdiff_t>(r * ld));
    if (spec.parts.size() > 1) {
      LAPILLI_TRY(const auto added, table_values(*spec.parts[1].tensor));
      for (uint64_t r = 0; r < spec.n; ++r)
        for (uint64_t i = 0; i < spec.k; ++i) s.values[r * ld + i] += added[spec.parts[1].destination * spec.k + i];
    }
    return s;
  }
  for (const auto& part : spec.parts) s.pieces.push_back(piece(spec, part));
  return s;
}

}  // namespace

Result<std::vector<WeightSource>> weight_sources(const model::Network& network) {
  std::vector<WeightSource> sources;
  for (const auto& spec : network.weights) {
    LAPILLI_TRY(auto s, source(spec));
    sources.push_back(std::move(s));
  }
  return sources;
}

}  // namespace lapilli
