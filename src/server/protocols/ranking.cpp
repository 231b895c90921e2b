#include "server/protocols/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lapilli::server {

Ranking ranking_of(const Results& results) {
  Ranking ranking;
  for (size_t i = 0; i < results.size(); ++i) {
    const Output& output = results[i];
    ranking.tokens += output.tokens;
    if (output.classes.empty()) continue;
    const double logit = output.classes.front().score;
    ranking.documents.push_back({i, logit, 1 / (1 + std::exp(-logit))});
  }
  std::stable_sort(ranking.documents.begin(), ranking.documents.end(),
                   [](const RankedDocument& a, const RankedDocument& b) { return a.logit > b.logit; });
  return ranking;
}

void check_ranking(Asked& from, const RankingRequest& request) {
  constexpr uint64_t kMostCopied = uint64_t{64} << 20;
  check_characters(from, request.member, request.documents, request.query);
  const uint64_t copied = uint64_t{request.query.size()} * request.documents.size();
  if (copied > kMostCopied)
    from.refuse("query",
                "its bytes, once for each of the " + std::to_string(request.documents.size()) + " texts, are " +
                    std::to_string(copied) + ", above the limit of " + std::to_string(kMostCopied),
                413);
}

void start_ranking(Desk& desk, const std::shared_ptr<Exchange>& exchange, RankingRequest request,
                   std::function<void(const Refusal&, const Ranking&)> then) {
  auto work = std::make_shared<Work>();
  work->model = request.model;
  work->options.task = "classify";
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::string& document : request.documents) pairs.emplace_back(request.query, std::move(document));
  set_pairs(*work, std::move(pairs));
  request.documents.clear();
  work->done = [request = std::move(request), then = std::move(then), work = work.get()](const Outcome& outcome) {
    Refusal why = failure_of(outcome, request.member, true);
    if (!why && !request.truncate) why = too_long(outcome, *work, request.member, true, request.too_long_status);
    then(why, why ? Ranking() : ranking_of(*outcome.results));
  };
  desk.start(std::move(work), exchange);
}

}  // namespace lapilli::server
