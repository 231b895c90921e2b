#include "runtime/weights/weights.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "runtime/check/self_test.hpp"
#include "runtime/weights/padding.hpp"

namespace lapilli {

namespace {

constexpr size_t kSlicesPerRound = 1024;  // each takes at least one descriptor set

// Size of a staging area. Small ones are still in a CPU driver's cache when unpacked; elsewhere larger ones save
// submissions.
uint64_t area_bytes(const Capabilities& caps) { return uint64_t{caps.type == DeviceType::cpu ? 1u : 4u} << 20; }

uint64_t stored_bytes(StoredFormat f) { return f == StoredFormat::f32 ? 4 : 2; }

}  // namespace

// Collects parts in a staging area; when it is full, the device unpacks it while the host fills the next one. Areas
// alternate, and none is filled while the device works on it.
class WeightsLoading::Loader {
 public:
  Loader(std::shared_ptr<vulkan::Device> device, std::span<const WeightSource> sources, std::shared_ptr<void> with)
      : device_(std::move(device)), sources_(sources), with_(std::move(with)), submitter_(device_) {
    uint64_t rounded = 0;
    const auto count = [&](uint64_t size) {
      all_bytes_ += size;
      rounded += round_up<uint64_t>(size, 256);
    };
    for (const WeightSource& s : sources_) {
      count(s.values.size() * 4);
      for (const WeightPart& p : s.parts) count(p.rows * p.k * stored_bytes(p.format));
    }
    const Capabilities& caps = device_->caps();
    capacity_ = std::min(area_bytes(caps), round_up<uint64_t>(std::max<uint64_t>(rounded, 4), 256));
    capacity_ = std::min(capacity_, round_down<uint64_t>(caps.max_storage_range, 256));
  }

  // Makes one buffer, adds one slice, or submits.
  Result<Step> step(Weights& weights) {
    if (submitting_) return submit();
    if (weights.buffers_.size() < sources_.size()) return make_buffer(weights);
    buffers_ = weights.buffers_;
    if (part_ < parts_.size()) return add_slice();
    if (next_ < sources_.size()) return begin_source();
    if (!round_.is_empty()) return begin_submission();
    LAPILLI_TRY(const bool done, device_->done(last_));
    waits_for_ = last_;
    return done ? Step::ended : Step::blocked;
  }

  Status wait() {
    if (compilation_) return compilation_->wait();
    return submitter_.all_submitted() ? device_->wait(waits_for_) : device_->wait_for_gap();
  }
  [[nodiscard]] uint64_t bytes_done() const { return bytes_done_; }
  [[nodiscard]] uint64_t bytes() const { return all_bytes_; }

 private:
  struct Area {
    vulkan::Buffer buffer;      // made on first use
    vulkan::Ticket ticket = 0;  // of the last work on it
  };

  // The work of one submission: fills padding and copies data stored in its final form, then unpacks the rest.
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
    std::vector<std::pair<uint64_t, uint64_t>> slices;  // offset and bytes in the area, by state id
    uint32_t weight = ~0u;                              // weight whose tensor is `destination`
    graph::TensorId destination = graph::kNone;
    uint64_t used = 0;  // bytes of the area
    [[nodiscard]] bool is_empty() const { return fills.empty() && copies.empty() && graph.nodes().empty(); }
  };

  Result<Step> make_buffer(Weights& weights) {
    const WeightSource& s = sources_[weights.buffers_.size()];
    LAPILLI_TRY(auto buffer, device_->make_buffer(s.words * 4, vulkan::MemoryUse::weights, s.name.c_str()));
    if (with_) buffer.keep(with_);
    weights.buffers_.push_back(std::move(buffer));
    weights.bytes_ += s.words * 4;
    return Step::more;
  }

  [[nodiscard]] const WeightSource& source() const { return sources_[index_]; }

  Result<Step> begin_source() {
    index_ = next_++;
    const vulkan::Buffer& buffer = buffers_[index_];
    const auto values = std::as_bytes(std::span(source().values));
    parts_.clear();
    part_ = 0;
    // Nothing in flight uses the buffer, so there is nothing to wait for.
    if (buffer.mapped() && values.size() == buffer.size()) {
      bytes_done_ += values.size();
      LAPILLI_CHECK(device_->write(buffer, 0, values, vulkan::Ticket{0}));
      return Step::more;
    }
    for (const WordRange& words : padding_of(source())) round_.fills.push_back({index_, words});
    if (!values.empty()) {
      WeightPart& whole = parts_.emplace_back();
      whole.kind = WeightPart::Kind::plain;
      whole.bytes = [values](uint64_t offset, uint64_t bytes) { return values.subspan(offset, bytes); };
      whole.rows = source().values.size();
      whole.k = 1;
    }
    parts_.insert(parts_.end(), source().parts.begin(), source().parts.end());
    if (!parts_.empty()) LAPILLI_CHECK(begin_part());
    return Step::more;
  }

  [[nodiscard]] uint64_t row_bytes() const { return parts_[part_].k * stored_bytes(parts_[part_].format); }
  // Two 16-bit values share a word, so a slice starts at an even element.
  [[nodiscard]] uint64_t row_step() const { return row_bytes() % 4 == 0 ? 1 : 2; }

