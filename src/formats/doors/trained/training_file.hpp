// The checkpoints that training programs write with torch.save(), and what the readers of these programs make of them.
#pragma once

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/doors/door.hpp"
#include "formats/doors/trained/pickled_fields.hpp"
#include "formats/pytorch_file.hpp"

namespace lapilli::doors::trained {

constexpr const char* kTorchWeights = "PyTorch's .pt";

struct TrainingFile {
  const Files& files;  // those beside it
  std::string name;    // its own among them
  const PytorchFile& content;
  [[nodiscard]] PickledFields root() const { return {content.pickle, content.pickle.root}; }
  [[nodiscard]] std::string path() const { return (files / name).path(); }
};

// fairseq's have "model" with "args" or "cfg".
bool is_fairseq(const TrainingFile& file);
Result<Opened> open_fairseq(const TrainingFile& file);
// OpenNMT-py's have "opt" and "vocab".
bool is_opennmt(const TrainingFile& file);
Result<Opened> open_opennmt(const TrainingFile& file);

}  // namespace lapilli::doors::trained
