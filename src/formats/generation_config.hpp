// Search settings as in generation_config.json. The same struct serves a model's own settings, a caller's options and
// the result of merging them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// shrinking: Marian's, which has no early stopping, but whose beam loses a place with each hypothesis that ends.
enum class EarlyStopping : uint8_t { no, yes, never, shrinking };

struct SequenceBias {
  std::vector<int32_t> ids;
  double bias = 0;
};
struct ExponentialDecay {
  uint32_t start = 0;  // generated tokens before the decay begins
  double factor = 1;
};

// Unset fields take transformers' defaults, which the code that runs the search fills in. Lengths and positions count
// tokens as transformers does: max_length and min_length include the decoder start or prompt, *_new_tokens do not.
struct GenerationConfig {
#define OPTION(TYPE, NAME) std::optional<TYPE> NAME;
#include "formats/search_options.inc"

  // Unsupported search modes and settings: keys that ask for them, sorted.
  std::vector<std::string> modes;
  // Keys of the same kind that explicitly turn a mode off, overriding the model's.
  std::vector<std::string> without_modes;

  // Keys of settings that are none of the above and not known to be without effect, sorted.
  std::vector<std::string> unknown;
  // The file that these settings came from, for messages; empty if none.
  std::string source;
};

// From a JSON object: missing and null keys stay unset. `where` stands for the file in messages.
Result<GenerationConfig> parse_generation_config(const nlohmann::json& json, const std::string& where);

// The model's own settings: generation_config.json alone if it exists; otherwise those in config.json, at its top level
// or, where unset there, in its decoder's part.
Result<GenerationConfig> read_generation_config(const Files& files);

// Drops ids outside the vocabulary from the lists of a model's own settings: lists are copied between models, and such
// ids never occur. Returns the names of the settings that were shortened.
std::vector<std::string> drop_unknown_ids(GenerationConfig& config, uint32_t vocabulary);

// Merges field by field: `over` where set, else `base`. Takes the unknown keys of both and the source of `base`.
GenerationConfig merge(const GenerationConfig& over, const GenerationConfig& base);

}  // namespace lapilli
