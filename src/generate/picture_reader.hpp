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
  std::string text;  // models that write
  double score = 0;
  std::vector<ScoredClass> classes;  // models that classify, the likeliest first
};

struct PictureOptions {
  GenerationConfig generation;
  // What the answer goes on from; tokens that are spelled out ("<s_cord-v2>", a task of Donut's) are taken as such. "":
  // the model's own start.
  std::string prompt;
  uint32_t top = 5;    // classes
  uint32_t batch = 8;  // pictures at a time that are classified
};

// A model with what its directory says of pictures. Of one thread.
class PictureReader {
 public:
  // Errors: the model reads no pictures; its preprocessor_config.json is missing, not supported, or makes pictures of
  // another size than it reads; a tokenizer that is missing where it writes.
  static Result<PictureReader> make(std::shared_ptr<Model> model, const Files& files);

  [[nodiscard]] bool classifies() const;
  [[nodiscard]] const std::shared_ptr<Model>& model() const { return model_; }

  // A picture as a source. Error: it has a shape that cannot be brought to the model's.
  Result<std::shared_ptr<const model::Features>> source(const image::Picture& picture) const;
  // A result for each. An error of the whole is one of the device; `go_on` is asked often, and false cancels.
  using Sources = std::vector<std::shared_ptr<const model::Features>>;
  Result<std::vector<PictureResult>> run(const Sources& sources, const PictureOptions& options,
                                         const std::function<bool()>& go_on = {});

 private:
  Result<std::vector<PictureResult>> write(const Sources& sources, const PictureOptions& options,
                                           const std::function<bool()>& go_on) const;
  // Donut writes fields as tokens between the words ("<s_menu>"), and its tasks are starts of their own.
  [[nodiscard]] bool writes_fields() const;
  [[nodiscard]] Result<std::string> text_of(std::span<const int32_t> ids) const;
  Result<std::vector<PictureResult>> classify(const Sources& sources, const PictureOptions& options,
                                              const std::function<bool()>& go_on);
  Status classify_batch(std::span<const std::shared_ptr<const model::Features>> sources, const PictureOptions& options,
                        std::vector<PictureResult>& results);

  std::shared_ptr<Model> model_;
  pictures::Processor processor_;
  std::vector<std::string> labels_;
  std::optional<ForwardPass> pass_;
  size_t pass_sources_ = 0;
};

// The `top` of them with the highest scores, ties to the lower index; probabilities by softmax over all.
std::vector<ScoredClass> best_classes(std::span<const float> scores, uint32_t top,
                                      const std::vector<std::string>& labels);
// The names of config.json's id2label by number: "" where a number has none. Errors: keys that are no numbers below
// `classes`.
Result<std::vector<std::string>> read_labels(const JsonView& config, uint32_t classes);

}  // namespace lapilli
