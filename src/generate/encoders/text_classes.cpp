#include "generate/encoders/text_classes.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "formats/hf_config.hpp"
#include "formats/quote.hpp"

namespace lapilli {

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Result<ClassSettings::Scores> read_scores(const JsonView& config, uint32_t classes) {
  LAPILLI_TRY(const auto problem, get_string(config, "problem_type", ""));
  if (problem == "regression") return ClassSettings::Scores::number;
  if (problem == "multi_label_classification" || classes == 1) return ClassSettings::Scores::sigmoid;
  return ClassSettings::Scores::softmax;
}

// Where the files name none: a sigmoid for one label, nothing for several. An activation that is not known is left out
// with a note, since only the published score has it.
ClassSettings::Activation activation_of(const std::string& name, uint32_t classes) {
  if (name == "Sigmoid" || (name.empty() && classes == 1)) return ClassSettings::Activation::sigmoid;
  if (name == "Tanh") return ClassSettings::Activation::tanh;
  if (!name.empty() && name != "Identity")
    log(LogLevel::note, "the activation " + quote_name(name) + " of scores is not known; they are given without one");
  return ClassSettings::Activation::identity;
}

double activated(double score, ClassSettings::Activation activation) {
  if (activation == ClassSettings::Activation::sigmoid) return sigmoid(score);
  return activation == ClassSettings::Activation::tanh ? std::tanh(score) : score;
}

// A single label is a score, which needs no name.
void name_the_nameless(const JsonView& config, std::vector<std::string>& labels) {
  uint32_t nameless = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (!labels[i].empty()) continue;
    labels[i] = format("LABEL_%u", i);
    ++nameless;
  }
  if (nameless > 0 && labels.size() > 1)
    log(LogLevel::note, format("%s names no label of %u of %u classes; they are called LABEL_ and their number",
                               config.where, nameless, labels.size()));
}

}  // namespace

Result<ClassSettings> read_class_settings(const Files& network, const SentenceSettings& sentences, uint32_t classes) {
  const FileName file = network / "config.json";
  LAPILLI_TRY(const auto json, read_json_file(file));
  const JsonView config{json, file.path()};
  ClassSettings settings;
  LAPILLI_TRY(settings.labels, read_labels(config, classes));
  name_the_nameless(config, settings.labels);
  LAPILLI_TRY(settings.scores, read_scores(config, classes));
  settings.activation = activation_of(sentences.score_activation, classes);
  return settings;
}

std::vector<ScoredClass> text_classes(std::span<const float> scores, uint32_t top, const ClassSettings& settings) {
  std::vector<ScoredClass> classes = best_classes(scores, top, settings.labels);
  for (ScoredClass& c : classes) {
    if (settings.scores == ClassSettings::Scores::sigmoid) c.probability = sigmoid(c.score);
    if (settings.scores == ClassSettings::Scores::number) c.probability = c.score;
    c.published = activated(c.score, settings.activation);
  }
  return classes;
}

}  // namespace lapilli
