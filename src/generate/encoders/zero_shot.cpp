#include "generate/encoders/zero_shot.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "formats/quote.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

constexpr std::string_view kLabelPlace = "{}";

// Names of labels are compared without regard to the case of ASCII letters.
std::string lower_name(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string list_of_labels(std::span<const std::string> labels) {
  constexpr size_t kShown = 20;
  std::string list;
  for (size_t i = 0; i < std::min(labels.size(), kShown); ++i) list += (i == 0 ? "" : ", ") + quote_name(labels[i]);
  return labels.size() > kShown ? list + ", ..." : list;
}

template <class Matches>
size_t first_label(std::span<const std::string> labels, const Matches& matches) {
  return static_cast<size_t>(std::find_if(labels.begin(), labels.end(), matches) - labels.begin());
}

size_t beginning_with(std::span<const std::string> labels, std::string_view begin) {
  return first_label(labels, [&](const std::string& label) { return lower_name(label).starts_with(begin); });
}

// By its name; else where the reference looks: the first label, or the last if the first is entailment.
uint32_t contradiction(std::span<const std::string> labels, size_t entailment) {
  const size_t named = beginning_with(labels, "contradict");
  if (named < labels.size() && named != entailment) return static_cast<uint32_t>(named);
  return entailment == 0 ? static_cast<uint32_t>(labels.size() - 1) : 0;
}

// The shares of the exponentials in their sum.
std::vector<double> shares_of(std::span<const double> logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> shares;
  double sum = 0;
  for (const double logit : logits) sum += shares.emplace_back(std::exp(logit - highest));
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<double> shares_of_labels(std::span<const std::vector<float>> logits, const Entailment& columns) {
  std::vector<double> follows;
  for (const auto& row : logits) follows.push_back(row[columns.follows]);
  return shares_of(follows);
}

// The share of each label against its contradiction.
std::vector<double> single_scores(std::span<const std::vector<float>> logits, const Entailment& columns) {
  std::vector<double> scores;
  for (const auto& row : logits)
    scores.push_back(shares_of(std::vector<double>{row[columns.contradicts], row[columns.follows]})[1]);
  return scores;
}

}  // namespace

Result<Entailment> find_entailment(std::span<const std::string> labels, std::string_view named) {
  const std::string name = lower_name(named);
  const size_t found = named.empty()
                           ? beginning_with(labels, "entail")
                           : first_label(labels, [&](const auto& label) { return lower_name(label) == name; });
  if (found == labels.size() && named.empty())
    return fail(ErrorCode::unsupported,
                "no label of this model begins with \"entailment\" (they are %s): it judges no labels of your own, "
                "unless you say with --entailment LABEL which of them says that a statement follows from a text",
                list_of_labels(labels));
  if (found == labels.size())
    return fail(ErrorCode::invalid_argument, "the model has no label %s for --entailment; its labels are %s",
                quote_name(std::string(named)), list_of_labels(labels));
  if (labels.size() < 2)
    return fail(ErrorCode::unsupported, "a model with the label %s alone tells no contradiction",
                list_of_labels(labels));
  return Entailment{static_cast<uint32_t>(found), contradiction(labels, found)};
}

Result<CandidateLabels> check_candidates(std::span<const std::string> labels) {
  CandidateLabels checked;
  for (const std::string& given : labels) {
    const std::string label(strip(given));
    if (label.empty()) return fail(ErrorCode::invalid_argument, "a label is empty; write them as \"sports,politics\"");
    const bool known = std::find(checked.labels.begin(), checked.labels.end(), label) != checked.labels.end();
    (known ? checked.repeated : checked.labels).push_back(label);
  }
  if (checked.labels.empty()) return fail(ErrorCode::invalid_argument, "there are no labels; name at least one");
  return checked;
}

Result<std::string> hypothesis_of(std::string_view pattern, std::string_view label) {
  const size_t place = pattern.find(kLabelPlace);
  if (place == std::string_view::npos ||
      pattern.find(kLabelPlace, place + kLabelPlace.size()) != std::string_view::npos)
    return fail(ErrorCode::invalid_argument, "the template %s must have one {}, the place of the label, as in %s",
                quote_name(std::string(pattern)), quote_name(kHypothesis));
  std::string hypothesis(pattern);
  return hypothesis.replace(place, kLabelPlace.size(), label);
}

std::vector<LabelScore> score_labels(std::span<const std::string> labels, std::span<const std::vector<float>> logits,
                                     const Entailment& columns, bool several) {
  if (labels.empty()) return {};
  const auto scores =
      several || labels.size() == 1 ? single_scores(logits, columns) : shares_of_labels(logits, columns);
  std::vector<LabelScore> sorted;
  for (size_t i = 0; i < labels.size(); ++i) sorted.push_back({labels[i], scores[i]});
  // A number that is none stands behind all others.
  const auto order = [](const LabelScore& s) { return std::isnan(s.score) ? -1 : s.score; };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return order(a) > order(b); });
  return sorted;
}

}  // namespace lapilli
