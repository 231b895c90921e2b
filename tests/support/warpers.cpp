#include "support/warpers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace lapilli::testing_support {

namespace {

using Values = std::vector<double>;
constexpr double kOut = -std::numeric_limits<double>::infinity();

Values softmax(const Values& scores) {
  const double most = *std::max_element(scores.begin(), scores.end());
  Values p;
  for (const double s : scores) p.push_back(std::exp(s - most));
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& v : p) v /= sum;
  return p;
}

double entropy(const Values& p) {
  double sum = 0;
  for (const double v : p)
    if (v > 0) sum -= v * std::log(v);
  return sum;
}

std::vector<size_t> ascending(const Values& keys) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  return order;
}

double kth_largest(const Values& scores, size_t k) {
  const auto order = ascending(scores);
  return scores[order[order.size() - std::min(k, order.size())]];
}

void top_h(Values& scores, double share) {
  auto order = ascending(scores);
  std::reverse(order.begin(), order.end());
  order.resize(std::min<size_t>(100, order.size()));
  Values best;
  for (const size_t i : order) best.push_back(scores[i]);
  const Values p = softmax(best);
  const double limit = entropy(p) * share;
  Values kept(scores.size(), kOut);
  double used = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    used += p[i] > 0 ? -p[i] * std::log(p[i]) : 0;
    if (i == 0 || used <= limit) kept[order[i]] = scores[order[i]];
  }
  scores = kept;
}

void top_p(Values& scores, double mass, size_t keep) {
  const auto order = ascending(scores);
  const Values p = softmax(scores);
  double below = 0;
  for (size_t i = 0; i + keep < order.size(); ++i)
    if ((below += p[order[i]]) <= 1 - mass) scores[order[i]] = kOut;
}

void typical_p(Values& scores, double mass, size_t keep) {
  const Values p = softmax(scores);
  const double h = entropy(p);
  Values away;
  for (const double v : p) away.push_back(v > 0 ? std::abs(-std::log(v) - h) : -kOut);
  const auto order = ascending(away);
  double sum = 0;
  size_t last = 0;
  while (last < order.size() && (sum += p[order[last]]) < mass) ++last;
  const double limit = away[order[std::min(last, order.size() - 1)]];
  for (size_t i = keep; i < order.size(); ++i)
    if (away[order[i]] > limit) scores[order[i]] = kOut;
}

void at_least(Values& scores, double limit, size_t keep) {
  const Values p = softmax(scores);
  const double spared = kth_largest(scores, keep);
  for (size_t i = 0; i < scores.size(); ++i)
    if (p[i] < limit && scores[i] < spared) scores[i] = kOut;
}

}  // namespace

std::vector<double> sampling_probabilities(std::vector<double> scores, const SearchOptions& o) {
  const size_t keep = o.min_keep();
  const auto real = [](float f) { return static_cast<double>(f); };
  for (double& s : scores) s = s <= static_cast<double>(state::FORBIDDEN) ? kOut : s / real(o.temperature);
  if (o.top_h > 0) top_h(scores, real(o.top_h));
  if (o.top_k > 0) {
    const double least = kth_largest(scores, o.top_k);
    for (double& s : scores) s = s < least ? kOut : s;
  }
  if (o.top_p < 1) top_p(scores, real(o.top_p), keep);
  if (o.min_p > 0) {
    const Values p = softmax(scores);
    at_least(scores, real(o.min_p) * *std::max_element(p.begin(), p.end()), keep);
  }
  if (o.typical_p < 1) typical_p(scores, real(o.typical_p), keep);
  if (o.epsilon > 0) at_least(scores, real(o.epsilon), keep);
  if (o.eta > 0) {
    const double eta = real(o.eta);
    at_least(scores, std::min(eta, std::sqrt(eta) * std::exp(-entropy(softmax(scores)))), keep);
  }
  return softmax(scores);
}

}  // namespace lapilli::testing_support
