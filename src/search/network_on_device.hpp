// A network with its weights on a device, shared by all searches of a model. Immutable after loading.
#pragma once

#include <cstdint>
#include <memory>

#include "model/network.hpp"
#include "runtime/plan/tunings.hpp"
#include "runtime/weights/weights.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {

struct NetworkOnDevice {
  std::shared_ptr<vulkan::Device> device;
  model::Network network;  // without the checkpoint: parts are dropped after loading
  std::shared_ptr<const Weights> weights;
  // Plans are compiled with these as long as the model lives; null: nothing was tuned.
  std::shared_ptr<const Tunings> tunings;

  [[nodiscard]] const model::Config& config() const { return network.config; }
  // Resolves weights for plans.
  [[nodiscard]] MemoryMap weight_map() const {
    return [w = weights](graph::Space, uint32_t id) { return w->find(id); };
  }
};

}  // namespace lapilli
