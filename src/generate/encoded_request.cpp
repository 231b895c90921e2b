#include "generate/encoded_request.hpp"

namespace lapilli {

Status take_encoded(const Model& model, GenerateRequest& request) {
  if (request.encoded.empty()) return {};
  if (request.sources.empty()) request.sources.resize(request.encoded.size());
  if (request.encoded.size() != request.sources.size())
    return fail(ErrorCode::invalid_argument, "%zu encoded sources for %zu sources", request.encoded.size(),
                request.sources.size());
  for (size_t i = 0; i < request.encoded.size(); ++i) {
    const auto& encoded = request.encoded[i];
    if (!encoded) continue;
    if (!encoded->belongs_to(model.on_device()))
      return fail(ErrorCode::invalid_argument, "source %zu was encoded by another model", i);
    if (request.sources[i].empty()) request.sources[i] = encoded->ids();
    if (request.sources[i] != encoded->ids())
      return fail(ErrorCode::invalid_argument, "source %zu has other ids than what was encoded", i);
  }
  return {};
}

}  // namespace lapilli
