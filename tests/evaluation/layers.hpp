// The cost of holding matrices in fewer bits, one by one: the mean Kullback-Leibler divergence of the logits of teacher
// forcing from those of the same network in fp32. BLEU of a whole network hides one bad layer among good ones; this
// does not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "generate/generate.hpp"

namespace lapilli::evaluation {

// A sentence that the network reads and is made to write: the ids of source and decoder, the decoder's start in front.
struct Sentence {
  std::vector<int32_t> source, target;
};
// Those of a model's expected.json, whose ids the reference recorded, greedy.
Result<std::vector<Sentence>> recorded_sentences(const std::string& directory);

struct MatrixLoss {
  std::string name;    // as model::Network has it
  double alone = 0;    // it in the format, all others in fp32
  double without = 0;  // it in fp32, all others in the format
};
struct Losses {
  uint64_t positions = 0;  // of the target, over which is averaged
  double all = 0;          // every matrix in the format
  std::vector<MatrixLoss> matrices;
};

struct LossRequest {
  std::string model;  // directory
  WeightFormat format = WeightFormat::int8;
  std::vector<Sentence> sentences;
  // Matrices whose names hold this; "": all.
  std::string matrices;
  bool without = true;
};
Result<Losses> measure_losses(const std::shared_ptr<vulkan::Device>& device, const LossRequest& request);

// The most that a matrix of the bundled model may lose alone: five times what its worst layer does, or its table of
// words, which costs more than any layer (docs/use/quality.md).
double most_alone(WeightFormat format, const std::string& matrix);
// The matrices that lose more.
std::vector<std::string> bad_layers(const Losses& losses, WeightFormat format);

}  // namespace lapilli::evaluation