  Status begin_part() {
    const WeightPart& part = parts_[part_];
    row_ = 0;
    if (row_bytes() == 0 || std::min(row_step(), part.rows) * row_bytes() > capacity_)
      return fail(ErrorCode::unsupported, "%s: rows of %u bytes do not fit a staging area of %u", source().name,
                  row_bytes(), capacity_);
    return {};
  }

  Result<Step> add_slice() {
    const WeightPart& part = parts_[part_];
    if (row_ == part.rows) return end_part();
    uint64_t room = (capacity_ - round_.used) / row_bytes();
    if (row_ + room < part.rows) room = round_down(room, row_step());
    if (room == 0 || round_.slices.size() == kSlicesPerRound) return begin_submission();
    LAPILLI_TRY(std::byte* const area, open_area());
    if (!area) return Step::blocked;
    const uint64_t rows = std::min(room, part.rows - row_);
    LAPILLI_TRY(const auto bytes, part.bytes(row_ * row_bytes(), rows * row_bytes()));
    if (bytes.size() != rows * row_bytes())
      return fail(ErrorCode::internal, "%s: a part gives %u bytes, not %u", source().name, bytes.size(),
                  rows * row_bytes());
    std::memcpy(area + round_.used, bytes.data(), bytes.size());
    append(index_, source(), part, {row_, rows, rows * row_bytes()});
    row_ += rows;
    bytes_done_ += rows * row_bytes();
    return row_ == part.rows ? end_part() : Result<Step>(Step::more);
  }

  Result<Step> end_part() {
    if (++part_ < parts_.size()) LAPILLI_CHECK(begin_part());
    return Step::more;
  }

  // The area being filled; null while the device works on it.
  Result<std::byte*> open_area() {
    Area& area = areas_[current_];
    if (!area.buffer) {
      LAPILLI_TRY(area.buffer, device_->make_buffer(capacity_, vulkan::MemoryUse::upload, "weight staging"));
      if (!area.buffer.mapped()) return fail(ErrorCode::internal, "upload memory is not mapped");
    }
    waits_for_ = area.ticket;
    LAPILLI_TRY(const bool done, device_->done(area.ticket));
    return done ? area.buffer.mapped() : nullptr;
  }

  // Rows of a part at the end of the area.
  struct Slice {
    uint64_t row, rows, bytes;
  };

  void append(uint32_t index, const WeightSource& source, const WeightPart& part, const Slice& slice) {
    const uint64_t from = round_.used, element = part.destination + slice.row * part.k;
    round_.used = std::min(capacity_, round_up<uint64_t>(from + slice.bytes, 256));
    const bool plain = part.kind == WeightPart::Kind::plain;
    if (plain && part.format == StoredFormat::f32) {
      round_.copies.push_back({index, from, element * 4, slice.bytes});
      return;
    }
    graph::Graph& g = round_.graph;
    graph::Tensor raw;
    raw.name = source.name + " (stored)";
    raw.dtype = graph::DType::u32;
    raw.space = graph::Space::state;
    raw.id = static_cast<uint32_t>(round_.slices.size());
    raw.cols = raw.ld = div_up<uint64_t>(slice.bytes, 4);
    round_.slices.emplace_back(from, raw.cols * 4);
    const auto raw_id = g.add_tensor(std::move(raw));
    const auto destination = destination_tensor(index, source);
    if (plain) {
      ops::convert(g, source.name, raw_id, destination,
                   {part.format, static_cast<uint32_t>(slice.rows * part.k), static_cast<uint32_t>(element)});
      return;
    }
    PackAttributes a;
    a.format = part.format;
    a.rows = static_cast<uint32_t>(slice.rows);
    // A bias is a column; its op needs the matrix's depth to locate it.
    a.k = part.kind == WeightPart::Kind::bias ? source.k : static_cast<uint32_t>(part.k);
    a.n_total = source.n;
    a.first_row = static_cast<uint32_t>(slice.row);
    a.first_column = part.first_column;
    a.group = part.group;
    a.group_stride = part.group_stride;
    a.packed = part.packed ? 1 : 0;
    (part.kind == WeightPart::Kind::bias ? ops::pack_bias : ops::pack)(g, source.name, raw_id, destination, a);
  }

  // Parts of a weight are consecutive.
  graph::TensorId destination_tensor(uint32_t index, const WeightSource& source) {
    if (round_.weight != index) {
      graph::Tensor t;
      t.name = source.name;
      t.space = graph::Space::weight;
      t.id = index;
      t.cols = t.ld = source.words;
      t.dtype = dtype_of(source.format);
      round_.destination = round_.graph.add_tensor(std::move(t));
      round_.weight = index;
    }
    return round_.destination;
  }

  Result<Step> begin_submission() {
    submitting_ = true;
    if (!round_.graph.nodes().empty()) compilation_.emplace(device_, round_.graph);
    return submit();
  }

