// The classes of texts and pairs: labels, and the meaning of a classifier's scores.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "formats/sentence_modules.hpp"
#include "generate/picture_reader.hpp"

namespace lapilli {

struct ClassSettings {
  std::vector<std::string> labels;  // by number; LABEL_0 and so on where config.json names none
  // From a score to a probability.
  enum class Scores : uint8_t { softmax, sigmoid, number } scores = Scores::softmax;
  // From a score to the number that the publisher calls the score.
  enum class Activation : uint8_t { identity, sigmoid, tanh } activation = Activation::identity;
};

// `network`: the files of the network.
Result<ClassSettings> read_class_settings(const Files& network, const SentenceSettings& sentences, uint32_t classes);

// At most `top` of them, the highest score first, equal ones by their numbers.
std::vector<ScoredClass> text_classes(std::span<const float> scores, uint32_t top, const ClassSettings& settings);

}  // namespace lapilli
