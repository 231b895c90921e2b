#include "runtime/weights.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "runtime/padding.hpp"
#include "runtime/self_test.hpp"

namespace lapilli {

namespace {

constexpr size_t kPartsPerRound = 1024;  // each takes a descriptor set or more

// Of a staging area. What a CPU driver unpacks is still in its cache then; elsewhere larger ones save submissions.
uint64_t area_bytes(const Capabilities& caps) { return uint64_t{caps.type == DeviceType::cpu ? 1u : 4u} << 20; }

uint64_t stored_bytes(StoredFormat f) { return f == StoredFormat::f32 ? 4 : 2; }

// What one submission does: it fills padding and copies what is stored as it is needed, then unpacks the rest.
struct Round {
  struct Fill {
    uint32_t weight;
    WordRange words;
  };
  struct Copy {
    uint32_t weight;
    uint64_t from, to, bytes;  // offsets in the area and in the weight
  };
  std::vector<Fill> fills;
  std::vector<Copy> copies;
  graph::Graph graph;
  std::vector<std::pair<uint64_t, uint64_t>> parts;  // offset and bytes in the area, by state id
  uint32_t weight = ~0u;                             // whose tensor is `destination`
  graph::TensorId destination = graph::kNone;
  uint64_t used = 0;  // bytes of the area
};

// Collects pieces in a staging area; when it is full the device unpacks it while the host fills the next one. Areas are
// used in turn, and only the device's work on the area that is to be filled is waited for.
class Loader {
 public:
  Loader(std::shared_ptr<vulkan::Device> device, std::span<const vulkan::Buffer> buffers, uint64_t stored)
      : device_(std::move(device)), buffers_(buffers) {
    const Capabilities& caps = device_->caps();
    capacity_ = std::min(area_bytes(caps), round_up<uint64_t>(std::max<uint64_t>(stored, 4), 256));
    capacity_ = std::min(capacity_, round_down<uint64_t>(caps.max_storage_range, 256));
  }

  Status add(uint32_t index, const WeightSource& source) {
    const vulkan::Buffer& buffer = buffers_[index];
    const auto values = std::as_bytes(std::span(source.values));
    // Nothing in flight uses the buffer, so that nothing is waited for.
    if (buffer.mapped() && values.size() == buffer.size()) return device_->write(buffer, 0, values, vulkan::Ticket{0});
    for (const WordRange& words : padding_of(source)) round_.fills.push_back({index, words});
    if (!values.empty()) {
      WeightPiece whole;
      whole.kind = WeightPiece::Kind::plain;
      whole.rows = source.values.size();
      whole.k = 1;
      LAPILLI_CHECK(add(index, source, whole, values));
    }
    for (const WeightPiece& piece : source.pieces) {
      LAPILLI_TRY(const auto bytes, piece.bytes());
      LAPILLI_CHECK(add(index, source, piece, bytes));
    }
    return {};
  }

  Status finish() {
    LAPILLI_CHECK(submit());
    return device_->wait(last_);
  }

 private:
  struct Area {
    vulkan::Buffer buffer;      // made at the first use
    vulkan::Ticket ticket = 0;  // of the last work on it
  };

  Status add(uint32_t index, const WeightSource& source, const WeightPiece& piece, std::span<const std::byte> bytes) {
    const uint64_t row_bytes = piece.k * stored_bytes(piece.format);
    if (bytes.size() != piece.rows * row_bytes)
      return fail(ErrorCode::internal, "%s: a piece has %zu bytes, not %llu", source.name.c_str(), bytes.size(),
                  static_cast<unsigned long long>(piece.rows * row_bytes));
    // Two 16-bit values share a word: a part starts at an even element.
    const uint64_t step = row_bytes % 4 == 0 ? 1 : 2;
    if (row_bytes == 0 || std::min(step, piece.rows) * row_bytes > capacity_)
      return fail(ErrorCode::unsupported, "%s: rows of %llu bytes do not fit a staging area of %llu",
                  source.name.c_str(), static_cast<unsigned long long>(row_bytes),
                  static_cast<unsigned long long>(capacity_));
    for (uint64_t row = 0; row < piece.rows;) {
      uint64_t room = (capacity_ - round_.used) / row_bytes;
      if (row + room < piece.rows) room = round_down(room, step);
      if (room == 0 || round_.parts.size() == kPartsPerRound) {
        LAPILLI_CHECK(submit());
        continue;
      }
      const uint64_t rows = std::min(room, piece.rows - row);
      LAPILLI_TRY(std::byte* const area, open_area());
      std::memcpy(area + round_.used, bytes.data() + row * row_bytes, rows * row_bytes);
      append(index, source, piece, {row, rows, rows * row_bytes});
      row += rows;
    }
    return {};
  }

  // The area that is being filled, free of the device's work.
  Result<std::byte*> open_area() {
    Area& area = areas_[current_];
    if (!area.buffer) {
      LAPILLI_TRY(area.buffer, device_->make_buffer(capacity_, vulkan::MemoryUse::upload, "weight staging"));
      if (!area.buffer.mapped()) return fail(ErrorCode::internal, "upload memory is not mapped");
    }
    LAPILLI_CHECK(device_->wait(area.ticket));
    return area.buffer.mapped();
  }

  // Rows of a piece that lie at the end of the area.
  struct Part {
    uint64_t row, rows, bytes;
  };

