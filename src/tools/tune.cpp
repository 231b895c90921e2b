// Implementation of `lapilli tune`: finds the fastest variants for a model's plans on a device, and stores them.
#include <nlohmann/json.hpp>

#include "tools/guard.hpp"
#include "tools/model_tuning.hpp"

namespace lapilli::tools {

namespace {

using Json = nlohmann::ordered_json;

std::shared_ptr<Store> store_in(const std::string& folder) { return folder.empty() ? nullptr : folder_store(folder); }

std::string describe(const Variant& v) {
  std::string text = v.name;
  if (v.numbers.local) text += format(", %u", v.numbers.local);
  if (v.numbers.each) text += format(" x %u", v.numbers.each);
  return text;
}

// ---- messages -------------------------------------------------------------------------------------------------------

double all_us(const TuningReport& report) {
  double us = 0;
  for (const TunedNodes& n : report.nodes) us += n.standing_us;
  return std::max(us, 1e-9);
}

std::string line_of(const TunedNodes& n, double all) {
  const bool won = n.ratio < 1;
  return format("%-14s  %-44s  %5u  %4.0f%%  %5u  %-26s  %-26s  %s\n", n.key.op, n.key.node, n.nodes,
                100 * n.standing_us / all, n.tried, describe(n.standing),
                won         ? describe(n.best).c_str()
                : n.decided ? "the default"
                            : "not decided",
                won ? format("%.2f", n.ratio).c_str() : "");
}

std::string text_of(const TunedPlan& t) {
  std::string s = "\n" + t.title() + "\n";
  s += format("%-14s  %-44s  %5s  %5s  %5s  %-26s  %-26s  %s\n", "op", "nodes that are alike", "nodes", "time", "tried",
              "default", "best", "ratio");
  for (const TunedNodes& n : t.report.nodes) s += line_of(n, all_us(t.report));
  size_t wrong = 0;
  for (const TunedNodes& n : t.report.nodes) wrong += n.wrong;
  s += t.report.won == 0 ? "The defaults stay.\n"
                         : format("Dispatches one by one take %.2f of the time that they took.\n", t.report.ratio);
  if (wrong)
    s +=
        format("%u candidates were not tried: the driver refuses them, they are wrong, or no case runs them.\n", wrong);
  if (!t.report.complete) s += "It ended early: what was not tried may be better. --seconds gives it more time.\n";
  return s;
}

Json json_of(const Variant& v) { return {{"variant", v.name}, {"local", v.numbers.local}, {"each", v.numbers.each}}; }

Json json_of(const TunedPlan& t) {
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
  explicit Tune(const TuneRequest& request)
      : r_(request), wanted_{request, request.seconds, request.deterministic, request.go_on} {}

  Result<std::string> run() {
    LAPILLI_TRY(loaded_, load_for_searches(r_));
    store_.emplace(store_in(r_.cache), *loaded_.device);
    tuning_.emplace(loaded_, *store_, wanted_);
    LAPILLI_CHECK(tuning_->run());
    return r_.json ? json() : text();
  }

 private:
  [[nodiscard]] std::string where() const {
    if (store_->is_there()) return format("%u choices are kept for this device and driver.", tuning_->kept());
    return "Nothing is kept: there is no folder for what is kept between runs.";
  }
  [[nodiscard]] std::string text() const {
    const Capabilities& caps = loaded_.device->caps();
    std::string s = format("%s in %s on %s (%s)\n", loaded_.name, name(loaded_.model->info().format), caps.device_name,
                           caps.driver_info);
    s += "Each candidate was compared with its reference, then timed in turn with the default; one that is less than 5 "
         "%\n"
         "faster, twice, does not take its place.\n";
    for (const TunedPlan& t : tuning_->plans()) s += text_of(t);
    return s + "\n" + where() + "\n";
  }
  [[nodiscard]] std::string json() const {
    const Capabilities& caps = loaded_.device->caps();
    Json plans = Json::array();
    for (const TunedPlan& t : tuning_->plans()) plans.push_back(json_of(t));
    const Json all = {{"model", loaded_.name},
                      {"dtype", name(loaded_.model->info().format)},
                      {"device", caps.device_name},
                      {"driver", caps.driver_info},
                      {"deterministic", r_.deterministic},
                      {"seconds", tuning_->seconds()},
                      {"kept", store_->is_there() ? tuning_->kept() : 0},
                      {"plans", std::move(plans)}};
    return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  const TuneRequest& r_;
  const TuningRequest wanted_;
  BenchModel loaded_;
  std::optional<TuningStore> store_;
  std::optional<ModelTuning> tuning_;
};

Result<std::string> forget(const TuneRequest& r) {
  vulkan::DeviceOptions options;
  options.select = r.select;
  options.mask = r.caps;
  LAPILLI_TRY(const auto device, vulkan::Device::create(options));
  const TuningStore store(store_in(r.cache), *device);
  const size_t known = store.load().size();
  if (store.is_there()) LAPILLI_CHECK(store.save({}));
  return format("%u choices for %s are forgotten.\n", known, device->caps().device_name);
}

}  // namespace

Outcome tune(const TuneRequest& request) {
  return guarded("tune", [&] { return request.forget ? forget(request) : Tune(request).run(); });
}

}  // namespace lapilli::tools
