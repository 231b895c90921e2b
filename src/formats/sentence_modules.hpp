// Directories of sentence-transformers (Nils Reimers and Iryna Gurevych 2019): modules.json lists the steps from a text
// to a vector, and further files hold prompts, the length limit and the activation of scores.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// How one row is made of a text's rows; several stand side by side, in this order.
enum class SentencePooling : uint8_t { first, maximum, mean, mean_sqrt, weighted_mean, last };

// A step behind the pooling: a linear layer with an activation, or the division by the Euclidean length.
struct SentenceStep {
  bool normalizes = false;
  std::string folder;                  // of a linear layer's weights
  uint32_t in_width = 0, columns = 0;  // of a linear layer
  bool bias = true;
  std::string activation;  // the class of torch without its module: "Tanh"
};

struct SentenceModules {
  std::string transformer;  // folder of the network and its tokenizer; empty: the directory itself
  std::vector<SentencePooling> poolings;
  bool pools_prompt = true;  // otherwise the rows of a prompt are left out
  std::vector<SentenceStep> steps;
  std::vector<std::string> folders;  // of all steps but the network that have one; not all exist
};

// Nothing: the directory has no modules.json, or that of a cross-encoder, which has one step. Refuses steps that this
// version does not know, by name.
Result<std::optional<SentenceModules>> read_sentence_modules(const Files& files);

// Settings for texts, beside the network.
struct SentenceSettings {
  uint32_t max_length = 0;  // in ids, special ones included; 0: no limit in the files
  bool lower_case = false;  // texts are lower-cased before the tokenizer
  std::map<std::string, std::string> prompts;
  std::string default_prompt;  // a name among the prompts; empty: none
  bool cross_encoder = false;  // the directory says that it is one
  // The activation of a cross-encoder's scores, as SentenceStep::activation; empty: the files name none.
  std::string score_activation;
};

// `network`: the files of the network and its tokenizer; `files`: of the directory.
Result<SentenceSettings> read_sentence_settings(const Files& files, const Files& network);

}  // namespace lapilli
