#include "ops/products/stored_util.hpp"

#include <algorithm>
#include <bit>

#include "base/half.hpp"
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/tuning.hpp"
#include "ops/products/pack.hpp"

namespace lapilli::stored {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, depth_groups, rows, k, raw_begin, raw_ld, first_row, first_column, group, group_stride,
               panel_words, dst_begin;)
};

// Rows and depths of one dispatch.
struct Part {
  uint64_t row = 0, row_end = 0, k = 0, k_end = 0;
};

struct Grid {
  uint32_t local, depth;  // invocations per group, elements per invocation
  [[nodiscard]] uint64_t depth_groups(const Part& p) const {
    return div_up<uint64_t>(p.k_end - p.k, local / packed::kPanel * depth);
  }
  [[nodiscard]] uint64_t groups(const Part& p) const {
    return div_up<uint64_t>(p.row_end - p.row, packed::kPanel) * depth_groups(p);
  }
};

// First and last word of the destination that a part touches, with its first panel rounded down to column 0: a panel's
// rows begin at multiples of 128 bytes, so parts of different panels stay disjoint despite the alignment of bindings.
uint64_t first_word(const Packing& packing, const Part& p) {
  return round_down<uint64_t>(packing.first_word(p.row, p.k) - packing.begin, packed::kPanel) + packing.begin;
}
uint64_t last_word(const Packing& packing, const Part& p) { return packing.word(p.row_end - 1, p.k_end - 1); }

class Splitter {
 public:
  Splitter(const Capabilities& caps, const Packing& packing, const Grid& grid)
      : caps_(caps), packing_(packing), grid_(grid) {}

  // False if not even a single element fits.
  bool split(const Part& p, std::vector<Part>& out) const {
    const bool raw = raw_fits(p), dst = dst_fits(p);
    if (raw && dst && grid_.groups(p) <= max_groups(caps_)) {
      out.push_back(p);
      return true;
    }
    const uint64_t rows = p.row_end - p.row, depth = p.k_end - p.k;
    const bool deep = depth > packed::granule(packing_.format);  // more than one
    if (rows == 1 && !deep) return false;
    const bool one_panel = packing_.column(p.row) / packed::kPanel == packing_.column(p.row_end - 1) / packed::kPanel;
    // Cuts the depth where cutting rows does not help, or no longer does.
    const bool by_depth = rows == 1 || (deep && (dst ? packing_.attributes.transposed != 0 : one_panel));
    Part a = p, b = p;
    if (by_depth) {
      a.k_end = b.k = middle(p.k, depth);
    } else {
      a.row_end = b.row = row_middle(p);
    }
    return split(a, out) && split(b, out);
  }

 private:
  [[nodiscard]] bool raw_fits(const Part& p) const {
    const uint64_t begin = packing_.element(p.row, p.k), end = packing_.element(p.row_end - 1, p.k_end - 1) + 1;
    return (end - begin) * element_bytes(packing_.attributes.format) + 4 + caps_.storage_alignment <=
               caps_.max_storage_range ||
           (begin == 0 && words(packing_.attributes.format, end) * 4 <= caps_.max_storage_range);
  }
  [[nodiscard]] bool dst_fits(const Part& p) const {
    const uint64_t begin = round_down(first_word(packing_, p) * 4, caps_.storage_alignment);
    return (last_word(packing_, p) + 1) * 4 - begin <= caps_.max_storage_range;
  }
  // Multiples of two granules of a column, so that parts begin at multiples of 256 bytes; at least one granule, since
  // parts share none.
  [[nodiscard]] uint64_t middle(uint64_t begin, uint64_t n) const {
    const uint64_t one = packed::granule(packing_.format);
    return begin + round_up<uint64_t>(n / 2, n > 3 * one ? 2 * one : one);
  }
  // The middle, or an earlier row that begins a panel.
  [[nodiscard]] uint64_t row_middle(const Part& p) const {
    const uint64_t m = p.row + (p.row_end - p.row) / 2;
    const uint64_t within = (packing_.first_row + m) % packing_.attributes.group;
    const uint64_t group = packing_.attributes.group == 1 && packing_.attributes.group_stride == 1 ? m : within;
    const uint64_t back = std::min<uint64_t>(packing_.column(m) % packed::kPanel, group);
    return m - back > p.row && m >= back ? m - back : m;
  }

  const Capabilities& caps_;
  const Packing& packing_;
  Grid grid_;
};

}  // namespace

