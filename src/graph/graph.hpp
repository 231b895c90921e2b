// The command graph, independent of a device: tensors and nodes in program order. It knows no Vulkan and no specific
// op.
//
// Tensors are matrices [rows, cols] in row-major order, `ld` elements from one row to the next. Activations have ld
// rounded up to 4 with zeros in the padding, so that kernels read vec4.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "base/math.hpp"
#include "base/result.hpp"

namespace lapilli {
struct OpDef;  // src/ops/core/op.hpp
}

namespace lapilli::graph {

using TensorId = uint32_t;
using NodeId = uint32_t;
constexpr uint32_t kNone = 0xffffffffu;

// u32 also stands for packed words and structs of words; bf16 and f16 are packed matrices, which are words as well:
// src/ops/core/weight_layout.hpp defines their elements.
enum class DType : uint8_t { f32, u32, bf16, f16, i8, i4 };
constexpr uint64_t element_bytes(DType) { return 4; }
constexpr const char* name(DType dtype) {
  constexpr const char* kNames[] = {"f32", "u32", "bf16", "f16", "i8", "i4"};
  return kNames[static_cast<size_t>(dtype)];
}

// The memory that holds the bytes.
enum class Space : uint8_t {
  arena,   // placed by the planner, valid within one run of the plan
  weight,  // owned by the model, read-only after loading; `id` is the weight's index
  state,   // owned by the session, kept across runs; `id` names the state (src/ops/core/state.hpp)
};

struct Tensor {
  std::string name;
  DType dtype = DType::f32;
  uint64_t rows = 1, cols = 1;
  uint64_t ld = 1;
  Space space = Space::arena;
  uint32_t id = 0;
  TensorId alias = kNone;  // shares the bytes of this earlier tensor (in place); the chain is resolved by Graph::root
  bool keep = false;       // an output: its bytes stay valid to the end of the plan
  // The rows are those of a step or of an encode pass; a run computes only the live ones, which come first. Set where
  // rows enter; Graph::rows_like and updated() pass it on.
  bool live_rows = false;
  bool scratch = false;  // work space of its writing node, with no value before or after; some variants do not use it

  [[nodiscard]] uint64_t elements() const { return rows * ld; }
  [[nodiscard]] uint64_t bytes() const { return elements() * element_bytes(dtype); }
};

// The op's own attributes: a small trivially copyable struct that only the op interprets.
class Attributes {
 public:
  Attributes() = default;
  template <class T>
  explicit Attributes(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(bytes_));
    std::memcpy(bytes_.data(), &value, sizeof(T));
  }
  template <class T>
  [[nodiscard]] T as() const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(bytes_));
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    return value;
  }

 private:
  std::array<std::byte, 144> bytes_{};
};

// inputs are read, outputs written. A tensor that is updated in place is in both lists, or is an output whose alias is
// an input. An absent optional operand is kNone.
struct Node {
  const OpDef* op = nullptr;
  std::string label;
  std::vector<TensorId> inputs, outputs;
  Attributes attributes;
};

class Graph {
 public:
  TensorId add_tensor(Tensor tensor) {
    tensors_.push_back(std::move(tensor));
    return static_cast<TensorId>(tensors_.size() - 1);
  }
  // A new activation [rows, cols] in the arena, padded to vec4.
  TensorId activation(std::string name, uint64_t rows, uint64_t cols, DType dtype = DType::f32) {
    Tensor t;
    t.name = std::move(name);
    t.dtype = dtype;
    t.rows = rows;
    t.cols = cols;
    t.ld = round_up<uint64_t>(cols, 4);
    return add_tensor(std::move(t));
  }
  // A new activation with the rows of `of`: as many of them, and live if those are.
  TensorId rows_like(std::string name, TensorId of, uint64_t cols, DType dtype = DType::f32) {
    const TensorId id = activation(std::move(name), tensors_[of].rows, cols, dtype);
    tensors_[id].live_rows = tensors_[of].live_rows;
    return id;
  }
  // The value that results from updating `of` in place.
  TensorId updated(std::string name, TensorId of) {
    Tensor t = tensors_[of];
    t.name = std::move(name);
    t.alias = of;
    return add_tensor(std::move(t));
  }
  NodeId add_node(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<NodeId>(nodes_.size() - 1);
  }

  [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors_[id]; }
  Tensor& tensor(TensorId id) { return tensors_[id]; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id]; }
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  // The tensor whose bytes `id` uses.
  [[nodiscard]] TensorId root(TensorId id) const {
    while (tensors_[id].alias != kNone) id = tensors_[id].alias;
    return id;
  }

  // Checks that ids are in range, aliases refer to earlier tensors of the same size, every arena tensor is written
  // before it is read, and no value is read after it was overwritten in place. The message names node and tensor.
  [[nodiscard]] Status validate() const;

 private:
  std::vector<Tensor> tensors_;
  std::vector<Node> nodes_;
};

}  // namespace lapilli::graph
