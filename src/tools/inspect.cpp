// Output of `lapilli inspect`: a model directory's description from config.json and the headers of its weights.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/counts.hpp"
#include "formats/checkpoint.hpp"
#include "formats/doors/door.hpp"
#include "formats/hf_config.hpp"
#include "formats/sentence_modules.hpp"
#include "formats/shortlist.hpp"
#include "formats/sound_config.hpp"
#include "formats/speech_settings.hpp"
#include "formats/task_params.hpp"
#include "generate/conventions.hpp"
#include "generate/encoders/encoding_task.hpp"
#include "generate/encoders/text_classes.hpp"
#include "generate/encoders/zero_shot.hpp"
#include "generate/fitting_tokenizer.hpp"
#include "generate/picture_reader.hpp"
#include "generate/published.hpp"
#include "generate/verbs.hpp"
#include "image/processor.hpp"
#include "model/families/family.hpp"
#include "model/network.hpp"
#include "tools/guard.hpp"
#include "tools/inspect_table.hpp"
#include "tools/locate.hpp"
#include "tools/tools.hpp"

namespace lapilli::tools {

namespace {

using Json = nlohmann::ordered_json;

// "F16: 116 tensors" per stored type. `packed`: the name of that in which the door packs whole numbers, or empty.
std::map<std::string, uint64_t> stored_types(const Checkpoint& checkpoint, const std::string& packed) {
  std::map<std::string, uint64_t> types;
  for (const StoredTensor& tensor : checkpoint.tensors())
    ++types[tensor.type == StoredType::u32 && !packed.empty() ? packed : stored_type_name(tensor.type)];
  return types;
}

const char* positions_name(const model::StackConfig& stack) {
  switch (stack.positions) {
    case model::Positions::sinusoid_split:
    case model::Positions::sinusoid_stored:
    case model::Positions::sinusoid_fairseq: return "sinusoidal";
    case model::Positions::learned: return "learned";
    case model::Positions::none: break;
  }
  if (stack.rotary) return "rotary";
  return stack.relative_buckets || stack.reach ? "relative" : "none";
}

Json stack_json(const model::StackConfig& stack) {
  return {{"layers", stack.layers},
          {"heads", stack.heads},
          {"kv_heads", stack.kv_heads()},
          {"ffn", stack.ffn},
          {"d_model", stack.d_model},
          {"head_dim", stack.head_dim},
          {"activation", stack.activation_name},
          {"gated", stack.gated},
          {"norm", stack.norm == model::Norm::rms ? "rms" : "layer"},
          {"norm_first", stack.pre_norm},
          {"recurrent_cells", stack.cells},
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

Json languages_json(const Tokenizer& tokenizer) {
  const ModelLanguages of = languages_of(tokenizer);
  return {{"source", of.sources}, {"target", of.targets}};
}

// A tokenizer of Whisper knows a hundred languages, also that of a model that was trained for one: the settings tell.
Result<Json> speech_languages(const Files& files) {
  LAPILLI_TRY(const SpeechSettings settings, read_speech_settings(files));
  Json source = Json::array(), target = Json::array();
  for (const auto& [token, id] : settings.languages)
    source.push_back(token.starts_with("<|") && token.ends_with("|>") ? token.substr(2, token.size() - 4) : token);
  if (settings.tasks.contains("translate")) target.push_back("en");
  return Json{{"source", source}, {"target", target}};
}

// Commands that suit the model, by the settings in its files or its family.
Json picture_tasks(const model::Config& c) {
  if (c.kind().writes) return Json::array({"caption", "read"});
  return c.head(model::HeadKind::classes) ? Json::array({"classify"}) : Json::array();
}

// `pair`: the tokenizer tells the two languages of the model.
Json tasks_of(const std::string& family, bool pair, const nlohmann::json& config, const std::string& path) {
  if (pair || only_translates(family)) return Json::array({"translate"});
  Json tasks = Json::array();
  const auto named = read_task_params(config, path);
  const auto add = [&](const char* task, const char* prefix) {
    if (named && std::any_of(named->begin(), named->end(), [&](const auto& t) { return t.name.starts_with(prefix); }))
      tasks.push_back(task);
  };
  add("translate", "translation");
  add("summarize", "summarization");
  tasks.push_back("generate");
  return tasks;
}

// State of the files that prepare sound or pictures: "ok", or what is wrong.
std::string front_end_of(const Files& files, const model::Config& config) {
  const auto look = [&]() -> Status {
    if (config.kind().reads == model::Reads::pictures) {
      LAPILLI_TRY(const auto processor, image::read_processor(files));
      return check_processor(processor, config.patches, files.directory());
    }
    LAPILLI_TRY(const auto sound, read_sound_config(files));
    const auto [width, rows] = std::pair(config.features.width, config.features.rows);
    return check_sound_config(sound, {width == 1 ? 0 : width, rows});  // one number per row: samples
  };
  const Status status = look();
  return status ? "ok" : status.error().message;
}

void add_architecture(Json& json, const model::Config& config, const model::Network& network) {
  json["d_model"] = config.last_stack().d_model;
  json["encoder"] = stack_json(config.encoder);
  json["decoder"] = stack_json(config.decoder);
  json["activation"] = config.last_stack().activation_name;
  json["source_vocabulary"] = config.source_vocabulary;
  json["target_vocabulary"] = config.target_vocabulary;
  json["max_positions"] = config.encoder.max_positions;
  if (config.features.width > 0) json["features"] = {{"width", config.features.width}, {"rows", config.features.rows}};
  json["tied"] = {{"source_target", network.encoder.embedding == network.decoder.embedding},
                  {"target_output", network.decoder.embedding == network.output}};
  json["parameters"] = network.parameters;
}

const char* pooling_name(Pooling pooling) {
  switch (pooling) {
    case Pooling::row: return "first token";
    case Pooling::last: return "last token";
    case Pooling::mean: return "mean";
    case Pooling::ramp: return "weighted mean";
    case Pooling::maximum: return "maximum";
    case Pooling::mean_sqrt: break;
  }
  return "sum by the root of the length";
}

// In tokens, by the files and the network's positions; 0: any number.
uint32_t most_tokens(const model::Config& config, const SentenceSettings& settings) {
  const uint32_t positions = config.encoder.max_positions, limit = settings.max_length;
  return limit == 0 || positions == 0 ? std::max(limit, positions) : std::min(limit, positions);
}

// The way from a text to its vector.
Json vectors_json(const Published& published, const SentenceSettings& settings) {
  const model::HeadConfig& head = *published.network.config.head(model::HeadKind::sentences);
  Json poolings = Json::array({pooling_name(head.pooling)}), steps = Json::array(), prompts = Json::object();
  for (const Pooling more : head.beside) poolings.push_back(pooling_name(more));
  for (const model::SentenceStep& step : head.steps)
    steps.push_back(step.columns ? "linear layer to " + counted(step.columns, "number") : std::string("length 1"));
  for (const auto& [name, text] : settings.prompts) prompts[name] = text;
  return Json{{"dimensions", embedding_width(published.network.config)},
              {"pooling", poolings},
              {"steps", steps},
              {"prompts", prompts},
              {"default_prompt", settings.default_prompt},
              {"max_tokens", most_tokens(published.network.config, settings)}};
}

// Labels of texts or of their tokens, by number.
Result<std::vector<std::string>> labels_of(const Published& published, const SentenceSettings& settings) {
  const model::Config& config = published.network.config;
  const model::HeadConfig* scores = scores_of_texts(config);
  const model::HeadConfig* head = scores ? scores : config.head(model::HeadKind::tags);
  if (!head) return std::vector<std::string>{};
  LAPILLI_TRY(auto classes, read_class_settings(published.files, settings, head->columns));
  return std::move(classes.labels);
}

// "error": a text that is too long fails, for a mask behind the end would be lost.
const char* long_texts(const model::Config& config) {
  if (scores_of_texts(config)) return "cut";
  if (config.head(model::HeadKind::tags) || config.head(model::HeadKind::spans)) return "windows";
  return config.head(model::HeadKind::tokens) ? "error" : "cut";
}

Status add_texts(Json& json, const Files& files, const Published& published) {
  const model::Config& config = published.network.config;
  LAPILLI_TRY(const auto settings, read_sentence_settings(files, published.files));
  json["tasks"] = verbs_of_text_encoder(config);
  if (config.head(model::HeadKind::sentences)) json["vectors"] = vectors_json(published, settings);
  LAPILLI_TRY(const auto labels, labels_of(published, settings));
  if (!labels.empty()) json["labels"] = labels;
  if (scores_of_texts(config) && find_entailment(labels, "")) json["tasks"].push_back("classify --labels");
  if (!json.contains("vectors") || json["tasks"].size() > 1)
    json["texts"] = {{"max_tokens", most_tokens(config, settings)}, {"longer", long_texts(config)}};
  return {};
}

void add_checkpoint(Json& json, const Published& weights, const doors::Origin& origin) {
  const Checkpoint& checkpoint = weights.checkpoint;
  const std::string packed = weights.packed ? name(*weights.packed) : "";
  const bool made = !origin.weights.empty();
  json["checkpoint"] = {{"format", made ? origin.weights : checkpoint.format()},
                        {"tensors", checkpoint.tensors().size()},
                        {"bytes", checkpoint.total_bytes()},
                        {"stored_types", stored_types(checkpoint, made ? packed : "")}};
  if (weights.packed) json["checkpoint"]["packed"] = packed;
}

// The use of a family's published models is none of another program's, whose weights the door has made.
std::string description_of(const model::Family& family, const doors::Origin& origin) {
  const std::string name = family.description, use = family.use;
  if (use.empty()) return name;
  return origin.weights.empty() ? name + ", " + use : "the network of " + name;
}

Json origin_json(const doors::Origin& origin) {
  return Json{{"program", origin.program}, {"version", origin.version}, {"unused", origin.unused}};
}

Result<Json> describe(const InspectRequest& request) {
  std::string directory = request.model;
  if (directory.empty()) {
    LAPILLI_TRY(directory, default_model_directory());
  }
  LAPILLI_TRY(const auto entered, doors::enter(directory));
  const Files& files = entered.files;
  LAPILLI_TRY(const auto published, read_published(files));
  const model::Network& network = published.network;
  const model::Config& config = network.config;
  const std::string config_path = (published.files / "config.json").path();
  LAPILLI_TRY(const auto config_json, read_config(published.files));
  const std::string& type = config.family;
  const model::Family* family = model::find_family(type);
  LAPILLI_TRY(const auto generation, read_generation_config(published.files));
  const auto tokenizer = load_fitting_tokenizer(published.files, config);

  Json json;
  json["directory"] = directory;
  json["family"] = type;
  json["description"] = family ? description_of(*family, entered.origin) : "";
  add_architecture(json, config, network);
  const bool encodes = encodes_texts(config);
  if (encodes) LAPILLI_CHECK(add_texts(json, files, published));
  add_checkpoint(json, published, entered.origin);
  if (!entered.origin.program.empty()) json["origin"] = origin_json(entered.origin);
  if (config.decoder.cells) json["shortlist"] = (files / kShortlistFile).there();
  json["device_weight_bytes"] = weight_bytes(network);
  json["tokenizer"] = tokenizer ? "ok" : tokenizer.error().message;
  json["generation"] = generation_json(generation);
  const bool pictures = config.kind().reads == model::Reads::pictures,
             sound = config.kind().reads == model::Reads::sound;
  if (!encodes)
    json["tasks"] =
        pictures ? picture_tasks(config)
        : sound  ? Json::array({"transcribe"})
                 : tasks_of(type, tokenizer && !(*tokenizer)->language_pair().target.empty(), config_json, config_path);
  json["input"] = pictures ? "picture" : sound ? "sound" : "text";
  json["languages"] = tokenizer ? languages_json(**tokenizer) : Json(nullptr);
  if (sound) {
    LAPILLI_TRY(json["languages"], speech_languages(files));
  }
  if (pictures || sound) json["preprocessor"] = front_end_of(files, config);
  if (sound)
    if (const auto settings = read_sound_config(files)) json["sampling_rate"] = settings->sampling_rate;
  if (!request.tensors) return json;
  for (const StoredTensor& tensor : published.checkpoint.tensors()) {
    json["tensors"].push_back(
        {{"name", tensor.name}, {"type", stored_type_name(tensor.type)}, {"shape", tensor.shape}});
  }
  return json;
}

}  // namespace

Outcome inspect(const InspectRequest& request) {
  return guarded("inspect", [&]() -> Result<std::string> {
    LAPILLI_TRY(const auto described, describe(request));
    // Names come from files and may hold any bytes.
    return request.json ? described.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                        : inspect_table(described);
  });
}

}  // namespace lapilli::tools
