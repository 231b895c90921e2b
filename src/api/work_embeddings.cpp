// Vectors of texts, by an EmbeddingTask.
#include "api/handles.hpp"
#include "api/work.hpp"
#include "base/clock.hpp"
#include "generate/embedding_task.hpp"

namespace lapilli::api {

namespace {

class Embeddings : public Work {
 public:
  static Result<std::unique_ptr<Work>> start(WorkRequest from) {
    auto work = std::make_unique<Embeddings>();
    work->sinks_ = std::move(from.sinks);
    work->reported_.resize(from.inputs.size());
    EmbeddingRequest request;
    LAPILLI_TRY(request.options, options_of(from));
    request.inputs = inputs_of(from.inputs);
    request.on_result = [w = work.get()](size_t i, const EmbeddingResult& result) { w->tell_end(i, result.status); };
    LAPILLI_TRY(work->task_, EmbeddingTask::start(from.model, *from.front->sentences, std::move(request)));
    return std::unique_ptr<Work>(std::move(work));
  }

  [[nodiscard]] Task& task() const override { return *task_; }

  Result<WorkOutput> take() override {
    LAPILLI_CHECK(Status(task_->status()));
    WorkOutput out;
    const TaskProgress progress = task_->progress();
    out.text.cancelled = progress.done < progress.total;
    out.text.stats = stats_of(task_->stats(), 0, ms_since(started_));
    out.text.stats.source_tokens = progress.tokens;
    out.vectors = task_->take();
    for (size_t i = 0; i < out.vectors.size(); ++i) {
      tell_end(i, out.vectors[i].status);
      out.text.outputs.push_back(output_of(out.vectors[i]));
    }
    return out;
  }

 private:
  static std::vector<TextInput> inputs_of(std::span<const Input> from) {
    std::vector<TextInput> to;
    for (const Input& input : from) {
      TextInput& text = to.emplace_back();
      text.text = input.text;
      text.ids = input.ids;
      text.has_ids = input.kind == LAPILLI_INPUT_IDS;
    }
    return to;
  }

  static Status refuse(const CallOptions& given_options) {
    const lapilli_options& o = given_options.general;
    const auto given = [](const char* text) { return text && *text; };
    const char* field = o.decoder_prompt.ids         ? "lapilli_options.decoder_prompt"
                        : o.num_return_sequences > 1 ? "lapilli_options.num_return_sequences"
                        : o.keep_attention != 0      ? "lapilli_options.keep_attention"
                        : given(o.source_language)   ? "lapilli_options.source_language"
                        : given(o.target_language)   ? "lapilli_options.target_language"
                                                     : given_options.speech_field();
    if (!field) field = given_options.picture_field();
    if (!field) return {};
    return fail(ErrorCode::invalid_argument, "%s is not for models that make vectors of texts", field);
  }

  static Result<PromptChoice> prompt_of(const WorkRequest& from) {
    const lapilli_options& o = from.options.general;
    const char* name = from.options.embedding.prompt_name;
    const std::string_view task = o.task ? o.task : "";
    PromptChoice choice;
    const bool by_task = task == "query" || task == "document";
    if (by_task) choice = prompt_for(*from.front->sentences, task);
    if (!by_task && !task.empty() && task != "embed")
      return fail(ErrorCode::invalid_argument,
                  "lapilli_options.task is \"%s\"; a model that makes vectors takes \"query\", \"document\" or none",
                  o.task);
    if (name && *name) choice.name = name;
    if (o.prompt) choice.text = o.prompt;
    return choice;
  }

  static Result<EmbeddingOptions> options_of(const WorkRequest& from) {
    LAPILLI_CHECK(refuse(from.options));
    EmbeddingOptions to;
    LAPILLI_TRY(to.prompt, prompt_of(from));
    to.dimensions = from.options.embedding.dimensions;
    to.normalize = from.options.embedding.normalize != 0;
    to.batch = from.options.general.batch;
    to.deterministic = from.options.general.deterministic != 0;
    return to;
  }

  // Reports only once.
  void tell_end(size_t i, const Status& status) {
    if (sinks_.input_ended && !reported_[i]) sinks_.input_ended(i, status);
    reported_[i] = true;
  }

  static TextOutput output_of(const EmbeddingResult& result) {
    TextOutput out;
    out.status = result.status;
    if (out.status) out.sequences.push_back(sequence_of("", {}, {}, Finish::stop));
    return out;
  }

  WorkSinks sinks_;
  std::vector<bool> reported_;
  Clock::time_point started_ = Clock::now();
  std::unique_ptr<EmbeddingTask> task_;
};

}  // namespace

Result<std::unique_ptr<Work>> start_embeddings(WorkRequest request) { return Embeddings::start(std::move(request)); }

}  // namespace lapilli::api
