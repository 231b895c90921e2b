#include "generate/checked_request.hpp"

#include <algorithm>

#include "generate/verbs.hpp"
#include "ops/core/state.hpp"
#include "search/globals.hpp"
#include "search/network_on_device.hpp"

namespace lapilli {

namespace {

// More steps per submission gain nothing and delay every cancellation.
constexpr uint32_t kMaxStepsInFlight = 64;

// Fills in the ids of encoded sources if the request left them empty.
Status take_encoded(const Model& model, GenerateRequest& request) {
  if (request.encoded.empty()) return {};
  if (request.encoded.size() != request.sources.size())
    return fail(ErrorCode::invalid_argument, "%u encoded sources for %u sources", request.encoded.size(),
                request.sources.size());
  for (size_t i = 0; i < request.encoded.size(); ++i) {
    const auto& encoded = request.encoded[i];
    if (!encoded) continue;
    if (!encoded->belongs_to(model.on_device()))
      return fail(ErrorCode::invalid_argument, "source %u was encoded by another model", i);
    if (request.sources[i].empty()) request.sources[i] = encoded->ids();
    if (request.sources[i] != encoded->ids())
      return fail(ErrorCode::invalid_argument, "source %u has other ids than what was encoded", i);
  }
  return {};
}

// Prepends the decoder start if no row starts with it; the prompt of a decoder alone stays as it is.
Result<std::vector<std::vector<int32_t>>> complete_prompt(const model::Config& c, const GenerateRequest& request,
                                                          int32_t start) {
  auto given = request.decoder_ids;
  if (given.empty() && start == kNoStart) return fail(ErrorCode::invalid_argument, "%s models need a prompt", c.family);
  if (given.empty()) given.assign(request.sources.size(), {start});
  if (given.size() != request.sources.size())
    return fail(ErrorCode::invalid_argument, "decoder ids for %u of %u sources", given.size(), request.sources.size());
  bool none_starts = true;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].empty()) return fail(ErrorCode::invalid_argument, "source %u: its decoder ids are empty", i);
    none_starts = none_starts && given[i].front() != start;
  }
  if (none_starts && c.kind().encodes && !request.exact_decoder_ids)
    for (auto& row : given) row.insert(row.begin(), start);
  return given;
}

Status check_written(const GenerateRequest& request) {
  if (request.written.empty()) return {};
  if (request.written.size() != request.decoder_ids.size())
    return fail(ErrorCode::invalid_argument, "numbers of written ids for %u of %u sources", request.written.size(),
                request.decoder_ids.size());
  for (size_t i = 0; i < request.written.size(); ++i)
    if (request.written[i] >= request.decoder_ids[i].size())
      return fail(ErrorCode::invalid_argument, "source %u: %u of %u prompt ids are marked as written", i,
                  request.written[i], request.decoder_ids[i].size());
  return {};
}

// Rows whose logits are requested run once more, after all of the prompt: by then the rings of layers with windows have
// lost what an early row saw.
Status check_kept(const model::Config& c, size_t source, uint32_t at, size_t given) {
  if (c.decoder.windows.empty() || given - 1 - at < model::kMostPromptRows) return {};
  return fail(ErrorCode::unsupported,
              "source %u: logits at position %u of %u prompt ids; this model's layers see a window of positions, and "
              "only the last %u give logits",
              source, at, given, model::kMostPromptRows);
}

// A decoder with cells gives those of a whole prompt at once (Search::Impl::logits_rows).
Status check_whole_prompt(const model::Config& c, size_t source, const std::vector<uint32_t>& wanted, size_t given) {
  if (!c.decoder.cells || wanted.empty() || given <= kMostLogits) return {};
  return fail(ErrorCode::invalid_argument, "source %u: logits of %u prompt ids; this model gives those of at most %u",
              source, given, kMostLogits);
}

// Checks the positions of prompt ids whose logits are requested.
Status check_logits(const model::Config& c, const GenerateRequest& request) {
  const auto& given = request.decoder_ids;
  if (request.logits_at.empty()) return {};
  if (request.logits_at.size() != given.size())
    return fail(ErrorCode::invalid_argument, "positions of logits for %u of %u sources", request.logits_at.size(),
                given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const auto& wanted = request.logits_at[i];
    if (wanted.size() > kMostLogits)
      return fail(ErrorCode::invalid_argument, "source %u: logits at %u positions; at most %u are given out", i,
                  wanted.size(), kMostLogits);
    LAPILLI_CHECK(check_whole_prompt(c, i, wanted, given[i].size()));
    for (const uint32_t at : wanted) {
      if (at >= given[i].size())
        return fail(ErrorCode::invalid_argument, "source %u: logits at position %u of %u prompt ids", i, at,
                    given[i].size());
      LAPILLI_CHECK(check_kept(c, i, at, given[i].size()));
    }
  }
  return {};
}

// Gives each list of source properties an entry per source.
Status complete_lists(const model::Kind& kind, GenerateRequest& r) {
  size_t n = std::max({r.sources.size(), r.features.size(), r.encoded.size()});
  if (!kind.encodes) n = std::max(n, r.decoder_ids.size());
  if (n == 0) return fail(ErrorCode::invalid_argument, "no sources");
  if (r.sources.empty()) r.sources.resize(n);
  if (!r.features.empty() && r.features.size() != r.sources.size())
    return fail(ErrorCode::invalid_argument, "features for %u of %u sources", r.features.size(), r.sources.size());
  return {};
}

// Requires features or ids, as the model takes them. Returns the source's positions in the encoder.
Result<uint32_t> check_source(const model::Config& c, const GenerateRequest& r, size_t i) {
  const auto* features = r.features.empty() ? nullptr : r.features[i].get();
  if (!r.encoded.empty() && r.encoded[i]) return r.encoded[i]->positions();
  if (c.kind().reads == model::Reads::nothing) {
    if (!features && r.sources[i].empty() && !r.keep_encoded) return 0u;
    return fail(ErrorCode::invalid_argument, "source %u: %s models have no encoder; they continue prompts", i,
                c.family);
  }
  if (c.kind().reads == model::Reads::ids) {
    if (features) return fail(ErrorCode::invalid_argument, "source %u has features; %s models read ids", i, c.family);
    if (r.sources[i].empty()) return fail(ErrorCode::invalid_argument, "source %u has no ids", i);
    return static_cast<uint32_t>(r.sources[i].size());
  }
  if (!features || !r.sources[i].empty())
    return fail(ErrorCode::invalid_argument, "source %u: %s models take features of sound or pictures, not ids", i,
                c.family);
  return model::check_features(c, *features, format("source %u", i).c_str());
}

// Refuses options that depend on source ids if there are none.
Status check_options(const model::Config& c, const SearchOptions& options) {
  if (c.kind().reads == model::Reads::ids || !options.needs_source_ids()) return {};
  return fail(ErrorCode::unsupported,
              "encoder_no_repeat_ngram_size, encoder_repetition_penalty: sources of %s models are no ids", c.family);
}

template <class T>
std::vector<T> chosen(const std::vector<T>& all, std::span<const size_t> which) {
  std::vector<T> some;
  if (all.empty()) return some;
  for (const size_t i : which) some.push_back(all[i]);
  return some;
}

}  // namespace

Status check_rows(const std::vector<std::vector<int32_t>>& rows, uint32_t vocabulary, uint32_t positions,
                  const char* what) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (positions && rows[i].size() > positions)
      return fail(ErrorCode::invalid_argument, "%s %u has %u ids, the model has positions for %u; shorten or split it",
                  what, i, rows[i].size(), positions);
    for (const int32_t id : rows[i])
      if (id < 0 || static_cast<uint32_t>(id) >= vocabulary)
        return fail(ErrorCode::invalid_argument, "%s %u: id %d is outside the vocabulary of %u", what, i, id,
                    vocabulary);
  }
  return {};
}

Status CheckedRequest::check_sources(const Model& model) {
  const model::Config& c = model.on_device().config();
  LAPILLI_CHECK(check_writes_text(c));
  LAPILLI_CHECK(complete_lists(c.kind(), request_));
  LAPILLI_CHECK(take_encoded(model, request_));
  for (size_t i = 0; i < request_.sources.size(); ++i) {
    LAPILLI_TRY(const auto positions, check_source(c, request_, i));
    positions_.push_back(positions);
  }
  return check_rows(request_.sources, c.source_vocabulary, c.encoder.max_positions, "source");
}

Result<CheckedRequest> CheckedRequest::check(const Model& model, GenerateRequest request) {
  const model::Config& c = model.on_device().config();
  CheckedRequest checked(std::move(request));
  GenerateRequest& r = checked.request_;
  LAPILLI_CHECK(checked.check_sources(model));
  if (!r.sequences.empty() && r.sequences.size() != r.sources.size())
    return fail(ErrorCode::invalid_argument, "sequence numbers for %u of %u sources", r.sequences.size(),
                r.sources.size());
  if (r.steps_in_flight > kMaxStepsInFlight)
    return fail(ErrorCode::invalid_argument, "steps_in_flight: %u is more than %u", r.steps_in_flight,
                kMaxStepsInFlight);
  LAPILLI_CHECK(check_globals(c, r.sources, r.global_positions));
  if (!r.resolved) {
    LAPILLI_TRY(auto resolved, resolve_options(model.generation_config(), r.options, c));
    r.resolved = std::make_shared<ResolvedOptions>(std::move(resolved));
  }
  LAPILLI_CHECK(check_options(c, r.resolved->common()));
  LAPILLI_TRY(r.decoder_ids, complete_prompt(c, r, r.resolved->common().decoder_start));
  LAPILLI_CHECK(check_rows(r.decoder_ids, c.target_vocabulary, 0, "decoder ids of source"));
  LAPILLI_CHECK(check_written(r));
  LAPILLI_CHECK(check_logits(c, r));
  return checked;
}

CheckedRequest CheckedRequest::part(std::span<const size_t> sources) const {
  CheckedRequest part;
  GenerateRequest& r = part.request_;
  r.options = request_.options;
  r.resolved = request_.resolved;
  r.steps_in_flight = request_.steps_in_flight;
  r.capture_scores = request_.capture_scores;
  r.deterministic = request_.deterministic;
  r.keep_encoded = request_.keep_encoded;
  r.sources = chosen(request_.sources, sources);
  r.features = chosen(request_.features, sources);
  r.encoded = chosen(request_.encoded, sources);
  part.positions_ = chosen(positions_, sources);
  r.logits_at = chosen(request_.logits_at, sources);
  r.decoder_ids = chosen(request_.decoder_ids, sources);
  r.written = chosen(request_.written, sources);
  r.global_positions = chosen(request_.global_positions, sources);
  r.sequences = chosen(request_.sequences, sources);
  if (request_.sequences.empty())
    for (const size_t source : sources) r.sequences.push_back(static_cast<uint32_t>(source));
  return part;
}

}  // namespace lapilli