const char* name(StoredFormat format) {
  return format == StoredFormat::f32 ? "f32" : format == StoredFormat::f16 ? "f16" : "bf16";
}

double value(StoredFormat format, const std::vector<uint32_t>& raw, uint64_t i) {
  if (format == StoredFormat::f32) return static_cast<double>(std::bit_cast<float>(raw[i]));
  const auto bits = static_cast<uint16_t>(i % 2 ? raw[i / 2] >> 16 : raw[i / 2]);
  return static_cast<double>(format == StoredFormat::f16 ? half_to_float(bits) : bfloat16_to_float(bits));
}

std::vector<uint32_t> random_words(StoredFormat format, uint64_t elements, uint64_t seed) {
  CaseRandom random(seed + 77);
  std::vector<uint32_t> raw(words(format, elements), 0);
  for (uint64_t i = 0; i < elements; ++i) {
    if (format == StoredFormat::f32) {
      // Every exponent except that of infinities; includes subnormals.
      const uint32_t w = random.word();
      raw[i] = ((w >> 23) & 0xffu) == 0xffu ? w & ~0x40000000u : w;
      continue;
    }
    uint32_t h = random.word() & 0xffffu;
    if (format == StoredFormat::f16) {
      if (i % 5 == 0) h &= 0x83ffu;  // subnormal
      if ((h & 0x7c00u) == 0x7c00u) h &= 0xbfffu;
    } else if ((h & 0x7f80u) == 0x7f80u) {
      h &= 0xbfffu;
    }
    raw[i / 2] |= h << (i % 2 * 16);
  }
  return raw;
}

HostTensor before_packing(const graph::Tensor& destination, uint64_t seed) {
  CaseRandom random(seed);
  if (destination.dtype == graph::DType::f32) return random_values(destination, random);
  std::vector<uint32_t> words(destination.elements());
  for (uint32_t& w : words) w = random.word();
  return words_of(std::move(words));
}

Operand bind_elements(const LowerContext& context, uint32_t binding, const ElementSpan& elements, uint32_t& delta) {
  const uint64_t size = element_bytes(elements.format), begin = elements.begin * size;
  const uint64_t first = round_down<uint64_t>(begin, 4), last = round_up<uint64_t>(elements.end * size, 4);
  uint32_t skipped = 0;
  const auto o = bind_range(context, binding, {elements.raw, first, last, graph::Access::read}, skipped);
  delta = static_cast<uint32_t>((begin - first + uint64_t{skipped} * 4) / size);
  return o;
}

Status expect_packing(const graph::Graph& g, const graph::Node& node, const Packing& packing) {
  const auto& a = packing.attributes;
  if (a.format > StoredFormat::bf16) return node_error(node, "unknown format %u", static_cast<unsigned>(a.format));
  if (packing.rows == 0 || packing.k == 0) return node_error(node, "nothing to pack");
  if (a.group == 0 || a.group_stride < a.group)
    return node_error(node, "groups of %u columns every %u", a.group, a.group_stride);
  LAPILLI_CHECK(expect_input(g, node, 0, {"stored values", 0, 0, graph::DType::u32}));
  LAPILLI_CHECK(expect_words(g, node, node.inputs[0], "stored values", words(a.format, packing.rows * packing.k)));
  if (operand(node.inputs, 1) == graph::kNone) return node_error(node, "operand destination is missing");
  if (g.root(node.outputs[0]) != g.root(node.inputs[1])) return node_error(node, "works in place only");
  if (packing.column(packing.rows - 1) >= a.n_total)
    return node_error(node, "column %u of %u", packing.column(packing.rows - 1), a.n_total);
  return {};
}

std::vector<Variant> packing_variants(const Capabilities& caps, WeightFormat format) {
  Numbers numbers = default_numbers(caps, Tuned::pack);
  numbers.each = round_up(numbers.each, static_cast<uint32_t>(packed::granule(format)));
  return {{0, "rows side by side", true, numbers}};
}

