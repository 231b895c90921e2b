// What was found fastest on a device, by what makes nodes alike, and how it is kept between runs. Found by
// runtime/tune/tuner.hpp; a model's plans are compiled with what was there when it was loaded.
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
  std::string op, node;   // OpDef::name; what TuningRule::key says of the node
  bool in_order = false;  // found among what sums in one order, for deterministic plans
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
// None if it is no such blob. Whether a choice is one for a node, who compiles it sees.
Tunings tunings_of(const Blob& blob);

// What is kept for the device; read when it is asked for first, and the same from then on. Never null.
std::shared_ptr<const Tunings> tunings_on(vulkan::Device& device);

}  // namespace lapilli
