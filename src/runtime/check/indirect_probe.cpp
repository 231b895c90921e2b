#include "runtime/check/indirect_probe.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "ops/core/op.hpp"
#include "ops/core/shader_table.hpp"
#include "ops/rows/basic.hpp"
#include "vulkan/device/trace.hpp"

namespace lapilli {

namespace {

// Rows of words in one buffer; the row size is a valid binding alignment on every device.
enum Row : uint32_t { no_groups, some_groups, before, other, kept, after, done, kRows };
constexpr uint64_t kWords = 64, kRowBytes = kWords * 4;
constexpr uint64_t kBytes = kRows * kRowBytes;

constexpr uint32_t kBefore = 0x600d0000, kOther = 0xbad00000;  // added to the number of the word

// "copy" of one row, as the op lowers it.
Result<Dispatch> copy_of_a_row(const Capabilities& caps) {
  graph::Graph g;
  ops::copy(g, "indirect probe", g.activation("x", 1, kWords));
  const graph::Node& node = g.node(0);
  std::vector<Dispatch> dispatches;
  LAPILLI_CHECK(lower_node({g, caps}, node, node.op->variants(caps, g, node).back(), dispatches));
  if (dispatches.size() != 1)
    return fail(ErrorCode::internal, "a row of %u words is not one dispatch", unsigned{kWords});
  return std::move(dispatches.front());
}

std::array<uint32_t, kBytes / 4> words_of_the_host(const std::array<uint32_t, 3>& grid) {
  std::array<uint32_t, kBytes / 4> words{};
  std::copy(grid.begin(), grid.end(), words.begin() + some_groups * kWords);
  for (uint32_t i = 0; i < kWords; ++i) {
    words[before * kWords + i] = kBefore + i;
    words[other * kWords + i] = kOther + i;
  }
  return words;
}

}  // namespace

struct IndirectProbe::Impl {
  std::shared_ptr<vulkan::Device> device;
  Dispatch copy;
  std::array<uint32_t, 3> grid{};
  const vulkan::Pipeline* pipeline = nullptr;
  vulkan::Buffer buffer, from_host, to_host;
  std::optional<vulkan::DescriptorArena> sets;
  std::vector<vulkan::CommandRecording> recordings;

