// The C interface: finding the fastest kernels for a model on the host's device.
#include <algorithm>

#include "api/handles.hpp"
#include "tools/model_tuning.hpp"
#include "vulkan/caps/persistent_cache.hpp"

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Result;
using lapilli::Status;
using lapilli::api::guarded;
using lapilli::api::read_struct;
namespace tools = lapilli::tools;

namespace {

// The caller's arguments, with defaults for those not given.
struct Wanted {
  tools::TuningRequest request;
  bool cancelled = false;  // by the caller, not because the time was up
};

Result<uint32_t> beams_of(const lapilli_options& options, const lapilli::Model& model) {
  if (options.num_beams == LAPILLI_MODEL_DEFAULT) return model.generation_config().num_beams.value_or(1);
  if (options.num_beams < 1)
    return fail(ErrorCode::invalid_argument, "lapilli_model_tune: num_beams is %d", options.num_beams);
  return static_cast<uint32_t>(options.num_beams);
}

// Polled often for cancellation; reports progress in milliseconds.
std::function<bool(const std::string&)> goes_on(const lapilli_model& model, const lapilli_options& options,
                                                double seconds, bool& cancelled) {
  const auto all = static_cast<uint64_t>(seconds * 1000);
  const auto before = model.cancellations->load();
  return [cancellations = model.cancellations, progress = lapilli::api::progress_of(options), all, before,
          begun = lapilli::Clock::now(), &cancelled](const std::string&) {
    const auto done = std::min(all, static_cast<uint64_t>(lapilli::ms_since(begun)));
    cancelled = cancelled || cancellations->load() != before || (progress && !progress(done, all));
    return !cancelled;
  };
}

Status read_wanted(const lapilli_model& model, const lapilli::Model& on, const lapilli_shape* shape, double seconds,
                   Wanted& to) {
  constexpr double kMostSeconds = 86400;
  if (!(seconds >= 0 && seconds <= kMostSeconds))
    return fail(ErrorCode::invalid_argument, "lapilli_model_tune: %g seconds are not between 0 and %g", seconds,
                kMostSeconds);
  lapilli_shape given = lapilli_default_shape();
  LAPILLI_CHECK(read_struct(shape, given, "lapilli_shape"));
  LAPILLI_TRY(const auto call, lapilli::api::CallOptions::read(given.options));
  const lapilli_options& options = call.general;
  tools::SearchesRequest& searches = to.request.searches;
  LAPILLI_TRY(const uint32_t beams, beams_of(options, on));
  searches.batches = {std::max(given.inputs, 1u)};
  searches.beams = {beams};
  searches.source = given.source_tokens ? given.source_tokens : 32;
  searches.target = given.target_tokens ? given.target_tokens : 64;
  LAPILLI_CHECK(tools::check_searches(searches));
  to.request.seconds = seconds;
  to.request.deterministic = options.deterministic != 0;
  to.request.go_on = goes_on(model, options, seconds, to.cancelled);
  return {};
}

lapilli_tuning c_tuning(const tools::ModelTuning& from) {
  lapilli_tuning to{};
  to.choices = static_cast<uint32_t>(from.kept());
  to.step_ratio = to.encode_ratio = 1;
  for (const tools::TunedPlan& t : from.plans())
    (t.part == tools::SearchTuning::Part::encode ? to.encode_ratio : to.step_ratio) = t.report.ratio;
  to.complete = from.complete() ? 1 : 0;
  return to;
}

Status tune_model(const lapilli_model& model, const lapilli_shape* shape, double seconds, lapilli_tuning* found) {
  const auto held = model.place->held();
  const auto device = held.model->device();
  const lapilli::LogScope log(device->log_sink());
  LAPILLI_CHECK(lapilli::api::check_running(*device, "lapilli_model_tune"));
  Wanted wanted;
  LAPILLI_CHECK(read_wanted(model, *held.model, shape, seconds, wanted));
  if (!device->persistent_cache())
    return fail(
        ErrorCode::invalid_argument,
        "lapilli_model_tune: the device keeps nothing between runs, so that what is found would be lost; open it "
        "with a cache_directory or a store");
  const tools::BenchModel loaded{model.info.directory, device, held.model};
  const tools::TuningStore store(device->persistent_cache()->store(), *device);
  tools::ModelTuning tuning(loaded, store, wanted.request);
  LAPILLI_CHECK(tuning.run());
  if (found) LAPILLI_CHECK(lapilli::api::write_struct(c_tuning(tuning), found, "lapilli_tuning"));
  if (!wanted.cancelled) return {};
  return fail(ErrorCode::cancelled, "lapilli_model_tune: cancelled; what was found is kept");
}

}  // namespace

extern "C" lapilli_status lapilli_model_tune(lapilli_model* model, const lapilli_shape* shape, double seconds,
                                             lapilli_tuning* found) {
  return guarded([&]() -> Status {
    if (!model) return fail(ErrorCode::invalid_argument, "lapilli_model_tune: model is null");
    // Checks `found` before tuning, so that no result is lost.
    if (found) LAPILLI_CHECK(lapilli::api::write_struct(lapilli_tuning{}, found, "lapilli_tuning"));
    return tune_model(*model, shape, seconds, found);
  });
}
