// Tuning of a model's searches, for `lapilli tune` and lapilli_model_tune: the plans to tune, and where results are
// kept.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench_model.hpp"
#include "tools/search_tuning.hpp"
#include "vulkan/caps/stored.hpp"

namespace lapilli::tools {

// Tuning results for a device, as its store holds them now.
class TuningStore {
 public:
  // Without a store it is empty and saves nothing.
  TuningStore(std::shared_ptr<Store> store, const vulkan::Device& device);
  [[nodiscard]] bool is_there() const { return store_ != nullptr; }
  [[nodiscard]] Tunings load() const;
  [[nodiscard]] Status save(const Tunings& tunings) const;

 private:
  static constexpr auto kKind = vulkan::StoredKind::tunings;
  [[nodiscard]] std::string key() const { return vulkan::stored_key(kKind, identity_); }
  std::shared_ptr<Store> store_;
  vulkan::StoredIdentity identity_;
};

struct TuningRequest {
  SearchesRequest searches;
  double seconds = 0;  // limit for all plans together
  bool deterministic = false;
  // Called with what is tuned next, and often with ""; false stops and keeps the results so far. May be empty.
  std::function<bool(const std::string& what)> go_on;
};

// A plan and its tuning result.
struct TunedPlan {
  SearchTuning::Part part{};
  unsigned batch = 1, beams = 1, rows = 0;
  TuningReport report;
  [[nodiscard]] std::string title() const;
};

// Its arguments must outlive it.
class ModelTuning {
 public:
  ModelTuning(const BenchModel& loaded, const TuningStore& store, const TuningRequest& request);
  // Saves each result at once, as later tuning may be interrupted.
  Status run();
  [[nodiscard]] const std::vector<TunedPlan>& plans() const { return tuned_; }
  [[nodiscard]] size_t kept() const { return tunings_.size(); }
  [[nodiscard]] double seconds() const { return ms_since(begun_) / 1e3; }
  // True if nothing was left undone.
  [[nodiscard]] bool complete() const;

 private:
  [[nodiscard]] model::Kind kind() const { return loaded_.model->on_device().config().kind(); }
  [[nodiscard]] bool goes_on() const;
  Status tune_search(unsigned batch, unsigned beams);
  Status tune_part(MiddleOfSearch& search, TunedPlan t);
  const BenchModel& loaded_;
  const TuningStore& store_;
  const TuningRequest& r_;
  const Clock::time_point begun_ = Clock::now();
  Tunings tunings_;
  const size_t all_plans_;
  std::vector<TunedPlan> tuned_;
};

}  // namespace lapilli::tools
