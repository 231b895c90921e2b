// Tuning of a model's searches, for `lapilli tune` and lapilli_model_tune: which plans, and where what is found is
// kept.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench_model.hpp"
#include "tools/search_tuning.hpp"
#include "vulkan/stored.hpp"

namespace lapilli::tools {

// What was found for a device, as its store has it now.
class TuningStore {
 public:
  // Without a store it holds nothing, and saves nothing.
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
  double seconds = 0;  // no more, all plans together
  bool deterministic = false;
  // Told what is tuned next, and asked often with ""; false ends it, with what was found. May be empty.
  std::function<bool(const std::string& what)> go_on;
};

// One plan, as it was tuned.
struct TunedPlan {
  SearchTuning::Part part{};
  unsigned batch = 1, beams = 1, rows = 0;
  TuningReport report;
  [[nodiscard]] std::string title() const;
};

// What is referred to outlives it.
class ModelTuning {
 public:
  ModelTuning(const BenchModel& loaded, const TuningStore& store, const TuningRequest& request);
  // What it finds is kept at once: what comes behind it may be interrupted.
  Status run();
  [[nodiscard]] const std::vector<TunedPlan>& plans() const { return tuned_; }
  [[nodiscard]] size_t kept() const { return tunings_.size(); }
  [[nodiscard]] double seconds() const { return ms_since(begun_) / 1e3; }
  // Nothing was left undone.
  [[nodiscard]] bool complete() const;

 private:
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
