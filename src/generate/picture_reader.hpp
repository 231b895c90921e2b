// Models that read pictures: text about them, or their classes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generate/generate.hpp"
#include "image/picture.hpp"
#include "image/processor.hpp"

namespace lapilli {

struct ScoredClass {
  uint32_t index = 0;
  std::string label;  // of config.json's id2label; "" if it has none
  double score = 0, probability = 0;
  double published = 0;  // of texts: the number that the model's publisher calls the score
};

// Result for one picture. Errors concern it alone.
struct PictureResult {
  Status status;
  // For models that write:
  std::string text;          // empty without a tokenizer
  std::vector<int32_t> ids;  // without the decoder's start, with the end token
  int32_t start = 0;         // the decoder's
  std::vector<float> token_scores;
  Finish finish = Finish::stop;
  double score = 0;
  // For models that classify, the likeliest first:
  std::vector<ScoredClass> classes;
};

struct PictureOptions {
  GenerationConfig generation;
  // The beginning of the answer; tokens by name ("<s_cord-v2>", a task of Donut's) are recognized. "": the model's own
  // start.
  std::string prompt;
  uint32_t top = 5;              // classes
  uint32_t batch = 0;            // pictures at a time; 0: 8 to classify, automatic to describe
  uint32_t steps_in_flight = 0;  // as in GenerateRequest
  bool deterministic = false;    // as in GenerateRequest
};

// Picture settings of a model's directory, in addition to the model's own.
struct PictureSettings {
  image::Processor processor;
  std::vector<std::string> labels;  // of classes, by number
};
// Errors: the model reads no pictures; its preprocessor_config.json is missing, unsupported, or gives another size than
// the model reads; the model neither writes nor classifies.
Result<PictureSettings> read_picture_settings(const Model& model, const Files& files);

// Fails unless a directory's processor makes pictures of the channels and size that its model reads.
Status check_processor(const image::Processor& processor, const model::PatchInput& input, const Files& files);

// A model that reads pictures. Thread-safe.
class PictureReader {
 public:
  PictureReader(std::shared_ptr<Model> model, PictureSettings settings)
      : model_(std::move(model)), settings_(std::move(settings)) {}

  [[nodiscard]] bool classifies() const;
  // Donut writes fields as tokens between the words ("<s_menu>"), and its tasks have starts of their own.
  [[nodiscard]] bool writes_fields() const;
  [[nodiscard]] const std::shared_ptr<Model>& model() const { return model_; }
  [[nodiscard]] const PictureSettings& settings() const { return settings_; }

  // A picture as the model sees it. Fails on a shape that cannot be converted to the model's.
  [[nodiscard]] Result<image::Picture> prepared(const image::Picture& picture) const;
  // A prepared picture as a source.
  [[nodiscard]] Result<std::shared_ptr<const model::Features>> source_of(const image::Picture& prepared) const;
  // Both steps.
  [[nodiscard]] Result<std::shared_ptr<const model::Features>> source(const image::Picture& picture) const;
  // The text of a decoder's ids.
  [[nodiscard]] Result<std::string> text_of(std::span<const int32_t> ids) const;

 private:
  std::shared_ptr<Model> model_;
  PictureSettings settings_;
};

// The `top` classes by score, ties to the lower index; probabilities by softmax over all.
std::vector<ScoredClass> best_classes(std::span<const float> scores, uint32_t top,
                                      const std::vector<std::string>& labels);
// The names of config.json's id2label by number: "" for numbers without one. Fails on keys that are not numbers below
// `classes`.
Result<std::vector<std::string>> read_labels(const JsonView& config, uint32_t classes);

}  // namespace lapilli
