#include "tools/model_tuning.hpp"

#include <algorithm>

#include "ops/core/shader_table.hpp"
#include "vulkan/caps/persistent_cache.hpp"

namespace lapilli::tools {

TuningStore::TuningStore(std::shared_ptr<Store> store, const vulkan::Device& device)
    : store_(std::move(store)), identity_(vulkan::stored_identity(device, shaders_checksum())) {}

Tunings TuningStore::load() const {
  const auto blob = store_ ? store_->load(key()) : std::nullopt;
  const auto payload = blob ? vulkan::unseal(kKind, identity_, *blob) : std::nullopt;
  return payload ? tunings_of(*payload) : Tunings();
}

Status TuningStore::save(const Tunings& tunings) const {
  if (!store_) return {};
  const Blob sealed = tunings.empty() ? Blob() : vulkan::seal(kKind, identity_, blob_of(tunings));
  if (store_->save(key(), sealed)) return {};
  return fail(ErrorCode::unsupported, "what was found cannot be written where things are kept between runs");
}

std::string TunedPlan::title() const {
  if (part == SearchTuning::Part::encode) return format("Encode pass, batch %u: %u rows", batch, rows);
  return format("Decoder step, batch %u, beams %u: %u rows", batch, beams, rows);
}

ModelTuning::ModelTuning(const BenchModel& loaded, const TuningStore& store, const TuningRequest& request)
    : loaded_(loaded),
      store_(store),
      r_(request),
      tunings_(store.load()),
      all_plans_(request.searches.batches.size() * (request.searches.beams.size() + (kind().encodes ? 1 : 0))) {}

Status ModelTuning::run() {
  if (!kind().writes)
    return fail(ErrorCode::unsupported, "%s is an encoder alone; models that write are tuned", loaded_.name);
  for (const unsigned batch : r_.searches.batches)
    for (const unsigned beams : r_.searches.beams) LAPILLI_CHECK(tune_search(batch, beams));
  return {};
}

bool ModelTuning::complete() const {
  return tuned_.size() == all_plans_ && std::ranges::all_of(tuned_, [](const auto& t) { return t.report.complete; });
}

bool ModelTuning::goes_on() const { return seconds() < r_.seconds && (!r_.go_on || r_.go_on("")); }

Status ModelTuning::tune_search(unsigned batch, unsigned beams) {
  if (!goes_on()) return {};
  LAPILLI_TRY(const auto search, MiddleOfSearch::make(r_.searches, loaded_, batch, beams, SearchTuning::kSteps));
  LAPILLI_CHECK(tune_part(*search, {SearchTuning::Part::step, batch, beams, 0, {}}));
  if (beams != r_.searches.beams.front() || !kind().encodes) return {};
  return tune_part(*search, {SearchTuning::Part::encode, batch, beams, 0, {}});
}

Status ModelTuning::tune_part(MiddleOfSearch& search, TunedPlan t) {
  if (!goes_on()) return {};
  SearchTuning bench(loaded_.device, search, t.part);
  t.rows = bench.rows();
  if (r_.go_on) r_.go_on(t.title());
  TunerOptions options;
  options.seconds = (r_.seconds - seconds()) / static_cast<double>(std::max<size_t>(1, all_plans_ - tuned_.size()));
  options.go_on = [this] { return goes_on(); };
  const TuningSubject subject = bench.subject(r_.deterministic);
  LAPILLI_TRY(t.report, tune(subject, bench, options));
  t.report.apply_to(tunings_);
  LAPILLI_CHECK(store_.save(tunings_));
  tuned_.push_back(std::move(t));
  return {};
}

}  // namespace lapilli::tools
