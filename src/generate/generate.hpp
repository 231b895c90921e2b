// Loaded models and searches for ids, the basis of the public API.
//
// Model: immutable after load; shared by any number of searches, also from several threads.
// Search: sources on their way through encoder and decoder. A state machine that never blocks: pump() submits what
// fits, polls and harvests; run_to_end() is a loop around it. Searches of one kind share a session (SearchEngine), and
// pump it for each other. A search belongs to one thread at a time; cancel() may come from any.
#pragma once

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
#include "model/config.hpp"
#include "model/features.hpp"
#include "ops/core/weight_layout.hpp"
#include "search/hypothesis.hpp"
#include "text/tokenizer.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {

class CheckedRequest;
class EnginePool;
class ResolvedOptions;
class Shortlist;
class WorkspaceFactory;
struct NetworkOnDevice;

// Size of pictures that a model reads; 0: config.json's.
struct PictureSize {
  uint32_t height = 0, width = 0;
};

struct LoadOptions {
  // Bytes of device memory for weights and sessions together; 0: what the device has, by its own limit, too. A larger
  // model is refused, a larger batch is split by generate().
  uint64_t memory_limit = 0;
  // Format of the matrices on the device; none: default_format() of the device. Packed files keep theirs with fp32
  // or none; another format is an error.
  std::optional<WeightFormat> format = WeightFormat::fp32;
  // Selects the matrices that take it, by their names in model::Network; the others stay in fp32. None: all.
  std::function<bool(const std::string& matrix)> takes_format;
  // Format of keys and values in searches; see ops/core/kv_layout.hpp and model::set_kv_format().
  KvFormat kv_format = KvFormat::fp32;
  PictureSize pictures;      // positions are resized if this is not the model's size
  bool prefix_cache = true;  // prompts that begin alike share keys and values; see search/prefix_cache.hpp
};

struct ModelInfo {
  std::string directory, family, checkpoint_format, stored_dtype;
  uint64_t parameters = 0;    // numbers stored, tied ones once
  uint64_t weight_bytes = 0;  // on the device
  WeightFormat format = WeightFormat::fp32;
  uint32_t fp32_matrices = 0;  // those left in fp32 beside others of another format
  KvFormat kv_format = KvFormat::fp32;
  uint32_t d_model = 0, encoder_layers = 0, decoder_layers = 0, encoder_heads = 0, decoder_heads = 0;
  uint32_t encoder_ffn = 0, decoder_ffn = 0, source_vocabulary = 0, target_vocabulary = 0;
  uint32_t max_source_positions = 0, max_target_positions = 0;  // 0: unbounded
  // For models with features as sources: numbers per row, and rows of a source (0: any number).
  uint32_t feature_width = 0, feature_rows = 0;
  std::string activation;
};

// Fails if a job that began with one model cannot continue with another. Does not compare weights: outputs given out
// before are never contradicted, whatever the new model computes.
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
  // Null if the directory has no readable tokenizer, for the reason in tokenizer_error(): ids still work.
  [[nodiscard]] const Tokenizer* tokenizer() const;
  // The same, for users that outlive the model.
  [[nodiscard]] std::shared_ptr<const Tokenizer> shared_tokenizer() const;
  [[nodiscard]] const Error& tokenizer_error() const;
  [[nodiscard]] const GenerationConfig& generation_config() const;  // the model's own
  [[nodiscard]] const std::shared_ptr<vulkan::Device>& device() const;

  // Parts shared by the model's searches.
  [[nodiscard]] const NetworkOnDevice& on_device() const;
  [[nodiscard]] vulkan::MemoryLedger& memory() const;
  [[nodiscard]] WorkspaceFactory& workspaces() const;
  [[nodiscard]] EnginePool& engines() const;
  void give_back() override;  // drops unused sessions
  void make_room() override;  // the same, except reserved ones
  // Settings by task from config.json.
  [[nodiscard]] const std::vector<TaskParams>& tasks() const;
  // For models that take sound.
  [[nodiscard]] const SpeechSettings& speech() const;
  // Null: the model has none.
  [[nodiscard]] const Shortlist* shortlist() const;

 private:
  friend class ModelLoading;
  Model() = default;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A source's encoder output, kept on the device (search/encoded_source.hpp).
class EncodedSource;

struct GenerateRequest {
  // Token ids per source, with the end token, without padding. Ragged.
  std::vector<std::vector<int32_t>> sources;
  // Replaces ids for models whose sources are features (ModelInfo::feature_width); null where `encoded` has a source.
  std::vector<std::shared_ptr<const model::Features>> features;
  // Sources that this model has encoded before (GenerateOutput::encoded), by number; empty, or null for one: encoded
  // anew. Their `sources` may be empty.
  std::vector<std::shared_ptr<const EncodedSource>> encoded;
  bool keep_encoded = false;  // returns each encoded source, for other searches
  // Given decoder ids per source, of any lengths; empty: the model's decoder start, which is also prepended if no row
  // starts with it. They run in one pass over their positions.
  std::vector<std::vector<int32_t>> decoder_ids;
  // Takes decoder_ids unchanged: the decoder start is never prepended.
  bool exact_decoder_ids = false;
  // Per source, how many of its last prompt ids an earlier search wrote: length limits and rules for the first new ids
  // count from the ids before these. Empty: none. At least one given id precedes them.
  std::vector<uint32_t> written;
  // Per source, positions of its prompt ids (0: the decoder start) at which to return logits: the model's prediction
  // after each, before any processor. At most 256 per source. Empty: none.
  std::vector<std::vector<uint32_t>> logits_at;
  // For models with window attention (LED): positions of each source with global attention. Empty: none, as in the
  // reference.
  std::vector<std::vector<uint32_t>> global_positions;
  GenerationConfig options;                         // overrides the model's generation_config
  std::shared_ptr<const ResolvedOptions> resolved;  // the same, if already resolved by the caller
  uint32_t steps_in_flight = 0;                     // S, steps per submission, at most 64; 0: chosen by the device
  // Limit on sources processed at a time; 0: as many as fit in 1,024 rows. The others follow as these end.
  uint32_t batch = 0;
  // Makes every product sum in one order, whatever its size: a source's ids do not depend on what runs beside it.
  // Otherwise they may differ if the two best scores are nearly equal (1e-4).
  bool deterministic = false;
  // A decoder alone, one beam: keys and values of what is written are kept for prompts that go on behind it. Not if
  // deterministic.
  bool keep_answers = false;
  bool keep_order = false;  // generate(): sources are begun in the order given, not the longest first
  // Sampling: per source, the number that selects its draws, so that they do not depend on how a batch is cut; empty:
  // counted from 0.
  std::vector<uint32_t> sequences;
  bool capture_scores = false;  // keeps logits and processed scores of every step (slow: one step per submission)
  // Called with ids of each source's best hypothesis once they are settled: without the given ones, each once and in
  // order, with the end token; together they are that hypothesis. With one beam every step settles an id; with several,
  // the ids that all hypotheses share which can still win. Called by pump(), run_to_end() or generate() in the calling
  // thread; an error ends the search.
  std::function<Status(size_t source, std::span<const int32_t> ids)> on_tokens;
};

struct GenerateStats {
  double encode_ms = 0, decode_ms = 0;  // wall clock, from submission until the host sees the end
  uint32_t steps = 0;                   // decoder steps that counted
  uint32_t submissions = 0;
  uint32_t narrow_submissions = 0;  // of these, those with a plan for fewer rows
  uint32_t searches = 0;            // that generate() made of the request
  // Rows that ran, and rows available, in steps while other sources waited.
  uint64_t queued_rows = 0, queued_room = 0;
  // Rows of prompt ids that ran, and those whose keys and values were kept from an earlier prompt.
  uint64_t prompt_rows = 0, saved_prompt_rows = 0;
  uint64_t longest_gap = 0;    // most passes of prompt rows between two steps
  uint64_t session_bytes = 0;  // device memory of this search's session
  uint32_t tuned_nodes = 0;    // nodes of a step and an encode pass that run as tuned; the maximum over searches
};

// Adds the figures of a part, or of another call, to the total.
void add_stats(GenerateStats& total, const GenerateStats& s);

struct CapturedStep {
  uint32_t rows = 0, vocabulary = 0;
  std::vector<float> logits, scores;  // [rows, vocabulary]; rows in the order of the running beams before the step
  std::vector<std::vector<int32_t>> histories;  // per row: the ids so far, up to the one that this step read
};

struct GenerateOutput {
  std::vector<std::vector<Hypothesis>> hypotheses;  // per source, best first, num_return_sequences each
  // Per source, the reason for having no hypotheses: the model gave no numbers for it, or it needs more memory than
  // there is. Such a source fails alone; if all do, the first one's error is the call's.
  std::vector<Status> errors;
  std::vector<std::vector<std::vector<float>>> logits;  // per source as GenerateRequest::logits_at: [vocabulary] each
  std::vector<std::shared_ptr<const EncodedSource>> encoded;  // if keep_encoded: per source, null if it failed
  GenerateStats stats;
  std::vector<CapturedStep> captured;
};

class Search {
 public:
  // Checks the request (ids in range, lengths; unsupported options are named), and takes or makes an engine. Submits
  // nothing yet except, for the first search of a kind, the tests of its kernels, which pump() continues. Does not wait
  // for the device.
  static Result<std::unique_ptr<Search>> start(std::shared_ptr<Model> model, GenerateRequest request);
  static Result<std::unique_ptr<Search>> start(std::shared_ptr<Model> model, CheckedRequest request);
  // A search without results: makes and tests pipelines for searches like this request, and makes the model keep a
  // session for as many of its sources at a time, of these lengths, with room for `target_tokens` new ids each (0:
  // hardly ever exceeded). One source runs through it for two ids. Searches that need no more then create nothing anew.
  static Result<std::unique_ptr<Search>> prepare(std::shared_ptr<Model> model, CheckedRequest request,
                                                 uint32_t target_tokens);
  ~Search();  // cancels what has not ended; does not wait

  // Submits what fits, at most this much estimated device time, polls, harvests. True once the search has ended (well
  // or not). Does not wait for the device. While the device is paused, only ends a cancelled search.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  // Waits, bounded, for what pump() waits for, or for the end of a pause. Ends the search if that fails.
  void wait();
  // Pumps until the end, sleeping in bounded waits, also through pauses. Returns the search's status. Calls `go_on`
  // after every submission that has come back, and during a pause; false cancels.
  Status run_to_end(const std::function<bool()>& go_on = {});
  // Ends with ErrorCode::cancelled at the next pump(); the device drops the search's rows after the work in flight.
  void cancel();
  // Decoder steps known to be complete, and sources that have ended, for progress.
  [[nodiscard]] uint32_t steps_done() const;
  [[nodiscard]] size_t sources_done() const;
  // Valid after the end: the search's error, if any.
  [[nodiscard]] const Status& status() const;
  // After the end: the result, once.
  Result<GenerateOutput> take();
  // After any end, instead of take(): the results so far. Sources that had not ended have no hypotheses.
  GenerateOutput take_finished();

  struct Impl;

 private:
  Search() = default;
  std::unique_ptr<Impl> impl_;
};

// Starts, waits and takes; cuts the sources into searches by length, longest first, with fewer rows if the device's
// limits or memory require it, and returns results in the given order. `progress` is called often; done counts sources;
// false cancels.
Result<GenerateOutput> generate(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                                const std::function<bool(uint64_t done, uint64_t total)>& progress = {});

// As generate(), into `out`, which after an error or a cancellation has the results so far: sources that were not
// finished have no hypotheses.
Status generate_into(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                     const std::function<bool(uint64_t done, uint64_t total)>& progress, GenerateOutput& out);

// Room of a packed pass, which takes any request that needs no more.
struct PassRoom {
  uint32_t sources = 0, rows = 0, longest = 0;
  uint32_t head_rows = 0;  // chosen rows of all sources
};

// The next segment of a source attends to these besides itself: the inputs that each layer had for its last rows (Dai
// et al. 2019, Transformer-XL).
struct SegmentMemory {
  uint32_t rows = 0;
  std::vector<std::vector<float>> layers;  // [rows, d_model] each
};

// One pass of the network without a search: teacher forcing; for an encoder alone no targets, for a decoder alone no
// sources, nor where the decoder reads the source as well (a classifier). The sources of an encoder alone are packed,
// unless attention weights are wanted: nothing is computed for padding, and its rows of the outputs are zeros.
struct ForwardRequest {
  std::vector<std::vector<int32_t>> sources;  // as above
  std::vector<std::shared_ptr<const model::Features>> features;
  std::vector<std::vector<int32_t>> targets;            // decoder ids per source, ragged
  std::vector<std::vector<uint32_t>> global_positions;  // as above
  bool want_hidden_states = false, want_attentions = false, want_logits = true;
  std::vector<uint32_t> cross_layers;  // the cross attention of these layers, without want_attentions
  // A model that writes: nothing but the log-probability of each target's ids behind the first, in outputs called
  // token_scores.N. They have a number for each place of an id, [sources, longest target]: that of the id behind it,
  // and at a target's last id any.
  bool want_token_scores = false;
  // An encoder alone: only the results of these heads are computed.
  std::optional<model::HeadKind> only;
  uint32_t prompt_rows = 0;  // the rows of a prompt at the beginning of each source (HeadConfig::pools_prompt)
  // An encoder alone: the rows of each source that heads of each row read, instead of all; empty, or at least one row
  // in all. Their results come one behind the other.
  std::vector<std::vector<uint32_t>> head_rows;
  bool without_gaps = false;   // an encoder alone: rows of outputs come one behind the other, not padded
  PassRoom room;               // of a pass that runs several times; at least that of the request
  bool deterministic = false;  // as above
  // For an encoder alone that knows token types: the type of each id of each source, such as 1 for the second text of a
  // pair. Empty, or an empty row: type 0.
  std::vector<std::vector<uint32_t>> source_types;
  // For models with a memory (StackConfig::memory): that of each source's segment before this one;
  // empty, or without rows: there is none. Recurrent decoders read zeros instead.
  std::vector<SegmentMemory> memories;
  // For XLNet: a number for each pair of a source's ids, those of the first id first; not 0: the first of the pair does
  // not see the second. An id of the sources always sees itself. Empty: all ids see all.
  std::vector<std::vector<uint8_t>> hidden_ids;
  // For XLNet: rows of a second stream, which know their place but not their id, are the result. They see the ids that
  // are not hidden from their place, which may include their own.
  bool second_stream = false;
};
struct ForwardTensor {
  std::string name;             // the reference's names: encoder_hidden_states.0, cross_attentions.1, logits...
  std::vector<uint64_t> shape;  // padded to the longest source or target of the batch
  std::vector<float> values;
};
Result<std::vector<ForwardTensor>> forward(const std::shared_ptr<Model>& model, const ForwardRequest& request);
// The memory of each source behind this segment, from the outputs of its pass, which had hidden states.
Result<std::vector<SegmentMemory>> remember(const Model& model, const ForwardRequest& request,
                                            const std::vector<ForwardTensor>& outputs);

// A forward() that is created once and run any number of times. For one thread.
class ForwardPass {
 public:
  // For requests of this many sources, none longer, with the same outputs.
  static Result<ForwardPass> make(const std::shared_ptr<Model>& model, const ForwardRequest& request);
  Result<std::vector<ForwardTensor>> run(const ForwardRequest& request);
  ForwardPass(ForwardPass&&) noexcept;
  ForwardPass& operator=(ForwardPass&&) noexcept;
  ~ForwardPass();

 private:
  friend class ForwardRun;
  ForwardPass();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli
