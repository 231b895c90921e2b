// Loaded models and generation jobs: what the public API stands on.
//
// Model: immutable after load; shared by any number of jobs, also from several threads.
// Job: sources on their way through encoder and search. A state machine that never blocks: pump() submits what fits,
// polls and harvests; wait() is a loop around it. Jobs of one kind share a session (SearchEngine), and pump it for each
// other. A job belongs to one thread at a time; cancel() may come from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/generation_config.hpp"
#include "formats/speech_settings.hpp"
#include "formats/task_params.hpp"
#include "model/features.hpp"
#include "ops/core/weight_layout.hpp"
#include "search/hypothesis.hpp"
#include "text/tokenizer.hpp"
#include "vulkan/device.hpp"

namespace lapilli {

class CheckedRequest;
class EnginePool;
class MemoryLedger;
class ResolvedOptions;
class WorkspaceFactory;
struct NetworkOnDevice;

// Of pictures that a model is to read; 0: as its config.json says.
struct PictureSize {
  uint32_t height = 0, width = 0;
};

struct LoadOptions {
  // Bytes of device memory for weights and sessions together; 0: what the device's budget allows. A model that exceeds
  // it is refused, a batch that does is split by generate().
  uint64_t memory_limit = 0;
  // Of the matrices on the device; none: default_format() of the device. Packed files have theirs, beside which fp32
  // and none mean nothing, and another one is an error.
  std::optional<WeightFormat> format = WeightFormat::fp32;
  // Matrices that take it, by the names in model::Network; the others stay in fp32. None: all.
  std::function<bool(const std::string& matrix)> takes_format;
  // Of the keys and values of searches, by ops/core/kv_layout.hpp and model::set_kv_format().
  KvFormat kv_format = KvFormat::fp32;
  PictureSize pictures;  // another size than the model's: its positions are brought to it
};

struct ModelInfo {
  std::string directory, family, checkpoint_format, stored_dtype;
  uint64_t parameters = 0;    // numbers stored, tied ones once
  uint64_t weight_bytes = 0;  // on the device
  WeightFormat format = WeightFormat::fp32;
  uint32_t fp32_matrices = 0;  // that stay in fp32 beside others of another format
  KvFormat kv_format = KvFormat::fp32;
  uint32_t d_model = 0, encoder_layers = 0, decoder_layers = 0, encoder_heads = 0, decoder_heads = 0;
  uint32_t encoder_ffn = 0, decoder_ffn = 0, source_vocabulary = 0, target_vocabulary = 0;
  uint32_t max_source_positions = 0, max_target_positions = 0;  // 0: unbounded
  // Of models whose sources are features: numbers to a row, and how many rows a source has (0: any number).
  uint32_t feature_width = 0, feature_rows = 0;
  std::string activation;
};

// An error if a job that began with a model cannot go on with this one. That its numbers are the same is not looked at:
// whatever it says, what was given out is not contradicted.
Status check_same_model(const ModelInfo& now, const ModelInfo& first);

class Model : public vulkan::MemoryKeeper {
 public:
  static Result<std::shared_ptr<Model>> load(std::shared_ptr<vulkan::Device> device, const Files& files,
                                             const LoadOptions& options = {});
  // A network of this shape (model::parse_shape) with weights drawn from a seeded generator; for benchmarks and tests.
  static Result<std::shared_ptr<Model>> random(std::shared_ptr<vulkan::Device> device, const std::string& shape,
                                               uint64_t seed = 1, const LoadOptions& options = {});
  ~Model() override;
  [[nodiscard]] const ModelInfo& info() const;
  // Null with the reason in tokenizer_error() if the directory holds none that can be read: ids still work.
  [[nodiscard]] const Tokenizer* tokenizer() const;
  // The same, for who goes on without the model.
  [[nodiscard]] std::shared_ptr<const Tokenizer> shared_tokenizer() const;
  [[nodiscard]] const Error& tokenizer_error() const;
  [[nodiscard]] const GenerationConfig& generation_config() const;  // the model's own
  [[nodiscard]] const std::shared_ptr<vulkan::Device>& device() const;

  // What its jobs stand on.
  [[nodiscard]] const NetworkOnDevice& on_device() const;
  [[nodiscard]] MemoryLedger& memory() const;
  [[nodiscard]] WorkspaceFactory& workspaces() const;
  [[nodiscard]] EnginePool& engines() const;
  void give_back() override;  // the sessions that nobody uses
  // Settings by task, of config.json.
  [[nodiscard]] const std::vector<TaskParams>& tasks() const;
  // Of models that hear.
  [[nodiscard]] const SpeechSettings& speech() const;

