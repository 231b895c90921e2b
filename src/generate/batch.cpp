#include <algorithm>
#include <numeric>

#include "generate/globals.hpp"
#include "generate/model_impl.hpp"
#include "generate/token_stream.hpp"

namespace lapilli {

namespace {

GenerateRequest part_of(const GenerateRequest& request, const std::vector<size_t>& order, size_t begin, size_t end) {
  GenerateRequest part;
  part.options = request.options;
  part.steps_in_flight = request.steps_in_flight;
  part.capture_scores = request.capture_scores;
  for (size_t i = begin; i < end; ++i) {
    part.sources.push_back(request.sources[order[i]]);
    part.sequences.push_back(request.sequences.empty() ? static_cast<uint32_t>(order[i]) : request.sequences[order[i]]);
    if (!request.decoder_ids.empty()) part.decoder_ids.push_back(request.decoder_ids[order[i]]);
    if (!request.global_positions.empty()) part.global_positions.push_back(request.global_positions[order[i]]);
  }
  return part;
}

// Beams are counted over the caller's batch, whatever jobs it was run in.
void renumber_beams(std::vector<Hypothesis>& hypotheses, size_t in_job, size_t in_batch, uint32_t beams) {
  const auto shift = (static_cast<int64_t>(in_batch) - static_cast<int64_t>(in_job)) * beams;
  for (Hypothesis& h : hypotheses)
    for (int32_t& beam : h.beam_indices) beam = static_cast<int32_t>(beam + shift);
}

void add(GenerateStats& total, const GenerateStats& s) {
  total.encode_ms += s.encode_ms;
  total.decode_ms += s.decode_ms;
  total.steps += s.steps;
  total.submissions += s.submissions;
  total.narrow_submissions += s.narrow_submissions;
  total.session_bytes = std::max(total.session_bytes, s.session_bytes);
}

Result<GenerateOutput> run_job(const std::shared_ptr<Model>& model, GenerateRequest part,
                               const std::function<bool()>& go_on) {
  LAPILLI_TRY(auto job, Job::start(model, std::move(part)));
  LAPILLI_CHECK(job->wait(go_on));
  return job->take();
}

}  // namespace

Result<GenerateOutput> generate(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                                const std::function<bool(uint64_t done, uint64_t total)>& progress) {
  GenerateOutput out;
  LAPILLI_CHECK(generate_into(model, request, progress, out));
  return out;
}

Status generate_into(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                     const std::function<bool(uint64_t done, uint64_t total)>& progress, GenerateOutput& out) {
  const size_t n = request.sources.size();
  out = {};
  if (n == 0) return {};
  if (!request.decoder_ids.empty() && request.decoder_ids.size() != n)
    return fail(ErrorCode::invalid_argument, "decoder ids for %zu of %zu sources", request.decoder_ids.size(), n);
  if (!request.sequences.empty() && request.sequences.size() != n)
    return fail(ErrorCode::invalid_argument, "sequence numbers for %zu of %zu sources", request.sequences.size(), n);
  const Model::Impl& m = *model->impl();
  LAPILLI_CHECK(check_globals(m.network.config, request.sources, request.global_positions));
  LAPILLI_TRY(const auto options, resolve_options(m.generation, request.options, 1, m.network.config));
  const uint32_t rows_each = options.beams * options.copies();
  size_t batch = kMaxRows / rows_each;  // before memory is considered
  // Neighbours of like length waste little padding; the longest come first, so that memory problems show at once.
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return request.sources[a].size() > request.sources[b].size(); });
  out.hypotheses.resize(n);
  // A batch that turns out to be too large is run again in parts: what it gave is not given again.
  OnceStream stream(request.on_tokens, n);
  for (size_t begin = 0; begin < n;) {
    if (progress && !progress(begin, n)) return fail(ErrorCode::cancelled, "cancelled");
    size_t end = std::min(n, begin + batch);
    GenerateRequest part = part_of(request, order, begin, end);
    if (request.on_tokens) {
      for (size_t i = begin; i < end; ++i) stream.restart(order[i]);
      part.on_tokens = [&, begin](size_t source, std::span<const int32_t> ids) {
        return stream.push(order[begin + source], ids);
      };
    }
    auto result = run_job(model, std::move(part), [&] { return !progress || progress(begin, n); });
    // Too much for the memory, or for one of the device's binding limits: fewer rows.
    if (!result && end - begin > 1 &&
        (result.error().code == ErrorCode::out_of_memory || result.error().code == ErrorCode::unsupported)) {
      model->impl()->drop_free();
      batch = (end - begin + 1) / 2;
      continue;
    }
    if (!result) return std::move(result).error();
    for (size_t i = begin; i < end; ++i) {
      out.hypotheses[order[i]] = std::move(result->hypotheses[i - begin]);
      renumber_beams(out.hypotheses[order[i]], i - begin, order[i], rows_each);
    }
    std::move(result->captured.begin(), result->captured.end(), std::back_inserter(out.captured));
    add(out.stats, result->stats);
    begin = end;
  }
  if (progress) progress(n, n);
  return {};
}

}  // namespace lapilli
