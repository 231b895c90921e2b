// From the tensors of a training program to those of the family "transformer" (src/model/families/transformer.cpp),
// whose layers have BART's names.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "formats/checkpoint.hpp"
#include "formats/doors/made_tensor.hpp"

namespace lapilli::doors::trained {

// A part of a tensor's rows, which programs store side by side.
struct RowPart {
  uint64_t part = 0, of = 1;
};

class TrainedMapper {
 public:
  // `tensors` in any order; two with one name are a reason against the model.
  explicit TrainedMapper(const std::vector<StoredTensor>& tensors);

  [[nodiscard]] bool has(const std::string& name) const { return tensors_.contains(name); }
  // The n-th dimension, or 0.
  [[nodiscard]] uint64_t size(const std::string& name, size_t dimension) const;
  [[nodiscard]] const StoredTensor* find(const std::string& name) const;
  // The number of layers by a tensor of each, whose name has "{}" for the number; 256 at most.
  [[nodiscard]] uint32_t layers(const std::string& pattern) const;
  [[nodiscard]] bool same(const std::string& a, const std::string& b) const;

  void copy(const std::string& to, const std::string& from, RowPart rows = {});
  void copy_reshaped(const std::string& to, const std::string& from, std::vector<uint64_t> shape);
  // The numbers multiplied by a factor, as fp32.
  void scaled(const std::string& to, const std::string& from, float factor);
  // Depth and columns exchanged: programs of TensorFlow store [depth, columns].
  void transposed(const std::string& to, const std::string& from);
  // Weight, and bias where there is one.
  void linear(const std::string& to, const std::string& from, RowPart rows = {});
  // Rows of several matrices, one behind the other; rows before `zeroed` become zeros.
  void joined(const std::string& to, const std::vector<std::string>& from, uint64_t zeroed = 0);
  void made(MadeTensor tensor) { made_.push_back(std::move(tensor)); }
  void use(const std::string& name);
  // A tensor that the model does without, such as counters.
  void leave(const std::string& name) { use(name); }

  // A reason why the model cannot run.
  void refuse(const std::string& reason) { reasons_.push_back(reason); }
  [[nodiscard]] bool refused() const { return !reasons_.empty(); }
  // Adds a reason for each tensor that nothing has used.
  void refuse_unused();
  [[nodiscard]] Status verdict(const std::string& where, const char* program) const;
  std::vector<MadeTensor> take() { return std::move(made_); }

  nlohmann::json config = nlohmann::json::object(), generation = nlohmann::json::object();

 private:
  std::map<std::string, StoredTensor> tensors_;
  std::set<std::string> used_;
  std::vector<MadeTensor> made_;
  std::vector<std::string> reasons_;
};

// Tables of positions that a program computes: a row for each position from 0 on.
// Sine and cosine of a frequency side by side, frequency 10000^(-2i / width).
MadeTensor paired_positions(const std::string& to, uint64_t rows, uint64_t width);
// Sines in the first half, cosines in the second, frequency 10000^(-i / (width / 2 - 1)); `added` is added to each row.
MadeTensor split_positions(const std::string& to, uint64_t rows, std::vector<float> added);

}  // namespace lapilli::doors::trained
