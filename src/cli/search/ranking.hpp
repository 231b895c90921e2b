// The best lines for each query, over blocks of vectors that come one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

class Ranking {
 public:
  // `queries`: a vector for each, one behind the other.
  Ranking(Device device, std::vector<float> queries, uint32_t dimensions, NearestOptions options);
  // `line`: of a vector, by its place among these. Lines ascend from call to call. Gives the exit code, which is that
  // of success if the program was interrupted.
  int add(std::span<const float> vectors, const std::function<size_t(size_t)>& line);
  // The lines of each query, the best first, of equal ones the first.
  [[nodiscard]] const std::vector<std::vector<Neighbour>>& found() const { return found_; }

 private:
  void merge(const std::vector<Neighbour>& more, const std::function<size_t(size_t)>& line,
             std::vector<Neighbour>& to) const;

  Device device_;
  std::vector<float> queries_;
  uint32_t dimensions_;
  NearestOptions options_;
  std::vector<std::vector<Neighbour>> found_;
};

}  // namespace lapilli::cli
