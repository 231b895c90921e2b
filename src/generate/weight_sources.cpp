#include "generate/weight_sources.hpp"

#include <algorithm>
#include <cstring>

#include "model/patches.hpp"

namespace lapilli {

namespace {

StoredFormat stored_format(StoredType type) {
  return type == StoredType::f16    ? StoredFormat::f16
         : type == StoredType::bf16 ? StoredFormat::bf16
                                    : StoredFormat::f32;
}

// The tensor read or laid out last, shared by all parts, which are loaded one after the other.
struct Scratch {
  const StoredTensor* laid_out = nullptr;
  TensorBytes bytes;
};

using BytesOf = std::function<Result<std::span<const std::byte>>(uint64_t, uint64_t)>;

// Stored bytes: of mapped files the mapping itself, of others only the requested range is read.
BytesOf stored_in_order(const StoredTensor* tensor, const std::shared_ptr<Scratch>& scratch) {
  return [tensor, scratch](uint64_t offset, uint64_t bytes) -> Result<std::span<const std::byte>> {
    scratch->laid_out = nullptr;
    LAPILLI_TRY(scratch->bytes, load_bytes(*tensor, offset, bytes));
    LAPILLI_CHECK(check_numbers(*tensor, scratch->bytes.bytes));
    return scratch->bytes.bytes;
  };
}

// A copy in row-major order.
Result<std::vector<std::byte>> lay_out(const StoredTensor& tensor) {
  const uint64_t n = tensor.elements(), size = stored_bytes(tensor.type);
  LAPILLI_TRY(const auto stored, load_bytes(tensor));
  std::vector<std::byte> copy;
  try {
    // Strides of 0 make large tensors of small files, larger than 32-bit addresses reach.
    if (n > copy.max_size() / size) throw std::bad_alloc();
    copy.resize(n * size);
  } catch (const std::exception&) {
    return fail(ErrorCode::out_of_memory, "not enough memory to lay out tensor %s", tensor.describe());
  }
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t rest = i, at = 0;
    for (size_t d = tensor.shape.size(); d-- > 0;) {
      at += rest % tensor.shape[d] * tensor.strides[d];
      rest /= tensor.shape[d];
    }
    std::memcpy(copy.data() + i * size, stored.bytes.data() + at * size, size);
  }
  LAPILLI_CHECK(check_numbers(tensor, copy));
  return copy;
}

// The bytes of a tensor in row-major order.
BytesOf tensor_bytes(const StoredTensor* tensor, const std::shared_ptr<Scratch>& scratch) {
  if (tensor->contiguous()) return stored_in_order(tensor, scratch);
  return [tensor, scratch](uint64_t offset, uint64_t bytes) -> Result<std::span<const std::byte>> {
    if (scratch->laid_out != tensor) {
      LAPILLI_TRY(scratch->bytes.read, lay_out(*tensor));
      scratch->laid_out = tensor;
    }
    return std::span<const std::byte>(scratch->bytes.read).subspan(offset, bytes);
  };
}

// False for scales that are NaN or infinite, which would otherwise only show in the text.
bool scales_are_numbers(WeightFormat format, std::span<const std::byte> words, uint64_t row_words) {
  const uint64_t block = packed::row_words(format, packed::kBlock);
  for (uint64_t row = 0; row * 4 < words.size(); row += row_words)
    for (uint64_t at = row; at < row + row_words; at += block) {
      uint32_t scales = 0;
      std::memcpy(&scales, words.data() + at * 4, 4);
      const auto finite = [](uint32_t bits) { return (bits & 0x7f800000u) != 0x7f800000u; };
      if (!finite(scales) || (format == WeightFormat::int4 && !finite(scales << 16))) return false;
    }
  return true;
}

// Whole rows of packed words. "lapilli pack" has written them in order.
BytesOf packed_rows(const model::WeightSpec& spec, const StoredTensor* tensor,
                    const std::shared_ptr<Scratch>& scratch) {
  return [stored = tensor_bytes(tensor, scratch), tensor, format = spec.format](
             uint64_t offset, uint64_t bytes) -> Result<std::span<const std::byte>> {
    LAPILLI_TRY(const auto words, stored(offset, bytes));
    if (scales_are_numbers(format, words, tensor->shape[1])) return words;
    return fail(ErrorCode::invalid_data,
                "tensor %s holds scales that are no numbers: the weights are damaged; pack the model again",
                tensor->describe());
  };
}

// Values of the small tables that are laid out on the host.
Result<std::vector<float>> table_values(const StoredTensor& tensor) {
  LAPILLI_TRY(const auto stored, load_bytes(tensor));
  LAPILLI_CHECK(check_numbers(tensor, stored.bytes));
  return read_floats(tensor);
}

WeightPart stored_part(const model::WeightSpec& spec, const model::WeightPart& part,
                       const std::shared_ptr<Scratch>& scratch) {
  WeightPart p;
  p.bytes = tensor_bytes(part.tensor, scratch);
  p.format = stored_format(part.tensor->type);
  p.first_column = part.first_column;
  p.group = part.group;
  p.group_stride = part.group_stride;
  p.destination = part.destination;
  if (spec.kind == model::WeightSpec::Kind::matrix && !part.bias) {
    p.kind = WeightPart::Kind::matrix;
    p.rows = part.tensor->shape[0];
    p.k = part.tensor->elements() / std::max<uint64_t>(p.rows, 1);  // convolutions have more dimensions
    p.packed = model::is_packed(*part.tensor);
    if (p.packed) p.bytes = packed_rows(spec, part.tensor, scratch);
  } else {
    p.kind = spec.kind == model::WeightSpec::Kind::matrix ? WeightPart::Kind::bias : WeightPart::Kind::plain;
    p.rows = part.tensor->elements();
    p.k = 1;
  }
  return p;
}

// Adds a further part of a table: one of its rows to all rows, or its first one to one row.
Status add_rows(const model::WeightSpec& spec, const model::WeightPart& part, std::vector<float>& values) {
  LAPILLI_TRY(const auto added, table_values(*part.tensor));
  const uint64_t ld = round_up<uint64_t>(spec.k, 4), from = part.one_row ? 0 : part.destination * spec.k;
  const uint64_t first = part.one_row ? part.destination : 0, last = part.one_row ? first + 1 : spec.n;
  for (uint64_t r = first; r < last; ++r)
    for (uint64_t i = 0; i < spec.k; ++i) values[r * ld + i] += added[from + i];
  return {};
}

// Parts one after the other, each number raised.
Status raise_parts(const model::WeightSpec& spec, std::vector<float>& values) {
  values.assign(spec.words, 0.0f);
  for (const auto& part : spec.parts) {
    LAPILLI_TRY(const auto stored, table_values(*part.tensor));
    for (size_t i = 0; i < stored.size(); ++i) values[part.destination + i] = stored[i] + spec.plus;
  }
  return {};
}

Result<WeightSource> source(const model::WeightSpec& spec, const std::shared_ptr<Scratch>& scratch) {
  WeightSource s;
  s.name = spec.name;
  s.words = spec.words;
  s.n = spec.n;
  s.k = spec.k;
  s.format = spec.format;
  s.values = spec.values;
  if (spec.make) {
    LAPILLI_TRY(s.values, spec.make());
  }
  if (spec.kind == model::WeightSpec::Kind::table) {
    // Rows are padded to vec4, on the host, because these tables are small.
    LAPILLI_TRY(auto values, table_values(*spec.parts.front().tensor));
    if (spec.grid) values = model::resized_positions(*spec.grid, values, spec.k);
    const uint64_t ld = round_up<uint64_t>(spec.k, 4);
    s.values.assign(spec.words, 0.0f);
    for (uint64_t r = 0; r < spec.n; ++r)
      std::copy_n(values.begin() + static_cast<ptrdiff_t>(r * spec.k), spec.k,
                  s.values.begin() + static_cast<ptrdiff_t>(r * ld));
    for (size_t i = 1; i < spec.parts.size(); ++i) LAPILLI_CHECK(add_rows(spec, spec.parts[i], s.values));
    return s;
  }
  if (spec.plus != 0) {
    LAPILLI_CHECK(raise_parts(spec, s.values));
    return s;
  }
  for (const auto& part : spec.parts) s.parts.push_back(stored_part(spec, part, scratch));
  return s;
}

}  // namespace

Result<std::vector<WeightSource>> weight_sources(const model::Network& network) {
  const auto scratch = std::make_shared<Scratch>();
  std::vector<WeightSource> sources;
  for (const auto& spec : network.weights) {
    LAPILLI_TRY(auto s, source(spec, scratch));
    sources.push_back(std::move(s));
  }
  return sources;
}

vulkan::MemoryNeed need_of_weights(std::span<const WeightSource> sources) {
  return {.purpose = vulkan::MemoryNeed::For::weights,
          .bytes = bytes_of(sources),
          .what = "the weights",
          .advice = "use a smaller model or a smaller format of its matrices"};
}

}  // namespace lapilli
