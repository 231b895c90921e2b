// What `lapilli inspect` prints: a model directory's description from config.json and the headers of its weights.
#include <map>
#include <nlohmann/json.hpp>

#include "api/locate.hpp"
#include "api/tools.hpp"
#include "api/tools_guard.hpp"
#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "formats/quote.hpp"
#include "model/families/family.hpp"
#include "model/network.hpp"
#include "text/tokenizer.hpp"

namespace lapilli::tools {

namespace {

using Json = nlohmann::ordered_json;

// "F16: 116 tensors" per stored type.
std::map<std::string, uint64_t> stored_types(const Checkpoint& checkpoint) {
  std::map<std::string, uint64_t> types;
  for (const StoredTensor& tensor : checkpoint.tensors()) ++types[stored_type_name(tensor.type)];
  return types;
}

const char* positions_name(const model::StackConfig& stack) {
  switch (stack.positions) {
    case model::Positions::sinusoid_split:
    case model::Positions::sinusoid_fairseq: return "sinusoidal";
    case model::Positions::learned: return "learned";
    case model::Positions::none: break;
  }
  return stack.relative_buckets ? "relative" : "none";
}

Json stack_json(const model::StackConfig& stack) {
  return {{"layers", stack.layers},
          {"heads", stack.heads},
          {"ffn", stack.ffn},
          {"d_model", stack.d_model},
          {"head_dim", stack.head_dim},
          {"activation", stack.activation_name},
          {"gated", stack.gated},
          {"norm", stack.norm == model::Norm::rms ? "rms" : "layer"},
          {"norm_first", stack.pre_norm},
          {"positions", positions_name(stack)},
          {"max_positions", stack.max_positions}};
}

uint64_t weight_bytes(const model::Network& network) {
  uint64_t words = 0;
  for (const model::WeightSpec& weight : network.weights) words += weight.words;
  return words * 4;
}

Json generation_json(const GenerationConfig& config) {
  Json json = Json::object();
  auto set = [&json](const char* name, const auto& value) {
    if (value) json[name] = *value;
  };
  set("num_beams", config.num_beams);
  set("max_length", config.max_length);
  set("max_new_tokens", config.max_new_tokens);
  set("length_penalty", config.length_penalty);
  set("decoder_start_token_id", config.decoder_start_token_id);
  set("pad_token_id", config.pad_token_id);
  set("eos_token_id", config.eos_token_id);
  set("forced_bos_token_id", config.forced_bos_token_id);
  set("forced_eos_token_id", config.forced_eos_token_id);
  set("bad_words_ids", config.bad_words_ids);
  set("no_repeat_ngram_size", config.no_repeat_ngram_size);
  set("repetition_penalty", config.repetition_penalty);
  return json;
}

Result<Json> describe(std::string directory) {
  if (directory.empty()) {
    LAPILLI_TRY(directory, default_model_directory());
  }
  const std::string config_path = directory + "/config.json";
  LAPILLI_TRY(const auto config_json, read_json_file(config_path));
  LAPILLI_TRY(const std::string type, get_string({config_json, config_path}, "model_type"));
  const model::Family* family = model::find_family(type);
  if (!family) {
    return fail(ErrorCode::unsupported, "%s: the model family \"%s\" is not supported; known are: %s",
                config_path.c_str(), type.c_str(), model::family_list().c_str());
  }
  LAPILLI_TRY(const auto config, family->config(config_json, config_path));
  LAPILLI_TRY(const auto checkpoint, Checkpoint::open(directory));
  LAPILLI_TRY(const auto network, model::bind_weights(config, family->names(config), checkpoint));
  LAPILLI_TRY(const auto generation, read_generation_config(directory));
  const auto tokenizer = load_tokenizer(directory, config.tokenizer);

  Json json;
  json["directory"] = directory;
  json["family"] = type;
  json["description"] = family->description;
  json["d_model"] = config.decoder.d_model;
  json["encoder"] = stack_json(config.encoder);
  json["decoder"] = stack_json(config.decoder);
  json["activation"] = config.decoder.activation_name;
  json["source_vocabulary"] = config.source_vocabulary;
  json["target_vocabulary"] = config.target_vocabulary;
  json["max_positions"] = config.encoder.max_positions;
  json["tied"] = {{"source_target", network.encoder.embedding == network.decoder.embedding},
                  {"target_output", network.decoder.embedding == network.output}};
  json["parameters"] = network.parameters;
  json["checkpoint"] = {{"format", checkpoint.format()},
                        {"tensors", checkpoint.tensors().size()},
                        {"bytes", checkpoint.total_bytes()},
                        {"stored_types", stored_types(checkpoint)}};
  json["device_weight_bytes"] = weight_bytes(network);
  json["tokenizer"] = tokenizer ? "ok" : tokenizer.error().message;
  json["generation"] = generation_json(generation);
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    json["tensors"].push_back(
        {{"name", tensor.name}, {"type", stored_type_name(tensor.type)}, {"shape", tensor.shape}});
  }
  return json;
}

std::string number(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

// Which of the three tables are one.
std::string tied_text(const Json& tied) {
  const bool sides = tied["source_target"], output = tied["target_output"];
  if (sides && output) return "one table for source, target and output";
  if (output) return "one table for the source, one for target and output";
  return sides ? "one table for source and target, one for the output" : "a table for source, target and output each";
}

std::string mebibytes(const Json& bytes) { return format("%.1f MiB", bytes.get<double>() / (1 << 20)); }

// "6 layers, 8 heads, feed-forward 2048 (gelu); width 512, 64 a head; layer norm after sublayers; learned positions,
// 1,024 tokens at most".
std::string stack_text(const Json& stack) {
  const auto most = stack["max_positions"].get<uint64_t>();
  std::string text = format("%u layers, %u heads, feed-forward %u (%s%s)", stack["layers"].get<unsigned>(),
                            stack["heads"].get<unsigned>(), stack["ffn"].get<unsigned>(),
                            stack["gated"].get<bool>() ? "gated " : "", stack["activation"].get<std::string>().c_str());
  text += format("; width %u, %u a head; %s norm %s sublayers", stack["d_model"].get<unsigned>(),
                 stack["head_dim"].get<unsigned>(), stack["norm"].get<std::string>().c_str(),
                 stack["norm_first"].get<bool>() ? "before" : "after");
  text += format("; %s positions, ", stack["positions"].get<std::string>().c_str());
  return text + (most ? number(most) + " tokens at most" : "any number of tokens");
}

std::string table(const Json& json) {
  std::string text;
  auto line = [&text](const char* what, const std::string& value) {
    text += format("%-12s %s\n", what, value.c_str());
  };
  const Json& checkpoint = json["checkpoint"];
  std::string types;
  for (const auto& [type, count] : checkpoint["stored_types"].items()) {
    types += format("%s%u x %s", types.empty() ? "" : ", ", count.get<unsigned>(), type.c_str());
  }
  line("directory", json["directory"].get<std::string>());
  line("family", json["family"].get<std::string>() + " (" + json["description"].get<std::string>() + ")");
  line("encoder", stack_text(json["encoder"]));
  line("decoder", stack_text(json["decoder"]));
  line("vocabulary", number(json["source_vocabulary"].get<uint64_t>()) + " source, " +
                         number(json["target_vocabulary"].get<uint64_t>()) + " target");
  line("embeddings", tied_text(json["tied"]));
  line("parameters", number(json["parameters"].get<uint64_t>()));
  line("checkpoint", checkpoint["format"].get<std::string>() + ", " + types + ", " + mebibytes(checkpoint["bytes"]));
  line("on device", mebibytes(json["device_weight_bytes"]) + " of weights (fp32)");
  line("tokenizer", json["tokenizer"].get<std::string>());
  line("generation", json["generation"].dump());
  text += "\ntensors\n";
  for (const Json& tensor : json["tensors"]) {
    text += format("  %-4s %-14s %s\n", tensor["type"].get<std::string>().c_str(), tensor["shape"].dump().c_str(),
                   quote_name(tensor["name"].get<std::string>()).c_str());
  }
  return text;
}

}  // namespace

Outcome inspect(const std::string& directory, bool json) {
  return guarded("inspect", [&]() -> Result<std::string> {
    LAPILLI_TRY(const auto described, describe(directory));
    // Names come from files, so they may hold anything.
    return json ? described.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : table(described);
  });
}

}  // namespace lapilli::tools
