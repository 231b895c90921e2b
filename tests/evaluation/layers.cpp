#include "evaluation/layers.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/hf_config.hpp"
#include "search/network_on_device.hpp"

namespace lapilli::evaluation {

namespace {

constexpr size_t kAtOnce = 16;  // sentences of one pass

Result<std::shared_ptr<Model>> load(const std::shared_ptr<vulkan::Device>& device, const LossRequest& request,
                                    std::function<bool(const std::string&)> takes_format) {
  LoadOptions options;
  options.format = request.format;
  options.takes_format = std::move(takes_format);
  return Model::load(device, request.model, options);
}

// Log-probabilities of the ids at each position of each target, one behind the other.
class LogProbabilities {
 public:
  static Result<LogProbabilities> of(const std::shared_ptr<Model>& model, const std::vector<Sentence>& sentences) {
    LogProbabilities all;
    for (size_t first = 0; first < sentences.size(); first += kAtOnce)
      LAPILLI_CHECK(all.add(model, std::span(sentences).subspan(first, std::min(kAtOnce, sentences.size() - first))));
    return all;
  }
  [[nodiscard]] uint64_t positions() const { return values_.size() / vocabulary_; }
  // Mean over positions of the sum of p log(p / q), this being p.
  [[nodiscard]] double divergence_to(const LogProbabilities& q) const {
    double sum = 0;
    for (size_t i = 0; i < values_.size(); ++i)
      sum += std::exp(static_cast<double>(values_[i])) *
             (static_cast<double>(values_[i]) - static_cast<double>(q.values_[i]));
    return sum / static_cast<double>(positions());
  }

 private:
  Status add(const std::shared_ptr<Model>& model, std::span<const Sentence> sentences) {
    ForwardRequest request;
    for (const Sentence& s : sentences) {
      request.sources.push_back(s.source);
      request.targets.push_back(s.target);
    }
    LAPILLI_TRY(const auto outputs, forward(model, request));
    const auto logits = std::find_if(outputs.begin(), outputs.end(), [](const auto& t) { return t.name == "logits"; });
    if (logits == outputs.end()) return fail(ErrorCode::internal, "forward() gave no logits");
    const uint64_t length = logits->shape[1];
    vocabulary_ = logits->shape[2];
    for (size_t s = 0; s < sentences.size(); ++s)
      for (size_t i = 0; i < sentences[s].target.size(); ++i)
        append(std::span(logits->values).subspan((s * length + i) * vocabulary_, vocabulary_));
    return {};
  }

  void append(std::span<const float> logits) {
    const double most = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - most);
    const double norm = most + std::log(sum);
    for (const float logit : logits) values_.push_back(static_cast<float>(static_cast<double>(logit) - norm));
  }

  std::vector<float> values_;
  uint64_t vocabulary_ = 1;
};

class Measuring {
 public:
  Measuring(std::shared_ptr<vulkan::Device> device, const LossRequest& request)
      : device_(std::move(device)), request_(request) {}

  Result<Losses> run() {
    LAPILLI_TRY(const auto fp32, load(device_, request_, [](const std::string&) { return false; }));
    LAPILLI_TRY(exact_, LogProbabilities::of(fp32, request_.sentences));
    Losses losses;
    losses.positions = exact_.positions();
    LAPILLI_TRY(losses.all, loss_of(nullptr));
    for (const auto& spec : fp32->on_device().network.weights) {
      if (spec.kind != model::WeightSpec::Kind::matrix || spec.name.find(request_.matrices) == std::string::npos)
        continue;
      LAPILLI_TRY(const auto loss, loss_of_one(spec.name));
      losses.matrices.push_back(loss);
    }
    return losses;
  }

 private:
  Result<double> loss_of(std::function<bool(const std::string&)> takes_format) {
    LAPILLI_TRY(const auto model, load(device_, request_, std::move(takes_format)));
    LAPILLI_TRY(const auto rounded, LogProbabilities::of(model, request_.sentences));
    return exact_.divergence_to(rounded);
  }

  Result<MatrixLoss> loss_of_one(const std::string& name) {
    MatrixLoss loss{name};
    LAPILLI_TRY(loss.alone, loss_of([&](const std::string& other) { return other == name; }));
    if (!request_.without) return loss;
    LAPILLI_TRY(loss.without, loss_of([&](const std::string& other) { return other != name; }));
    return loss;
  }

  std::shared_ptr<vulkan::Device> device_;
  const LossRequest& request_;
  LogProbabilities exact_;
};

}  // namespace

Result<std::vector<Sentence>> recorded_sentences(const std::string& directory) {
  const std::string path = directory + "/expected.json";
  LAPILLI_TRY(const auto json, read_json_file(path));
  std::vector<Sentence> sentences;
  try {
    for (const auto& c : json.at("cases"))
      sentences.push_back(
          {c.at("input_ids").get<std::vector<int32_t>>(), c.at("greedy").at("ids").get<std::vector<int32_t>>()});
    // Nothing follows the last id.
    for (Sentence& s : sentences)
      if (s.target.size() > 1) s.target.pop_back();
  } catch (const nlohmann::json::exception& e) {
    return fail(ErrorCode::invalid_data, "%s: %s", path.c_str(), e.what());
  }
  return sentences;
}

Result<Losses> measure_losses(const std::shared_ptr<vulkan::Device>& device, const LossRequest& request) {
  return Measuring(device, request).run();
}

double most_alone(WeightFormat format, const std::string& matrix) {
  constexpr struct {
    double layer, table;
  } kMost[] = {{0, 0}, {5e-7, 8e-6}, {1e-9, 1e-9}, {5e-6, 6e-5}, {1.7e-3, 1.8e-2}};
  const bool is_table = matrix == "output" || matrix.ends_with("_embedding");
  const auto& most = kMost[static_cast<uint32_t>(format)];
  return is_table ? most.table : most.layer;
}

std::vector<std::string> bad_layers(const Losses& losses, WeightFormat format) {
  std::vector<std::string> bad;
  for (const MatrixLoss& m : losses.matrices)
    if (!(m.alone <= most_alone(format, m.name))) bad.push_back(m.name);
  return bad;
}

}  // namespace lapilli::evaluation