  // Submits the round once its kernels are proven; later parts go into the next area. Objects that it needs on the
  // device and that are destroyed here are freed when it is done.
  Result<Step> submit() {
    if (!recorded_) {
      std::shared_ptr<const Plan> plan;
      if (compilation_) {
        LAPILLI_TRY(plan, compilation_->poll());
        if (!plan) return Step::blocked;
        compilation_.reset();
      }
      LAPILLI_CHECK(record(std::move(plan)));
      recorded_ = true;
    }
    LAPILLI_TRY(const bool all, submitter_.submit());
    areas_[current_].ticket = last_ = submitter_.last();
    if (!all) return Step::blocked;
    transfers_.reset();
    unpacking_.reset();
    round_ = {};
    current_ = (current_ + 1) % areas_.size();
    submitting_ = recorded_ = false;
    return Step::more;
  }

  // Records the round for the submitter.
  Status record(std::shared_ptr<const Plan> plan) {
    if (round_.used > 0) LAPILLI_CHECK(areas_[current_].buffer.flush(0, round_.used));
    if (!round_.fills.empty() || !round_.copies.empty()) {
      LAPILLI_TRY(transfers_, record_transfers());
      submitter_.add(*transfers_, cost_of_transfers());
    }
    if (!plan) return {};
    LAPILLI_TRY(unpacking_, bind_unpacking(std::move(plan)));
    unpacking_->add_to(submitter_);
    return {};
  }

  [[nodiscard]] graph::Cost cost_of_transfers() const {
    graph::Cost cost;
    for (const auto& f : round_.fills) cost += {0, 4.0 * static_cast<double>(f.words.end - f.words.begin), 1};
    for (const auto& c : round_.copies) cost += {0, 2.0 * static_cast<double>(c.bytes), 1};
    return cost;
  }

  // Unpacking has its own recording, which begins with a barrier: it overwrites parts of what is filled here.
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

  Result<BoundPlan> bind_unpacking(std::shared_ptr<const Plan> plan) {
    const MemoryMap memory = [&](graph::Space space, uint32_t id) -> BufferRef {
      if (space == graph::Space::weight) return {&buffers_[id], 0, buffers_[id].size()};
      return {&areas_[current_].buffer, round_.slices[id].first, round_.slices[id].second};
    };
    return BoundPlan::bind(device_, std::move(plan), memory, {.use = vulkan::RecordingUse::single});
  }

  std::shared_ptr<vulkan::Device> device_;
  std::span<const WeightSource> sources_;
  std::shared_ptr<void> with_;
  std::span<const vulkan::Buffer> buffers_;
  uint64_t capacity_ = 0;  // of an area, in bytes
  std::array<Area, 2> areas_;
  size_t current_ = 0;
  Round round_;
  bool submitting_ = false;
  std::optional<TestedCompilation> compilation_;  // of the round's graph
  PacedSubmitter submitter_;
  bool recorded_ = false;  // the round is recorded in:
  std::optional<vulkan::CommandRecording> transfers_;
  std::optional<BoundPlan> unpacking_;
  vulkan::Ticket last_ = 0, waits_for_ = 0;
  // The current position: rows from row_ on of one of the parts of a source.
  uint32_t next_ = 0, index_ = 0;
  std::vector<WeightPart> parts_;
  size_t part_ = 0;
  uint64_t row_ = 0;
  uint64_t bytes_done_ = 0, all_bytes_ = 0;
};

uint64_t bytes_of(std::span<const WeightSource> sources) {
  uint64_t bytes = 0;
  for (const WeightSource& s : sources) bytes += s.words * 4;
  return bytes;
}

WeightsLoading::WeightsLoading() = default;
WeightsLoading::~WeightsLoading() = default;

std::unique_ptr<WeightsLoading> WeightsLoading::start(std::shared_ptr<vulkan::Device> device,
                                                      std::span<const WeightSource> sources,
                                                      std::shared_ptr<void> with) {
  std::unique_ptr<WeightsLoading> loading(new WeightsLoading());
  loading->weights_ = std::make_shared<Weights>();
  loading->loader_ = std::make_unique<Loader>(std::move(device), sources, std::move(with));
  return loading;
}

Result<WeightsLoading::Step> WeightsLoading::step() { return loader_->step(*weights_); }
Status WeightsLoading::wait() { return loader_->wait(); }
uint64_t WeightsLoading::bytes_done() const { return loader_->bytes_done(); }
uint64_t WeightsLoading::bytes() const { return loader_->bytes(); }
std::shared_ptr<const Weights> WeightsLoading::take() { return std::move(weights_); }

Result<std::shared_ptr<const Weights>> Weights::load(std::shared_ptr<vulkan::Device> device,
                                                     std::span<const WeightSource> sources,
                                                     std::shared_ptr<void> with) {
  const auto loading = WeightsLoading::start(std::move(device), sources, std::move(with));
  for (;;) {
    LAPILLI_TRY(const auto step, loading->step());
    if (step == WeightsLoading::Step::ended) return loading->take();
    if (step == WeightsLoading::Step::blocked) LAPILLI_CHECK(loading->wait());
  }
}

BufferRef Weights::find(uint32_t index) const {
  if (index >= buffers_.size()) return {};
  return {&buffers_[index], 0, buffers_[index].size()};
}

}  // namespace lapilli
