#include "generate/model_loading.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "formats/doors/door.hpp"
#include "formats/hf_config.hpp"
#include "generate/fitting_tokenizer.hpp"
#include "generate/model_impl.hpp"
#include "generate/speech_marks.hpp"
#include "generate/weight_sources.hpp"
#include "model/weight_formats.hpp"
#include "ops/core/tuning.hpp"
#include "runtime/check/expected_pipelines.hpp"
#include "runtime/check/self_test.hpp"

namespace lapilli {

namespace {

// Warns of settings unknown to this version, which would silently change the text.
void note_ignored(const GenerationConfig& generation) {
  std::string names;
  for (const std::string& name : generation.unknown) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty())
    log(LogLevel::note, generation.source + ": these settings are not known and have no effect: " + names);
}

void note_unknown_ids(GenerationConfig& generation, uint32_t vocabulary) {
  for (const std::string& name : drop_unknown_ids(generation, vocabulary))
    log(LogLevel::note, generation.source + ": " + name + " has ids that the vocabulary has not; they have no effect");
}

void note_tuned(const Tunings& tunings) {
  if (!tunings.empty())
    log(LogLevel::verbose,
        format("tuned: %u choices of kernels that were found on this device are used", tunings.size()));
}

void note_kept(const std::vector<model::KeptMatrix>& kept) {
  for (const model::KeptMatrix& m : kept)
    log(LogLevel::note, format("%s stays in fp32: of its %u numbers fp16 does not hold %u, and %u would become 0",
                               m.name, m.numbers, m.beyond, m.flushed));
}

// None: the model has no list.
Result<std::optional<Shortlist>> read_shortlist(const Files& files, const model::Config& config) {
  const FileName list = files / kShortlistFile;
  if (config.family != "marian_nmt" || !list.there()) return std::optional<Shortlist>();
  const FileName settings = files / "config.json";
  LAPILLI_TRY(const auto json, read_json_file(settings));
  LAPILLI_TRY(const bool shared, get_bool({json, settings.path()}, kSharedVocabulary, config.shared_embeddings));
  // The last id starts the decoder, and no vocabulary has it.
  LAPILLI_TRY(auto read, Shortlist::read(list, {config.source_vocabulary - 1, config.target_vocabulary - 1, shared}));
  return std::optional(std::move(read));
}

// Only tasks requested by name use these, so errors in them do not stop the model.
std::vector<TaskParams> read_tasks(const Files& files) {
  const FileName path = files / "config.json";
  const auto json = read_json_file(path);
  if (!json) return {};
  auto tasks = read_task_params(*json, path.path());
  if (tasks) return std::move(*tasks);
  log(LogLevel::note, tasks.error().message + "; settings per task are not used");
  return {};
}

}  // namespace

ModelLoading::ModelLoading(std::shared_ptr<vulkan::Device> device, Files files, const LoadOptions& options)
    : files_(std::move(files)), options_(options), model_(new Model()) {
  model_->impl_ = std::make_unique<Model::Impl>();
  model_->impl_->network.device = std::move(device);
}

ModelLoading::~ModelLoading() = default;

vulkan::Device& ModelLoading::device() const { return *model_->impl_->network.device; }

bool ModelLoading::pump(double budget_us) {
  if (phase_ == Phase::ended) return true;
  if (!cancelled_ && device().is_paused()) return false;
  const auto since = Clock::now();
  blocked_ = false;
  while (phase_ != Phase::ended && !blocked_) {
    if (auto s = step(); !s) end(std::move(s));
    if (ms_since(since) * 1000 >= budget_us) break;
  }
  return phase_ == Phase::ended;
}

Status ModelLoading::step() {
  if (cancelled_) return fail(ErrorCode::cancelled, "cancelled");
  switch (phase_) {
    case Phase::read: return read();
    case Phase::weights: return load_weights();
    case Phase::settle: return settle();
    case Phase::ended: break;
  }
  return {};
}

Result<WeightFormat> ModelLoading::chosen_format() const {
  const auto& asked = options_.format;
  if (!published_->packed) return asked.value_or(default_format(device().caps()));
  const WeightFormat packed = *published_->packed;
  if (!asked || *asked == WeightFormat::fp32 || *asked == packed) return packed;
  return fail(ErrorCode::invalid_argument,
              "%s is packed as %s and cannot be held as %s; leave the dtype away, or load the model that it was packed "
              "from",
              files_, name(packed), name(*asked));
}

