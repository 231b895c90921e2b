// Fastest choices found on a device, keyed by what makes nodes alike, and how they are kept between runs. Found by
// runtime/tune/tuner.hpp; a model's plans are compiled with the choices that existed when it was loaded.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "base/store.hpp"
#include "ops/core/op.hpp"

namespace lapilli {

namespace vulkan {
class Device;
}

struct TuningKey {
  std::string op, node;   // OpDef::name; the node's TuningRule::key
  bool in_order = false;  // found among variants with one summation order, for deterministic plans
  friend auto operator<=>(const TuningKey&, const TuningKey&) = default;
};
struct TunedChoice {
  std::string variant;
  Numbers numbers;
  friend bool operator==(const TunedChoice&, const TunedChoice&) = default;
};

class Tunings {
 public:
  [[nodiscard]] const TunedChoice* find(const TuningKey& key) const;  // null: the defaults
  void set(const TuningKey& key, TunedChoice choice);
  void forget(const TuningKey& key) { choices_.erase(key); }
  [[nodiscard]] bool empty() const { return choices_.empty(); }
  [[nodiscard]] size_t size() const { return choices_.size(); }
  [[nodiscard]] const std::map<TuningKey, TunedChoice>& all() const { return choices_; }

 private:
  std::map<TuningKey, TunedChoice> choices_;
};

Blob blob_of(const Tunings& tunings);
// Empty if the blob is not of this kind. Compiling checks whether a choice suits a node.
Tunings tunings_of(const Blob& blob);

// The choices kept for the device; read on first use and fixed from then on. Never null.
std::shared_ptr<const Tunings> tunings_on(vulkan::Device& device);

}  // namespace lapilli
