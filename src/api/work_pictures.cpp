// Pictures, by a PictureTask.
#include <cmath>

#include "api/handles.hpp"
#include "api/work.hpp"
#include "base/clock.hpp"
#include "generate/picture_task.hpp"

namespace lapilli::api {

namespace {

class Pictures : public Work {
 public:
  static Result<std::unique_ptr<Work>> start(WorkRequest from) {
    auto work = std::make_unique<Pictures>();
    work->inputs_ = std::move(from.inputs);
    work->sinks_ = std::move(from.sinks);
    work->reported_.resize(work->inputs_.size());
    if (from.options.general.keep_attention != 0) work->overlay_inputs_.resize(work->inputs_.size());
    PictureTaskRequest request;
    LAPILLI_TRY(request.options, options_of(from));
    request.pictures = work->inputs_.size();
    request.source = [w = work.get()](const PictureReader& reader, size_t i) { return w->timed_source(reader, i); };
    request.on_result = [w = work.get()](size_t i, const PictureResult& result) { w->tell(i, result); };
    auto reader = std::make_shared<const PictureReader>(from.model, *from.front->pictures);
    LAPILLI_TRY(work->job_, PictureTask::start(std::move(reader), std::move(request)));
    return std::unique_ptr<Work>(std::move(work));
  }

  [[nodiscard]] Task& task() const override { return *job_; }

  Result<WorkOutput> take() override {
    LAPILLI_CHECK(Status(job_->status()));
    WorkOutput out;
    const TaskProgress progress = job_->progress();
    out.text.cancelled = progress.done < progress.total;
    out.text.stats = stats_of(job_->stats(), progress.tokens, ms_since(started_));
    out.read_ms = read_ms_;
    auto results = job_->take();
    for (size_t i = 0; i < results.size(); ++i) {
      tell_end(i, results[i].status);
      out.classes.push_back(std::move(results[i].classes));
      if (!overlay_inputs_.empty() && overlay_inputs_[i]) overlay_inputs_[i]->start = results[i].start;
      out.text.outputs.push_back(output_of(results[i], out.classes.back()));
    }
    out.overlay_inputs = std::move(overlay_inputs_);
    return out;
  }

 private:
  static Status refuse(const CallOptions& given_options) {
    const lapilli_options& o = given_options.general;
    const auto given = [](const char* text) { return text && *text; };
    const char* field = o.decoder_prompt.ids         ? "lapilli_options.decoder_prompt"
                        : o.num_return_sequences > 1 ? "lapilli_options.num_return_sequences"
                        : given(o.task) && std::string_view(o.task) != "generate" ? "lapilli_options.task"
                        : given(o.source_language)                                ? "lapilli_options.source_language"
                        : given(o.target_language)                                ? "lapilli_options.target_language"
                                                                                  : given_options.speech_field();
    if (!field) return {};
    return fail(ErrorCode::invalid_argument, "%s is not for models that read pictures%s", field,
                o.decoder_prompt.ids ? "; lapilli_options.prompt sets the beginning of the answer" : "");
  }

  static Result<PictureOptions> options_of(const WorkRequest& from) {
    const lapilli_options& o = from.options.general;
    LAPILLI_CHECK(refuse(from.options));
    PictureOptions to;
    LAPILLI_CHECK(read_generation(o, to.generation));
    if (o.prompt) to.prompt = o.prompt;
    to.top = from.options.picture.classes;
    to.batch = o.batch;
    to.steps_in_flight = o.steps_in_flight;
    to.deterministic = o.deterministic != 0;
    return to;
  }

  using Source = Result<std::shared_ptr<const model::Features>>;
  Source timed_source(const PictureReader& reader, size_t i) {
    const auto since = Clock::now();
    auto source = source_of(reader, i);
    read_ms_ += ms_since(since);
    return source;
  }

  // Errors in a file name it.
  Source source_of(const PictureReader& reader, size_t i) {
    const Input& input = inputs_[i];
    if (input.kind == LAPILLI_INPUT_PIXELS) return prepared_source(reader, picture_of(input.pixels), i);
    const std::string file(input.text);
    LAPILLI_TRY(const auto picture, image::read_picture(file));
    auto source = prepared_source(reader, picture, i);
    if (!source && concerns_one(source.error())) return std::move(source).error().in(file);
    return source;
  }

  Source prepared_source(const PictureReader& reader, const image::Picture& picture, size_t i) {
    LAPILLI_TRY(auto prepared, reader.prepared(picture));
    auto source = reader.source_of(prepared);
    if (!overlay_inputs_.empty())
      overlay_inputs_[i] = OverlayInput{{std::move(prepared), {picture.height, picture.width}}, 0};
    return source;
  }

  // Reports the text as in the result; it arrives as a whole.
  void tell(size_t i, const PictureResult& result) {
    const std::string& text = result.classes.empty() ? result.text : result.classes.front().label;
    const bool something = result.status && (!text.empty() || !result.ids.empty());
    if (something && sinks_.text && !sinks_.text(i, text, result.ids)) job_->cancel();
    tell_end(i, result.status);
  }

  // Reports only once.
  void tell_end(size_t i, const Status& status) {
    if (sinks_.input_ended && !reported_[i]) sinks_.input_ended(i, status);
    reported_[i] = true;
  }

  static TextOutput output_of(PictureResult& result, const std::vector<ScoredClass>& classes) {
    TextOutput out;
    out.status = std::move(result.status);
    if (!out.status) return out;
    if (!classes.empty()) result.text = classes.front().label;
    out.sequences.push_back(
        sequence_of(std::move(result.text), std::move(result.ids), std::move(result.token_scores), result.finish));
    out.sequences.back().score =
        static_cast<float>(classes.empty() ? result.score : std::log(classes.front().probability));
    return out;
  }

  std::vector<Input> inputs_;
  WorkSinks sinks_;
  std::vector<bool> reported_;
  std::vector<std::optional<OverlayInput>> overlay_inputs_;  // by input, for drawing; may be empty
  double read_ms_ = 0;
  Clock::time_point started_ = Clock::now();
  std::unique_ptr<PictureTask> job_;
};

}  // namespace

Result<std::unique_ptr<Work>> start_pictures(WorkRequest request) { return Pictures::start(std::move(request)); }

}  // namespace lapilli::api
