// From CTranslate2's variables to the tensors of a family of Transformers: what the mappings of all specifications
// share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "formats/doors/ctranslate2/model_file.hpp"
#include "formats/doors/made_tensor.hpp"

namespace lapilli::doors::ct2 {

// Rows of a variable; all of them without a count. CTranslate2 keeps queries, keys and values in one variable.
struct Rows {
  uint64_t part = 0, of = 1;  // the part-th of so many equal parts
};
// Rows of zeros around the stored ones.
struct Zeros {
  uint64_t before = 0, behind = 0;
};

class Mapper {
 public:
  explicit Mapper(const ModelFile& file) : file_(file) {}

  // A matrix that may stay in whole numbers.
  void matrix(const std::string& to, const std::string& from, Rows rows = {}, Zeros zeros = {});
  // The same as numbers, whatever its format: tables, convolutions, vectors.
  void numbers(const std::string& to, const std::string& from, Rows rows = {}, Zeros zeros = {});
  // Depth and columns exchanged.
  void transposed(const std::string& to, const std::string& from);
  // Values of the reader's own.
  void values(const std::string& to, std::vector<uint64_t> shape, std::vector<float> values);
  // Weight and bias of a linear layer; a bias that is not stored is left away.
  void linear(const std::string& to, const std::string& from, Rows rows = {});
  // Gain and offset of a norm, which may lack the offset.
  void norm(const std::string& to, const std::string& from);

  // Sizes of a variable: the n-th dimension, or 0, as for a variable without values.
  [[nodiscard]] uint64_t size(const std::string& name, size_t dimension) const;
  [[nodiscard]] bool has(const std::string& name) const { return file_.find(name) != nullptr; }
  // `count` numbers of a vector into the front of `values`.
  void floats(const std::string& from, uint64_t count, std::vector<float>& values);
  // A setting, which counts as used from then on.
  double setting(const std::string& name, double missing);
  void use(const std::string& name) { used_.insert(file_.find(name)); }
  // The number of "SCOPE/layer_N", 1,024 at most.
  [[nodiscard]] uint32_t layers(const std::string& scope) const;
  [[nodiscard]] uint32_t heads(const std::string& scope);
  // "relu", "gelu", ... by the number that CTranslate2 has for it.
  std::string activation(const std::string& scope);
  // True where embeddings are multiplied by the root of their width; another factor is a reason.
  bool scales_embeddings(const std::string& scope, uint64_t width);

  // A reason why the model cannot run.
  void refuse(const std::string& reason) { reasons_.push_back(reason); }
  // Adds a reason for each variable that no mapping has used and that would change the numbers.
  void refuse_unused();
  // Variables that no mapping has used, and that change no numbers.
  [[nodiscard]] std::vector<std::string> unused() const;
  [[nodiscard]] Status verdict(const std::string& where) const;
  [[nodiscard]] bool scaled() const { return scaled_; }
  std::vector<MadeTensor> take() { return std::move(tensors_); }
  [[nodiscard]] const ModelFile& file() const { return file_; }

 private:
  struct Source;
  bool find(const std::string& from, Rows rows, Source& source);
  bool find_scales(const std::string& from, Source& source);
  void add(const std::string& to, const Source& source, bool keeps_words, Zeros zeros);

  const ModelFile& file_;
  std::vector<MadeTensor> tensors_;
  std::set<const Variable*> used_;
  // The divisors of each variable with scales, by row: several tensors may be parts of one variable.
  std::map<const Variable*, std::shared_ptr<const std::vector<float>>> divisors_;
  std::vector<std::string> reasons_;
  bool scaled_ = false;
};

}  // namespace lapilli::doors::ct2