 private:
  friend class ModelLoading;
  Model() = default;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What the encoder made of a source, kept on the device (search/encoded_source.hpp).
class EncodedSource;

struct GenerateRequest {
  // Token ids per source, end token included, without padding. Ragged.
  std::vector<std::vector<int32_t>> sources;
  // Instead of ids, for models whose sources are features (ModelInfo::feature_width); null where `encoded` has one.
  std::vector<std::shared_ptr<const model::Features>> features;
  // Sources that this model has encoded already (GenerateOutput::encoded), by number; empty, or null for one: encoded
  // anew. `sources` may leave them empty.
  std::vector<std::shared_ptr<const EncodedSource>> encoded;
  bool keep_encoded = false;  // what the encoder makes of each source is given out, for other searches
  // Given decoder ids per source, of any lengths; empty: the model's decoder start. The decoder start is put in front
  // if every row starts with something else. They run in one pass over their positions.
  std::vector<std::vector<int32_t>> decoder_ids;
  // They are taken as they are: no start is put in front of rows that begin with something else.
  bool exact_decoder_ids = false;
  // Per source, how many of these at the end were written by an earlier search: lengths and what goes by the first new
  // ids count from the ids before. Empty: none. At least one given id stands before them.
  std::vector<uint32_t> written;
  // Per source, positions of its given ids (0: the decoder start) whose logits are wanted: what the model says comes
  // behind each, before any processor. At most 256 in all of one source. Empty: none.
  std::vector<std::vector<uint32_t>> logits_at;
  // Models with window attention (LED): positions of each source that see everything and are seen by all. Empty: none,
  // as in the reference.
  std::vector<std::vector<uint32_t>> global_positions;
  GenerationConfig options;                         // what is set here wins over the model's generation_config
  std::shared_ptr<const ResolvedOptions> resolved;  // the same, if the caller has resolved them already
  uint32_t steps_in_flight = 0;                     // S, steps per submission, at most 64; 0: chosen by the device
  // Sources that are worked on at a time, at most; 0: as many as fit in 1,024 rows. The others follow as these end.
  uint32_t batch = 0;
  // Every product sums in one order, whatever its size: a source's ids do not depend on what runs beside it. Without it
  // they may differ where the two best scores are as good as equal (1e-4).
  bool deterministic = false;
  bool keep_order = false;  // generate(): sources are begun in the order given, not the longest first
  // Sampling: per source the number that its draws go by, so that they do not depend on how a batch is cut; empty:
  // counted from 0.
  std::vector<uint32_t> sequences;
  bool capture_scores = false;  // keep logits and processed scores of every step (slow: one step per submission)
  // Ids of each source's best hypothesis as soon as they are settled: without the given ones, each once and in order,
  // the end token among them; together they are that hypothesis. With one beam every step settles an id; with several,
  // the ids that all hypotheses share which can still win. Called by pump(), wait() or generate() in the calling
  // thread; an error ends the job.
  std::function<Status(size_t source, std::span<const int32_t> ids)> on_tokens;
};

struct GenerateStats {
  double encode_ms = 0, decode_ms = 0;  // wall clock, from submission to the host's seeing the end
  uint32_t steps = 0;                   // decoder steps that counted
  uint32_t submissions = 0;
  uint32_t narrow_submissions = 0;  // of these, ones whose plan was made for the fewer rows that were left
  uint32_t jobs = 0;                // that generate() made of the request
  // Of the steps while other sources waited: rows that ran, and rows that could have.
  uint64_t queued_rows = 0, queued_room = 0;
  uint64_t session_bytes = 0;  // device memory of this job's session
  uint32_t tuned_nodes = 0;    // of a step and an encode pass together, those that run as tuning found; the most of any
};

// Adds the figures of a part, or of another call, to those of the whole.
void add_stats(GenerateStats& total, const GenerateStats& s);

struct CapturedStep {
  uint32_t rows = 0, vocabulary = 0;
  std::vector<float> logits, scores;            // [rows, vocabulary]; row order as the running beams before the step
  std::vector<std::vector<int32_t>> histories;  // per row: the ids so far, the one this step read last
};

struct GenerateOutput {
  std::vector<std::vector<Hypothesis>> hypotheses;  // per source, best first, num_return_sequences each
  // Per source, why it has no hypotheses: the model gave no numbers for it, or it needs more memory than there is. Such
  // a source fails alone; if all do, the first one's error is the call's.
  std::vector<Status> errors;
  std::vector<std::vector<std::vector<float>>> logits;  // per source as GenerateRequest::logits_at: [vocabulary] each
  std::vector<std::shared_ptr<const EncodedSource>> encoded;  // if keep_encoded: per source, null if it failed
  GenerateStats stats;
  std::vector<CapturedStep> captured;
};

class Job {
 public:
  // Checks the request (ids in range, lengths, options that are not supported are named), takes or makes an engine, and
  // submits nothing yet but, for the first job of a kind, the test of its kernels: pump() goes on behind it. Does not
  // wait for the device.
  static Result<std::unique_ptr<Job>> start(std::shared_ptr<Model> model, GenerateRequest request);
  static Result<std::unique_ptr<Job>> start(std::shared_ptr<Model> model, CheckedRequest request);
  // A job of which nothing comes: pipelines for jobs like this request are made and tested, and the model keeps a
  // session for as many of its sources at a time and of these lengths, with room for `target_tokens` new ids each (0:
  // what hardly any exceeds), which one source of two ids goes through. Jobs that need no more then make nothing anew.
  static Result<std::unique_ptr<Job>> prepare(std::shared_ptr<Model> model, CheckedRequest request,
                                              uint32_t target_tokens);
  ~Job();  // cancels what has not ended; waits for nothing

