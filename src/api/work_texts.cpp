// Texts and ids, by a TranslationJob.
#include "api/handles.hpp"
#include "api/work.hpp"

namespace lapilli::api {

namespace {

class Texts : public Work {
 public:
  explicit Texts(std::unique_ptr<TranslationJob> job) : job_(std::move(job)) {}
  bool pump(double budget_us) override { return job_->pump(budget_us); }
  void rest() override { job_->rest(); }
  void cancel() override { job_->cancel(); }
  [[nodiscard]] WorkProgress progress() const override { return {job_->done(), job_->total(), job_->tokens()}; }
  [[nodiscard]] const Status& status() const override { return job_->status(); }
  Result<WorkOutput> take() override {
    WorkOutput out;
    LAPILLI_TRY(out.text, job_->take());
    return out;
  }
  [[nodiscard]] bool is_interrupted() const override { return job_->is_interrupted(); }
  Status resume(const std::shared_ptr<Model>& model, const FrontEnd&) override { return job_->resume(model); }
  Status abandon() override { return job_->abandon(); }

 private:
  std::unique_ptr<TranslationJob> job_;
};

Result<TranslateRequest> request_for(WorkRequest& from) {
  TranslateRequest to;
  for (const Input& input : from.inputs) {
    TextInput& text = to.inputs.emplace_back();
    text.text = input.text;
    text.ids = input.ids;
    text.has_ids = input.kind == LAPILLI_INPUT_IDS;
  }
  LAPILLI_CHECK(read_options(&from.options, to));
  to.stream = std::move(from.sinks.text);
  to.input_ended = std::move(from.sinks.input_ended);
  return to;
}

}  // namespace

Result<std::unique_ptr<Work>> start_texts(WorkRequest request) {
  LAPILLI_TRY(auto r, request_for(request));
  LAPILLI_TRY(auto job, TranslationJob::start(request.model, std::move(r)));
  return std::unique_ptr<Work>(std::make_unique<Texts>(std::move(job)));
}

Result<std::unique_ptr<Work>> prepare_texts(WorkRequest request, const JobShape& shape) {
  LAPILLI_TRY(auto r, request_for(request));
  LAPILLI_TRY(auto job, TranslationJob::prepare(request.model, std::move(r), shape));
  return std::unique_ptr<Work>(std::make_unique<Texts>(std::move(job)));
}

}  // namespace lapilli::api
