// A named model on a device, for `lapilli doctor --model`.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli::tools {

struct NamedModel {
  std::string family, program;  // program: that wrote its files; "" if they are as Transformers has them
  uint64_t parameters = 0;
  bool same = true;  // two runs gave the same bits, as the same shape on the same device must
};
// Loads it and runs it twice on random ids: kernels that its plans need and that are wrong are then known to the
// device's self-test.
Result<NamedModel> run_named_model(const std::shared_ptr<vulkan::Device>& device, const std::string& model);

}  // namespace lapilli::tools
