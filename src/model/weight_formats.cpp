#include "model/weight_formats.hpp"

#include <algorithm>
#include <cstring>

#include "base/half.hpp"

namespace lapilli::model {

namespace {

constexpr uint64_t kBytesAtOnce = 1 << 20;
constexpr uint32_t kLargestHalf = 0x477fefffu;  // bits of the largest float that rounds to 65,504
constexpr uint32_t kVanishes = 0x33000000u;     // bits of the largest float that rounds to 0

void count(std::span<const std::byte> bytes, StoredType type, KeptMatrix& counts) {
  const uint64_t size = stored_bytes(type);
  for (uint64_t at = 0; at + size <= bytes.size(); at += size) {
    uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, size);
    if (type == StoredType::bf16) bits <<= 16;
    bits &= 0x7fffffffu;
    counts.beyond += bits > kLargestHalf;
    counts.flushed += bits != 0 && bits <= kVanishes;
  }
  counts.numbers += bytes.size() / size;
}

// Counts all that shape and strides span, including the gaps of a view.
Status count(const StoredTensor& tensor, KeptMatrix& counts) {
  if (tensor.type != StoredType::f32 && tensor.type != StoredType::bf16) return {};  // fp16 is stored exactly
  const uint64_t all = byte_count(tensor);
  for (uint64_t at = 0; at < all; at += kBytesAtOnce) {
    LAPILLI_TRY(const auto part, load_bytes(tensor, at, std::min(kBytesAtOnce, all - at)));
    count(part.bytes, tensor.type, counts);
  }
  return {};
}

// Convolutions before an encoder stay in fp32: they are small, and the first to see the input.
bool is_convolution(const WeightSpec& spec) { return spec.parts.front().tensor->shape.size() > 2; }

}  // namespace

Result<std::vector<KeptMatrix>> set_format(Network& network, WeightFormat format, const MatrixChoice& takes) {
  std::vector<KeptMatrix> kept;
  for (WeightSpec& spec : network.weights) {
    if (spec.kind != WeightSpec::Kind::matrix || is_packed(*spec.parts.front().tensor)) continue;
    if ((takes && !takes(spec.name)) || is_convolution(spec)) continue;
    KeptMatrix counts{spec.name};
    if (format == WeightFormat::fp16)
      for (const WeightPart& part : spec.parts)
        if (!part.bias) LAPILLI_CHECK(count(*part.tensor, counts));
    const bool fits = counts.beyond == 0 && counts.flushed * kFlushedOf <= counts.numbers;
    if (!fits) kept.push_back(counts);
    spec.format = fits ? format : WeightFormat::fp32;
    spec.words = WeightLayout(spec.n, spec.k, spec.format).words();
  }
  return kept;
}

void set_kv_format(Network& network, KvFormat format) {
  const StackConfig& s = network.config.decoder;
  const uint32_t biases = s.streams ? s.relative_buckets * s.heads : 0;  // after the queries
  network.kv_format = (s.inner() + biases) % 2 == 0 ? format : KvFormat::fp32;
}

uint32_t fp32_matrices(const Network& network) {
  return static_cast<uint32_t>(std::count_if(network.weights.begin(), network.weights.end(), [](const auto& spec) {
    return spec.kind == WeightSpec::Kind::matrix && spec.format == WeightFormat::fp32;
  }));
}

}  // namespace lapilli::model
