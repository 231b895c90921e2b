// Vectors and classes of texts, by an EncodingTask.
#include <cmath>

#include "api/handles.hpp"
#include "api/work.hpp"
#include "base/clock.hpp"
#include "generate/encoders/encoding_task.hpp"

namespace lapilli::api {

namespace {

// Refuses options that are for models that write.
Status refuse(const CallOptions& given_options) {
  const lapilli_options& o = given_options.general;
  const auto given = [](const char* text) { return text && *text; };
  const char* field = o.decoder_prompt.ids         ? "lapilli_options.decoder_prompt"
                      : o.num_return_sequences > 1 ? "lapilli_options.num_return_sequences"
                      : o.keep_attention != 0      ? "lapilli_options.keep_attention"
                      : given(o.source_language)   ? "lapilli_options.source_language"
                      : given(o.target_language)   ? "lapilli_options.target_language"
                                                   : given_options.speech_field();
  if (o.num_beams != LAPILLI_MODEL_DEFAULT) field = "lapilli_options.num_beams";
  if (o.json && *o.json) field = "lapilli_options.json";
  if (!field) field = given_options.picture_field();
  if (!field) return {};
  return fail(ErrorCode::invalid_argument, "%s is not for models that make vectors or classes of texts", field);
}

// Refuses what is for the other kind of encoder.
Status check_kind(const CallOptions& from, bool classifies) {
  const std::string_view task = from.general.task ? from.general.task : "";
  const bool suits =
      task.empty() || (classifies ? task == "classify" : task == "embed" || task == "query" || task == "document");
  if (!suits)
    return fail(ErrorCode::unsupported, "lapilli_options.task is \"%s\", and the model %s", task,
                classifies ? "gives classes of texts: \"classify\", or none"
                           : "makes vectors of texts: \"embed\", \"query\", \"document\" or none");
  const lapilli_encoder_options& e = from.encoder;
  const bool other = classifies ? e.dimensions != 0 || e.normalize != 0
                                : e.top_classes != lapilli_default_encoder_options().top_classes;
  if (!other) return {};
  return fail(ErrorCode::invalid_argument, "lapilli_encoder_options: %s, and the model %s",
              classifies ? "dimensions and normalize are for vectors" : "top_classes is for classifiers",
              classifies ? "gives classes" : "makes vectors");
}

Result<PromptChoice> prompt_of(const WorkRequest& from) {
  const lapilli_options& o = from.options.general;
  const char* name = from.options.encoder.prompt_name;
  const std::string_view task = o.task ? o.task : "";
  PromptChoice choice;
  const bool by_task = task == "query" || task == "document";
  if (by_task) choice = prompt_for(*from.front->sentences, task);
  if (name && *name) choice = {std::nullopt, name};
  if (o.prompt) choice.text = o.prompt;
  return choice;
}

// Common to both kinds: texts are encoded here, and the task returns numbers for each.
class Encodings : public Work {
 public:
  [[nodiscard]] Task& task() const override { return *task_; }

  Result<WorkOutput> take() override {
    LAPILLI_CHECK(Status(task_->status()));
    WorkOutput out;
    const TaskProgress progress = task_->progress();
    out.text.cancelled = progress.done < progress.total;
    out.text.stats = stats_of(task_->stats(), 0, ms_since(started_));
    out.text.stats.source_tokens = progress.tokens;
    for (size_t i = 0; i < results_.size(); ++i) {
      tell_end(i);
      out.text.outputs.push_back(output_of(results_[i]));
      out.classes.push_back(results_[i].classes);
    }
    out.encoded = std::move(results_);
    return out;
  }

 protected:
  Status begin(WorkRequest from, model::HeadKind head) {
    LAPILLI_CHECK(refuse(from.options));
    LAPILLI_CHECK(check_kind(from.options, head != model::HeadKind::sentences));
    LAPILLI_CHECK(check_head(from.model->on_device().config(), head));
    LAPILLI_TRY(const auto prompt, prompt_of(from));
    LAPILLI_TRY(encoder_, TextEncoder::make(*from.model, *from.front->sentences, prompt));
    options_ = from.options.encoder;
    inputs_ = std::move(from.inputs);
    sinks_ = std::move(from.sinks);
    reported_.resize(inputs_.size());
    results_.resize(inputs_.size());
    for (auto& r : results_) r.status = fail(ErrorCode::cancelled, "cancelled before it was finished");
    LAPILLI_TRY(task_, EncodingTask::start(from.model, request_for(from, head)));
    return {};
  }

  // Turns the numbers of input `i` into its result.
  virtual Status use(size_t i, std::vector<float> numbers) = 0;
  [[nodiscard]] EncodedInput& result(size_t i) { return results_[i]; }
  [[nodiscard]] const lapilli_encoder_options& options() const { return options_; }

 private:
  EncodingRequest request_for(const WorkRequest& from, model::HeadKind head) {
    EncodingRequest request;
    request.sources = inputs_.size();
    request.head = head;
    request.source = [this](size_t i) { return source_of(i); };
    request.on_result = [this](size_t i, Result<std::vector<float>> numbers) { keep(i, std::move(numbers)); };
    request.most_ids = encoder_->most_ids();
    request.prompt_rows = encoder_->prompt_rows();
    request.batch = from.options.general.batch;
    request.deterministic = from.options.general.deterministic != 0;
    return request;
  }

  Result<EncodedText> source_of(size_t i) {
    const Input& input = inputs_[i];
    LAPILLI_TRY(auto text, input.kind == LAPILLI_INPUT_IDS ? encoder_->encode(input.ids)
                                                           : encoder_->encode(input.text, input.pair));
    results_[i].tokens = static_cast<uint32_t>(text.ids.size());
    results_[i].cut = text.cut;
    return text;
  }

  void keep(size_t i, Result<std::vector<float>> numbers) {
    results_[i].status = numbers ? checked(i, std::move(*numbers)) : Status(std::move(numbers).error());
    tell_end(i);
  }

  Status checked(size_t i, std::vector<float> numbers) {
    for (const float number : numbers)
      if (!std::isfinite(number))
        return fail(ErrorCode::invalid_data,
                    "the model gives numbers for this text that are not finite; a dtype of more range may hold them "
                    "(fp32)");
    return use(i, std::move(numbers));
  }

  // Reports only once.
  void tell_end(size_t i) {
    if (sinks_.input_ended && !reported_[i]) sinks_.input_ended(i, results_[i].status);
    reported_[i] = true;
  }

  static TextOutput output_of(const EncodedInput& result) {
    TextOutput out;
    out.status = result.status;
    if (!out.status) return out;
    const bool classified = !result.classes.empty();
    out.sequences.push_back(sequence_of(classified ? result.classes.front().label : "", {}, {}, Finish::stop));
    if (classified) out.sequences.back().score = static_cast<float>(result.classes.front().score);
    return out;
  }

  std::optional<TextEncoder> encoder_;
  lapilli_encoder_options options_{};
  std::vector<Input> inputs_;
  WorkSinks sinks_;
  std::vector<bool> reported_;
  std::vector<EncodedInput> results_;
  Clock::time_point started_ = Clock::now();
  std::unique_ptr<EncodingTask> task_;
};

// ---- vectors -------------------------------------------------------------------------------------------------------

double length_of(const std::vector<float>& values) {
  double sum = 0;
  for (const float v : values) sum += double{v} * v;
  return std::sqrt(sum);
}

class Vectors : public Encodings {
 public:
  static Result<std::unique_ptr<Work>> start(WorkRequest from) {
    auto work = std::make_unique<Vectors>();
    const uint32_t width = embedding_width(from.model->on_device().config());
    const uint32_t wanted = from.options.encoder.dimensions;
    if (width != 0 && wanted > width)
      return fail(ErrorCode::invalid_argument,
                  "lapilli_encoder_options.dimensions is %u, and the model's vectors have %u numbers", wanted, width);
    for (const Input& input : from.inputs)
      if (input.pair) return fail(ErrorCode::invalid_argument, "a vector is made of one text, not of a pair");
    LAPILLI_CHECK(work->begin(std::move(from), model::HeadKind::sentences));
    return std::unique_ptr<Work>(std::move(work));
  }

 private:
  // Cuts before normalizing, so that the vector that remains has length 1.
  Status use(size_t i, std::vector<float> numbers) override {
    if (options().dimensions) numbers.resize(options().dimensions);
    const double length = options().normalize ? length_of(numbers) : 0;
    if (length > 0)
      for (float& v : numbers) v = static_cast<float>(v / length);
    result(i).vector = std::move(numbers);
    return {};
  }
};

// ---- classes -------------------------------------------------------------------------------------------------------

class Classes : public Encodings {
 public:
  static Result<std::unique_ptr<Work>> start(WorkRequest from) {
    auto work = std::make_unique<Classes>();
    work->settings_ = *from.front->classes;
    const bool regression = from.model->on_device().config().head(model::HeadKind::regression);
    LAPILLI_CHECK(work->begin(std::move(from), regression ? model::HeadKind::regression : model::HeadKind::classes));
    return std::unique_ptr<Work>(std::move(work));
  }

 private:
  Status use(size_t i, std::vector<float> numbers) override {
    result(i).classes = text_classes(numbers, options().top_classes, settings_);
    return {};
  }

  ClassSettings settings_;
};

}  // namespace

Result<std::unique_ptr<Work>> start_encoder(WorkRequest request) {
  return request.front->classes ? Classes::start(std::move(request)) : Vectors::start(std::move(request));
}

}  // namespace lapilli::api
