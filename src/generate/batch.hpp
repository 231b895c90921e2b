// A batch of any number of sources: cut into searches by length, longest first (GenerateRequest::keep_order: as given),
// with fewer rows if the device's limits or memory require it. A state machine like Search, pumped by generate(); for
// one thread.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "generate/checked_request.hpp"
#include "generate/generate.hpp"
#include "search/token_stream.hpp"

namespace lapilli {

// True if an error concerns only one source and not the others; errors of the device never do.
bool concerns_one(const Error& error);

class Batch {
 public:
  Batch(std::shared_ptr<Model> model, CheckedRequest request);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // As Search's. Each call begins at most one search, so that callers can cancel between two.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  void wait();
  void cancel();
  // Valid after the end: the batch's error, if any.
  [[nodiscard]] const Status& status() const { return status_; }

  [[nodiscard]] uint64_t sources() const { return order_.size(); }
  [[nodiscard]] uint64_t sources_done() const;
  // Sources whose results are in the output, in the order in which they ended.
  [[nodiscard]] std::span<const size_t> ended() const { return ended_sources_; }
  // In the order of the request. Sources that have not ended have no hypotheses, also after an error.
  [[nodiscard]] GenerateOutput& output() { return output_; }

 private:
  Status step(double budget_us);
  Status begin_part();
  Status end_part(Status status);
  [[nodiscard]] size_t length(size_t source) const;
  [[nodiscard]] size_t end_of(size_t begin) const;
  [[nodiscard]] bool wastes(size_t longest, size_t sources, size_t sum) const;
  bool find_part();
  bool fewer_at_a_time(size_t sources);
  void advance(size_t done);
  void give_up(Status status);
  void collect(GenerateOutput&& part);
  [[nodiscard]] const GenerateRequest& request() const { return checked_.request(); }

  std::shared_ptr<Model> model_;
  CheckedRequest checked_;
  // Suppresses output that a rerun gives again.
  OnceStream stream_;
  uint32_t batch_, rows_each_ = 1;
  std::vector<size_t> order_;
  std::vector<size_t> again_;  // indexes in order_: too much beside others
  size_t next_ = 0, next_again_ = 0;
  size_t begin_ = 0, end_ = 0;  // indexes in order_: running now
  std::unique_ptr<Search> search_;
  bool cancelled_ = false, ended_ = false;
  Status status_;
  std::vector<size_t> ended_sources_;
  GenerateOutput output_;
};

}  // namespace lapilli