  Status prepare();
  Status make_buffers();
  // Copies one row; indirectly with the arguments in a row, or directly.
  Status record_copy(vulkan::CommandRecording& recording, Row from, Row to, std::optional<Row> arguments = {});
  Status record_copies();
  Status record_transfer(const vulkan::Buffer& from, const vulkan::Buffer& to);
  Status record();
};

Status IndirectProbe::Impl::prepare() {
  LAPILLI_TRY(copy, copy_of_a_row(device->caps()));
  LAPILLI_TRY(grid, fold_groups(device->caps(), copy.groups));
  const ShaderCode& code = shader_code(copy.shader);
  const vulkan::PipelineRequest request{code.words, code.word_count, code.name, copy.constants};
  LAPILLI_TRY(const auto made, device->pipelines({&request, 1}));
  pipeline = made.front();
  return {};
}

Status IndirectProbe::Impl::make_buffers() {
  LAPILLI_TRY(buffer, device->make_buffer(kBytes, vulkan::MemoryUse::device, "indirect probe"));
  LAPILLI_TRY(from_host, device->make_buffer(kBytes, vulkan::MemoryUse::upload, "indirect probe input"));
  LAPILLI_TRY(to_host, device->make_buffer(kBytes, vulkan::MemoryUse::readback, "indirect probe output"));
  if (!from_host.mapped() || !to_host.mapped()) return fail(ErrorCode::internal, "host memory is not mapped");
  const auto words = words_of_the_host(grid);
  std::memcpy(from_host.mapped(), words.data(), kBytes);
  return from_host.flush(0, kBytes);
}

Status IndirectProbe::Impl::record_copy(vulkan::CommandRecording& recording, Row from, Row to,
                                        std::optional<Row> arguments) {
  std::vector<vulkan::BufferBinding> bindings;
  for (const Operand& o : copy.operands) {
    const uint64_t begin = (o.binding == 0 ? from : to) * kRowBytes;
    bindings.push_back({o.binding, &buffer, begin, kRowBytes});
    vulkan::tell_touch(recording, buffer, {nullptr, begin, begin + kRowBytes, o.binding == 0, o.binding != 0, 0});
  }
  LAPILLI_TRY(const auto* set, sets->write(bindings));
  recording.bind(pipeline, set, std::span(copy.push).first(copy.push_bytes));
  if (arguments)
    recording.dispatch_indirect(buffer, *arguments * kRowBytes);
  else
    recording.dispatch(grid[0], grid[1], grid[2]);
  return {};
}

// Expected result if dispatches of no groups do nothing: `kept` and `after` equal `before`, and `done` equals `other`.
Status IndirectProbe::Impl::record_copies() {
  LAPILLI_TRY(sets, vulkan::DescriptorArena::create(device, 4));
  LAPILLI_TRY(auto recording, vulkan::CommandRecording::create(device));
  LAPILLI_CHECK(recording.begin(vulkan::RecordingUse::single));
  LAPILLI_CHECK(record_copy(recording, before, kept));
  recording.barrier();
  LAPILLI_CHECK(record_copy(recording, other, kept, no_groups));
  recording.barrier();
  LAPILLI_CHECK(record_copy(recording, kept, after));
  LAPILLI_CHECK(record_copy(recording, other, done, some_groups));
  LAPILLI_CHECK(recording.end());
  recordings.push_back(std::move(recording));
  return {};
}

Status IndirectProbe::Impl::record_transfer(const vulkan::Buffer& from, const vulkan::Buffer& to) {
  LAPILLI_TRY(auto recording, vulkan::CommandRecording::create(device));
  LAPILLI_CHECK(recording.begin(vulkan::RecordingUse::single));
  recording.copy(from, 0, to, 0, kBytes);
  LAPILLI_CHECK(recording.end());
  recordings.push_back(std::move(recording));
  return {};
}

Status IndirectProbe::Impl::record() {
  LAPILLI_CHECK(record_transfer(from_host, buffer));
  LAPILLI_CHECK(record_copies());
  return record_transfer(buffer, to_host);
}

IndirectProbe::IndirectProbe() : impl_(std::make_unique<Impl>()) {}
IndirectProbe::~IndirectProbe() = default;

Result<std::unique_ptr<IndirectProbe>> IndirectProbe::record(const std::shared_ptr<vulkan::Device>& device,
                                                             PacedSubmitter& submitter) {
  std::unique_ptr<IndirectProbe> probe(new IndirectProbe());
  probe->impl_->device = device;
  LAPILLI_CHECK(probe->impl_->prepare());
  LAPILLI_CHECK(probe->impl_->make_buffers());
  LAPILLI_CHECK(probe->impl_->record());
  // The rows are read and written a few times.
  for (const auto& r : probe->impl_->recordings) submitter.add(r, {0, 2.0 * kBytes, 1});
  return probe;
}

Result<std::string> IndirectProbe::compare() {
  LAPILLI_CHECK(impl_->to_host.invalidate(0, kBytes));
  std::array<uint32_t, kBytes / 4> words{};
  std::memcpy(words.data(), impl_->to_host.mapped(), kBytes);
  const auto holds = [&](Row row, uint32_t first) {
    for (uint32_t i = 0; i < kWords; ++i)
      if (words[row * kWords + i] != first + i) return false;
    return true;
  };
  if (!holds(kept, kBefore)) return std::string("a dispatch of no groups wrote something");
  if (!holds(after, kBefore)) return std::string("what came behind a dispatch of no groups was not done");
  if (!holds(done, kOther)) return std::string("a dispatch of some groups did not do all of them");
  return std::string();
}

}  // namespace lapilli
