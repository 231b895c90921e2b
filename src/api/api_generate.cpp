// The C interface: generation and its results.
#include "api/handles.hpp"

#if !defined(_WIN32)
#include <sys/resource.h>
#endif

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Result;
using lapilli::Status;
using lapilli::api::guarded;

// Signal handlers cancel.
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

// As the interface numbers them.
static_assert(static_cast<int32_t>(lapilli::Finish::end) == LAPILLI_FINISH_END &&
              static_cast<int32_t>(lapilli::Finish::length) == LAPILLI_FINISH_LENGTH &&
              static_cast<int32_t>(lapilli::Finish::kept) == LAPILLI_FINISH_KEPT);

namespace {

// Peak resident memory of the process in bytes; 0 where the system does not tell simply.
uint64_t host_bytes_peak() {
#if defined(_WIN32)
  return 0;
#else
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#if defined(__APPLE__)
  return static_cast<uint64_t>(usage.ru_maxrss);
#else
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
#endif
#endif
}

Status unknown_kind(size_t index, int32_t kind) {
  if (kind == 0) {
    return fail(ErrorCode::invalid_argument,
                "lapilli_generate: the kind of input %zu is not set; lapilli_text() and lapilli_tokens() make inputs",
                index);
  }
  // Of what later versions may bring, the names are settled (lapilli.h).
  const char* name = kind == 3 ? "audio" : kind == 4 ? "an image" : "of a kind that is not known";
  return fail(ErrorCode::unsupported,
              "lapilli_generate: input %zu is %s (%d); this version (%s) takes text (%d) and ids (%d)", index, name,
              kind, lapilli_version(), LAPILLI_INPUT_TEXT, LAPILLI_INPUT_IDS);
}

Result<lapilli::TextInput> read_input(size_t index, const lapilli_input& from) {
  lapilli::TextInput to;
  switch (from.kind) {
    case LAPILLI_INPUT_TEXT:
      if (!from.text) return fail(ErrorCode::invalid_argument, "lapilli_generate: text of input %zu is null", index);
      to.text = from.text_bytes == LAPILLI_ZERO_TERMINATED ? std::string_view(from.text)
                                                           : std::string_view(from.text, from.text_bytes);
      return to;
    case LAPILLI_INPUT_IDS:
      if (!from.ids.ids && from.ids.count != 0) {
        return fail(ErrorCode::invalid_argument, "lapilli_generate: ids of input %zu are at a null pointer", index);
      }
      to.has_ids = true;
      to.ids = {from.ids.ids, from.ids.count};
      return to;
    default: return unknown_kind(index, from.kind).error();
  }
}

Status read_inputs(const lapilli_input* inputs, size_t count, lapilli::TranslateRequest& request) {
  return lapilli::api::read_array(inputs, count, "lapilli_input",
                                  [&](size_t index, const lapilli_input& from) -> Status {
                                    LAPILLI_TRY(const auto input, read_input(index, from));
                                    request.inputs.push_back(input);
                                    return {};
                                  });
}

lapilli_stats collect_stats(const lapilli::Model& model, double load_ms, const lapilli::TranslateStats& from) {
  const auto counters = model.device()->counters();
  lapilli_stats to{};
  to.batches = from.batches;
  to.load_ms = load_ms;
  to.encode_ms = from.encode_ms;
  to.decode_ms = from.decode_ms;
  to.total_ms = from.total_ms;
  to.source_tokens = from.source_tokens;
  to.generated_tokens = from.generated_tokens;
  to.decoder_steps = from.decoder_steps;
  to.submissions = from.submissions;
  to.pipelines = counters.pipelines_created;
  to.device_bytes_peak = counters.device_bytes_peak;
  to.host_bytes_peak = host_bytes_peak();
  return to;
}

Result<const lapilli::TextSequence*> find_sequence(const lapilli_result* result, size_t input, size_t sequence,
                                                   const char* function) {
  if (!result) return fail(ErrorCode::invalid_argument, "%s: result is null", function);
  const auto& outputs = result->output.outputs;
  if (input >= outputs.size()) {
    return fail(ErrorCode::invalid_argument, "%s: input %zu of %zu", function, input, outputs.size());
  }
  const lapilli::TextOutput& from = outputs[input];
  if (!from.status) return from.status.error();
  if (sequence >= from.sequences.size()) {
    return fail(ErrorCode::invalid_argument, "%s: sequence %zu of %zu", function, sequence, from.sequences.size());
  }
  return &from.sequences[sequence];
}

}  // namespace

extern "C" {

lapilli_status lapilli_generate(lapilli_model* model, const lapilli_input* inputs, size_t count,
                                const lapilli_options* options, lapilli_result** result) {
  if (result) *result = nullptr;
  return guarded([&]() -> Status {
    if (!model) return fail(ErrorCode::invalid_argument, "lapilli_generate: model is null");
    if (!result) return fail(ErrorCode::invalid_argument, "lapilli_generate: result is null");
    lapilli::TranslateRequest request;
    LAPILLI_CHECK(read_inputs(inputs, count, request));
    LAPILLI_CHECK(lapilli::api::read_options(options, request));
    const auto cancellations = model->cancellations;
    const auto loaded = model->model;  // the model's handle may be freed while this runs
    request.progress = [asked = std::move(request.progress), cancellations, before = cancellations->load()](
                           uint64_t done, uint64_t total) {
      return cancellations->load() == before && (!asked || asked(done, total));
    };
    const double load_ms = model->load_ms;
    LAPILLI_TRY(auto output, lapilli::translate(loaded, request));
    auto handle = std::make_unique<lapilli_result>();
    handle->stats = collect_stats(*loaded, load_ms, output.stats);
    handle->output = std::move(output);
    for (const lapilli::TextInput& input : request.inputs) handle->sources.emplace_back(input.text);
    const bool cancelled = handle->output.cancelled;
    *result = handle.release();
    if (cancelled) return fail(ErrorCode::cancelled, "cancelled");
    return {};
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
    to.pieces = found->pieces.size();
    to.finish = static_cast<int32_t>(found->finish);
    to.repeats = found->repeats ? 1 : 0;
    to.word_tokens = result->output.outputs[input].word_tokens;
    to.unknown_tokens = result->output.outputs[input].unknown_tokens;
    to.lost_address = found->lost_address.empty() ? nullptr : found->lost_address.c_str();
    return lapilli::api::write_struct(to, out, "lapilli_sequence");
  });
}

lapilli_status lapilli_result_get_piece(const lapilli_result* result, size_t input, size_t sequence, size_t piece,
                                        lapilli_piece* out) {
  return guarded([&]() -> Status {
    LAPILLI_TRY(const lapilli::TextSequence* found, find_sequence(result, input, sequence, "lapilli_result_get_piece"));
    if (piece >= found->pieces.size()) {
      return fail(ErrorCode::invalid_argument, "lapilli_result_get_piece: piece %zu of %zu", piece,
                  found->pieces.size());
    }
    const lapilli::SequencePiece& from = found->pieces[piece];
    const bool whole = found->pieces.size() == 1;
    const std::string& text = whole ? found->text : from.text;
    const std::vector<int32_t>& ids = whole ? found->ids : from.ids;
    lapilli_piece to{};
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
    return lapilli::api::write_struct(to, out, "lapilli_piece");
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
