#include "runtime/weights.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/self_test.hpp"

namespace lapilli {

namespace {

constexpr uint64_t kStagingBytes = uint64_t{16} << 20;

uint64_t stored_bytes(StoredFormat f) { return f == StoredFormat::f32 ? 4 : 2; }

// Collects pieces in one staging buffer and unpacks them with one submission whenever it is full.
class Loader {
 public:
  Loader(std::shared_ptr<vulkan::Device> device, std::span<const vulkan::Buffer> buffers)
      : device_(std::move(device)), buffers_(buffers) {}

  Status open(uint64_t bytes) {
    capacity_ = std::min(kStagingBytes, round_up<uint64_t>(std::max<uint64_t>(bytes, 4), 256));
    capacity_ = std::min(capacity_, round_down<uint64_t>(device_->caps().max_storage_range, 256));
    LAPILLI_TRY(staging_, device_->make_buffer(capacity_, vulkan::MemoryUse::upload, "weight staging"));
    if (!staging_.mapped()) return fail(ErrorCode::internal, "upload memory is not mapped");
    return {};
  }

  Status add(uint32_t index, const WeightSource& source) {
    for (const WeightPiece& piece : source.pieces) {
      LAPILLI_TRY(const auto bytes, piece.bytes());
      const uint64_t row_bytes = piece.k * stored_bytes(piece.format);
      if (bytes.size() != piece.rows * row_bytes)
        return fail(ErrorCode::internal, "%s: a piece has %zu bytes, not %llu", source.name.c_str(), bytes.size(),
                    static_cast<unsigned long long>(piece.rows * row_bytes));
      // Two 16-bit values share a word: a part starts at an even element.
      const uint64_t step = row_bytes % 4 == 0 ? 1 : 2;
      if (row_bytes == 0 || std::min(step, piece.rows) * row_bytes > capacity_)
        return fail(ErrorCode::unsupported, "%s: rows of %llu bytes do not fit the staging buffer of %llu",
                    source.name.c_str(), static_cast<unsigned long long>(row_bytes),
                    static_cast<unsigned long long>(capacity_));
      for (uint64_t row = 0; row < piece.rows;) {
        uint64_t room = (capacity_ - used_) / row_bytes;
        if (row + room < piece.rows) room = round_down(room, step);
        if (room == 0) {
          LAPILLI_CHECK(flush());
          continue;
        }
        const uint64_t rows = std::min(room, piece.rows - row);
        std::memcpy(staging_.mapped() + used_, bytes.data() + row * row_bytes, rows * row_bytes);
        append(index, source, piece, row, rows, rows * row_bytes);
        row += rows;
      }
    }
    return {};
  }

  Status flush() {
    if (graph_.nodes().empty()) return {};
    LAPILLI_CHECK(staging_.flush(0, used_));
    LAPILLI_TRY(auto plan, compile_tested(device_, graph_));
    const MemoryMap memory = [&](graph::Space space, uint32_t id) -> BufferRef {
      if (space == graph::Space::weight) return {&buffers_[id], 0, buffers_[id].size()};
      return {&staging_, parts_[id].first, parts_[id].second};
    };
    LAPILLI_TRY(const auto bound, BoundPlan::bind(device_, plan, memory));
    LAPILLI_CHECK(bound.run());
    graph_ = {};
    parts_.clear();
    destinations_.clear();
    used_ = 0;
    return {};
  }

