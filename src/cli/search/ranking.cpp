#include "cli/search/ranking.hpp"

#include <algorithm>
#include <utility>

#include "cli/exit_codes.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

Ranking::Ranking(Device device, std::vector<float> queries, uint32_t dimensions, NearestOptions options)
    : device_(std::move(device)),
      queries_(std::move(queries)),
      dimensions_(dimensions),
      options_(std::move(options)),
      found_(queries_.size() / dimensions) {
  options_.progress = [](uint64_t, uint64_t) { return interrupted() == 0; };
}

int Ranking::add(std::span<const float> vectors, const std::function<size_t(size_t)>& line) {
  const auto searched = lapilli_vectors_of(vectors.data(), vectors.size() / dimensions_, dimensions_);
  const auto queries = lapilli_vectors_of(queries_.data(), found_.size(), dimensions_);
  const auto best = device_.nearest(searched, queries, options_);
  if (!best && best.error().status() == Status::cancelled) return exit_ok;
  if (!best) return complain(exit_code(best.error().status()), best.error().message());
  for (size_t q = 0; q < found_.size(); ++q) merge((*best)[q], line, found_[q]);
  return exit_ok;
}

void Ranking::merge(const std::vector<Neighbour>& more, const std::function<size_t(size_t)>& line,
                    std::vector<Neighbour>& to) const {
  for (const Neighbour& neighbour : more) to.push_back({line(neighbour.index), neighbour.score});
  std::stable_sort(to.begin(), to.end(), [](const Neighbour& a, const Neighbour& b) { return a.score > b.score; });
  to.resize(std::min(to.size(), options_.top));
}

}  // namespace lapilli::cli
