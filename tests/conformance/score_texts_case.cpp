// Kinds "classify", "zero_shot", "rerank", "rank" and "refuse": texts and pairs to classes and scores.
#include <cmath>
#include <regex>

#include "base/worst.hpp"
#include "conformance/folder.hpp"
#include "generate/encoders/encoding_task.hpp"
#include "generate/encoders/zero_shot.hpp"
#include "generate/front_end.hpp"
#include "generate/verbs.hpp"
#include "search/network_on_device.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;
using Pair = std::pair<std::string, std::optional<std::string>>;
using Rows = std::vector<std::vector<float>>;

struct Scored {
  Rows logits;
  ClassSettings settings;
};

std::vector<Pair> pairs_of(const Json& list) {
  std::vector<Pair> pairs;
  for (const Json& item : list)
    item.is_string() ? pairs.emplace_back(item.get<std::string>(), std::nullopt)
                     : pairs.emplace_back(item.at(0).get<std::string>(), item.at(1).get<std::string>());
  return pairs;
}

Status check_ids(const EncodedText& text, const Json& c, size_t i) {
  if (!c.contains("input_ids") || c["input_ids"].at(i).get<std::vector<int32_t>>() == text.ids) return {};
  return fail(ErrorCode::invalid_data, "text %u has other ids", i);
}

Result<Scored> score(const std::shared_ptr<Model>& model, const std::string& directory, const std::vector<Pair>& pairs,
                     const Json& c, Truncate truncate = Truncate::longest_first) {
  FrontEnd front = read_front_end(*model, directory);
  if (!front.classes) return fail(ErrorCode::unsupported, "a model that scores no texts");
  const Json args = c.value("args", Json::object());
  front.sentences->max_length = args.value("max_length", front.sentences->max_length);
  LAPILLI_TRY(const auto encoder, TextEncoder::make(*model, *front.sentences, {"", ""}));
  Scored scored{Rows(pairs.size()), *front.classes};
  Status failed;
  EncodingRequest request;
  request.sources = pairs.size();
  request.head = scores_of_texts(model->on_device().config())->kind;
  request.source = [&](size_t i) -> Result<std::vector<EncodedText>> {
    LAPILLI_TRY(auto text, encoder.encode(pairs[i].first, pairs[i].second, truncate));
    LAPILLI_CHECK(check_ids(text, c, i));
    return one_text(std::move(text));
  };
  request.on_result = [&](size_t i, Result<HeadNumbers> numbers) {
    if (!numbers) failed = std::move(numbers).error();
    if (numbers) scored.logits[i] = std::move(numbers->front());
  };
  LAPILLI_TRY(const auto task, EncodingTask::start(model, std::move(request)));
  LAPILLI_CHECK(task->run());
  LAPILLI_CHECK(std::move(failed));
  return scored;
}

Status compare_values(const Record& record, const Json& output, const std::vector<float>& ours, const char* name,
                      Outcome& o) {
  LAPILLI_TRY(const auto expected, read_matrix(record, output.at("tensor").get<std::string>()));
  if (expected.values.size() != ours.size()) return fail(ErrorCode::invalid_data, "%s of another size", name);
  double worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) worst = worse(worst, std::abs(double{ours[i]} - expected.values[i]));
  o.compare(worst, output.at("atol_fp32").get<double>(), name);
  return {};
}

Status compare_tensor(const Record& record, const Json& c, const char* name, const std::vector<float>& ours,
                      Outcome& o) {
  if (!c.contains("outputs") || !c["outputs"].contains(name)) return {};
  return compare_values(record, c["outputs"][name], ours, name, o);
}

std::vector<float> joined(const Rows& rows) {
  std::vector<float> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

// Labels nearer to each other than the tolerance may change places.
void compare_labels(const std::vector<ScoredClass>& ours, const Json& expected, double tolerance, Outcome& o) {
  if (ours.size() != expected.size()) return o.fail("another number of labels");
  for (size_t i = 0; i < ours.size(); ++i) {
    const double wanted = expected[i].at("score").get<double>();
    o.compare(std::abs(ours[i].probability - wanted), tolerance, "score");
    const auto same = [&](const Json& e) {
      return e.at("label") == ours[i].label && std::abs(e.at("score").get<double>() - wanted) <= tolerance;
    };
    if (std::none_of(expected.begin(), expected.end(), same)) o.fail("label " + ours[i].label + " at another place");
  }
}

// In the order of the labels. `shares`: probabilities, instead of the number that the publisher calls the score.
void append_scores(const std::vector<float>& row, const ClassSettings& settings, bool shares, std::vector<float>& to) {
  const auto classes = text_classes(row, static_cast<uint32_t>(row.size()), settings);
  std::vector<float> scores(row.size());
  for (const ScoredClass& c : classes) scores[c.index] = static_cast<float>(shares ? c.probability : c.published);
  to.insert(to.end(), scores.begin(), scores.end());
}

std::vector<float> scores_of(const Scored& scored, bool shares) {
  std::vector<float> scores;
  for (const auto& row : scored.logits) append_scores(row, scored.settings, shares, scores);
  return scores;
}

}  // namespace

