// A request whose ids, numbers and options were looked at, once: what jobs are made of.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "generate/generate.hpp"
#include "search/encoded_source.hpp"
#include "search/search_options.hpp"

namespace lapilli {

// Rows of logits that are given out of one source.
constexpr uint32_t kMostLogits = 256;

class CheckedRequest {
 public:
  CheckedRequest() = default;  // of nothing
  // Ids lie within the vocabularies, sources within the model's positions, lists are as long as there are sources, and
  // options can be resolved; the error names what is not so. Sources that are encoded already and the decoder's start
  // are filled in.
  static Result<CheckedRequest> check(const Model& model, GenerateRequest request);

  [[nodiscard]] const GenerateRequest& request() const { return request_; }
  // Only what has no part in the checks: how many at a time, who is told.
  [[nodiscard]] GenerateRequest& settings() { return request_; }
  [[nodiscard]] const ResolvedOptions& options() const { return *request_.resolved; }
  // Of a source, in the encoder.
  [[nodiscard]] uint32_t source_positions(size_t source) const { return positions_[source]; }
  // These sources of it, with the numbers that they have here.
  [[nodiscard]] CheckedRequest part(std::span<const size_t> sources) const;

 private:
  explicit CheckedRequest(GenerateRequest request) : request_(std::move(request)) {}

  Status check_sources(const Model& model);

  GenerateRequest request_;
  std::vector<uint32_t> positions_;
};

// Rows of ids within a vocabulary and a number of positions (0: any); the error says which row of `what` is not.
Status check_rows(const std::vector<std::vector<int32_t>>& rows, uint32_t vocabulary, uint32_t positions,
                  const char* what);

}  // namespace lapilli
