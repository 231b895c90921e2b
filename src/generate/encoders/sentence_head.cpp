#include "generate/encoders/sentence_head.hpp"

#include <algorithm>
#include <utility>

#include "formats/quote.hpp"
#include "model/causal_encoder.hpp"

namespace lapilli {

namespace {

Pooling pooling_of(SentencePooling from) {
  switch (from) {
    case SentencePooling::first: return Pooling::row;
    case SentencePooling::maximum: return Pooling::maximum;
    case SentencePooling::mean: return Pooling::mean;
    case SentencePooling::mean_sqrt: return Pooling::mean_sqrt;
    case SentencePooling::weighted_mean: return Pooling::ramp;
    case SentencePooling::last: break;
  }
  return Pooling::last;
}

Result<Activation> activation_of(const SentenceStep& step) {
  constexpr std::pair<const char*, Activation> kKnown[] = {
      {"Identity", Activation::none}, {"Tanh", Activation::tanh}, {"ReLU", Activation::relu},
      {"GELU", Activation::gelu_erf}, {"SiLU", Activation::silu}, {"Mish", Activation::mish},
      {"ReLU6", Activation::relu6}};
  for (const auto& [name, activation] : kKnown)
    if (step.activation == name) return activation;
  return fail(ErrorCode::unsupported, "%s/config.json: the activation %s is not supported", step.folder,
              quote_name(step.activation));
}

Result<model::SentenceStep> step_of(const SentenceStep& from, uint32_t width) {
  model::SentenceStep to;
  if (from.normalizes) return to;
  if (from.in_width != width)
    return fail(ErrorCode::invalid_data, "%s/config.json: in_features is %u, and the rows before it have %u columns",
                from.folder, from.in_width, width);
  to.columns = from.columns;
  to.bias = from.bias;
  LAPILLI_TRY(to.activation, activation_of(from));
  return to;
}

std::string prefix_of(const SentenceStep& step) { return step.folder + "."; }

Status set_steps(const SentenceModules& modules, uint32_t d_model, model::HeadConfig& head, model::HeadNames& names) {
  uint32_t width = d_model * static_cast<uint32_t>(modules.poolings.size());
  for (const SentenceStep& from : modules.steps) {
    LAPILLI_TRY(const auto step, step_of(from, width));
    if (step.columns) width = step.columns;
    head.steps.push_back(step);
    names.steps.push_back(from.normalizes ? "" : prefix_of(from) + "linear");
  }
  return {};
}

Status set_poolings(const SentenceModules& modules, uint32_t d_model, model::HeadConfig& head) {
  head.pooling = pooling_of(modules.poolings.front());
  for (size_t i = 1; i < modules.poolings.size(); ++i) head.beside.push_back(pooling_of(modules.poolings[i]));
  head.pools_prompt = modules.pools_prompt;
  if (head.beside.empty() || d_model % 4 == 0) return {};
  return fail(ErrorCode::unsupported, "several poolings of rows with %u columns are not supported", d_model);
}

// Heads that neither score classes nor anything else of a task.
bool is_bare(const model::Config& c) {
  return std::all_of(c.heads.begin(), c.heads.end(), [](const model::HeadConfig& head) {
    return head.kind == model::HeadKind::tokens || head.kind == model::HeadKind::vectors;
  });
}

}  // namespace

Status add_sentence_head(const std::optional<SentenceModules>& modules, model::Config& c, model::Names& names) {
  if (!c.kind().encodes && (modules || c.decoder.sees_ahead)) model::make_causal_encoder(c, names);
  const model::Kind kind = c.kind();
  if (kind.reads != model::Reads::ids || kind.decodes) return {};
  if (!modules && !is_bare(c)) return {};
  model::HeadConfig head;
  model::HeadNames head_names;
  head.kind = model::HeadKind::sentences;
  head.every_row = false;
  head.pooling = Pooling::mean;
  if (modules) {
    c.heads.clear();
    names.heads.clear();
    LAPILLI_CHECK(set_poolings(*modules, c.encoder.d_model, head));
    LAPILLI_CHECK(set_steps(*modules, c.encoder.d_model, head, head_names));
  }
  names.heads.resize(c.heads.size());
  c.heads.push_back(std::move(head));
  names.heads.push_back(std::move(head_names));
  return {};
}

Status join_sentence_weights(const Files& files, const SentenceModules& modules, Checkpoint& checkpoint) {
  for (const SentenceStep& step : modules.steps) {
    if (step.normalizes) continue;
    LAPILLI_TRY(auto weights, Checkpoint::open(files.below(step.folder)));
    checkpoint.join(std::move(weights), prefix_of(step));
  }
  return {};
}

}  // namespace lapilli