Result<Outcome> run_classify(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                             const Json& c) {
  LAPILLI_TRY(const auto scored, score(model, directory, pairs_of(c.at("texts")), c));
  Outcome o;
  LAPILLI_CHECK(compare_tensor(record, c, "logits", joined(scored.logits), o));
  const double tolerance = c.at("scores_atol_fp32").get<double>();
  for (size_t i = 0; i < scored.logits.size(); ++i) {
    const Json& labels = c.at("labels").at(i);
    const auto top = static_cast<uint32_t>(std::max<size_t>(labels.size(), 1));
    compare_labels(text_classes(scored.logits[i], top, scored.settings), labels, tolerance, o);
  }
  return o;
}

Result<Outcome> run_zero_shot(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                              const Json& c) {
  const Json args = c.value("args", Json::object());
  LAPILLI_TRY(const auto candidates, check_candidates(c.at("candidate_labels").get<std::vector<std::string>>()));
  std::vector<Pair> pairs;
  for (const std::string& label : candidates.labels) {
    LAPILLI_TRY(auto hypothesis, hypothesis_of(args.value("hypothesis_template", std::string(kHypothesis)), label));
    pairs.emplace_back(c.at("premise").get<std::string>(), std::move(hypothesis));
  }
  LAPILLI_TRY(const auto scored, score(model, directory, pairs, c, Truncate::only_first));
  LAPILLI_TRY(const auto columns, find_entailment(scored.settings.labels, ""));
  Outcome o;
  LAPILLI_CHECK(compare_values(record, c.at("logits"), joined(scored.logits), "logits", o));
  const auto scores = score_labels(candidates.labels, scored.logits, columns, args.value("multi_label", false));
  if (c.at("labels").size() != scores.size()) return Outcome::failed("another number of labels");
  for (size_t i = 0; i < scores.size(); ++i) {
    if (c["labels"][i] != scores[i].label) o.fail("label " + scores[i].label + " at another place");
    o.compare(std::abs(scores[i].score - c.at("scores").at(i).get<double>()), c.at("scores_atol_fp32").get<double>(),
              "score");
  }
  return o;
}

Result<Outcome> run_rerank(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                           const Json& c) {
  const bool softmax = c.value("args", Json::object()).value("apply_softmax", false);
  LAPILLI_TRY(const auto scored, score(model, directory, pairs_of(c.at("pairs")), c));
  Outcome o;
  LAPILLI_CHECK(compare_tensor(record, c, "logits", joined(scored.logits), o));
  LAPILLI_CHECK(compare_tensor(record, c, "scores", scores_of(scored, softmax), o));
  return o;
}

Result<Outcome> run_rank(const std::shared_ptr<Model>& model, const std::string& directory, const Json& c) {
  std::vector<Pair> pairs;
  for (const Json& document : c.at("documents"))
    pairs.emplace_back(c.at("query").get<std::string>(), document.get<std::string>());
  LAPILLI_TRY(const auto scored, score(model, directory, pairs, c));
  const auto scores = scores_of(scored, false);
  std::vector<size_t> order(scores.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scored.logits[a].front() > scored.logits[b].front(); });
  Outcome o;
  for (size_t i = 0; i < c.at("order").size(); ++i) {
    if (order.at(i) != c["order"][i].get<size_t>()) o.fail("another order");
    o.compare(std::abs(scores[order[i]] - c.at("scores").at(i).get<double>()), c.at("scores_atol_fp32").get<double>(),
              "score");
  }
  return o;
}

Outcome run_refuse(const Result<std::shared_ptr<Model>>& model, const Json& c) {
  const std::string verb = c.value("verb", std::string());
  const model::HeadKind head = verb == "embed" ? model::HeadKind::sentences : model::HeadKind::classes;
  const Status checked = model ? check_head((*model)->on_device().config(), head) : Status(model.error());
  if (checked) return Outcome::failed("it is not refused");
  for (const Json& name : c.at("names"))
    if (!std::regex_search(checked.error().message, std::regex(name.get<std::string>(), std::regex::icase)))
      return Outcome::failed("the message lacks " + name.get<std::string>() + ": " + checked.error().message);
  return {};
}

}  // namespace lapilli::conformance
