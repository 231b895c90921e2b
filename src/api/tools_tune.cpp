// What `lapilli tune` does: finds the fastest ways to run the plans of a model on a device, and keeps them.
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/search_tuning.hpp"
#include "api/tools_guard.hpp"
#include "base/clock.hpp"
#include "ops/shader_table.hpp"
#include "vulkan/kept.hpp"

namespace lapilli::tools {

namespace {

using Json = nlohmann::ordered_json;

BenchRequest bench_request(const TuneRequest& r) {
  BenchRequest b;
  b.model = r.model;
  b.select = r.select;
  b.caps = r.caps;
  b.dtype = r.dtype;
  b.source = r.source;
  b.target = r.target;
  b.batches = r.batches;
  return b;
}

// Of a device; nothing without a folder.
class TuningStore {
 public:
  TuningStore(const std::string& folder, const vulkan::Device& device)
      : store_(folder.empty() ? nullptr : folder_store(folder)),
        identity_(vulkan::stored_identity(device, shaders_checksum())) {}
  [[nodiscard]] bool is_there() const { return store_ != nullptr; }
  [[nodiscard]] Tunings load() const {
    const auto blob = store_ ? store_->load(key()) : std::nullopt;
    const auto payload = blob ? vulkan::unseal(kKind, identity_, *blob) : std::nullopt;
    return payload ? tunings_of(*payload) : Tunings();
  }
  [[nodiscard]] Status save(const Tunings& tunings) const {
    if (!store_) return {};
    const Blob sealed = tunings.empty() ? Blob() : vulkan::seal(kKind, identity_, blob_of(tunings));
    if (store_->save(key(), sealed)) return {};
    return fail(ErrorCode::unsupported,
                "what was found cannot be written into the folder of what is kept between runs");
  }

 private:
  static constexpr auto kKind = vulkan::StoredKind::tunings;
  [[nodiscard]] std::string key() const { return vulkan::stored_key(kKind, identity_); }
  std::shared_ptr<Store> store_;
  vulkan::StoredIdentity identity_;
};

std::string describe(const Variant& v) {
  std::string text = v.name;
  if (v.numbers.local) text += format(", %u", v.numbers.local);
  if (v.numbers.each) text += format(" x %u", v.numbers.each);
  return text;
}

struct Tuned {
  SearchTuning::Part part{};
  unsigned batch = 1, beams = 1, rows = 0;
  TuningReport report;
  [[nodiscard]] std::string title() const {
    if (part == SearchTuning::Part::encode) return format("Encode pass, batch %u: %u rows", batch, rows);
    return format("Decoder step, batch %u, beams %u: %u rows", batch, beams, rows);
  }
};

// ---- what is said ---------------------------------------------------------------------------------------------------

double all_us(const TuningReport& report) {
  double us = 0;
  for (const TunedNodes& n : report.nodes) us += n.standing_us;
  return std::max(us, 1e-9);
}

std::string line_of(const TunedNodes& n, double all) {
  const bool won = n.ratio < 1;
  return format("%-14s  %-44s  %5zu  %4.0f%%  %5zu  %-26s  %-26s  %s\n", n.key.op.c_str(), n.key.node.c_str(), n.nodes,
                100 * n.standing_us / all, n.tried, describe(n.standing).c_str(),
                won         ? describe(n.best).c_str()
                : n.decided ? "the default"
                            : "not decided",
                won ? format("%.2f", n.ratio).c_str() : "");
}

std::string text_of(const Tuned& t) {
  std::string s = "\n" + t.title() + "\n";
  s += format("%-14s  %-44s  %5s  %5s  %5s  %-26s  %-26s  %s\n", "op", "nodes that are alike", "nodes", "time", "tried",
              "default", "best", "ratio");
  for (const TunedNodes& n : t.report.nodes) s += line_of(n, all_us(t.report));
  size_t wrong = 0;
  for (const TunedNodes& n : t.report.nodes) wrong += n.wrong;
  s += t.report.won == 0 ? "The defaults stay.\n"
                         : format("Dispatches one by one take %.2f of the time that they took.\n", t.report.ratio);
  if (wrong)
    s += format("%zu candidates were not tried: the driver refuses them, they are wrong, or no case runs them.\n",
                wrong);
  if (!t.report.complete) s += "It ended early: what was not tried may be better. --seconds gives it more time.\n";
  return s;
}

Json json_of(const Variant& v) { return {{"variant", v.name}, {"local", v.numbers.local}, {"each", v.numbers.each}}; }

Json json_of(const Tuned& t) {
  Json nodes = Json::array();
  for (const TunedNodes& n : t.report.nodes)
    nodes.push_back({{"op", n.key.op},
                     {"alike", n.key.node},
                     {"nodes", n.nodes},
                     {"default_us", n.standing_us},
                     {"default", json_of(n.standing)},
                     {"best", json_of(n.best)},
                     {"ratio", n.ratio},
                     {"tried", n.tried},
                     {"not_proven", n.wrong},
                     {"pruned", n.pruned},
                     {"left", n.left},
                     {"decided", n.decided}});
  return {{"plan", t.part == SearchTuning::Part::encode ? "encode" : "step"},
          {"batch", t.batch},
          {"beams", t.beams},
          {"rows", t.rows},
          {"ratio", t.report.ratio},
          {"complete", t.report.complete},
          {"nodes", std::move(nodes)}};
}

// ---- all of it ------------------------------------------------------------------------------------------------------

class Tune {
 public:
  explicit Tune(const TuneRequest& request) : r_(request), bench_(bench_request(request)) {}

