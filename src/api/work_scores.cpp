// Scores of given texts, by a ScoringTask.
#include <algorithm>
#include <cmath>

#include "api/handles.hpp"
#include "api/work.hpp"
#include "generate/scores/scoring_task.hpp"
#include "search/network_on_device.hpp"
#include "search/search_options.hpp"

namespace lapilli::api {

namespace {

// Refuses options of a search: nothing is searched.
Status refuse_search_options(const CallOptions& given_options) {
  const lapilli_options& o = given_options.general;
  const auto given = [](const char* text) { return text && *text; };
  const char* field = o.decoder_prompt.ids                        ? "lapilli_options.decoder_prompt"
                      : o.num_return_sequences > 1                ? "lapilli_options.num_return_sequences"
                      : o.num_beams != LAPILLI_MODEL_DEFAULT      ? "lapilli_options.num_beams"
                      : o.max_length != LAPILLI_MODEL_DEFAULT     ? "lapilli_options.max_length"
                      : o.max_new_tokens != LAPILLI_MODEL_DEFAULT ? "lapilli_options.max_new_tokens"
                      : o.min_length != LAPILLI_MODEL_DEFAULT     ? "lapilli_options.min_length"
                      : o.min_new_tokens != LAPILLI_MODEL_DEFAULT ? "lapilli_options.min_new_tokens"
                      : o.keep_attention != 0                     ? "lapilli_options.keep_attention"
                      : given(o.prompt)                           ? "lapilli_options.prompt"
                      : given(o.json)                             ? "lapilli_options.json"
                                                                  : given_options.speech_field();
  if (!field) field = given_options.picture_field();
  if (!field) field = given_options.encoder_field(kScore);
  if (!field) field = given_options.chat_field();
  if (!field) return {};
  return fail(ErrorCode::invalid_argument, "%s is not for the task \"score\", which writes nothing", field);
}

// The texts of the inputs as ids.
class ScoredTexts {
 public:
  static Result<ScoredTexts> make(const WorkRequest& from) {
    ScoredTexts texts;
    const Model& model = *from.model;
    const model::Config& c = model.on_device().config();
    texts.pairs_ = c.kind().encodes;
    texts.tokenizer_ = model.shared_tokenizer();
    texts.no_tokenizer_ = model.tokenizer_error();
    for (const Input& input : from.inputs) LAPILLI_CHECK(texts.check(input, c));
    if (texts.pairs_) {
      LAPILLI_TRY(const auto resolved, resolve_options(model.generation_config(), {}, c));
      texts.start_ = resolved.common().decoder_start;
    }
    const auto text = [](const char* given) { return std::string(given ? given : ""); };
    texts.source_language_ = text(from.options.general.source_language);
    texts.target_language_ = text(from.options.general.target_language);
    return texts;
  }

  [[nodiscard]] Result<TextToScore> of(const Input& input) const {
    if (input.kind == LAPILLI_INPUT_IDS) return of_ids(input.ids);
    if (!tokenizer_) return no_tokenizer_;
    return pairs_ ? of_pair(input.text, *input.pair) : of_text(input.text);
  }

 private:
  [[nodiscard]] Status check(const Input& input, const model::Config& c) const {
    if (pairs_ && !input.pair)
      return fail(ErrorCode::invalid_argument,
                  "%s models write one text for another: the task \"score\" takes pairs of a source and its target "
                  "(lapilli_pair)",
                  c.family);
    if (pairs_ || !input.pair) return {};
    return fail(ErrorCode::invalid_argument, "%s models have no encoder: the task \"score\" takes one text, not a pair",
                c.family);
  }

  [[nodiscard]] Result<TextToScore> of_ids(std::span<const int32_t> ids) const {
    TextToScore text;
    text.ids.assign(ids.begin(), ids.end());
    text.marked = tokenizer_ && !ids.empty() && ids.front() == tokenizer_->special().bos;
    return text;
  }

  [[nodiscard]] Result<TextToScore> of_text(std::string_view from) const {
    LAPILLI_TRY(const auto encoding, tokenizer_->encode_with_offsets(from));
    TextToScore text;
    text.ids = encoding.ids;
    text.marked = !encoding.texts.empty() && encoding.texts.front() < 0;
    return text;
  }

  [[nodiscard]] Result<TextToScore> of_pair(std::string_view source, std::string_view target) const {
    EncodeOptions options;
    options.source_language = source_language_;
    options.target_language = target_language_;
    TextToScore text;
    LAPILLI_TRY(text.source, tokenizer_->encode(source, options));
    options.side = TextSide::target;
    LAPILLI_TRY(text.ids, tokenizer_->encode(target, options));
    text.ids.insert(text.ids.begin(), start_);
    text.marked = true;
    return text;
  }

