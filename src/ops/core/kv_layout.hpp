// Layout and number formats of keys and values in a KV tensor.
//
// A KV tensor consists of words. In fp32 a word is one number; in fp16 it holds two neighbours of a position (halves,
// the first in the low bits), which halves memory and the reads of a step. The format is the tensor's type, as for
// packed matrices (weight_layout.hpp): kernels that support both take it as a specialization constant. Caches (states)
// may be fp16: rows of a step (RowLayout::step) and of an encode pass (RowLayout::spans) write them, steps read them.
// Tensors that one run makes and reads again (whole sequences, RowLayout::batch) are fp32, since they only live as long
// as the run.
//
// Halves are rounded to nearest even with integers, since drivers round as they like. Values beyond 65,504 are clamped
// to it, with their sign, so that no infinity arises; NaN stays NaN. Sums are made in fp32. Kernels take the layout
// from shaders/lib/kv.glsl and the rounding from narrow.glsl; a test compares the two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/half.hpp"
#include "base/result.hpp"
#include "graph/graph.hpp"

namespace lapilli {

struct HostTensors;  // ops/core/op.hpp

// Maps row r of a product to a KV tensor [heads][slots][positions][2 * head_dim] (keys, then values, of one head). A
// slot of the cache belongs to a sentence in cross attention (a slot of the session) and to a running hypothesis in
// self attention (a beam slot of the session); kernels need not know which.
enum class RowLayout : uint32_t {
  batch,  // slot = r / rows_per_slot, position = r % rows_per_slot + first_position
  step,  // beam slot of row r's word (STEP_*), and its position modulo `positions`: a cache of fewer positions than its
         // sentences have is a ring; rows at or beyond `live` write nothing
  spans,  // slot of the sentence that has row r (SPAN_SLOT), position = r - its first row (SPAN_*); rows after the last
          // sentence write nothing
};
struct KvShape {
  uint32_t heads = 0, head_dim = 0;   // of keys and values
  uint32_t slots = 0, positions = 0;  // strides
  RowLayout layout = RowLayout::batch;
  uint32_t rows_per_slot = 1;
  uint32_t group = 1;           // heads of queries that share a head of keys and values (Ainslie et al. 2023)
  uint32_t first_position = 0;  // of a slot's rows; rows before them are written by another product
  [[nodiscard]] uint32_t query_heads() const { return heads * group; }
  [[nodiscard]] uint64_t numbers() const { return uint64_t{heads} * slots * positions * 2 * head_dim; }
  // The first number of a position.
  [[nodiscard]] uint64_t number(uint64_t head, uint64_t slot, uint64_t position) const {
    return ((head * slots + slot) * positions + position) * 2 * head_dim;
  }
};

// The values match shaders/lib/kv.glsl.
enum class KvFormat : uint32_t { fp32, fp16 };
const char* name(KvFormat format);  // "fp16"
// Parses the name of a format.
Result<KvFormat> parse_kv_format(const std::string& text);
constexpr graph::DType dtype_of(KvFormat format) {
  return format == KvFormat::fp16 ? graph::DType::f16 : graph::DType::f32;
}
constexpr KvFormat kv_format_of(graph::DType dtype) {
  return dtype == graph::DType::f16 ? KvFormat::fp16 : KvFormat::fp32;
}

// Converts a number to a half, clamped to the finite range.
constexpr uint32_t kv_half(float number) {
  const uint32_t bits = float_to_half(number);
  return (bits & 0x7fffu) == 0x7c00u ? bits - 1 : bits;
}

// The distance between adjacent halves around a number, in fp16's finite range.
double half_step(double number);

struct KvLayout {
  KvShape shape;
  KvFormat format = KvFormat::fp32;

  KvLayout(const KvShape& s, KvFormat f) : shape(s), format(f) {}
  // The layout in a tensor that holds it.
  KvLayout(const KvShape& s, const graph::Tensor& t) : KvLayout(s, kv_format_of(t.dtype)) {}

  [[nodiscard]] uint64_t numbers_a_word() const { return format == KvFormat::fp16 ? 2 : 1; }
  // Words of a position: it has an even count of numbers, so no two positions share a word.
  [[nodiscard]] uint64_t cell_words() const { return 2 * uint64_t{shape.head_dim} / numbers_a_word(); }
  [[nodiscard]] uint64_t words() const { return shape.numbers() / numbers_a_word(); }
  [[nodiscard]] uint64_t bytes() const { return words() * 4; }
  [[nodiscard]] uint64_t word(uint64_t head, uint64_t slot, uint64_t position) const {
    return shape.number(head, slot, position) / numbers_a_word();
  }
  // Kernels subtract this from the index of a number, modulo 2^32, where a binding begins `delta` words before `word`.
  [[nodiscard]] uint32_t begin_of(uint64_t word, uint32_t delta) const {
    return static_cast<uint32_t>((word - delta) * numbers_a_word());
  }
};

// Checks that the tensor exists, has a format allowed for such rows, and fits the shape; errors name the node.
// `cached`: fp16 is allowed.
Status expect_kv(const graph::Graph& g, const graph::Node& node, graph::TensorId id, const KvShape& shape, bool cached);

// The numbers of a KV tensor for references, rounded as kernels round them.
class HostKv {
 public:
  HostKv(const graph::Graph& g, graph::TensorId id, HostTensors& values);
  [[nodiscard]] double operator[](uint64_t i) const {
    if (f_) return (*f_)[i];
    return static_cast<double>(half_to_float(static_cast<uint16_t>((*u_)[i / 2] >> (i % 2 * 16))));
  }
  // A key followed by its value.
  [[nodiscard]] std::vector<double> cell(const KvShape& shape, uint64_t head, uint64_t slot, uint64_t position) const {
    std::vector<double> numbers(2 * uint64_t{shape.head_dim});
    for (uint64_t i = 0; i < numbers.size(); ++i) numbers[i] = (*this)[shape.number(head, slot, position) + i];
    return numbers;
  }
  void set(uint64_t i, double number) {
    if (f_) {
      (*f_)[i] = number;
      return;
    }
    const uint32_t shift = i % 2 * 16, half = kv_half(static_cast<float>(number));
    (*u_)[i / 2] = ((*u_)[i / 2] & ~(0xffffu << shift)) | half << shift;
  }

 private:
  std::vector<double>* f_ = nullptr;
  std::vector<uint32_t>* u_ = nullptr;  // halves
};

}  // namespace lapilli
