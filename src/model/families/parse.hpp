// Shared helpers of families for reading config.json: names of activations, ranges, checks.
#pragma once

#include <optional>
#include <string>

#include "formats/hf_config.hpp"
#include "model/config.hpp"

namespace lapilli::model {

// Limits on the claims of config.json; tensors must confirm them afterwards.
constexpr uint32_t kMaxModelWidth = 1u << 16, kMaxModelLayers = 256, kMaxFeedForward = 1u << 20;
constexpr uint32_t kMaxVocabulary = 1u << 24, kMaxPositionRows = 1u << 16, kMaxLabels = 1u << 20, kMaxTokenTypes = 64;

// The activation by its name in config.json ("gelu", "gelu_new", "swish", ...).
std::optional<Activation> find_activation(const std::string& name);
// Reads the activation under `key` into the stack, with its name.
Status read_activation(const JsonView& view, const char* key, const char* missing, StackConfig& stack);

// The object under `key`, as a view, which refers to the view that contains it.
Result<JsonView> get_object(const JsonView& view, const char* key);
// A number from 1 to `max`.
Result<uint32_t> get_size(const JsonView& view, const char* key, uint32_t max);
Result<uint32_t> get_size(const JsonView& view, const char* key, uint32_t max, uint32_t missing);
// A number up to `max` that may be missing, null or below 1: 0 then.
Result<uint32_t> get_optional_size(const JsonView& view, const char* key, uint32_t max);
// The epsilon of a norm: not negative, raised to at least 1e-12, because devices may flush smaller sums to 0 and divide
// by them.
Result<float> get_epsilon(const JsonView& view, const char* key, float missing);
// sqrt(d_model) if the flag under `key` is set, else 1.
Result<float> get_embedding_scale(const JsonView& view, const char* key, bool missing, uint32_t d_model);

// The reference's class that the file was made for, "BertModel"; of several, the first counts, as in the reference.
// Empty: the file does not say it.
std::string architecture(const JsonView& view);
// The number of labels: named ones, else num_labels, else the reference's default of two.
Result<uint32_t> count_labels(const JsonView& view);
// Refuses classes of a decoder alone that do not write: other heads, or attention to both sides unless the family has
// models that represent texts.
Status check_writes(const JsonView& view, bool represents = false);
// Refuses files that name code of their own for the model (auto_map): their network is another one.
Status check_own_code(const JsonView& view);

// Sets the names of a decoder's output projection, and of its embedding where these are tied; the embedding's own name
// stands there already.
void name_output(const std::string& output, const Config& config, Names& names);

// Refuses sizes that do not fit together or are out of range; sets head_dim to d_model / heads if it is 0.
Status check_stack(const JsonView& view, const char* side, StackConfig& stack);
// Fails, naming the key, if its value is given and not `only`: for fields that would ask for a network that the family
// does not have.
Status check_flag(const JsonView& view, const char* key, bool only);

}  // namespace lapilli::model
