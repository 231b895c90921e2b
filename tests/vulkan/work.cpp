#include "vulkan/work.hpp"

#include "vulkan/affine.spv.h"

namespace lapilli::vulkan {

Result<Work> Work::make(std::shared_ptr<Device> device, uint32_t n) {
  Work w;
  w.n = n;
  w.device = device;
  LAPILLI_TRY(w.x, device->make_buffer(n * 4, MemoryUse::device, "x"));
  LAPILLI_TRY(w.y, device->make_buffer(n * 4, MemoryUse::device, "y"));
  LAPILLI_TRY(w.uniform, device->make_buffer(4, MemoryUse::upload, "offset"));
  std::vector<uint32_t> values(n);
  for (uint32_t i = 0; i < n; ++i) values[i] = i * 2654435761u;
  const std::vector<uint32_t> offset{kOffset};
  LAPILLI_CHECK(device->write(w.x, 0, bytes_of(values)));
  LAPILLI_CHECK(device->zero(w.y));
  LAPILLI_CHECK(device->write(w.uniform, 0, bytes_of(offset)));

  const PipelineRequest request{spv_affine, std::size(spv_affine), "affine", {kScale, kBias}};
  LAPILLI_TRY(const auto pipelines, device->pipelines({&request, 1}));
  LAPILLI_TRY(w.arena, DescriptorArena::create(device, 1));
  const BufferBinding bindings[] = {
      {0, &w.x, 0, w.x.size()}, {1, &w.y, 0, w.y.size()}, {4, &w.uniform, 0, w.uniform.size()}};
  LAPILLI_TRY(const auto set, w.arena->write(bindings));
  LAPILLI_TRY(w.commands, CommandRecording::create(device));
  LAPILLI_CHECK(w.commands->begin());
  const uint32_t push[] = {kPush, n};
  w.commands->label("affine");
  w.commands->bind(pipelines[0], set, std::as_bytes(std::span(push)));
  w.commands->dispatch((n + 63) / 64, 1, 1);
  LAPILLI_CHECK(w.commands->end());
  return w;
}

Status Work::run() {
  const CommandRecording* list[] = {&*commands};
  LAPILLI_TRY(const Ticket ticket, device->submit(list));
  LAPILLI_CHECK(device->wait(ticket));
  return check();
}

Status Work::check() {
  std::vector<uint32_t> got(n);
  LAPILLI_CHECK(device->read(y, 0, std::as_writable_bytes(std::span(got))));
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t want = i * 2654435761u * kScale + kBias + kOffset + kPush;
    if (got[i] != want) return fail(ErrorCode::invalid_data, "word %u is %u, not %u", i, got[i], want);
  }
  return {};
}

}  // namespace lapilli::vulkan
