// A request with checked ids, numbers and options, from which searches are made.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "generate/generate.hpp"
#include "search/encoded_source.hpp"
#include "search/search_options.hpp"

namespace lapilli {

// Rows of logits that are returned for one source.
constexpr uint32_t kMostLogits = 256;

class CheckedRequest {
 public:
  CheckedRequest() = default;  // no sources
  // Checks that ids are within the vocabularies, sources within the model's positions, lists as long as there are
  // sources, and that options can be resolved; the error names what is not. Fills in encoded sources and the decoder's
  // start.
  static Result<CheckedRequest> check(const Model& model, GenerateRequest request);

  [[nodiscard]] const GenerateRequest& request() const { return request_; }
  // Only for fields that are not checked: batch size and callbacks.
  [[nodiscard]] GenerateRequest& settings() { return request_; }
  [[nodiscard]] const ResolvedOptions& options() const { return *request_.resolved; }
  // Positions of a source in the encoder.
  [[nodiscard]] uint32_t source_positions(size_t source) const { return positions_[source]; }
  // A request of some of these sources, with the numbers that they have here.
  [[nodiscard]] CheckedRequest part(std::span<const size_t> sources) const;

 private:
  explicit CheckedRequest(GenerateRequest request) : request_(std::move(request)) {}

  Status check_sources(const Model& model);

  GenerateRequest request_;
  std::vector<uint32_t> positions_;
};

// Checks that all ids are within a vocabulary and rows within a number of positions (0: any); the error says which row
// of `what` is not.
Status check_rows(const std::vector<std::vector<int32_t>>& rows, uint32_t vocabulary, uint32_t positions,
                  const char* what);

}  // namespace lapilli