  void append(uint32_t index, const WeightSource& source, const WeightPiece& piece, const Part& part) {
    const uint64_t from = round_.used, element = piece.destination + part.row * piece.k;
    round_.used = std::min(capacity_, round_up<uint64_t>(from + part.bytes, 256));
    const bool plain = piece.kind == WeightPiece::Kind::plain;
    if (plain && piece.format == StoredFormat::f32) {
      round_.copies.push_back({index, from, element * 4, part.bytes});
      return;
    }
    graph::Graph& g = round_.graph;
    graph::Tensor raw;
    raw.name = source.name + " (stored)";
    raw.dtype = graph::DType::u32;
    raw.space = graph::Space::state;
    raw.id = static_cast<uint32_t>(round_.parts.size());
    raw.cols = raw.ld = div_up<uint64_t>(part.bytes, 4);
    round_.parts.emplace_back(from, raw.cols * 4);
    const auto raw_id = g.add_tensor(std::move(raw));
    const auto destination = destination_tensor(index, source);
    if (plain) {
      ops::convert(g, source.name, raw_id, destination,
                   {piece.format, static_cast<uint32_t>(part.rows * piece.k), static_cast<uint32_t>(element)});
      return;
    }
    PackAttributes a;
    a.format = piece.format;
    a.rows = static_cast<uint32_t>(part.rows);
    // A bias is a column: its op wants the matrix's depth to find its place.
    a.k = piece.kind == WeightPiece::Kind::bias ? source.k : static_cast<uint32_t>(piece.k);
    a.n_total = source.n;
    a.first_row = static_cast<uint32_t>(part.row);
    a.first_column = piece.first_column;
    a.group = piece.group;
    a.group_stride = piece.group_stride;
    (piece.kind == WeightPiece::Kind::bias ? ops::pack_bias : ops::pack)(g, source.name, raw_id, destination, a);
  }

  // Pieces of a weight follow one another.
  graph::TensorId destination_tensor(uint32_t index, const WeightSource& source) {
    if (round_.weight != index) {
      graph::Tensor t;
      t.name = source.name;
      t.space = graph::Space::weight;
      t.id = index;
      t.cols = t.ld = source.words;
      round_.destination = round_.graph.add_tensor(std::move(t));
      round_.weight = index;
    }
    return round_.destination;
  }

  // Hands the round to the device, and what comes next goes into the next area. What it needs there and is destroyed
  // here is freed when it is done.
  Status submit() {
    Area& area = areas_[current_];
    if (round_.used > 0) LAPILLI_CHECK(area.buffer.flush(0, round_.used));
    std::optional<vulkan::CommandRecording> transfers;
    std::optional<BoundPlan> unpacking;
    std::vector<Batch> batches;
    if (!round_.fills.empty() || !round_.copies.empty()) {
      LAPILLI_TRY(transfers, record_transfers());
      batches.push_back({{&*transfers}, 0});
    }
    if (!round_.graph.nodes().empty()) {
      LAPILLI_TRY(unpacking, bind_unpacking());
      append_batches(*unpacking, 1, WorkLimit::of(device_->caps()), batches);
    }
    for (const Batch& b : batches) {
      LAPILLI_TRY(last_, device_->submit(b.recordings));
      area.ticket = last_;
    }
    round_ = {};
    current_ = (current_ + 1) % areas_.size();
    return {};
  }

  // Unpacking comes in a recording of its own, which opens with a barrier: it writes over parts of what is filled here.
  Result<vulkan::CommandRecording> record_transfers() {
    LAPILLI_TRY(auto recording, vulkan::CommandRecording::create(device_));
    LAPILLI_CHECK(recording.begin(vulkan::RecordingUse::single));
    for (const auto& [weight, words] : round_.fills)
      recording.fill(buffers_[weight], words.begin * 4, (words.end - words.begin) * 4, 0);
    for (const auto& c : round_.copies)
      recording.copy(areas_[current_].buffer, c.from, buffers_[c.weight], c.to, c.bytes);
    LAPILLI_CHECK(recording.end());
    return recording;
  }

  Result<BoundPlan> bind_unpacking() {
    LAPILLI_TRY(auto plan, compile_tested(device_, round_.graph));
    const MemoryMap memory = [&](graph::Space space, uint32_t id) -> BufferRef {
      if (space == graph::Space::weight) return {&buffers_[id], 0, buffers_[id].size()};
      return {&areas_[current_].buffer, round_.parts[id].first, round_.parts[id].second};
    };
    return BoundPlan::bind(device_, std::move(plan), memory, {.use = vulkan::RecordingUse::single});
  }

  std::shared_ptr<vulkan::Device> device_;
  std::span<const vulkan::Buffer> buffers_;
  uint64_t capacity_ = 0;  // of an area, in bytes
  std::array<Area, 2> areas_;
  size_t current_ = 0;
  Round round_;
  vulkan::Ticket last_ = 0;
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
    stored += round_up<uint64_t>(s.values.size() * 4, 256);
    for (const WeightPiece& p : s.pieces) stored += round_up<uint64_t>(p.rows * p.k * stored_bytes(p.format), 256);
  }
  Loader loader(std::move(device), weights->buffers_, stored);
  for (uint32_t i = 0; i < sources.size(); ++i) LAPILLI_CHECK(loader.add(i, sources[i]));
  LAPILLI_CHECK(loader.finish());
  return std::shared_ptr<const Weights>(std::move(weights));
}

BufferRef Weights::find(uint32_t index) const {
  if (index >= buffers_.size()) return {};
  return {&buffers_[index], 0, buffers_[index].size()};
}

}  // namespace lapilli
