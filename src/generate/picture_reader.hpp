// Pictures through a model: what it says of them, or which classes they belong to.
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
#include "pictures/processor.hpp"

namespace lapilli {

struct ScoredClass {
  uint32_t index = 0;
  std::string label;  // of config.json's id2label; "" if it has none
  double score = 0, probability = 0;
};

// Of one picture. Errors concern it alone.
struct PictureResult {
  Status status;
  // Of models that write:
  std::string text;          // empty without a tokenizer
  std::vector<int32_t> ids;  // without the decoder's start, with the end token
  int32_t start = 0;         // the decoder's
  std::vector<float> token_scores;
  Finish finish = Finish::end;
  double score = 0;
  // Of models that classify, the likeliest first:
  std::vector<ScoredClass> classes;
};

struct PictureOptions {
  GenerationConfig generation;
  // What the answer goes on from; tokens that are spelled out ("<s_cord-v2>", a task of Donut's) are taken as such. "":
  // the model's own start.
  std::string prompt;
  uint32_t top = 5;    // classes
  uint32_t batch = 0;  // pictures at a time; 0: 8 that are classified, of those that are written about what is chosen
  uint32_t steps_in_flight = 0;  // as in GenerateRequest
  bool deterministic = false;    // as there
};

// What a model's directory says of pictures, beside what the model itself knows.
struct PictureSettings {
  pictures::Processor processor;
  std::vector<std::string> labels;  // of classes, by number
};
// Errors: the model reads no pictures; its preprocessor_config.json is missing, not supported, or makes pictures of
// another size than it reads; it neither writes nor classifies.
Result<PictureSettings> read_picture_settings(const Model& model, const Files& files);

// An error unless a directory's processor makes pictures of the channels and the size that its model reads.
Status check_processor(const pictures::Processor& processor, const model::PatchInput& input, const Files& files);

// A model that reads pictures. Any thread.
class PictureReader {
 public:
  PictureReader(std::shared_ptr<Model> model, PictureSettings settings)
      : model_(std::move(model)), settings_(std::move(settings)) {}

  [[nodiscard]] bool classifies() const;
  // Donut writes fields as tokens between the words ("<s_menu>"), and its tasks are starts of their own.
  [[nodiscard]] bool writes_fields() const;
  [[nodiscard]] const std::shared_ptr<Model>& model() const { return model_; }
  [[nodiscard]] const PictureSettings& settings() const { return settings_; }

  // A picture as the model sees it. Error: it has a shape that cannot be brought to the model's.
  [[nodiscard]] Result<image::Picture> prepared(const image::Picture& picture) const;
  // A prepared picture as a source.
  [[nodiscard]] Result<std::shared_ptr<const model::Features>> source_of(const image::Picture& prepared) const;
  // Both.
  [[nodiscard]] Result<std::shared_ptr<const model::Features>> source(const image::Picture& picture) const;
  // What a decoder's ids say.
  [[nodiscard]] Result<std::string> text_of(std::span<const int32_t> ids) const;

 private:
  std::shared_ptr<Model> model_;
  PictureSettings settings_;
};

// The `top` of them with the highest scores, ties to the lower index; probabilities by softmax over all.
std::vector<ScoredClass> best_classes(std::span<const float> scores, uint32_t top,
                                      const std::vector<std::string>& labels);
// The names of config.json's id2label by number: "" where a number has none. Errors: keys that are no numbers below
// `classes`.
Result<std::vector<std::string>> read_labels(const JsonView& config, uint32_t classes);

}  // namespace lapilli
