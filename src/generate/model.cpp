#include "generate/model_impl.hpp"
#include "generate/model_loading.hpp"
#include "generate/weight_sources.hpp"
#include "model/shape.hpp"
#include "model/weight_formats.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli {

ModelInfo describe_model(const model::Network& n, const std::string& checkpoint_format, const std::string& directory) {
  const model::Config& c = n.config;
  ModelInfo info;
  info.directory = directory;
  info.family = c.family;
  info.checkpoint_format = checkpoint_format;
  for (const auto& spec : n.weights)
    if (info.stored_dtype.empty() && !spec.parts.empty())
      info.stored_dtype = model::is_packed(*spec.parts.front().tensor)
                              ? name(spec.format)
                              : stored_type_name(spec.parts.front().tensor->type);
  info.parameters = n.parameters;
  info.d_model = c.last_stack().d_model;
  info.encoder_layers = c.encoder.layers;
  info.decoder_layers = c.decoder.layers;
  info.encoder_heads = c.encoder.heads;
  info.decoder_heads = c.decoder.heads;
  info.encoder_ffn = c.encoder.ffn;
  info.decoder_ffn = c.decoder.ffn;
  info.source_vocabulary = c.source_vocabulary;
  info.target_vocabulary = c.target_vocabulary;
  info.max_source_positions = c.encoder.max_positions;
  info.feature_width = c.features.width;
  info.feature_rows = c.features.rows;
  info.max_target_positions = c.decoder.max_positions;
  info.activation = c.last_stack().activation_name;
  return info;
}

Result<std::shared_ptr<Model>> Model::load(std::shared_ptr<vulkan::Device> device, const Files& files,
                                           const LoadOptions& options) {
  ModelLoading loading(std::move(device), files, options);
  while (!loading.pump()) loading.wait();
  return loading.take();
}

Result<std::shared_ptr<Model>> Model::random(std::shared_ptr<vulkan::Device> device, const std::string& shape,
                                             uint64_t seed, const LoadOptions& options) {
  LAPILLI_TRY(const auto config, model::parse_shape(shape));
  std::shared_ptr<Model> model(new Model());
  model->impl_ = std::make_unique<Impl>();
  Impl& m = *model->impl_;
  m.network.device = std::move(device);
  m.network.tunings = tunings_on(*m.network.device);
  const WeightFormat chosen = options.format.value_or(default_format(m.network.device->caps()));
  LAPILLI_CHECK(check_formats(m.network.device->caps(), chosen, options.kv_format));
  m.network.network = model::random_network(config, seed, chosen);
  model::set_kv_format(m.network.network, options.kv_format);
  LAPILLI_TRY(const auto sources, weight_sources(m.network.network));
  m.memory = vulkan::MemoryLedger::of_model(0, m.network.device->ledger());
  LAPILLI_TRY(auto share, m.memory->reserve(need_of_weights(sources)));
  LAPILLI_TRY(m.network.weights,
              Weights::load(m.network.device, sources, std::make_shared<vulkan::MemoryShare>(std::move(share))));
  for (auto& spec : m.network.network.weights) spec.values = {};
  m.info = describe_model(m.network.network, "random weights", shape);
  m.info.weight_bytes = m.network.weights->bytes();
  m.info.format = chosen;
  m.info.kv_format = m.network.network.kv_format;
  m.generation.decoder_start_token_id = m.generation.pad_token_id = static_cast<int32_t>(config.target_vocabulary) - 1;
  m.generation.eos_token_id = std::vector<int32_t>{0};
  m.tokenizer_error = fail(ErrorCode::unsupported, "a random network has no tokenizer");
  m.searches.emplace(m.network, *m.memory);
  if (!options.prefix_cache) m.searches->engines.prefixes().disable();
  m.network.device->add_keeper(model);
  return model;
}

Status check_same_model(const ModelInfo& now, const ModelInfo& first) {
  if (now.family == first.family && now.parameters == first.parameters &&
      now.source_vocabulary == first.source_vocabulary && now.target_vocabulary == first.target_vocabulary)
    return {};
  return fail(ErrorCode::invalid_argument,
              "the job cannot go on with this model (%s, %u parameters): it began with another one (%s, %u "
              "parameters); load the same files",
              now.family, now.parameters, first.family, first.parameters);
}

Model::~Model() = default;
const ModelInfo& Model::info() const { return impl_->info; }
const Tokenizer* Model::tokenizer() const { return impl_->tokenizer.get(); }
std::shared_ptr<const Tokenizer> Model::shared_tokenizer() const { return impl_->tokenizer; }
const Error& Model::tokenizer_error() const { return impl_->tokenizer_error; }
const GenerationConfig& Model::generation_config() const { return impl_->generation; }
const std::shared_ptr<vulkan::Device>& Model::device() const { return impl_->network.device; }
const NetworkOnDevice& Model::on_device() const { return impl_->network; }
vulkan::MemoryLedger& Model::memory() const { return *impl_->memory; }
WorkspaceFactory& Model::workspaces() const { return impl_->searches->workspaces; }
EnginePool& Model::engines() const { return impl_->searches->engines; }
void Model::give_back() {
  engines().forget_reserved();
  make_room();
}
void Model::make_room() { engines().drop_free(); }
const std::vector<TaskParams>& Model::tasks() const { return impl_->tasks; }
const SpeechSettings& Model::speech() const { return impl_->speech; }
const Shortlist* Model::shortlist() const { return impl_->shortlist ? &*impl_->shortlist : nullptr; }

}  // namespace lapilli