Status lower_packing(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                     const Packing& packing, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, numbers, {32, 1024, 32}, true));
  const auto& a = packing.attributes;
  if (numbers.each % packed::granule(packing.format) != 0)
    return node_error(node, "%u elements an invocation are not what %s packs together", numbers.each,
                      lapilli::name(packing.format));
  const Grid grid{numbers.local, numbers.each};
  std::vector<Part> parts;
  if (!Splitter(context.caps, packing, grid).split({0, packing.rows, 0, packing.k}, parts))
    return node_error(node, "bindings of %u bytes are too small", context.caps.max_storage_range);
  for (const Part& p : parts) {
    Dispatch d;
    d.shader = ShaderId::pack;
    d.constants = {grid.local, grid.depth, static_cast<uint32_t>(a.format), a.transposed ? 1u : 0u,
                   static_cast<uint32_t>(packing.format)};
    d.groups = grid.groups(p);
    uint32_t raw_begin = 0, delta = 0;
    d.operands.push_back(bind_elements(
        context, 0,
        {node.inputs[0], a.format, packing.element(p.row, p.k), packing.element(p.row_end - 1, p.k_end - 1) + 1},
        raw_begin));
    const uint64_t first = first_word(packing, p);
    d.operands.push_back(bind_range(
        context, 1, {node.outputs[0], first * 4, (last_word(packing, p) + 1) * 4, graph::Access::write}, delta));
    // Modulo 2^32: the kernel's offset for its column leads back into the bound range.
    const uint64_t origin = packing.begin + packed::granule_row(packing.format, p.k) * packed::kPanel - (first - delta);
    d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(grid.depth_groups(p)),
                    static_cast<uint32_t>(p.row_end - p.row), static_cast<uint32_t>(p.k_end - p.k), raw_begin,
                    static_cast<uint32_t>(a.transposed ? packing.rows : packing.k),
                    static_cast<uint32_t>(packing.first_row + p.row), a.first_column, a.group, a.group_stride,
                    static_cast<uint32_t>(packing.panel_words), static_cast<uint32_t>(origin)});
    d.cost = 8.0 * static_cast<double>((p.row_end - p.row) * (p.k_end - p.k));
    out.push_back(std::move(d));
  }
  return {};
}

namespace {

void scaled_reference(const graph::Node& node, const Packing& packing, HostTensors& values) {
  const auto& raw = values.at(node.inputs[0]).u;
  auto& words = values.at(node.outputs[0]).u;
  const auto stored = [&](uint64_t r, uint64_t k) {
    return static_cast<float>(value(packing.attributes.format, raw, packing.element(r, k)));
  };
  for (uint64_t r = 0; r < packing.rows; ++r) {
    for (uint64_t begin = 0; begin < packing.k; begin += packed::kBlock) {
      const uint64_t end = std::min(begin + packed::kBlock, packing.k);
      float lowest = stored(r, begin), highest = lowest;
      for (uint64_t k = begin; k < end; ++k) {
        lowest = std::min(lowest, stored(r, k));
        highest = std::max(highest, stored(r, k));
      }
      const uint32_t scales = scales_of(packing.format, lowest, highest);
      words[packing.first_word(r, begin)] = scales;
      for (uint64_t k = begin; k < end; ++k) {
        uint32_t& word = words[packing.word(r, k)];
        const uint64_t shift = packed::shift(packing.format, k);
        word = (shift == 0 ? 0 : word) | scaled_bits(packing.format, stored(r, k), scales) << shift;
      }
    }
  }
}

}  // namespace

void packing_reference(const graph::Node& node, const Packing& packing, HostTensors& values) {
  const auto& raw = values.at(node.inputs[0]).u;
  auto& y = values.at(node.outputs[0]);
  const auto each = [&](const auto& put) {
    for (uint64_t r = 0; r < packing.rows; ++r)
      for (uint64_t k = 0; k < packing.k; ++k)
        put(packing.word(r, k), k, value(packing.attributes.format, raw, packing.element(r, k)));
  };
  if (packing.attributes.packed) {
    for (uint64_t r = 0; r < packing.rows; ++r)
      for (uint64_t k = 0; k < packing.k; ++k) y.u[packing.word(r, k)] = raw[packing.element(r, k)];
    return;
  }
  if (y.u.empty()) return each([&](uint64_t word, uint64_t, double v) { y.f[word] = v; });
  if (packed::has_scales(packing.format)) return scaled_reference(node, packing, values);
  // Whole words: the first number in a word clears it.
  each([&](uint64_t word, uint64_t k, double v) {
    const uint64_t shift = packed::shift(packing.format, k);
    if (shift == 0) y.u[word] = 0;
    y.u[word] |= weight_bits(packing.format, static_cast<float>(v)) << shift;
  });
}

}  // namespace lapilli::stored
