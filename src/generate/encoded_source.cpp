#include "generate/encoded_source.hpp"

#include "generate/model_impl.hpp"

namespace lapilli {

Result<std::shared_ptr<EncodedSource>> EncodedSource::create(Model::Impl& model, std::vector<int32_t> ids) {
  const model::StackConfig& decoder = model.network.config.decoder;
  std::shared_ptr<EncodedSource> source(new EncodedSource());
  source->layers_ = decoder.layers;
  source->heads_ = decoder.heads;
  source->row_bytes_ = 2 * decoder.head_dim * 4;
  source->weights_ = model.weights;
  const uint64_t bytes = uint64_t{source->layers_} * source->heads_ * ids.size() * source->row_bytes_;
  source->ids_ = std::move(ids);
  LAPILLI_TRY(auto share, model.reserve(bytes));
  LAPILLI_TRY(source->buffer_, model.device->make_buffer(bytes, vulkan::MemoryUse::device, "encoded source"));
  source->buffer_.keep(std::make_shared<MemoryShare>(std::move(share)));
  return source;
}

bool EncodedSource::belongs_to(const Model::Impl& model) const { return weights_.lock() == model.weights; }

// The heads of one layer, whose rows lie apart in the session.
struct EncodedSource::Piece {
  const vulkan::Buffer* session = nullptr;
  uint64_t here = 0, there = 0, here_stride = 0, there_stride = 0;
};

std::vector<EncodedSource::Piece> EncodedSource::pieces(const Workspace& workspace, uint32_t place) const {
  const model::SessionShape& shape = workspace.key.shape;
  const uint64_t source_bytes = ids_.size() * row_bytes_, place_bytes = uint64_t{shape.source_positions} * row_bytes_;
  std::vector<Piece> all;
  for (uint32_t layer = 0; layer < layers_; ++layer) {
    const BufferRef state = workspace.session->state(StateKind::cross_kv, layer);
    all.push_back({state.buffer, layer * heads_ * source_bytes, state.offset + place * place_bytes, source_bytes,
                   shape.places * place_bytes});
  }
  return all;
}

void EncodedSource::copy_in(vulkan::CommandRecording& recording, const Workspace& workspace, uint32_t place) const {
  for (const Piece& p : pieces(workspace, place))
    recording.copy(buffer_, *p.session,
                   {heads_, ids_.size() * row_bytes_, p.here_stride, p.there_stride, p.here, p.there});
}

void EncodedSource::copy_out(vulkan::CommandRecording& recording, const Workspace& workspace, uint32_t place) const {
  for (const Piece& p : pieces(workspace, place))
    recording.copy(*p.session, buffer_,
                   {heads_, ids_.size() * row_bytes_, p.there_stride, p.here_stride, p.there, p.here});
}

Status take_encoded(const Model::Impl& model, GenerateRequest& request) {
  if (request.encoded.empty()) return {};
  if (request.sources.empty()) request.sources.resize(request.encoded.size());
  if (request.encoded.size() != request.sources.size())
    return fail(ErrorCode::invalid_argument, "%zu encoded sources for %zu sources", request.encoded.size(),
                request.sources.size());
  for (size_t i = 0; i < request.encoded.size(); ++i) {
    const auto& encoded = request.encoded[i];
    if (!encoded) continue;
    if (!encoded->belongs_to(model))
      return fail(ErrorCode::invalid_argument, "source %zu was encoded by another model", i);
    if (request.sources[i].empty()) request.sources[i] = encoded->ids();
    if (request.sources[i] != encoded->ids())
      return fail(ErrorCode::invalid_argument, "source %zu has other ids than what was encoded", i);
  }
  return {};
}

}  // namespace lapilli
