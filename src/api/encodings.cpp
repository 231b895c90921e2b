#include "api/encodings.hpp"

#include <cmath>

#include "api/handles.hpp"

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
  return fail(ErrorCode::invalid_argument, "%s is for models that write texts, and this one is an encoder alone",
              field);
}

const char* name_of(EncoderTask task) {
  switch (task) {
    case kEmbed: return "embed";
    case kClassify: return "classify";
    case kByLabels: return "classify, by labels";
    case kTag: return "tag";
    case kAnswer: return "answer";
    case kScore: return "score";
    case kFill: break;
  }
  return "fill";
}

Status refuse_other_tasks(const WorkRequest& from, EncoderTask task) {
  const CallOptions& given = from.options;
  const bool takes_prompt = task == kEmbed || (task == kClassify && from.model->on_device().config().encoder.causal);
  const char* prompt =
      given.general.prompt && *given.general.prompt && !takes_prompt ? "lapilli_options.prompt" : nullptr;
  const char* field = prompt ? prompt : given.encoder_field(task);
  if (!field) return {};
  return fail(ErrorCode::invalid_argument, "%s is not for this task, which is \"%s\"", field, name_of(task));
}

Result<PromptChoice> prompt_of(const WorkRequest& from, EncoderTask encoder_task) {
  const lapilli_options& o = from.options.general;
  const char* name = from.options.encoder.prompt_name;
  const std::string_view task = o.task ? o.task : "";
  PromptChoice choice;
  if (encoder_task != kEmbed && encoder_task != kClassify) choice.text = "";
  const bool by_task = task == "query" || task == "document";
  if (by_task) choice = prompt_for(*from.front->sentences, task);
  if (name && *name) choice = {std::nullopt, name};
  if (o.prompt) choice.text = o.prompt;
  return choice;
}

TextOutput output_of(const EncodedInput& result) {
  TextOutput out;
  out.status = result.status;
  if (!out.status) return out;
  const bool classified = !result.classes.empty();
  const std::string first = classified             ? result.classes.front().label
                            : result.spans.empty() ? ""
                                                   : result.spans[0].text;
  out.sequences.push_back(sequence_of(first, {}, {}, Finish::stop));
  if (classified) out.sequences.back().score = static_cast<float>(result.classes.front().score);
  return out;
}

bool is_finite(const HeadNumbers& numbers) {
  for (const auto& row : numbers)
    for (const float number : row)
      if (!std::isfinite(number)) return false;
  return true;
}

}  // namespace

Result<WorkOutput> Encodings::take() {
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

Status Encodings::begin(WorkRequest from, EncoderTask task, model::HeadKind head) {
  LAPILLI_CHECK(refuse(from.options));
  LAPILLI_CHECK(check_head(from.model->on_device().config(), head));
  LAPILLI_CHECK(refuse_other_tasks(from, task));
  LAPILLI_TRY(const auto prompt, prompt_of(from, task));
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

EncodingRequest Encodings::request_for(const WorkRequest& from, model::HeadKind head) {
  EncodingRequest request;
  request.sources = inputs_.size();
  request.head = head;
  request.source = [this](size_t i) { return source_of(i); };
  request.on_result = [this](size_t i, Result<HeadNumbers> numbers) { keep(i, std::move(numbers)); };
  request.most_ids = encoder_->most_ids();
  request.prompt_rows = encoder_->prompt_rows();
  request.batch = from.options.general.batch;
  request.deterministic = from.options.general.deterministic != 0;
  return request;
}

Result<std::vector<EncodedText>> Encodings::texts_of(size_t i) {
  const Input& from = inputs_[i];
  LAPILLI_TRY(auto text,
              from.kind == LAPILLI_INPUT_IDS ? encoder_->encode(from.ids) : encoder_->encode(from.text, from.pair));
  results_[i].tokens = static_cast<uint32_t>(text.ids.size());
  results_[i].cut = text.cut;
  return one_text(std::move(text));
}

Result<std::vector<EncodedText>> Encodings::source_of(size_t i) {
  auto texts = texts_of(i);
  if (texts) results_[i].windows = static_cast<uint32_t>(texts->size());
  return texts;
}

void Encodings::keep(size_t i, Result<HeadNumbers> numbers) {
  results_[i].status = numbers ? checked(i, std::move(*numbers)) : Status(std::move(numbers).error());
  forget(i);
  tell_end(i);
}

Status Encodings::checked(size_t i, HeadNumbers numbers) {
  if (is_finite(numbers)) return use(i, std::move(numbers));
  return fail(ErrorCode::invalid_data,
              "the model gives numbers for this text that are not finite; a dtype of more range may hold them (fp32, "
              "unless it runs in that already)");
}

// Reports only once.
void Encodings::tell_end(size_t i) {
  if (sinks_.input_ended && !reported_[i]) sinks_.input_ended(i, results_[i].status);
  reported_[i] = true;
}

}  // namespace lapilli::api
