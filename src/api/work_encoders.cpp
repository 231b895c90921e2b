// Vectors and classes of texts, and the choice of an encoder's task.
#include <algorithm>
#include <cmath>
#include <limits>

#include "api/encodings.hpp"
#include "api/handles.hpp"
#include "base/log.hpp"
#include "formats/quote.hpp"
#include "generate/encoders/zero_shot.hpp"
#include "generate/verbs.hpp"
#include "text/unicode/utf8.hpp"

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

// ---- labels of the caller ------------------------------------------------------------------------------------------

class ByLabels : public Encodings {
 public:
  static Result<std::unique_ptr<Work>> start(WorkRequest from) {
    auto work = std::make_unique<ByLabels>();
    LAPILLI_CHECK(work->read(from));
    LAPILLI_CHECK(work->begin(std::move(from), kByLabels, model::HeadKind::classes));
    return std::unique_ptr<Work>(std::move(work));
  }

 private:
  Status read(const WorkRequest& from) {
    const lapilli_encoder_options& o = from.options.encoder;
    const auto text = [](const char* given) { return std::string_view(given ? given : ""); };
    if (!o.labels) return fail(ErrorCode::invalid_argument, "lapilli_encoder_options.labels is null");
    LAPILLI_CHECK(check_head(from.model->on_device().config(), model::HeadKind::classes));
    if (from.front->classes) {
      LAPILLI_TRY(columns_, find_entailment(from.front->classes->labels, text(o.entailment)));
    }
    LAPILLI_CHECK(read_labels(o));
    const std::string_view pattern = text(o.hypothesis).empty() ? kHypothesis : text(o.hypothesis);
    for (const std::string& label : labels_) {
      LAPILLI_TRY(hypotheses_.emplace_back(), hypothesis_of(pattern, label));
    }
    for (const Input& input : from.inputs)
      if (input.pair || input.kind == LAPILLI_INPUT_IDS)
        return fail(ErrorCode::invalid_argument, "labels of the caller are for texts, not for pairs or ids");
    return {};
  }

  Status read_labels(const lapilli_encoder_options& o) {
    std::vector<std::string> given;
    for (size_t i = 0; i < o.label_count; ++i) {
      if (!o.labels[i]) return fail(ErrorCode::invalid_argument, "lapilli_encoder_options.labels[%u] is null", i);
      LAPILLI_CHECK(check_utf8(o.labels[i], format("label %u", i)));
      given.emplace_back(o.labels[i]);
    }
    LAPILLI_TRY(auto candidates, check_candidates(given));
    for (const std::string& label : candidates.repeated)
      log(LogLevel::note, "the label " + quote_name(label) + " is there twice and counts once");
    labels_ = std::move(candidates.labels);
    return {};
  }

  // The text with the hypothesis of each label.
  Result<std::vector<EncodedText>> texts_of(size_t i) override {
    std::vector<EncodedText> texts;
    for (const std::string& hypothesis : hypotheses_) {
      LAPILLI_TRY(auto text, encoder().encode(input(i).text, hypothesis, Truncate::only_first));
      result(i).cut = result(i).cut || text.cut;
      result(i).tokens = std::max(result(i).tokens, static_cast<uint32_t>(text.ids.size()));
      texts.push_back(std::move(text));
    }
    return texts;
  }

  Status use(size_t i, HeadNumbers numbers) override {
    const auto scores = score_labels(labels_, numbers, columns_, options().multi_label != 0);
    for (const LabelScore& from : scores) {
      if (result(i).classes.size() == options().top_classes) break;
      ScoredClass& to = result(i).classes.emplace_back();
      to.index = static_cast<uint32_t>(std::ranges::find(labels_, from.label) - labels_.begin());
      to.label = from.label;
      to.probability = to.published = from.score;
      to.score = std::log(std::max(from.score, std::numeric_limits<double>::min()));
    }
    return {};
  }

  Entailment columns_;
  std::vector<std::string> labels_, hypotheses_;
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

Result<std::unique_ptr<Work>> start_by_labels(WorkRequest request) { return ByLabels::start(std::move(request)); }

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
