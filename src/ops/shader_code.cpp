#include <array>
#include <mutex>
#include <span>
#include <vector>

#include "ops/shader_table.hpp"

namespace lapilli {

namespace {

// Words of SPIR-V (specification 1.3, sections 2.3, 3.32.3 and 3.32.7).
constexpr size_t kHeaderWords = 5;
constexpr uint32_t kOpConstant = 43, kOpSpecConstant = 50, kOpDecorate = 71, kDecorationSpecId = 1;

uint32_t operation(uint32_t word) { return word & 0xffffu; }
uint32_t length(uint32_t word) { return word >> 16; }

// OpDecorate %target SpecId number
bool names_size(std::span<const uint32_t> op) {
  return operation(op[0]) == kOpDecorate && op.size() == 4 && op[2] == kDecorationSpecId && op[3] == kSizeConstant;
}
// OpSpecConstant %type %target value
bool is_size(std::span<const uint32_t> op, uint32_t target) {
  return operation(op[0]) == kOpSpecConstant && op.size() == 4 && op[2] == target;
}

// The module is our own, so its lengths are right. Decorations stand in front of constants.
std::vector<uint32_t> with_size(std::span<const uint32_t> module, uint32_t size) {
  std::vector<uint32_t> words(module.begin(), module.begin() + kHeaderWords);
  words.reserve(module.size());
  uint32_t target = 0;
  for (size_t i = kHeaderWords; i < module.size(); i += length(module[i])) {
    const auto op = module.subspan(i, length(module[i]));
    if (names_size(op))
      target = op[1];
    else if (target != 0 && is_size(op, target))
      words.insert(words.end(), {length(op[0]) << 16 | kOpConstant, op[1], op[2], size});
    else
      words.insert(words.end(), op.begin(), op.end());
  }
  return words;
}

struct Made {
  std::once_flag once;
  std::vector<uint32_t> words;
  ShaderCode code{};
};

void make(Made& made, const ShaderModule& module) {
  std::span<const uint32_t> words(module.words, module.word_count);
  if (module.size > 0) words = made.words = with_size(words, module.size);
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
