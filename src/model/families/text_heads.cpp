#include "model/families/text_heads.hpp"

#include <string_view>

#include "formats/quote.hpp"

namespace lapilli::model {

namespace {

// Endings of the reference's names of classes.
constexpr std::string_view kBare = "Model", kMasked = "ForMaskedLM", kPreTraining = "ForPreTraining",
                           kSources = "ForSequenceClassification", kRows = "ForTokenClassification",
                           kSpans = "ForQuestionAnswering";
constexpr std::string_view kEndings[] = {kBare, kMasked, kPreTraining, kSources, kRows, kSpans};

// Does a name of this family's classes begin so?
bool is_beginning(const TextHeads& heads, const std::string& name) {
  return (' ' + std::string(heads.classes) + ' ').find(' ' + name + ' ') != std::string::npos;
}

Failure unknown_class(const JsonView& v, const std::string& name, const TextHeads& heads) {
  const std::string all = heads.classes, first = all.substr(0, all.find(' '));
  return fail(ErrorCode::unsupported,
              "%s: %s is not supported; %sModel is, and %sFor... MaskedLM, SequenceClassification, TokenClassification "
              "and QuestionAnswering",
              v.where, quote_name(name, 60), first, first);
}

// The ending of the class's name.
Result<std::string_view> class_ending(const JsonView& v, const TextHeads& heads) {
  const std::string name = architecture(v);
  if (name.empty()) return kBare;
  for (const std::string_view ending : kEndings)
    if (name.ends_with(ending) && is_beginning(heads, name.substr(0, name.size() - ending.size())))
      return ending != kPreTraining ? ending : heads.pretrained_scores ? kMasked : kBare;
  return unknown_class(v, name, heads);
}

// The bare model's: the first row, through a pooler if the weights have one.
void set_pooler(const Config& c, const TextHeads& heads, HeadConfig& head) {
  head.kind = HeadKind::vectors;
  head.every_row = false;
  head.pooled = *heads.pooler ? c.encoder.d_model : 0;
  head.activation = heads.activation;
}

Status read_classification(const JsonView& v, const TextHeads& heads, const Config& c, HeadConfig& head) {
  LAPILLI_TRY(const auto problem, get_string(v, "problem_type", ""));
  head.kind = problem == "regression" ? HeadKind::regression : HeadKind::classes;
  head.every_row = false;
  head.pooled = *heads.dense ? c.encoder.d_model : 0;
  head.activation = heads.activation;
  LAPILLI_TRY(head.columns, count_labels(v));
  return {};
}

Status read_row_classification(const JsonView& v, HeadConfig& head) {
  head.kind = HeadKind::tags;
  LAPILLI_TRY(head.columns, count_labels(v));
  return {};
}

}  // namespace

Status read_text_head(const JsonView& v, const TextHeads& heads, Config& c) {
  LAPILLI_TRY(const auto ending, class_ending(v, heads));
  HeadConfig& head = c.heads.front();
  if (ending == kMasked) return read_id_scores(v, c);
  if (ending == kSources) return read_classification(v, heads, c, head);
  if (ending == kRows) return read_row_classification(v, head);
  if (ending == kBare) return set_pooler(c, heads, head), Status();
  head.kind = HeadKind::spans;
  head.columns = 2;
  return {};
}

HeadNames text_head_names(const Config& c, const TextHeads& heads) {
  const HeadConfig& head = c.heads.front();
  if (head.kind == HeadKind::vectors) return {heads.pooler, "", "", ""};
  if (head.kind == HeadKind::spans) return {"", "qa_outputs", "", ""};
  return head.every_row ? HeadNames{"", "classifier", "", ""} : HeadNames{heads.dense, heads.classifier, "", ""};
}

Status read_id_scores(const JsonView& v, Config& c) {
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  c.logits_bias = true;
  c.output_transform = true;
  c.output_activation = c.encoder.activation;
  return {};
}

void tie_encoder_output(Names& n) {
  n.output.push_back(n.encoder.embedding[0]);
  n.encoder.embedding.push_back(n.output[0]);
}

}  // namespace lapilli::model