  Result<std::string> run() {
    LAPILLI_TRY(loaded_, load_bench_model(bench_));
    begun_ = Clock::now();
    if (loaded_.model->info().decoder_layers == 0)
      return fail(ErrorCode::unsupported, "%s is an encoder alone; models that write are tuned", loaded_.name.c_str());
    store_.emplace(r_.cache, *loaded_.device);
    tunings_ = store_->load();
    plans_left_ = r_.batches.size() * (r_.beams.size() + 1);
    for (const unsigned batch : r_.batches)
      for (const unsigned beams : r_.beams) LAPILLI_CHECK(tune_search(batch, beams));
    return r_.json ? json() : text();
  }

 private:
  [[nodiscard]] double seconds_left() const { return r_.seconds - ms_since(begun_) / 1e3; }
  [[nodiscard]] bool goes_on() const { return seconds_left() > 0 && (!r_.go_on || r_.go_on("")); }

  Status tune_search(unsigned batch, unsigned beams) {
    if (!goes_on()) return {};
    LAPILLI_TRY(const auto search, MiddleOfSearch::make(bench_, loaded_, batch, beams, SearchTuning::kSteps));
    LAPILLI_CHECK(tune_part(*search, {SearchTuning::Part::step, batch, beams}));
    return beams == r_.beams.front() ? tune_part(*search, {SearchTuning::Part::encode, batch, beams}) : Status();
  }

  // What it finds is kept at once: what comes behind it may be interrupted.
  Status tune_part(MiddleOfSearch& search, Tuned t) {
    if (!goes_on()) return {};
    SearchTuning bench(loaded_.device, search, t.part);
    t.rows = bench.rows();
    if (r_.go_on) r_.go_on(t.title());
    TunerOptions options;
    options.seconds = seconds_left() / static_cast<double>(std::max<size_t>(1, plans_left_--));
    options.go_on = [this] { return goes_on(); };
    const TuningSubject subject = bench.subject(r_.deterministic);
    LAPILLI_TRY(t.report, tune(subject, bench, options));
    t.report.apply_to(tunings_);
    LAPILLI_CHECK(store_->save(tunings_));
    tuned_.push_back(std::move(t));
    return {};
  }

  [[nodiscard]] std::string where() const {
    if (store_->is_there()) return format("%zu choices are kept for this device and driver.", tunings_.size());
    return "Nothing is kept: there is no folder for what is kept between runs.";
  }
  [[nodiscard]] std::string text() const {
    const Capabilities& caps = loaded_.device->caps();
    std::string s = format("%s in %s on %s (%s)\n", loaded_.name.c_str(), name(loaded_.model->info().format),
                           caps.device_name.c_str(), caps.driver_info.c_str());
    s += "Each candidate was compared with its reference, then timed in turn with the default; one that is less than 5 "
         "%\n"
         "faster, twice, does not take its place.\n";
    for (const Tuned& t : tuned_) s += text_of(t);
    return s + "\n" + where() + "\n";
  }
  [[nodiscard]] std::string json() const {
    const Capabilities& caps = loaded_.device->caps();
    Json plans = Json::array();
    for (const Tuned& t : tuned_) plans.push_back(json_of(t));
    const Json all = {{"model", loaded_.name},
                      {"dtype", name(loaded_.model->info().format)},
                      {"device", caps.device_name},
                      {"driver", caps.driver_info},
                      {"deterministic", r_.deterministic},
                      {"seconds", ms_since(begun_) / 1e3},
                      {"kept", store_->is_there() ? tunings_.size() : 0},
                      {"plans", std::move(plans)}};
    return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  const TuneRequest& r_;
  const BenchRequest bench_;
  Clock::time_point begun_;
  BenchModel loaded_;
  std::optional<TuningStore> store_;
  Tunings tunings_;
  size_t plans_left_ = 1;
  std::vector<Tuned> tuned_;
};

Result<std::string> forget(const TuneRequest& r) {
  vulkan::DeviceOptions options;
  options.select = r.select;
  options.mask = r.caps;
  LAPILLI_TRY(const auto device, vulkan::Device::create(options));
  const TuningStore store(r.cache, *device);
  const size_t known = store.load().size();
  if (store.is_there()) LAPILLI_CHECK(store.save({}));
  return format("%zu choices for %s are forgotten.\n", known, device->caps().device_name.c_str());
}

}  // namespace

Outcome tune(const TuneRequest& request) {
  return guarded("tune", [&] { return request.forget ? forget(request) : Tune(request).run(); });
}

}  // namespace lapilli::tools
