#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "formats/hf_config.hpp"
#include "generate/fitting_tokenizer.hpp"
#include "generate/generate.hpp"
#include "generate/published.hpp"
#include "generate/weight_sources.hpp"
#include "model/shape.hpp"
#include "search/engine_pool.hpp"

namespace lapilli {

struct Model::Impl {
  NetworkOnDevice network;
  ModelInfo info;
  std::unique_ptr<Tokenizer> tokenizer;
  Error tokenizer_error;
  GenerationConfig generation;
  std::vector<TaskParams> tasks;

  // Made once the weights are there.
  struct Searches {
    Searches(const NetworkOnDevice& network, uint64_t memory_limit)
        : memory(memory_limit, network.weights->bytes()),
          plans(network),
          workspaces(network, plans, memory),
          engines(workspaces) {
      memory.make_room = [this] { engines.drop_free(); };
    }
    MemoryLedger memory;
    PlanCache plans;
    WorkspaceFactory workspaces;
    EnginePool engines;
  };
  std::optional<Searches> searches;
};

namespace {

ModelInfo describe(const model::Network& n, const std::string& checkpoint_format, const std::string& directory) {
  const model::Config& c = n.config;
  ModelInfo info;
  info.directory = directory;
  info.family = c.family;
  info.checkpoint_format = checkpoint_format;
  for (const auto& spec : n.weights)
    if (info.stored_dtype.empty() && !spec.parts.empty())
      info.stored_dtype = stored_type_name(spec.parts.front().tensor->type);
  info.parameters = n.parameters;
  info.d_model = c.decoder.d_model;
  info.encoder_layers = c.encoder.layers;
  info.decoder_layers = c.decoder.layers;
  info.encoder_heads = c.encoder.heads;
  info.decoder_heads = c.decoder.heads;
  info.encoder_ffn = c.encoder.ffn;
  info.decoder_ffn = c.decoder.ffn;
  info.source_vocabulary = c.source_vocabulary;
  info.target_vocabulary = c.target_vocabulary;
  info.max_source_positions = c.encoder.max_positions;
  info.max_target_positions = c.decoder.max_positions;
  info.activation = c.decoder.activation_name;
  return info;
}

// Settings that this version does not know would change the text in silence.
void note_ignored(const GenerationConfig& generation) {
  std::string names;
  for (const std::string& name : generation.unknown) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty())
    log(LogLevel::note, generation.source + ": these settings are not known and have no effect: " + names);
}

// They only serve who asks for a task by name, so what is wrong with them does not stop the model.
std::vector<TaskParams> read_tasks(const std::string& directory) {
  const std::string path = directory + "/config.json";
  const auto json = read_json_file(path);
  if (!json) return {};
  auto tasks = read_task_params(*json, path);
  if (tasks) return std::move(*tasks);
  log(LogLevel::note, tasks.error().message + "; settings per task are not used");
  return {};
}

}  // namespace

Result<std::shared_ptr<Model>> Model::load(std::shared_ptr<vulkan::Device> device, const std::string& directory,
                                           const LoadOptions& options) {
  LAPILLI_TRY(auto published, read_published(directory));
  LAPILLI_TRY(auto generation, read_generation_config(directory));
  note_ignored(generation);
  LAPILLI_TRY(const auto sources, weight_sources(published.network));
  std::shared_ptr<Model> model(new Model());
  model->impl_ = std::make_unique<Impl>();
  Impl& m = *model->impl_;
  m.network.device = std::move(device);
  m.info = describe(published.network, published.checkpoint.format(), directory);
  m.generation = std::move(generation);
  m.tasks = read_tasks(directory);
  auto weights = Weights::load(m.network.device, sources, options.memory_limit);
  if (!weights) return std::move(weights).error().in("loading " + directory);
  m.network.weights = std::move(weights).value();
  m.info.weight_bytes = m.network.weights->bytes();
  m.network.network = std::move(published.network);
  for (auto& spec : m.network.network.weights) {
    spec.parts.clear();
    spec.values = {};
  }
  auto tokenizer = load_fitting_tokenizer(directory, m.network.config());
  if (tokenizer)
    m.tokenizer = std::move(tokenizer).value();
  else
    m.tokenizer_error = std::move(tokenizer).error();
  m.searches.emplace(m.network, options.memory_limit);
  return model;
}

Result<std::shared_ptr<Model>> Model::random(std::shared_ptr<vulkan::Device> device, const std::string& shape,
                                             uint64_t seed) {
  LAPILLI_TRY(const auto config, model::parse_shape(shape));
  std::shared_ptr<Model> model(new Model());
  model->impl_ = std::make_unique<Impl>();
  Impl& m = *model->impl_;
  m.network.device = std::move(device);
  m.network.network = model::random_network(config, seed);
  LAPILLI_TRY(const auto sources, weight_sources(m.network.network));
  LAPILLI_TRY(m.network.weights, Weights::load(m.network.device, sources));
  for (auto& spec : m.network.network.weights) spec.values = {};
  m.info = describe(m.network.network, "random weights", shape);
  m.info.weight_bytes = m.network.weights->bytes();
  m.generation.decoder_start_token_id = m.generation.pad_token_id = static_cast<int32_t>(config.target_vocabulary) - 1;
  m.generation.eos_token_id = std::vector<int32_t>{0};
  m.tokenizer_error = fail(ErrorCode::unsupported, "a random network has no tokenizer");
  m.searches.emplace(m.network, 0);
  return model;
}

Model::~Model() = default;
const ModelInfo& Model::info() const { return impl_->info; }
const Tokenizer* Model::tokenizer() const { return impl_->tokenizer.get(); }
const Error& Model::tokenizer_error() const { return impl_->tokenizer_error; }
const GenerationConfig& Model::generation_config() const { return impl_->generation; }
const std::shared_ptr<vulkan::Device>& Model::device() const { return impl_->network.device; }
const NetworkOnDevice& Model::on_device() const { return impl_->network; }
MemoryLedger& Model::memory() const { return impl_->searches->memory; }
WorkspaceFactory& Model::workspaces() const { return impl_->searches->workspaces; }
EnginePool& Model::engines() const { return impl_->searches->engines; }
const std::vector<TaskParams>& Model::tasks() const { return impl_->tasks; }

}  // namespace lapilli
