#include "spirv_reader.hpp"

#define SPV_ENABLE_UTILITY_CODE
#include <spirv/unified1/spirv.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace lapilli {
namespace {

struct Instruction {
  uint32_t op = 0;
  std::span<const uint32_t> args;  // without the first word
};

class Module {
 public:
  Status parse(std::span<const uint32_t> words);
  Result<SpirvInfo> info() const;

 private:
  struct Decorations {
    std::map<uint32_t, uint32_t> values;                       // decoration -> first literal
    std::map<uint32_t, std::map<uint32_t, uint32_t>> members;  // member -> the same
  };
  uint64_t size_of(uint32_t type) const;
  std::string type_name(uint32_t type) const;
  std::vector<SpirvMember> members_of(uint32_t type) const;
  uint32_t constant(uint32_t id) const;
  void read_variable(const Instruction& i, SpirvInfo& info) const;
  void read_local_size(SpirvInfo& info) const;

  std::vector<Instruction> all_;
  std::unordered_map<uint32_t, Instruction> by_result_;
  std::unordered_map<uint32_t, Decorations> decorations_;
  std::map<std::pair<uint32_t, uint32_t>, std::string> member_names_;  // of (struct type, member)
};

// Four characters a word, the first one lowest; a zero ends it.
std::string read_string(std::span<const uint32_t> words) {
  std::string text;
  for (const uint32_t word : words)
    for (uint32_t shift = 0; shift < 32; shift += 8) {
      const char c = static_cast<char>(word >> shift & 0xffu);
      if (c == 0) return text;
      text += c;
    }
  return text;
}

Status Module::parse(std::span<const uint32_t> words) {
  if (words.size() < 5 || words[0] != SpvMagicNumber) return fail(ErrorCode::invalid_data, "not SPIR-V");
  for (size_t at = 5; at < words.size();) {
    const uint32_t count = words[at] >> 16;
    if (count == 0 || at + count > words.size()) return fail(ErrorCode::invalid_data, "broken instruction");
    Instruction i{words[at] & 0xffffu, words.subspan(at + 1, count - 1)};
    bool has_result = false, has_type = false;
    SpvHasResultAndType(static_cast<SpvOp>(i.op), &has_result, &has_type);
    if (has_result) by_result_[i.args[has_type ? 1 : 0]] = i;
    if (i.op == SpvOpDecorate) decorations_[i.args[0]].values[i.args[1]] = i.args.size() > 2 ? i.args[2] : 0;
    if (i.op == SpvOpMemberDecorate)
      decorations_[i.args[0]].members[i.args[1]][i.args[2]] = i.args.size() > 3 ? i.args[3] : 0;
    if (i.op == SpvOpMemberName && i.args.size() > 2)
      member_names_[{i.args[0], i.args[1]}] = read_string(i.args.subspan(2));
    all_.push_back(i);
    at += count;
  }
  return {};
}

uint32_t Module::constant(uint32_t id) const {
  const auto& i = by_result_.at(id);
  return i.op == SpvOpConstant || i.op == SpvOpSpecConstant ? i.args[2] : 0;
}

uint64_t Module::size_of(uint32_t type) const {
  const auto& i = by_result_.at(type);
  switch (i.op) {
    case SpvOpTypeInt:
    case SpvOpTypeFloat: return i.args[1] / 8;
    case SpvOpTypeVector: return size_of(i.args[1]) * i.args[2];
    case SpvOpTypeArray: {
      const auto d = decorations_.find(type);
      uint64_t stride = size_of(i.args[1]);
      if (d != decorations_.end() && d->second.values.count(SpvDecorationArrayStride))
        stride = d->second.values.at(SpvDecorationArrayStride);
      return stride * constant(i.args[2]);
    }
    case SpvOpTypeStruct: {
      uint64_t end = 0, packed = 0;
      const auto d = decorations_.find(type);
      for (uint32_t m = 0; m + 1 < i.args.size(); ++m) {
        const uint64_t bytes = size_of(i.args[m + 1]);
        packed += bytes;
        uint64_t offset = 0;
        if (d != decorations_.end())
          if (const auto f = d->second.members.find(m); f != d->second.members.end())
            if (const auto o = f->second.find(SpvDecorationOffset); o != f->second.end()) offset = o->second;
        end = std::max(end, offset + bytes);
      }
      return std::max(end, d == decorations_.end() ? packed : 0);
    }
    default: return 0;  // runtime arrays, bool
  }
}

std::string Module::type_name(uint32_t type) const {
  const auto& i = by_result_.at(type);
  if (i.op == SpvOpTypeFloat && i.args[1] == 32) return "float";
  if (i.op == SpvOpTypeInt && i.args[1] == 32) return i.args[2] != 0 ? "int" : "uint";
  return "?";
}

std::vector<SpirvMember> Module::members_of(uint32_t type) const {
  std::vector<SpirvMember> all;
  const auto& types = by_result_.at(type).args;
  for (uint32_t m = 0; m + 1 < types.size(); ++m) {
    SpirvMember member;
    const auto name = member_names_.find({type, m});
    if (name != member_names_.end()) member.name = name->second;
    member.type = type_name(types[m + 1]);
    member.offset = decorations_.at(type).members.at(m).at(SpvDecorationOffset);
    all.push_back(member);
  }
  return all;
}

void Module::read_variable(const Instruction& i, SpirvInfo& info) const {
  const uint32_t id = i.args[1], storage = i.args[2];
  const uint32_t type = by_result_.at(i.args[0]).args[2];
  if (storage == SpvStorageClassWorkgroup) info.shared_bytes += size_of(type);
  if (storage == SpvStorageClassPushConstant) {
    info.push_bytes = static_cast<uint32_t>(size_of(type));
    info.push = members_of(type);
  }
  const auto own = decorations_.find(id);
  if (own == decorations_.end() || !own->second.values.count(SpvDecorationBinding)) return;
  if (own->second.values.at(SpvDecorationDescriptorSet) != 0) info.other_sets = true;
  SpirvBinding b;
  const auto block = decorations_.find(type);
  b.uniform = storage == SpvStorageClassUniform && block != decorations_.end() &&
              block->second.values.count(SpvDecorationBlock) != 0;
  if (b.uniform) b.bytes = size_of(type);
  const auto everywhere = [&](uint32_t decoration) {
    if (own->second.values.count(decoration)) return true;
    if (block == decorations_.end()) return false;
    const size_t members = by_result_.at(type).args.size() - 1;
    for (uint32_t m = 0; m < members; ++m) {
      const auto f = block->second.members.find(m);
      if (f == block->second.members.end() || !f->second.count(decoration)) return false;
    }
    return true;
  };
  b.non_writable = b.uniform || everywhere(SpvDecorationNonWritable);
  b.non_readable = everywhere(SpvDecorationNonReadable);
  info.bindings[own->second.values.at(SpvDecorationBinding)] = b;
}

void Module::read_local_size(SpirvInfo& info) const {
  for (const auto& i : all_)
    if (i.op == SpvOpExecutionMode && i.args[1] == SpvExecutionModeLocalSize)
      for (size_t d = 0; d < 3; ++d) info.local_size[d] = i.args[2 + d];
  for (const auto& [id, d] : decorations_) {
    const auto f = d.values.find(SpvDecorationBuiltIn);
    if (f == d.values.end() || f->second != SpvBuiltInWorkgroupSize) continue;
    const auto& i = by_result_.at(id);
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t part = i.args[2 + k];
      info.local_size[k] = constant(part);
      const auto c = decorations_.find(part);
      if (c != decorations_.end() && c->second.values.count(SpvDecorationSpecId))
        info.local_size_constant[k] = c->second.values.at(SpvDecorationSpecId);
    }
  }
}

Result<SpirvInfo> Module::info() const {
  SpirvInfo info;
  for (const auto& i : all_) {
    if (i.op == SpvOpCapability) info.capabilities.insert(i.args[0]);
    if (i.op == SpvOpVariable) read_variable(i, info);
  }
  for (const auto& [id, d] : decorations_)
    if (const auto f = d.values.find(SpvDecorationSpecId); f != d.values.end()) info.spec_ids.insert(f->second);
  read_local_size(info);
  return info;
}

}  // namespace

Result<SpirvInfo> read_spirv(std::span<const uint32_t> words) {
  Module module;
  LAPILLI_CHECK(module.parse(words));
  return module.info();
}

}  // namespace lapilli