  bool pairs_ = false;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Error no_tokenizer_;
  int32_t start_ = kNoStart;
  std::string source_language_, target_language_;
};

// The result of a text.
struct ScoredInput {
  Status status;
  std::vector<int32_t> ids;
  std::vector<float> log_probabilities;
  uint32_t windows = 0;
};

class Scores : public Work {
 public:
  static Result<std::unique_ptr<Work>> start(WorkRequest from) {
    auto work = std::make_unique<Scores>();
    LAPILLI_CHECK(refuse_search_options(from.options));
    LAPILLI_TRY(work->texts_, ScoredTexts::make(from));
    work->has_start_ = from.model->on_device().config().kind().encodes;
    ScoringRequest request = work->request_for(from);
    work->inputs_ = std::move(from.inputs);
    work->sinks_ = std::move(from.sinks);
    work->results_.resize(work->inputs_.size());
    work->reported_.resize(work->inputs_.size());
    for (auto& r : work->results_) r.status = fail(ErrorCode::cancelled, "cancelled before it was finished");
    LAPILLI_TRY(work->task_, ScoringTask::start(from.model, std::move(request)));
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
    for (size_t i = 0; i < results_.size(); ++i) {
      tell_end(i);
      out.encoded.push_back(reading_of(results_[i]));
      out.text.outputs.push_back(output_of(i));
    }
    return out;
  }

 private:
  ScoringRequest request_for(const WorkRequest& from) {
    ScoringRequest request;
    request.texts = from.inputs.size();
    request.text = [this](size_t i) { return text_of(i); };
    request.on_result = [this](size_t i, Result<TextScores> scores) { keep(i, std::move(scores)); };
    request.windows = {from.options.encoder.window, from.options.encoder.stride};
    request.batch = from.options.general.batch;
    request.deterministic = from.options.general.deterministic != 0;
    return request;
  }

  Result<TextToScore> text_of(size_t i) {
    LAPILLI_TRY(auto text, texts_->of(inputs_[i]));
    results_[i].ids = text.ids;
    return text;
  }

  // An error if a score is no finite number: where the numbers of the network left their range.
  void keep(size_t i, Result<TextScores> scores) {
    ScoredInput& to = results_[i];
    to.status = scores ? Status() : Status(std::move(scores).error());
    if (to.status) {
      to.log_probabilities = std::move(scores->log_probabilities);
      to.windows = scores->windows;
      for (size_t k = 1; k < to.log_probabilities.size(); ++k)
        if (!std::isfinite(to.log_probabilities[k]))
          to.status = fail(ErrorCode::invalid_data,
                           "the model gives numbers for this text that are not finite; a dtype of more range may hold "
                           "them (fp32, unless it runs in that already)");
    }
    tell_end(i);
  }

  void tell_end(size_t i) {
    if (sinks_.input_ended && !reported_[i]) sinks_.input_ended(i, results_[i].status);
    reported_[i] = true;
  }

  static EncodedInput reading_of(const ScoredInput& from) {
    EncodedInput to;
    to.status = from.status;
    to.tokens = static_cast<uint32_t>(from.ids.size());
    to.windows = from.windows;
    return to;
  }

  // Without the start of a decoder behind an encoder.
  [[nodiscard]] TextOutput output_of(size_t i) {
    TextOutput out;
    ScoredInput& from = results_[i];
    out.status = from.status;
    if (!out.status) return out;
    if (has_start_) {
      from.ids.erase(from.ids.begin());
      from.log_probabilities.erase(from.log_probabilities.begin());
    }
    double sum = 0;
    for (const float score : from.log_probabilities)
      if (!std::isnan(score)) sum += double{score};
    const std::string_view text = inputs_[i].pair ? *inputs_[i].pair : inputs_[i].text;
    out.sequences.push_back(
        sequence_of(std::string(text), std::move(from.ids), std::move(from.log_probabilities), Finish::kept));
    out.sequences.back().score = static_cast<float>(sum);
    out.sequences.back().repeats = out.sequences.back().parts.front().repeats = false;  // nobody wrote it
    return out;
  }

  std::optional<ScoredTexts> texts_;
  bool has_start_ = false;
  std::vector<Input> inputs_;
  WorkSinks sinks_;
  std::vector<bool> reported_;
  std::vector<ScoredInput> results_;
  Clock::time_point started_ = Clock::now();
  std::unique_ptr<ScoringTask> task_;
};

}  // namespace

Result<std::unique_ptr<Work>> start_scores(WorkRequest request) { return Scores::start(std::move(request)); }

}  // namespace lapilli::api
