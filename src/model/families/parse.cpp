#include "model/families/parse.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/quote.hpp"

namespace lapilli::model {

namespace {

constexpr float kLeastEpsilon = 1e-12f;

struct NamedActivation {
  const char* name;
  Activation activation;
};
constexpr NamedActivation kActivations[] = {{"relu", Activation::relu},
                                            {"gelu", Activation::gelu_erf},
                                            {"gelu_python", Activation::gelu_erf},
                                            {"gelu_new", Activation::gelu_tanh},
                                            {"gelu_fast", Activation::gelu_tanh},
                                            {"gelu_accurate", Activation::gelu_tanh},
                                            {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                            {"silu", Activation::silu},
                                            {"swish", Activation::silu},
                                            {"gelu_python_tanh", Activation::gelu_tanh},
                                            {"quick_gelu", Activation::gelu_quick},
                                            {"gelu_10", Activation::gelu_10},
                                            {"tanh", Activation::tanh},
                                            {"relu6", Activation::relu6},
                                            {"relu2", Activation::relu_squared},
                                            {"leaky_relu", Activation::leaky_relu},
                                            {"mish", Activation::mish},
                                            {"linear", Activation::none}};

Result<uint32_t> in_range(const JsonView& v, const char* key, uint32_t max, Result<uint32_t> value) {
  if (value && (*value == 0 || *value > max))
    return fail(ErrorCode::invalid_data, "%s: %s %u is not between 1 and %u", v.where, key, *value, max);
  return value;
}

}  // namespace

std::optional<Activation> find_activation(const std::string& name) {
  for (const NamedActivation& known : kActivations)
    if (name == known.name) return known.activation;
  return std::nullopt;
}

Status read_activation(const JsonView& v, const char* key, const char* missing, StackConfig& stack) {
  LAPILLI_TRY(stack.activation_name, get_string(v, key, missing));
  const auto known = find_activation(stack.activation_name);
  if (!known) return fail(ErrorCode::unsupported, "%s: %s \"%s\" is not known", v.where, key, stack.activation_name);
  stack.activation = *known;
  return {};
}

Result<JsonView> get_object(const JsonView& v, const char* key) {
  const auto it = v.json.find(key);
  if (it == v.json.end() || !it->is_object())
    return fail(ErrorCode::invalid_data, "%s: %s is missing or not an object", v.where, key);
  return JsonView{*it, v.where + ": " + key};
}

Result<uint32_t> get_size(const JsonView& v, const char* key, uint32_t max) {
  return in_range(v, key, max, get_u32(v, key));
}
Result<uint32_t> get_size(const JsonView& v, const char* key, uint32_t max, uint32_t missing) {
  return in_range(v, key, max, get_u32(v, key, missing));
}

Result<uint32_t> get_optional_size(const JsonView& v, const char* key, uint32_t max) {
  const auto it = v.json.find(key);
  if (it == v.json.end() || it->is_null()) return 0u;
  if (it->is_number_integer() && (it->is_number_unsigned() ? it->get<uint64_t>() == 0 : it->get<int64_t>() < 1))
    return 0u;
  return get_size(v, key, max);
}

Result<float> get_epsilon(const JsonView& v, const char* key, float missing) {
  LAPILLI_TRY(const float epsilon, get_float(v, key, missing));
  if (!(epsilon >= 0)) return fail(ErrorCode::invalid_data, "%s: %s %g is negative", v.where, key, epsilon);
  return std::max(epsilon, kLeastEpsilon);
}

Result<float> get_embedding_scale(const JsonView& v, const char* key, bool missing, uint32_t d_model) {
  LAPILLI_TRY(const bool scaled, get_bool(v, key, missing));
  return scaled ? std::sqrt(static_cast<float>(d_model)) : 1.0f;
}

std::string architecture(const JsonView& v) {
  const auto it = v.json.find("architectures");
  if (it == v.json.end() || !it->is_array() || it->empty() || !it->front().is_string()) return {};
  return it->front().get<std::string>();
}

Result<uint32_t> count_labels(const JsonView& v) {
  const auto it = v.json.find("id2label");
  if (it == v.json.end() || it->is_null()) return get_size(v, "num_labels", kMaxLabels, 2);
  if (!it->is_object() || it->empty() || it->size() > kMaxLabels)
    return fail(ErrorCode::invalid_data, "%s: id2label is no list of 1 to %u labels", v.where, kMaxLabels);
  return static_cast<uint32_t>(it->size());
}

Status check_writes(const JsonView& v, bool represents) {
  LAPILLI_TRY(const bool both, get_bool(v, "use_bidirectional_attention", false));
  if (both && !represents)
    return fail(ErrorCode::unsupported,
                "%s: use_bidirectional_attention: the model represents texts and writes none, and this version does "
                "not run it",
                v.where);
  const std::string name = architecture(v);
  if (name.find("For") == std::string::npos || name.ends_with("ForCausalLM")) return {};
  return fail(ErrorCode::unsupported,
              "%s: %s has another head than one that writes, and this version does not run it; take the model that it "
              "was made from",
              v.where, quote_name(name, 60));
}

Status check_own_code(const JsonView& v) {
  const auto it = v.json.find("auto_map");
  if (it == v.json.end() || !it->is_object()) return {};
  for (const auto& [name, code] : it->items())
    if (name.starts_with("AutoModel"))
      return fail(ErrorCode::unsupported,
                  "%s: auto_map says that the network is code of its publisher (%s); this version runs the networks of "
                  "the families that it knows",
                  v.where, quote_name(code.is_string() ? code.get<std::string>() : name, 80));
  return {};
}

void name_output(const std::string& output, const Config& c, Names& n) {
  n.heads.resize(1);
  n.output = {output};
  if (!c.tied_output) return;
  n.output.push_back(n.decoder.embedding[0]);
  n.decoder.embedding.push_back(output);
}

Status check_stack(const JsonView& v, const char* side, StackConfig& s) {
  if (s.layers == 0 || s.layers > kMaxModelLayers || s.ffn == 0 || s.ffn > kMaxFeedForward)
    return fail(ErrorCode::invalid_data, "%s: %s with %u layers and a feed-forward width of %u", v.where, side,
                s.layers, s.ffn);
  if (s.d_model == 0 || s.d_model > kMaxModelWidth)
    return fail(ErrorCode::invalid_data, "%s: %s with a width of %u", v.where, side, s.d_model);
  if (s.head_dim == 0) {
    if (s.heads == 0 || s.d_model % s.heads != 0)
      return fail(ErrorCode::invalid_data, "%s: %u attention heads of the %s do not divide its width %u", v.where,
                  s.heads, side, s.d_model);
    s.head_dim = s.d_model / s.heads;
  }
  if (s.heads == 0 || s.heads > kMaxModelWidth || s.head_dim > kMaxModelWidth || s.inner() > kMaxModelWidth ||
      s.inner() / s.head_dim != s.heads)
    return fail(ErrorCode::invalid_data, "%s: %s with %u attention heads of %u", v.where, side, s.heads, s.head_dim);
  if (s.heads % s.kv_heads() != 0)
    return fail(ErrorCode::invalid_data, "%s: %s with %u heads of keys for %u attention heads", v.where, side,
                s.kv_heads(), s.heads);
  return {};
}

Status check_flag(const JsonView& v, const char* key, bool only) {
  LAPILLI_TRY(const bool value, get_bool(v, key, only));
  if (value != only)
    return fail(ErrorCode::unsupported, "%s: %s %s is not supported in this family", v.where, key,
                value ? "true" : "false");
  return {};
}

}  // namespace lapilli::model
