// Python pickles as data. The opcodes that PyTorch's checkpoints consist of are interpreted into plain values; of
// classes and functions only those that a state dict needs are known, and they are names for what is done here, never
// looked up, never run. Everything else is refused by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/checkpoint.hpp"

namespace lapilli {

// A storage that the pickle refers to: where the numbers of one or more tensors lie.
struct PickledStorage {
  StoredType type = StoredType::f32;
  std::string_view key;  // its entry or its place in the list of keys
  uint64_t elements = 0;
};

// Not yet checked against the storage.
struct PickledTensor {
  uint32_t storage = 0;  // index for Pickle::storages
  uint64_t offset = 0;   // elements
  std::vector<uint64_t> shape, strides;
};

struct PickleValue {
  enum class Kind : uint8_t { none, boolean, integer, large, real, text, tuple, list, dict, global, storage, tensor };
  Kind kind = Kind::none;
  uint32_t index = 0;   // large, text, tuple, list, dict, storage, tensor: place in the Pickle's tables; global: which
  int64_t integer = 0;  // boolean and integer
};

// Text and bytes point into the pickle. Values refer to each other by index: no recursion, and cycles are harmless.
struct Pickle {
  PickleValue root;
  uint64_t bytes = 0;  // how long the pickle was
  std::vector<std::string_view> texts;
  struct Container {
    std::vector<PickleValue> items;  // dict: key, value, key, value
    uint32_t depth = 1;              // of the nesting below, this one included
  };
  std::vector<Container> containers;
  std::vector<PickledStorage> storages;
  std::vector<PickledTensor> tensors;

  // Only for values of the kind.
  [[nodiscard]] std::string_view text(const PickleValue& v) const { return texts[v.index]; }
  [[nodiscard]] const std::vector<PickleValue>& items(const PickleValue& v) const { return containers[v.index].items; }
  // The value of a text key in a dict, or null.
  [[nodiscard]] const PickleValue* at(const PickleValue& dict, std::string_view key) const;
};

// Reads one pickle from the start of `bytes`, which must outlive the result. `path` is for messages.
Result<Pickle> read_pickle(std::span<const std::byte> bytes, const std::string& path);

}  // namespace lapilli