Status ModelLoading::read() {
  const TimelineScope scope(device().timeline(), "read the checkpoint's header");
  model_->impl_->network.tunings = tunings_on(device());
  note_tuned(*model_->impl_->network.tunings);
  LAPILLI_TRY(const auto entered, doors::enter(files_));
  files_ = entered.files;
  LAPILLI_TRY(published_, read_published(files_, options_.pictures));
  LAPILLI_TRY(auto generation, read_generation_config(published_->files));
  note_ignored(generation);
  LAPILLI_TRY(const WeightFormat format, chosen_format());
  LAPILLI_CHECK(check_formats(device().caps(), format, options_.kv_format));
  if (!published_->packed) {
    LAPILLI_TRY(const auto kept, model::set_format(published_->network, format, options_.takes_format));
    note_kept(kept);
  }
  model::set_kv_format(published_->network, options_.kv_format);
  LAPILLI_TRY(sources_, weight_sources(published_->network));
  Model::Impl& m = *model_->impl_;
  m.info = describe_model(published_->network, published_->checkpoint.format(), files_.directory());
  m.info.format = format;
  m.info.kv_format = published_->network.kv_format;
  if (format != WeightFormat::fp32) m.info.fp32_matrices = model::fp32_matrices(published_->network);
  note_unknown_ids(generation, m.info.target_vocabulary);
  m.generation = std::move(generation);
  m.tasks = read_tasks(files_);
  if (m.info.feature_width != 0) {
    LAPILLI_TRY(m.speech, read_speech_settings(files_));
  }
  LAPILLI_TRY(m.shortlist, read_shortlist(files_, published_->network.config));
  m.memory = vulkan::MemoryLedger::of_model(options_.memory_limit, device().ledger());
  auto share = m.memory->reserve(need_of_weights(sources_));
  if (!share) return std::move(share).error().in(std::string("loading ") + files_.c_str());
  weights_ = WeightsLoading::start(m.network.device, sources_,
                                   std::make_shared<vulkan::MemoryShare>(std::move(share).value()));
  bytes_ = weights_->bytes();
  expected_ = SelfTest::of(device())->tested(ExpectedPipelines::of(device())->find(published_->network.fingerprint()));
  phase_ = Phase::weights;
  return {};
}

Status ModelLoading::load_weights() {
  TimelineScope scope(device().timeline(), "hand over weights");
  auto step = weights_->step();
  if (!step) return std::move(step).error().in(std::string("loading ") + files_.c_str());
  bytes_done_ = weights_->bytes_done();
  const bool waits = *step == WeightsLoading::Step::blocked;
  if (waits) scope.forget();
  if (*step == WeightsLoading::Step::ended) phase_ = Phase::settle;
  // The host reads the tokenizer while the device unpacks.
  if (waits && !tokenizer_) return read_tokenizer(), Status();
  blocked_ = waits;
  return {};
}

void ModelLoading::read_tokenizer() {
  const TimelineScope scope(device().timeline(), "read the tokenizer");
  tokenizer_ = load_fitting_tokenizer(published_->files, published_->network.config);
}

Status ModelLoading::settle() {
  if (!tokenizer_) read_tokenizer();
  Model::Impl& m = *model_->impl_;
  m.network.weights = weights_->take();
  m.info.weight_bytes = m.network.weights->bytes();
  m.network.network = std::move(published_->network);
  for (auto& spec : m.network.network.weights) {
    spec.parts.clear();
    spec.values = {};
  }
  if (*tokenizer_)
    m.tokenizer = std::move(*tokenizer_).value();
  else
    m.tokenizer_error = std::move(*tokenizer_).error();
  if (m.tokenizer && m.info.feature_width != 0) {
    read_speech_marks(*m.tokenizer, m.info.target_vocabulary, m.speech);
    if (m.speech.no_timestamps) m.generation.no_timestamps_token_id = m.speech.no_timestamps;
  }
  m.searches.emplace(m.network, *m.memory);
  if (!options_.prefix_cache) m.searches->engines.prefixes().disable();
  m.network.device->add_keeper(model_);
  end({});
  return {};
}

void ModelLoading::end(Status status) {
  status_ = std::move(status);
  phase_ = Phase::ended;
  weights_.reset();
  tokenizer_.reset();
  sources_.clear();
  published_.reset();
  files_ = "";  // closes the host's files before it is told of the end
  if (!status_) model_.reset();
}

void ModelLoading::wait() {
  if (phase_ == Phase::ended || !device().wait_while_paused(vulkan::kPauseRound) || !blocked_) return;
  if (auto s = weights_->wait(); !s) end(std::move(s).error().in(std::string("loading ") + files_.c_str()));
}

Result<std::shared_ptr<Model>> ModelLoading::take() {
  if (phase_ != Phase::ended) return fail(ErrorCode::invalid_argument, "the loading has not ended");
  LAPILLI_CHECK(Status(status_));
  if (std::exchange(taken_, true)) return fail(ErrorCode::invalid_argument, "the model was taken already");
  return std::move(model_);
}

}  // namespace lapilli
