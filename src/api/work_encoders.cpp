// Vectors and classes of texts, and the choice of an encoder's task.
#include <cmath>

#include "api/encodings.hpp"
#include "api/handles.hpp"
#include "generate/verbs.hpp"

namespace lapilli::api {

namespace {

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
    LAPILLI_CHECK(work->begin(std::move(from), kEmbed, model::HeadKind::sentences));
    return std::unique_ptr<Work>(std::move(work));
  }

 private:
  // Cuts before normalizing, so that the vector that remains has length 1.
  Status use(size_t i, HeadNumbers all) override {
    std::vector<float> numbers = std::move(all.front());
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
    const model::Config& config = from.model->on_device().config();
    const model::HeadConfig* head = scores_of_texts(config);
    if (from.front->classes) work->settings_ = *from.front->classes;
    const auto kind = head ? head->kind : model::HeadKind::classes;
    LAPILLI_CHECK(work->begin(std::move(from), kClassify, kind));
    return std::unique_ptr<Work>(std::move(work));
  }

 private:
  Status use(size_t i, HeadNumbers numbers) override {
    result(i).classes = text_classes(numbers.front(), options().top_classes, settings_);
    return {};
  }

  ClassSettings settings_;
};

// ---- the task ------------------------------------------------------------------------------------------------------

// The task that the model's head is for.
std::string_view task_of(const model::Config& c) {
  if (scores_of_texts(c)) return "classify";
  if (c.head(model::HeadKind::tags)) return "tag";
  if (c.head(model::HeadKind::spans)) return "answer";
  return c.head(model::HeadKind::sentences) ? "embed" : "fill";
}

}  // namespace

Result<std::unique_ptr<Work>> start_encoder(WorkRequest request) {
  const char* given = request.options.general.task;
  const std::string_view task = given && *given ? given : task_of(request.model->on_device().config());
  if (task == "classify")
    return request.options.encoder.label_count ? start_by_labels(std::move(request))
                                               : Classes::start(std::move(request));
  if (task == "tag") return start_tags(std::move(request));
  if (task == "answer") return start_answers(std::move(request));
  if (task == "fill") return start_fills(std::move(request));
  if (task == "embed" || task == "query" || task == "document") return Vectors::start(std::move(request));
  return fail(ErrorCode::unsupported,
              "lapilli_options.task is \"%s\", and the model is an encoder of texts, whose tasks are \"classify\", "
              "\"tag\", \"answer\", \"fill\", \"embed\", \"query\" and \"document\"; what serves this one: %s",
              task, verbs_for(request.model->on_device().config()));
}

}  // namespace lapilli::api