  // Submits what fits, no more than so much estimated time of the device, polls, harvests. True once the job has ended
  // (well or not). Does not wait for the device. Does nothing while the device is paused, but to end a job that was
  // cancelled.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  // Waits, bounded, for what pump() waits for, or for the end of a pause. If that fails the job has ended.
  void rest();
  // Pumps until the end, sleeping in bounded waits, through pauses as well. Returns the job's status. `go_on` is asked
  // after every submission that has come back, and during a pause; false cancels.
  Status wait(const std::function<bool()>& go_on = {});
  // Ends with ErrorCode::cancelled at the next pump(); the device drops the job's rows after the work in flight.
  void cancel();
  // Decoder steps known to be complete, and sources that have ended, for progress.
  [[nodiscard]] uint32_t steps_done() const;
  [[nodiscard]] size_t sources_done() const;
  // After the end: whether it ended well.
  [[nodiscard]] const Status& status() const;
  // After the end: the result, once.
  Result<GenerateOutput> take();
  // After the end, whatever it was: what had ended by then. Sources that had not have no hypotheses. Instead of take().
  GenerateOutput take_finished();

  struct Impl;

 private:
  Job() = default;
  std::unique_ptr<Impl> impl_;
};

// start, wait, take; cuts the sources into jobs by length, longest first, with fewer rows where the device's limits or
// memory ask for it, and returns them in the order given. `progress` is asked often; done counts sources; false
// cancels.
Result<GenerateOutput> generate(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                                const std::function<bool(uint64_t done, uint64_t total)>& progress = {});

// The same into `out`, which after an error or a cancellation holds what was finished before: sources that were not
// have no hypotheses.
Status generate_into(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                     const std::function<bool(uint64_t done, uint64_t total)>& progress, GenerateOutput& out);

// One pass of the network without a search: teacher forcing, or an encoder alone, which has no targets.
struct ForwardRequest {
  std::vector<std::vector<int32_t>> sources;  // as above
  std::vector<std::shared_ptr<const model::Features>> features;
  std::vector<std::vector<int32_t>> targets;            // decoder ids per source, ragged
  std::vector<std::vector<uint32_t>> global_positions;  // as above
  bool want_hidden_states = false, want_attentions = false, want_logits = true;
  std::vector<uint32_t> cross_layers;  // the cross attention of these layers, without want_attentions
};
struct ForwardTensor {
  std::string name;  // as the reference names outputs: encoder_hidden_states.0, cross_attentions.1, logits...
  std::vector<uint64_t> shape;  // padded to the longest source or target of the batch
  std::vector<float> values;
};
Result<std::vector<ForwardTensor>> forward(const std::shared_ptr<Model>& model, const ForwardRequest& request);

// The same, made once and run any number of times. Of one thread.
class ForwardPass {
 public:
  // For requests of so many sources, none longer, and of the same outputs.
  static Result<ForwardPass> make(const std::shared_ptr<Model>& model, const ForwardRequest& request);
  Result<std::vector<ForwardTensor>> run(const ForwardRequest& request);
  ForwardPass(ForwardPass&&) noexcept;
  ForwardPass& operator=(ForwardPass&&) noexcept;
  ~ForwardPass();

 private:
  friend class ForwardJob;
  ForwardPass();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli
