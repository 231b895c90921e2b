// Loaded models and generation jobs: what the public API stands on.
//
// Model: immutable after load; shared by any number of jobs, also from several threads.
// Job: one batch of sources through encoder and search. A state machine that never blocks: pump() submits what fits,
// polls and harvests; wait() is a loop around it. A job belongs to one thread at a time; cancel() may come from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "formats/generation_config.hpp"
#include "text/tokenizer.hpp"
#include "vulkan/device.hpp"

namespace lapilli {

struct LoadOptions {
  // Bytes of device memory for weights and sessions together; 0: what the device's budget allows. A model that exceeds
  // it is refused, a batch that does is split by generate().
  uint64_t memory_limit = 0;
};

struct ModelInfo {
  std::string directory, family, checkpoint_format, stored_dtype;
  uint64_t parameters = 0;    // numbers stored, tied ones once
  uint64_t weight_bytes = 0;  // on the device
  uint32_t d_model = 0, encoder_layers = 0, decoder_layers = 0, encoder_heads = 0, decoder_heads = 0;
  uint32_t encoder_ffn = 0, decoder_ffn = 0, source_vocabulary = 0, target_vocabulary = 0;
  uint32_t max_source_positions = 0, max_target_positions = 0;  // 0: unbounded
  std::string activation;
};

class Model {
 public:
  static Result<std::shared_ptr<Model>> load(std::shared_ptr<vulkan::Device> device, const std::string& directory,
                                             const LoadOptions& options = {});
  // A network of this shape (model::parse_shape) with weights drawn from a seeded generator; for benchmarks and tests.
  static Result<std::shared_ptr<Model>> random(std::shared_ptr<vulkan::Device> device, const std::string& shape,
                                               uint64_t seed = 1);
  ~Model();
  [[nodiscard]] const ModelInfo& info() const;
  // Null with the reason in tokenizer_error() if the directory holds none that can be read: ids still work.
  [[nodiscard]] const Tokenizer* tokenizer() const;
  [[nodiscard]] const Error& tokenizer_error() const;
  [[nodiscard]] const GenerationConfig& generation_config() const;  // the model's own
  [[nodiscard]] const std::shared_ptr<vulkan::Device>& device() const;

  struct Impl;
  [[nodiscard]] Impl* impl() const { return impl_.get(); }

 private:
  Model() = default;
  std::unique_ptr<Impl> impl_;
};

struct GenerateRequest {
  // Token ids per source, end token included, without padding. Ragged.
  std::vector<std::vector<int32_t>> sources;
  // Given decoder ids per source, all of one length; empty: the model's decoder start. The decoder start is put in
  // front if every row starts with something else.
  std::vector<std::vector<int32_t>> decoder_ids;
  // Models with window attention (LED): positions of each source that see everything and are seen by all. Empty: none,
  // as in the reference.
  std::vector<std::vector<uint32_t>> global_positions;
  GenerationConfig options;      // what is set here wins over the model's generation_config
  uint32_t steps_in_flight = 0;  // S, steps per submission, at most 64; 0: chosen by the device
  // Sampling: per source the number that its draws go by, so that they do not depend on how a batch is cut; empty:
  // counted from 0.
  std::vector<uint32_t> sequences;
  bool capture_scores = false;   // keep logits and processed scores of every step (slow: one step per submission)
  // Ids of each source's best hypothesis as soon as they are settled: without the given ones, each once and in order, the
  // end token among them; together they are that hypothesis. With one beam every step settles an id; with several, the
  // ids that all hypotheses share which can still win. Called by pump(), wait() or generate() in the calling thread; an
  // error ends the job.
  std::function<Status(size_t source, std::span<const int32_t> ids)> on_tokens;
};

struct Hypothesis {
  std::vector<int32_t> ids;           // decoder start (or given ids) and end token included, no padding
  float score = 0;                    // sum of log-probabilities / generated tokens ^ length_penalty
  // Per generated token the logarithm of its probability as the search saw it, after all processors: forced ids have 0.
  // Greedy search normalizes what the processors left over, beam search what they were given. They sum up to
  // score * generated tokens ^ length_penalty, but for rounding.
  std::vector<float> token_scores;
  std::vector<int32_t> beam_indices;  // per generated token: the beam (counted over the batch) that it continued
};

struct GenerateStats {
  double encode_ms = 0, decode_ms = 0;  // wall clock, from submission to the host's seeing the end
  uint32_t steps = 0;                   // decoder steps that counted
  uint32_t submissions = 0;
  uint32_t narrow_submissions = 0;  // of these, ones whose plan was made for the fewer rows that were left
  uint64_t session_bytes = 0;  // device memory of this job's session
};

struct CapturedStep {
  uint32_t rows = 0, vocabulary = 0;
  std::vector<float> logits, scores;            // [rows, vocabulary]; row order as the running beams before the step
  std::vector<std::vector<int32_t>> histories;  // per row: the ids so far, the one this step read last
};

struct GenerateOutput {
  std::vector<std::vector<Hypothesis>> hypotheses;  // per source, best first, num_return_sequences each
  GenerateStats stats;
  std::vector<CapturedStep> captured;
};

class Job {
 public:
  // Checks the request (ids in range, lengths, options that are not supported are named), takes or makes a session and
  // submits nothing yet.
  static Result<std::unique_ptr<Job>> start(std::shared_ptr<Model> model, GenerateRequest request);
  ~Job();  // waits for what is in flight (bounded)

  // Submits what fits, polls, harvests. True once the job has ended (well or not). Does not wait for the device, but for
  // one case: a search that outgrows the room that is usual for its sources is set up anew.
  bool pump();
  // Pumps until the end, sleeping in bounded waits. Returns the job's status. `go_on` is asked after every submission
  // that has come back; false cancels.
  Status wait(const std::function<bool()>& go_on = {});
  // Ends with ErrorCode::cancelled after the work in flight.
  void cancel();
  // Decoder steps known to be complete, for progress.
  [[nodiscard]] uint32_t steps_done() const;
  // After the end: the result, once.
  Result<GenerateOutput> take();

  struct Impl;

 private:
  Job() = default;
  std::unique_ptr<Impl> impl_;
};

// start, wait, take; splits the sources into batches that fit the device's limits and memory, longest first within the
// call, and returns them in the order given. `progress` is asked often; done counts sources; false cancels.
Result<GenerateOutput> generate(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                                const std::function<bool(uint64_t done, uint64_t total)>& progress = {});

// The same into `out`, which after an error or a cancellation holds what was finished before: sources that were not
// have no hypotheses.
Status generate_into(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                     const std::function<bool(uint64_t done, uint64_t total)>& progress, GenerateOutput& out);

// One pass of the network without a search: teacher forcing.
struct ForwardRequest {
  std::vector<std::vector<int32_t>> sources;  // as above
  std::vector<std::vector<int32_t>> targets;  // decoder ids per source, ragged
  std::vector<std::vector<uint32_t>> global_positions;  // as above
  bool want_hidden_states = false, want_attentions = false, want_logits = true;
};
struct ForwardTensor {
  std::string name;  // as the reference names outputs: encoder_hidden_states.0, cross_attentions.1, logits...
  std::vector<uint64_t> shape;  // padded to the longest source or target of the batch
  std::vector<float> values;
};
Result<std::vector<ForwardTensor>> forward(const std::shared_ptr<Model>& model, const ForwardRequest& request);

}  // namespace lapilli
