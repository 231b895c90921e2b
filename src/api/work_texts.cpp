// Texts and ids, by a TranslationTask.
#include "api/handles.hpp"
#include "api/work.hpp"

namespace lapilli::api {

namespace {

class Texts : public Work {
 public:
  explicit Texts(std::unique_ptr<TranslationTask> job) : job_(std::move(job)) {}
  [[nodiscard]] Task& task() const override { return *job_; }
  Result<WorkOutput> take() override {
    WorkOutput out;
    LAPILLI_TRY(out.text, job_->take());
    return out;
  }

 private:
  std::unique_ptr<TranslationTask> job_;
};

Result<TranslateRequest> request_for(WorkRequest& from) {
  TranslateRequest to;
  for (const Input& input : from.inputs) {
    if (input.pair)
      return fail(ErrorCode::invalid_argument, "models that write text read one text, not a pair (lapilli_input.pair)");
    TextInput& text = to.inputs.emplace_back();
    text.text = input.text;
    text.ids = input.ids;
    text.has_ids = input.kind == LAPILLI_INPUT_IDS;
  }
  LAPILLI_CHECK(read_options(from.options, to));
  const bool prompted = to.chat || to.task.task == TextTask::translate;
  if (prompted && from.front) LAPILLI_CHECK(Status(from.front->status));
  if (from.front) to.chat_template = from.front->chat;
  to.stream = std::move(from.sinks.text);
  to.input_ended = std::move(from.sinks.input_ended);
  return to;
}

}  // namespace

Result<std::unique_ptr<Work>> start_texts(WorkRequest request) {
  LAPILLI_TRY(auto r, request_for(request));
  LAPILLI_TRY(auto job, TranslationTask::start(request.model, std::move(r)));
  return std::unique_ptr<Work>(std::make_unique<Texts>(std::move(job)));
}

Result<std::unique_ptr<Work>> prepare_texts(WorkRequest request, const JobShape& shape) {
  LAPILLI_TRY(auto r, request_for(request));
  LAPILLI_TRY(auto job, TranslationTask::prepare(request.model, std::move(r), shape));
  return std::unique_ptr<Work>(std::make_unique<Texts>(std::move(job)));
}

}  // namespace lapilli::api
