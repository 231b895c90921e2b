// Python pickles as data. Interprets the opcodes of PyTorch checkpoints into plain values. Only the classes and
// functions of a state dict are known; their names select code here and are never looked up or run. Everything else is
// refused by name.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/checkpoint.hpp"

namespace lapilli {

// A storage that the pickle refers to: holds the numbers of one or more tensors.
struct PickledStorage {
  StoredType type = StoredType::f32;
  std::string_view key;  // its entry, or its position in the list of keys
  uint64_t elements = 0;
};

// Not checked against the storage yet.
struct PickledTensor {
  uint32_t storage = 0;  // index for Pickle::storages
  uint64_t offset = 0;   // elements
  std::vector<uint64_t> shape, strides;
};

struct PickleValue {
  enum class Kind : uint8_t { none, boolean, integer, large, real, text, tuple, list, dict, global, storage, tensor };
  Kind kind = Kind::none;
  uint32_t index = 0;   // large, text, tuple, list, dict, storage, tensor: index into the Pickle's tables; global:
                        // which
  int64_t integer = 0;  // boolean and integer; real: its bits

  [[nodiscard]] double real() const { return std::bit_cast<double>(integer); }
};

// Text and bytes are views into the pickle. Values refer to each other by index: no recursion, and cycles are harmless.
struct Pickle {
  PickleValue root;
  uint64_t bytes = 0;  // length of the pickle
  std::vector<std::string_view> texts;
  struct Container {
    std::vector<PickleValue> items;  // dict: key, value, key, value
    uint32_t depth = 1;              // nesting depth from here down, including this one
    std::string_view type = {};      // the class of an object ("Namespace"), whose fields are a dict
  };
  std::vector<Container> containers;
  std::vector<PickledStorage> storages;
  std::vector<PickledTensor> tensors;

  // Call only for values of the right kind.
  [[nodiscard]] std::string_view text(const PickleValue& v) const { return texts[v.index]; }
  [[nodiscard]] const std::vector<PickleValue>& items(const PickleValue& v) const { return containers[v.index].items; }
  // The value of a text key in a dict; null if there is none.
  [[nodiscard]] const PickleValue* at(const PickleValue& dict, std::string_view key) const;
};

// Contents of a pickle besides tensors in dicts.
enum class PickleUse : uint8_t {
  weights,
  // Objects of a training program's settings and vocabularies (argparse, omegaconf, fairseq, OpenNMT-py, torchtext), as
  // dicts of their fields. Objects that are made of one value are that value.
  training,
};

// Reads one pickle from the start of `bytes`, which must outlive the result. `path` is for messages.
Result<Pickle> read_pickle(std::span<const std::byte> bytes, const std::string& path,
                           PickleUse use = PickleUse::weights);

}  // namespace lapilli
