// Published weights: one interface over safetensors and PyTorch checkpoints, in one file or several.
//
// Nothing is copied or converted here: a tensor is a name, a type, a shape and a range of the file, with a view of it
// if the file is mapped or in memory. Every file is taken for hostile: results have been checked against the file's
// size, so readers need no checks of their own.
// file's size, so readers need no checks of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// Number formats of checkpoints. Lapilli computes with floating-point tensors only; the others are recognised so that
// files with buffers (positions, masks) can be read.
enum class StoredType : uint8_t {
  f64,
  f32,
  f16,
  bf16,
  f8_e4m3,
  f8_e5m2,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean,
  c64
};
constexpr uint32_t stored_type_count = 16;

uint64_t stored_bytes(StoredType type);         // per element
const char* stored_type_name(StoredType type);  // "F32", "BF16", "I64", ... as safetensors writes them

// Higher ranks are refused.
constexpr uint32_t max_stored_rank = 8;

// A range of a file; keeps the file open.
struct FileRange {
  File file;
  uint64_t offset = 0, bytes = 0;
};

// A view; valid while the Checkpoint (or a copy of it) lives. Bytes are little-endian and may be unaligned: read them
// with memcpy.
struct StoredTensor {
  std::string name;
  StoredType type = StoredType::f32;
  std::vector<uint64_t> shape;    // empty: a scalar
  std::vector<uint64_t> strides;  // in elements, one per dimension; may be 0 or unsorted in PyTorch checkpoints
  // From the first element to the end of the last one that shape and strides reach. Tied tensors of a PyTorch
  // checkpoint share their bytes. Empty if the file is not in memory: read `stored` then.
  std::span<const std::byte> bytes;
  uint32_t file = 0;      // index for Checkpoint::path
  FileRange stored = {};  // the same bytes; without a file if no file holds the tensor

  [[nodiscard]] uint64_t elements() const;     // product of the shape
  [[nodiscard]] bool contiguous() const;       // row-major without gaps
  [[nodiscard]] std::string describe() const;  // "model.shared.weight F32 [257, 32]", safe for messages
};

class Checkpoint {
 public:
  // Reads the first of these that the directory has: model.safetensors, model.safetensors.index.json,
  // pytorch_model.bin, pytorch_model.bin.index.json.
  static Result<Checkpoint> open(const Files& files);
  // Opens one file of either kind, told apart by content.
  static Result<Checkpoint> open_file(const FileName& name);

  // Null if there is none. The pointer stays valid while this checkpoint lives, even if it is moved.
  [[nodiscard]] const StoredTensor* find(std::string_view name) const;
  // Gives a tensor a second name. False if it does not exist or the name is taken. Invalidates pointers from find().
  bool add_name(const std::string& name, std::string_view of);
  // Takes over another checkpoint's tensors with `prefix` before their names; names that are taken stay. Invalidates
  // pointers from find().
  void join(Checkpoint other, const std::string& prefix);
  // Adds a tensor that no file holds, unless the name is taken. Invalidates pointers from find().
  void add_values(const std::string& name, std::vector<uint64_t> shape, std::vector<float> values);
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const { return tensors_; }  // sorted by name
  [[nodiscard]] std::vector<std::string> names() const;                                // sorted
  [[nodiscard]] uint64_t total_bytes() const;                                          // shared bytes counted once
  // For people: "safetensors", "safetensors (3 files)", "PyTorch zip", "PyTorch stream (2 files)".
  [[nodiscard]] const std::string& format() const { return format_; }
  [[nodiscard]] const std::string& path(const StoredTensor& tensor) const { return files_[tensor.file].path(); }

 private:
  friend struct CheckpointBuilder;
  std::vector<File> files_;
  std::vector<StoredTensor> tensors_;
  std::vector<std::shared_ptr<const std::vector<float>>> made_;  // by add_values()
  std::string format_;
};

// A mapped range that is read once: its pages leave memory when this is destroyed. Movable.
class PagesInUse {
 public:
  PagesInUse() = default;
  explicit PagesInUse(FileRange range) : range_(std::move(range)) {}
  PagesInUse(PagesInUse&& other) noexcept : range_(std::exchange(other.range_, {})) {}
  PagesInUse& operator=(PagesInUse&& other) noexcept {
    std::swap(range_, other.range_);
    return *this;
  }
  ~PagesInUse() { range_.file.let_go(range_.offset, range_.bytes); }

 private:
  FileRange range_;
};

// The bytes of a tensor, or a part of them, in memory as long as this lives. `read` is empty if they were in memory
// before.
struct TensorBytes {
  std::vector<std::byte> read;
  std::span<const std::byte> bytes;
  PagesInUse pages = {};
};
// All of StoredTensor::bytes, or `bytes` of them from `offset` on, which must lie within.
Result<TensorBytes> load_bytes(const StoredTensor& tensor);
Result<TensorBytes> load_bytes(const StoredTensor& tensor, uint64_t offset, uint64_t bytes);
// Number of StoredTensor::bytes, in memory or not.
uint64_t byte_count(const StoredTensor& tensor);

// The values in row-major order, converted exactly (float64 is rounded). Types that are no floats are refused.
Result<std::vector<float>> read_floats(const StoredTensor& tensor);
// An error if a value is NaN, which no published weight is. `values` are the tensor's, of its type and contiguous.
Status check_numbers(const StoredTensor& tensor, std::span<const std::byte> values);
// The values of an integer or boolean tensor in row-major order. u64 above 2^63 - 1 wraps.
Result<std::vector<int64_t>> read_integers(const StoredTensor& tensor);
// True if type, shape and bits at every position agree, whatever the strides. Finds tied weights that were stored
// twice. False also if one cannot be read; Files::failure() then says so.
bool same_values(const StoredTensor& a, const StoredTensor& b);

}  // namespace lapilli
