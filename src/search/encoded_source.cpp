#include "search/encoded_source.hpp"

#include "search/workspace.hpp"

namespace lapilli {

Result<std::shared_ptr<EncodedSource>> EncodedSource::create(const NetworkOnDevice& network,
                                                             vulkan::MemoryLedger& memory, std::vector<int32_t> ids,
                                                             uint32_t positions) {
  const model::StackConfig& decoder = network.config().decoder;
  std::shared_ptr<EncodedSource> source(new EncodedSource());
  source->layers_ = decoder.layers;
  source->heads_ = decoder.kv_heads();
  source->row_bytes_ = KvLayout({decoder.kv_heads(), decoder.head_dim}, network.network.kv_format).cell_words() * 4;
  source->weights_ = network.weights;
  const uint64_t bytes = uint64_t{source->layers_} * source->heads_ * positions * source->row_bytes_;
  source->positions_ = positions;
  source->ids_ = std::move(ids);
  LAPILLI_TRY(auto share, memory.reserve({.bytes = bytes, .what = "an encoded source", .advice = "use shorter input"}));
  LAPILLI_TRY(source->buffer_, network.device->make_buffer(bytes, vulkan::MemoryUse::device, "encoded source"));
  source->buffer_.keep(std::make_shared<vulkan::MemoryShare>(std::move(share)));
  return source;
}

bool EncodedSource::belongs_to(const NetworkOnDevice& network) const { return weights_.lock() == network.weights; }

// The heads of one layer; their rows are strided in the session.
struct EncodedSource::Region {
  const vulkan::Buffer* session = nullptr;
  uint64_t here = 0, there = 0, here_stride = 0, there_stride = 0;
};

std::vector<EncodedSource::Region> EncodedSource::regions(const Workspace& workspace, uint32_t slot) const {
  const SessionShape& shape = workspace.key.shape;
  const uint64_t source_bytes = uint64_t{positions_} * row_bytes_,
                 slot_bytes = uint64_t{shape.source_positions} * row_bytes_;
  std::vector<Region> all;
  for (uint32_t layer = 0; layer < layers_; ++layer) {
    const BufferRef state = workspace.session->state(StateKind::cross_kv, layer);
    all.push_back({state.buffer, uint64_t{layer} * heads_ * source_bytes, state.offset + slot * slot_bytes,
                   source_bytes, shape.slots * slot_bytes});
  }
  return all;
}

void EncodedSource::copy_in(vulkan::CommandRecording& recording, const Workspace& workspace, uint32_t slot) const {
  for (const Region& p : regions(workspace, slot))
    recording.copy(buffer_, *p.session,
                   {heads_, uint64_t{positions_} * row_bytes_, p.here_stride, p.there_stride, p.here, p.there});
}

void EncodedSource::copy_out(vulkan::CommandRecording& recording, const Workspace& workspace, uint32_t slot) const {
  for (const Region& p : regions(workspace, slot))
    recording.copy(*p.session, buffer_,
                   {heads_, uint64_t{positions_} * row_bytes_, p.there_stride, p.here_stride, p.there, p.here});
}

}  // namespace lapilli
