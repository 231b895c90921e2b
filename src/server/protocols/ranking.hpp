// Documents by their score for a query: what the protocols of rerankers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/protocols/answers.hpp"

namespace lapilli::server {

struct RankingRequest {
  std::string model;  // of the server
  std::string query;
  std::vector<std::string> documents;
  bool truncate = false;
  // For errors: the member that holds the documents, and the status of those that are too long.
  std::string member = "documents";
  int too_long_status = 400;
};

struct RankedDocument {
  size_t index = 0;  // in the request
  double logit = 0;  // as the model gives it
  double score = 0;  // its sigmoid, 0..1
};

struct Ranking {
  std::vector<RankedDocument> documents;  // the best first; equal ones in their order
  uint64_t tokens = 0;                    // that were read
};

// 413 if the texts are too long, or the query, which goes with each document, comes to too much with all of them.
void check_ranking(Asked& from, const RankingRequest& request);

// As `lapilli rerank --probability` sorts them. `then` is called once, on a thread of the pool.
void start_ranking(Desk& desk, const std::shared_ptr<Exchange>& exchange, RankingRequest request,
                   std::function<void(const Refusal&, const Ranking&)> then);

// Sorted by the logit: in sigmoids of large logits the order would drown.
Ranking ranking_of(const Results& results);

}  // namespace lapilli::server
