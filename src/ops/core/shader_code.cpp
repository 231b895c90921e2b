#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ops/core/shader_table.hpp"

namespace lapilli {

namespace {

// SPIR-V words (specification 1.3, sections 2.3, 3.32.3, 3.32.7 and 3.32.12 to 3.32.15).
constexpr size_t kHeaderWords = 5;
enum Operation : uint32_t {
  kOpConstantTrue = 41,
  kOpConstantFalse = 42,
  kOpConstant = 43,
  kOpSpecConstant = 50,
  kOpSpecConstantOp = 52,
  kOpDecorate = 71,
  kOpIAdd = 128,
  kOpISub = 130,
  kOpIMul = 132,
  kOpUDiv = 134,
  kOpLogicalNot = 168,
  kOpSelect = 169,
  kOpIEqual = 170,
};
constexpr uint32_t kDecorationSpecId = 1;

using Words = std::span<const uint32_t>;
uint32_t operation(uint32_t word) { return word & 0xffffu; }
uint32_t length(uint32_t word) { return word >> 16; }

// OpDecorate %target SpecId number
bool names_size(Words op) {
  return operation(op[0]) == kOpDecorate && op.size() == 4 && op[2] == kDecorationSpecId && op[3] == kSizeConstant;
}
// OpSpecConstant %type %target value
bool is_size(Words op, uint32_t target) {
  return operation(op[0]) == kOpSpecConstant && op.size() == 4 && op[2] == target;
}

// A module with its size constant, and all expressions of it alone, folded to plain numbers. The module is our own, so
// its lengths are valid. Decorations precede constants, which precede the expressions derived from them.
class Sized {
 public:
  Sized(Words module, uint32_t size) : size_(size), words_(module.begin(), module.begin() + kHeaderWords) {
    words_.reserve(module.size());
    for (size_t i = kHeaderWords; i < module.size(); i += length(module[i])) add(module.subspan(i, length(module[i])));
  }
  std::vector<uint32_t> take() { return std::move(words_); }

 private:
  void add(Words op) {
    if (names_size(op)) {
      target_ = op[1];
    } else if (target_ != 0 && is_size(op, target_)) {
      add_number(op, size_);
    } else if (const auto value = computed(op)) {
      if (is_logical(op[3]))
        add_truth(op, *value != 0);
      else
        add_number(op, *value);
    } else {
      if (operation(op[0]) == kOpConstant && op.size() == 4) numbers_[op[2]] = op[3];
      words_.insert(words_.end(), op.begin(), op.end());
    }
  }
  // %type and %result are at the same place in every constant.
  void add_number(Words op, uint32_t value) {
    numbers_[op[2]] = value;
    words_.insert(words_.end(), {4u << 16 | kOpConstant, op[1], op[2], value});
  }
  void add_truth(Words op, bool value) {
    numbers_[op[2]] = value;
    words_.insert(words_.end(), {3u << 16 | (value ? kOpConstantTrue : kOpConstantFalse), op[1], op[2]});
  }
  static bool is_logical(uint32_t operation) { return operation == kOpIEqual || operation == kOpLogicalNot; }

  // OpSpecConstantOp %type %result operation %operand...
  [[nodiscard]] std::optional<uint32_t> computed(Words op) const {
    if (operation(op[0]) != kOpSpecConstantOp) return std::nullopt;
    std::array<uint32_t, 3> of{};
    if (op.size() - 4 > of.size()) return std::nullopt;
    for (size_t i = 4; i < op.size(); ++i) {
      const auto known = numbers_.find(op[i]);
      if (known == numbers_.end()) return std::nullopt;
      of[i - 4] = known->second;
    }
    return result(op[3], of);
  }
  static std::optional<uint32_t> result(uint32_t operation, const std::array<uint32_t, 3>& of) {
    switch (operation) {
      case kOpIAdd: return of[0] + of[1];
      case kOpISub: return of[0] - of[1];
      case kOpIMul: return of[0] * of[1];
      case kOpUDiv: return of[1] == 0 ? std::nullopt : std::optional(of[0] / of[1]);
      case kOpLogicalNot: return of[0] == 0 ? 1 : 0;
      case kOpSelect: return of[0] != 0 ? of[1] : of[2];
      case kOpIEqual: return of[0] == of[1] ? 1 : 0;
      default: return std::nullopt;
    }
  }

  uint32_t size_, target_ = 0;
  std::map<uint32_t, uint32_t> numbers_;  // constants by id; booleans as 1 and 0
  std::vector<uint32_t> words_;
};

struct Made {
  std::once_flag once;
  std::vector<uint32_t> words;
  ShaderCode code{};
};

void make(Made& made, const ShaderModule& module) {
  std::span<const uint32_t> words(module.words, module.word_count);
  if (module.size > 0) words = made.words = Sized(words, module.size).take();
  made.code = {module.name, words.data(), words.size()};
}

}  // namespace

const ShaderCode& shader_code(ShaderId id) {
  static std::array<Made, static_cast<size_t>(ShaderId::count)> all;
  Made& made = all[static_cast<size_t>(id)];
  std::call_once(made.once, [&] { make(made, shader_module(id)); });
  return made.code;
}

}  // namespace lapilli