 private:
  void append(uint32_t index, const WeightSource& source, const WeightPiece& piece, uint64_t row, uint64_t rows,
              uint64_t bytes) {
    graph::Tensor raw;
    raw.name = source.name + " (stored)";
    raw.dtype = graph::DType::u32;
    raw.space = graph::Space::state;
    raw.id = static_cast<uint32_t>(parts_.size());
    raw.cols = raw.ld = div_up<uint64_t>(bytes, 4);
    const auto raw_id = graph_.add_tensor(raw);
    parts_.emplace_back(used_, raw.cols * 4);
    used_ = std::min(capacity_, round_up<uint64_t>(used_ + bytes, 256));
    const auto destination = destination_tensor(index, source);
    if (piece.kind == WeightPiece::Kind::plain) {
      ops::convert(graph_, source.name, raw_id, destination,
                   {piece.format, static_cast<uint32_t>(rows * piece.k),
                    static_cast<uint32_t>(piece.destination + row * piece.k)});
      return;
    }
    PackAttributes a;
    a.format = piece.format;
    a.rows = static_cast<uint32_t>(rows);
    // A bias is a column: its op wants the matrix's depth to find its place.
    a.k = piece.kind == WeightPiece::Kind::bias ? source.k : static_cast<uint32_t>(piece.k);
    a.n_total = source.n;
    a.first_row = static_cast<uint32_t>(row);
    a.first_column = piece.first_column;
    a.group = piece.group;
    a.group_stride = piece.group_stride;
    (piece.kind == WeightPiece::Kind::bias ? ops::pack_bias : ops::pack)(graph_, source.name, raw_id, destination, a);
  }

  graph::TensorId destination_tensor(uint32_t index, const WeightSource& source) {
    for (const auto& [i, t] : destinations_)
      if (i == index) return t;
    graph::Tensor t;
    t.name = source.name;
    t.space = graph::Space::weight;
    t.id = index;
    t.cols = t.ld = source.words;
    destinations_.emplace_back(index, graph_.add_tensor(std::move(t)));
    return destinations_.back().second;
  }

  std::shared_ptr<vulkan::Device> device_;
  std::span<const vulkan::Buffer> buffers_;
  vulkan::Buffer staging_;
  uint64_t capacity_ = 0, used_ = 0;
  graph::Graph graph_;
  std::vector<std::pair<uint64_t, uint64_t>> parts_;  // offset and bytes in the staging buffer, by state id
  std::vector<std::pair<uint32_t, graph::TensorId>> destinations_;
};

}  // namespace

Result<std::shared_ptr<const Weights>> Weights::load(std::shared_ptr<vulkan::Device> device,
                                                     std::span<const WeightSource> sources, uint64_t memory_limit) {
  auto weights = std::make_shared<Weights>();
  uint64_t stored = 0, wanted = 0;
  for (const WeightSource& s : sources) wanted += s.words * 4;
  if (memory_limit != 0 && wanted > memory_limit)
    return fail(
        ErrorCode::out_of_memory,
        "the weights take %.1f MiB of device memory, the memory limit is %.1f MiB; raise it or use a smaller model",
        static_cast<double>(wanted) / (1 << 20), static_cast<double>(memory_limit) / (1 << 20));
  for (const WeightSource& s : sources) {
    LAPILLI_TRY(auto buffer, device->make_buffer(s.words * 4, vulkan::MemoryUse::device, s.name.c_str()));
    weights->bytes_ += s.words * 4;
    weights->buffers_.push_back(std::move(buffer));
    for (const WeightPiece& p : s.pieces) stored += round_up<uint64_t>(p.rows * p.k * stored_bytes(p.format), 256);
  }
  Loader loader(device, weights->buffers_);
  if (stored > 0) LAPILLI_CHECK(loader.open(stored));
  for (uint32_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].values.empty()) {
      LAPILLI_CHECK(device->write(weights->buffers_[i], 0, std::as_bytes(std::span(sources[i].values))));
    } else {
      // Padding stays zero: kernels rely on it.
      LAPILLI_CHECK(device->zero(weights->buffers_[i]));
      LAPILLI_CHECK(loader.add(i, sources[i]));
    }
  }
  LAPILLI_CHECK(loader.flush());
  return std::shared_ptr<const Weights>(std::move(weights));
}

BufferRef Weights::find(uint32_t index) const {
  if (index >= buffers_.size()) return {};
  return {&buffers_[index], 0, buffers_[index].size()};
}

}  // namespace lapilli
