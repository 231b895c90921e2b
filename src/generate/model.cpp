#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/path.hpp"
#include "formats/hf_config.hpp"
#include "generate/model_impl.hpp"
#include "model/families/family.hpp"
#include "model/shape.hpp"

namespace lapilli {

namespace {

StoredFormat stored_format(StoredType type) {
  return type == StoredType::f16    ? StoredFormat::f16
         : type == StoredType::bf16 ? StoredFormat::bf16
                                    : StoredFormat::f32;
}

// The bytes of a tensor in row-major order: the mapping itself, or a copy where strides ask for one.
std::function<Result<std::span<const std::byte>>()> tensor_bytes(const StoredTensor* tensor) {
  const uint64_t size = stored_bytes(tensor->type);
  if (tensor->contiguous())
    return [tensor, size]() -> Result<std::span<const std::byte>> {
      return tensor->bytes.first(tensor->elements() * size);
    };
  auto copy = std::make_shared<std::vector<std::byte>>();
  return [tensor, size, copy]() -> Result<std::span<const std::byte>> {
    const uint64_t n = tensor->elements();
    try {
      copy->resize(n * size);
    } catch (const std::exception&) {  // strides of 0 make large tensors of small files
      return fail(ErrorCode::out_of_memory, "not enough memory to lay out tensor %s", tensor->describe().c_str());
    }
    for (uint64_t i = 0; i < n; ++i) {
      uint64_t rest = i, at = 0;
      for (size_t d = tensor->shape.size(); d-- > 0;) {
        at += rest % tensor->shape[d] * tensor->strides[d];
        rest /= tensor->shape[d];
      }
      std::memcpy(copy->data() + i * size, tensor->bytes.data() + at * size, size);
    }
    return std::span<const std::byte>(*copy);
  };
}

WeightPiece piece(const model::WeightSpec& spec, const model::WeightPart& part) {
  WeightPiece p;
  p.bytes = tensor_bytes(part.tensor);
  p.format = stored_format(part.tensor->type);
  p.first_column = part.first_column;
  p.group = part.group;
  p.group_stride = part.group_stride;
  p.destination = part.destination;
  if (spec.kind == model::WeightSpec::Kind::matrix && !part.bias) {
    p.kind = WeightPiece::Kind::matrix;
    p.rows = part.tensor->shape[0];
    p.k = part.tensor->shape[1];
  } else {
    p.kind = spec.kind == model::WeightSpec::Kind::matrix ? WeightPiece::Kind::bias : WeightPiece::Kind::plain;
    p.rows = part.tensor->elements();
    p.k = 1;
  }
  return p;
}

Result<WeightSource> source(const model::WeightSpec& spec) {
  WeightSource s;
  s.name = spec.name;
  s.words = spec.words;
  s.n = spec.n;
  s.k = spec.k;
  s.values = spec.values;
  if (spec.kind == model::WeightSpec::Kind::table) {
    // Rows are padded to vec4: done on the host, these tables are small.
    LAPILLI_TRY(const auto values, read_floats(*spec.parts.front().tensor));
    const uint64_t ld = round_up<uint64_t>(spec.k, 4);
    s.values.assign(spec.words, 0.0f);
    for (uint64_t r = 0; r < spec.n; ++r)
      std::copy_n(values.begin() + static_cast<ptrdiff_t>(r * spec.k), spec.k,
                  s.values.begin() + static_cast<ptrdiff_t>(r * ld));
    if (spec.parts.size() > 1) {
      LAPILLI_TRY(const auto added, read_floats(*spec.parts[1].tensor));
      for (uint64_t r = 0; r < spec.n; ++r)
        for (uint64_t i = 0; i < spec.k; ++i) s.values[r * ld + i] += added[spec.parts[1].destination * spec.k + i];
    }
    return s;
  }
  for (const auto& part : spec.parts) s.pieces.push_back(piece(spec, part));
  return s;
}

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

struct Published {
  model::Network network;
  Checkpoint checkpoint;
};

Result<Published> read_published(const std::string& directory) {
  if (!directory_exists(directory))
    return fail(ErrorCode::not_found,
                "%s is not a directory; give the directory of a published model (with config.json)", directory.c_str());
  const std::string path = directory + "/config.json";
  LAPILLI_TRY(const auto json, read_json_file(path));
  LAPILLI_TRY(const auto type, get_string({json, path}, "model_type"));
  const model::Family* family = model::find_family(type);
  if (!family)
    return fail(ErrorCode::unsupported, "%s: model_type \"%s\" is not supported; this version knows: %s", path.c_str(),
                type.c_str(), model::family_list().c_str());
  LAPILLI_TRY(const auto config, family->config(json, path));
  LAPILLI_TRY(auto checkpoint, Checkpoint::open(directory));
  auto network = model::bind_weights(config, family->names(config), checkpoint);
  if (!network) return std::move(network).error().in(directory);
  return Published{std::move(network).value(), std::move(checkpoint)};
}

}  // namespace

Result<model::Network> read_network(const std::string& directory_or_shape) {
  if (directory_or_shape.starts_with("shape:")) {
    LAPILLI_TRY(const auto config, model::parse_shape(directory_or_shape.substr(6)));
    return model::random_network(config, 1);
  }
  LAPILLI_TRY(auto published, read_published(directory_or_shape));
  for (auto& spec : published.network.weights) spec.parts.clear();
  return std::move(published.network);
}

Result<std::vector<WeightSource>> weight_sources(const model::Network& network) {
  std::vector<WeightSource> sources;
  for (const auto& spec : network.weights) {
    LAPILLI_TRY(auto s, source(spec));
    sources.push_back(std::move(s));
  }
  return sources;
}

Result<std::shared_ptr<Model>> Model::load(std::shared_ptr<vulkan::Device> device, const std::string& directory,
                                           const LoadOptions& options) {
  LAPILLI_TRY(auto published, read_published(directory));
  LAPILLI_TRY(auto generation, read_generation_config(directory));
  note_ignored(generation);
  LAPILLI_TRY(const auto sources, weight_sources(published.network));
  std::shared_ptr<Model> model(new Model());
  model->impl_ = std::make_unique<Impl>();
  Impl& m = *model->impl_;
  m.device = std::move(device);
  m.info = describe(published.network, published.checkpoint.format(), directory);
  m.generation = std::move(generation);
  m.tasks = read_tasks(directory);
  m.memory_limit = options.memory_limit;
  auto weights = Weights::load(m.device, sources, m.memory_limit);
  if (!weights) return std::move(weights).error().in("loading " + directory);
  m.weights = std::move(weights).value();
  m.info.weight_bytes = m.weights->bytes();
  m.network = std::move(published.network);
  for (auto& spec : m.network.weights) {
    spec.parts.clear();
    spec.values = {};
  }
  auto tokenizer = load_tokenizer(directory, m.network.config.tokenizer);
  if (tokenizer)
    m.tokenizer = std::move(tokenizer).value();
  else
    m.tokenizer_error = std::move(tokenizer).error();
  return model;
}

Result<std::shared_ptr<Model>> Model::random(std::shared_ptr<vulkan::Device> device, const std::string& shape,
                                             uint64_t seed) {
  LAPILLI_TRY(const auto config, model::parse_shape(shape));
  std::shared_ptr<Model> model(new Model());
  model->impl_ = std::make_unique<Impl>();
  Impl& m = *model->impl_;
  m.device = std::move(device);
  m.network = model::random_network(config, seed);
  LAPILLI_TRY(const auto sources, weight_sources(m.network));
  LAPILLI_TRY(m.weights, Weights::load(m.device, sources));
  for (auto& spec : m.network.weights) spec.values = {};
  m.info = describe(m.network, "random weights", shape);
  m.info.weight_bytes = m.weights->bytes();
  m.generation.decoder_start_token_id = m.generation.pad_token_id = static_cast<int32_t>(config.target_vocabulary) - 1;
  m.generation.eos_token_id = std::vector<int32_t>{0};
  m.tokenizer_error = fail(ErrorCode::unsupported, "a random network has no tokenizer");
  return model;
}

Model::~Model() = default;
const ModelInfo& Model::info() const { return impl_->info; }
const Tokenizer* Model::tokenizer() const { return impl_->tokenizer.get(); }
const Error& Model::tokenizer_error() const { return impl_->tokenizer_error; }
const GenerationConfig& Model::generation_config() const { return impl_->generation; }
const std::shared_ptr<vulkan::Device>& Model::device() const { return impl_->device; }

}  // namespace lapilli
