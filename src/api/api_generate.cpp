// The C interface: generation and its results.
#include "api/handles.hpp"
#include "api/job.hpp"

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Result;
using lapilli::Status;
using lapilli::api::guarded;

// Signal handlers may cancel.
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

// The internal enum matches the interface's numbers.
static_assert(static_cast<int32_t>(lapilli::Finish::stop) == LAPILLI_FINISH_STOP &&
              static_cast<int32_t>(lapilli::Finish::length) == LAPILLI_FINISH_LENGTH &&
              static_cast<int32_t>(lapilli::Finish::kept) == LAPILLI_FINISH_KEPT);

namespace {

Result<const lapilli::TextSequence*> find_sequence(const lapilli_result* result, size_t input, size_t sequence,
                                                   const char* function) {
  if (!result) return fail(ErrorCode::invalid_argument, "%s: result is null", function);
  const auto& outputs = result->output.outputs;
  if (input >= outputs.size()) {
    return fail(ErrorCode::invalid_argument, "%s: input %u of %u", function, input, outputs.size());
  }
  const lapilli::TextOutput& from = outputs[input];
  if (!from.status) return from.status.error();
  if (sequence >= from.sequences.size()) {
    return fail(ErrorCode::invalid_argument, "%s: sequence %u of %u", function, sequence, from.sequences.size());
  }
  return &from.sequences[sequence];
}

}  // namespace

extern "C" {

lapilli_status lapilli_generate(lapilli_model* model, const lapilli_input* inputs, size_t count,
                                const lapilli_options* options, lapilli_result** result) {
  if (result) *result = nullptr;
  return guarded([&]() -> Status {
    if (!result) return fail(ErrorCode::invalid_argument, "lapilli_generate: result is null");
    LAPILLI_TRY(const auto job, lapilli::api::Job::start({"lapilli_generate", model, inputs, count, options}));
    while (!job->pump()) job->wait();
    job->keep();
    return job->take(result);
  });
}

void lapilli_cancel(lapilli_model* model) {
  if (model) model->cancellations->fetch_add(1);
}

lapilli_status lapilli_cancel_token_create(lapilli_cancel_token** token) {
  if (token) *token = nullptr;
  return guarded([&]() -> Status {
    if (!token) return fail(ErrorCode::invalid_argument, "lapilli_cancel_token_create: token is null");
    *token = new lapilli_cancel_token;
    return {};
  });
}

void lapilli_cancel_token_cancel(lapilli_cancel_token* token) {
  if (token) token->cancelled->store(true);
}

int32_t lapilli_cancel_token_cancelled(const lapilli_cancel_token* token) {
  return token && token->cancelled->load() ? 1 : 0;
}

void lapilli_cancel_token_free(lapilli_cancel_token* token) { delete token; }

lapilli_status lapilli_result_get(const lapilli_result* result, size_t input, size_t sequence, lapilli_sequence* out) {
  return guarded([&]() -> Status {
    LAPILLI_TRY(const lapilli::TextSequence* found, find_sequence(result, input, sequence, "lapilli_result_get"));
    lapilli_sequence to{};
    to.sequences = static_cast<uint32_t>(result->output.outputs[input].sequences.size());
    to.text = found->text.c_str();
    to.text_bytes = found->text.size();
    to.ids = {found->ids.data(), found->ids.size()};
    to.score = found->score;
    to.token_scores = found->token_scores.data();
    to.parts = found->parts.size();
    to.finish = static_cast<int32_t>(found->finish);
    to.repeats = found->repeats ? 1 : 0;
    to.word_tokens = result->output.outputs[input].word_tokens;
    to.unknown_tokens = result->output.outputs[input].unknown_tokens;
    to.lost_address = found->lost_address.empty() ? nullptr : found->lost_address.c_str();
    return lapilli::api::write_struct(to, out, "lapilli_sequence");
  });
}

lapilli_status lapilli_result_get_part(const lapilli_result* result, size_t input, size_t sequence, size_t part,
                                       lapilli_part* out) {
  return guarded([&]() -> Status {
    LAPILLI_TRY(const lapilli::TextSequence* found, find_sequence(result, input, sequence, "lapilli_result_get_part"));
    if (part >= found->parts.size()) {
      return fail(ErrorCode::invalid_argument, "lapilli_result_get_part: part %u of %u", part, found->parts.size());
    }
    const lapilli::SequencePart& from = found->parts[part];
    const bool whole = found->parts.size() == 1;
    const std::string& text = whole ? found->text : from.text;
    const std::vector<int32_t>& ids = whole ? found->ids : from.ids;
    lapilli_part to{};
    to.score = whole ? found->score : from.score;
    to.text = text.c_str();
    to.text_bytes = text.size();
    to.ids = {ids.data(), ids.size()};
    to.source_begin = from.source.begin;
    to.source_end = from.source.end;
    to.target_begin = from.target.begin;
    to.target_end = from.target.end;
    to.finish = static_cast<int32_t>(from.finish);
    to.repeats = from.repeats ? 1 : 0;
    return lapilli::api::write_struct(to, out, "lapilli_part");
  });
}

lapilli_status lapilli_result_get_stats(const lapilli_result* result, lapilli_stats* stats) {
  return guarded([&]() -> Status {
    if (!result) return fail(ErrorCode::invalid_argument, "lapilli_result_get_stats: result is null");
    return lapilli::api::write_struct(result->stats, stats, "lapilli_stats");
  });
}

void lapilli_result_free(lapilli_result* result) { delete result; }

}  // extern "C"
