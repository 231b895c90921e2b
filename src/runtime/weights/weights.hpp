// Weights on the device: stored tensors are staged unchanged and converted, transposed and packed there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ops/core/weight_layout.hpp"
#include "ops/products/pack.hpp"
#include "runtime/run/bind.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {

// One stored tensor as contiguous bytes, and its destination.
struct WeightPart {
  enum class Kind : uint8_t { matrix, bias, plain } kind = Kind::matrix;
  // Returns `bytes` bytes from `offset` on, in whole rows; read only when needed, and valid until the next call for any
  // part of the same sources.
  std::function<Result<std::span<const std::byte>>(uint64_t offset, uint64_t bytes)> bytes;
  StoredFormat format = StoredFormat::f32;
  uint64_t rows = 0, k = 0;                                // matrix [rows, k]; bias and plain: rows elements, k = 1
  uint32_t first_column = 0, group = 1, group_stride = 1;  // matrix and bias: see PackAttributes
  uint64_t destination = 0;                                // plain: first element
  bool packed = false;  // a matrix whose rows are packed words of the source's format, k of them (f32: one per number)
};

struct WeightSource {
  std::string name;
  uint64_t words = 0;     // of the finished tensor
  uint32_t n = 0, k = 0;  // packed matrices: columns and depth
  std::vector<WeightPart> parts;
  // Replaces parts: values computed on the host, the tensor's words unchanged (bits, in formats other than fp32).
  std::vector<float> values;
  WeightFormat format = WeightFormat::fp32;  // packed matrices
  [[nodiscard]] WeightLayout layout() const { return {n, k, format}; }
};

// Bytes that these weights take on a device.
uint64_t bytes_of(std::span<const WeightSource> sources);

// Immutable after load; the buffers live as long as this object.
class Weights {
 public:
  // `with` is released when the memory of the weights' buffers is free again.
  static Result<std::shared_ptr<const Weights>> load(std::shared_ptr<vulkan::Device> device,
                                                     std::span<const WeightSource> sources,
                                                     std::shared_ptr<void> with = nullptr);
  [[nodiscard]] BufferRef find(uint32_t index) const;
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  friend class WeightsLoading;
  std::vector<vulkan::Buffer> buffers_;
  uint64_t bytes_ = 0;
};

// Weights on their way to the device; load() follows them to the end. Used by one thread; may be dropped at any time.
class WeightsLoading {
 public:
  // The sources must outlive it. `with`: see Weights::load().
  static std::unique_ptr<WeightsLoading> start(std::shared_ptr<vulkan::Device> device,
                                               std::span<const WeightSource> sources,
                                               std::shared_ptr<void> with = nullptr);
  ~WeightsLoading();

  enum class Step : uint8_t { more, blocked, ended };
  // One step of the host: makes a buffer, or hands over a part of a tensor, at most one staging area of it. Does not
  // wait for the device; `blocked` means that nothing can be done until the device has progressed.
  Result<Step> step();
  // Waits, bounded, for what blocked step().
  Status wait();
  [[nodiscard]] uint64_t bytes_done() const;  // handed over, as stored
  [[nodiscard]] uint64_t bytes() const;       // total
  // Call after the end.
  [[nodiscard]] std::shared_ptr<const Weights> take();

 private:
  class Loader;
  WeightsLoading();
  std::shared_ptr<Weights> weights_;
  std::unique_ptr<Loader> loader_;
};

}  // namespace lapilli
