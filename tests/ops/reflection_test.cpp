// Compares what the SPIR-V modules declare with what the ops' lowering gives them.
#include <gtest/gtest.h>
#include <spirv/unified1/spirv.h>

#include <cstring>
#include <string>
#include <vector>

#include "ops/core/op.hpp"
#include "ops/core/shader_table.hpp"
#include "push_members.hpp"
#include "spirv_reader.hpp"
#include "support/temp_directory.hpp"
#include "vulkan/caps/bindings.hpp"

namespace lapilli {
namespace {

constexpr uint32_t kCooperativeMatrix = 6022;  // SpvCapabilityCooperativeMatrixKHR, of which older headers do not know

bool is_prebuilt(const SpirvInfo& info) { return info.capabilities.count(kCooperativeMatrix) != 0; }

// Reads the library's module; where it has no names, those of the same module compiled with names serve.
SpirvInfo read_kernel(ShaderId id) {
  const auto& code = shader_code(id);
  auto info = read_spirv({code.words, code.word_count});
  if (info && is_prebuilt(*info)) return *info;
  const std::string bytes = read_file(std::string(LAPILLI_NAMED_SHADERS "/") + code.name + ".spv");
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  const auto named = read_spirv(words);
  EXPECT_TRUE(info.ok() && named.ok()) << code.name << ": " << (info.ok() ? "" : info.error().message)
                                       << (named.ok() ? "" : named.error().message);
  if (!info.ok() || !named.ok()) return {};
  EXPECT_EQ(info->push.size(), named->push.size()) << code.name;
  info->push = named->push;
  return *info;
}

std::vector<SpirvInfo> read_all() {
  std::vector<SpirvInfo> all;
  for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i)
    all.push_back(read_kernel(static_cast<ShaderId>(i)));
  return all;
}

// Devices that differ in what the variants look at.
std::vector<Capabilities> devices() {
  std::vector<Capabilities> all(5);
  all[1].type = DeviceType::cpu;
  all[1].driver_name = "llvmpipe";
  all[1].texels = true;
  all[1].subgroup_size = all[1].min_subgroup_size = all[1].max_subgroup_size = 8;
  all[1].subgroup_arithmetic = all[1].subgroup_shuffle = true;
  all[2].type = DeviceType::discrete;
  all[2].max_invocations = 1024;
  all[2].max_group_size = {1024, 1024, 64};
  all[2].shared_memory = 49152;
  all[2].max_storage_range = uint64_t{1} << 32;
  all[2].max_storage_buffers = 16;
  all[3].max_storage_range = 65536;
  all[3].max_group_count = {64, 64, 64};
  all[4] = all[2];
  all[4].subgroup_size = all[4].min_subgroup_size = all[4].max_subgroup_size = 32;
  all[4].subgroup_arithmetic = all[4].subgroup_shuffle = all[4].arithmetic_fp16 = true;
  all[4].cooperative_matrix = {16, 16, 16};
  return all;
}

uint64_t invocations(const SpirvInfo& info, const Dispatch& d) {
  uint64_t n = 1;
  for (size_t k = 0; k < 3; ++k) {
    const int64_t c = info.local_size_constant[k];
    n *= c >= 0 && static_cast<size_t>(c) < d.constants.size() ? d.constants[static_cast<size_t>(c)]
                                                               : info.local_size[k];
  }
  return n;
}

void compare(const Dispatch& d, const SpirvInfo& info, const Capabilities& caps) {
  std::map<uint32_t, graph::Access> bound;
  for (const auto& o : d.operands) EXPECT_TRUE(bound.emplace(o.binding, o.access).second) << "binding " << o.binding;
  EXPECT_EQ(bound.size(), info.bindings.size());
  for (const auto& [binding, b] : info.bindings) {
    ASSERT_TRUE(bound.count(binding)) << "binding " << binding << " is declared but not bound";
    EXPECT_EQ(b.uniform, is_uniform(binding)) << "binding " << binding;
    const auto declared = b.non_writable   ? graph::Access::read
                          : b.non_readable ? graph::Access::write
                                           : graph::Access::read_write;
    EXPECT_EQ(static_cast<int>(declared), static_cast<int>(bound.at(binding))) << "access of binding " << binding;
  }
  EXPECT_EQ(info.push_bytes, d.push_bytes);
  ASSERT_TRUE(d.push_members) << "no push constants";
  EXPECT_EQ(difference(members_of(*d.push_members), info.push), "");
  if (!info.spec_ids.empty()) {
    EXPECT_EQ(*info.spec_ids.rbegin() + 1, d.constants.size()) << "specialization constants";
  }
  if (!is_prebuilt(info)) {  // in which those that nothing asks for are left away
    EXPECT_EQ(info.spec_ids.size(), d.constants.size()) << "ids have gaps";
  }
  EXPECT_LE(invocations(info, d), caps.max_invocations);
  EXPECT_LE(info.shared_bytes, caps.shared_memory);
  for (const auto capability : info.capabilities) {
    const bool subgroup =
        capability == SpvCapabilityGroupNonUniform || capability == SpvCapabilityGroupNonUniformShuffle;
    const bool cooperative = capability == SpvCapabilityGroupNonUniform || capability == SpvCapabilityFloat16 ||
                             capability == SpvCapabilityVulkanMemoryModel || capability == kCooperativeMatrix;
    const bool texels = capability == SpvCapabilityImageBuffer;
    EXPECT_TRUE(capability == SpvCapabilityShader || (subgroup && caps.subgroup_shuffle) || (texels && caps.texels) ||
                (cooperative && has_cooperative_matrix(caps)))
        << "capability " << capability;
  }
}

TEST(Reflection, ModulesMatchTheirDispatches) {
  const auto modules = read_all();
  std::vector<bool> used(modules.size(), false);
  for (const OpDef* op : all_ops())
    for (const auto& c : op->cases())
      for (const auto& caps : devices())
        for (const auto& v : op->variants(caps, c.graph, c.graph.node(0))) {
          std::vector<Dispatch> dispatches;
          if (!op->lower({c.graph, caps}, c.graph.node(0), v, dispatches).ok()) continue;
          for (const auto& d : dispatches) {
            SCOPED_TRACE(std::string(op->name) + " " + c.name + " " + v.name + ", shader " +
                         shader_code(d.shader).name);
            const auto id = static_cast<size_t>(d.shader);
            ASSERT_LT(id, modules.size());
            used[id] = true;
            compare(d, modules[id], caps);
            if (testing::Test::HasFailure()) return;
          }
        }
  for (size_t i = 0; i < used.size(); ++i)
    EXPECT_TRUE(used[i]) << "no case uses shader " << shader_code(static_cast<ShaderId>(i)).name;
}

TEST(Reflection, FloorModulesNeedNothing) {
  const auto modules = read_all();
  const Capabilities floor;
  for (const OpDef* op : all_ops())
    for (const auto& c : op->cases()) {
      std::vector<Dispatch> dispatches;
      const auto variants = op->variants(floor, c.graph, c.graph.node(0));
      ASSERT_TRUE(op->lower({c.graph, floor}, c.graph.node(0), variants.back(), dispatches).ok());
      for (const auto& d : dispatches) {
        const auto& info = modules[static_cast<size_t>(d.shader)];
        const char* name = shader_code(d.shader).name;
        EXPECT_FALSE(info.other_sets) << name;
        EXPECT_LE(info.shared_bytes, 16384u) << name;
        EXPECT_LE(invocations(info, d), 128u) << name;
        uint32_t storage = 0;
        for (const auto& [binding, b] : info.bindings) storage += b.uniform ? 0 : 1;
        EXPECT_LE(storage, 4u) << name;
        for (const auto capability : info.capabilities)
          EXPECT_EQ(capability, static_cast<uint32_t>(SpvCapabilityShader)) << name;
      }
    }
}

// The reader itself must be able to fail: a module of a known kernel has what its source says.
TEST(Reflection, ReaderSeesLayerNorm) {
  const SpirvInfo info = read_kernel(ShaderId::layer_norm);
  ASSERT_EQ(info.bindings.size(), 3u);
  EXPECT_TRUE(info.bindings.at(0).non_writable);
  EXPECT_FALSE(info.bindings.at(2).non_writable);
  EXPECT_TRUE(info.bindings.at(2).non_readable);
  EXPECT_EQ(info.push_bytes, 24u);
  EXPECT_EQ(info.shared_bytes, 512u);
  const std::vector<SpirvMember> push{{"groups", "uint", 0},   {"cols", "uint", 4},     {"ld4", "uint", 8},
                                      {"x_begin", "uint", 12}, {"y_begin", "uint", 16}, {"epsilon", "float", 20}};
  EXPECT_EQ(info.push, push);
  EXPECT_EQ(info.local_size_constant[0], 0);
  EXPECT_FALSE(read_spirv(std::vector<uint32_t>{1, 2, 3, 4, 5, 6}).ok());
}

// Push structs of the size of layer_norm's.
struct SizesPush {
  LAPILLI_PUSH(uint32_t groups, cols, ld4;)
};
struct WholePush {
  LAPILLI_PUSH_BEHIND(SizesPush, sizes, uint32_t x_begin, y_begin;  // a comment
                      float epsilon;)
};
struct SwappedPush {
  LAPILLI_PUSH(uint32_t groups, cols, ld4, y_begin, x_begin; float epsilon;)
};
struct SwappedBeforePush {
  LAPILLI_PUSH(uint32_t groups, ld4, cols;)
};
struct SwappedBehindPush {
  LAPILLI_PUSH_BEHIND(SwappedBeforePush, sizes, uint32_t x_begin, y_begin; float epsilon;)
};
struct OtherNamePush {
  LAPILLI_PUSH(uint32_t groups, columns, ld4, x_begin, y_begin; float epsilon;)
};
struct OtherTypePush {
  LAPILLI_PUSH(uint32_t groups, cols, ld4, x_begin, y_begin; int32_t epsilon;)
};
static_assert(sizeof(WholePush) == 24 && sizeof(SwappedPush) == 24 && sizeof(SwappedBehindPush) == 24);

TEST(Reflection, PushMembersThatDifferAreSeen) {
  const SpirvInfo info = read_kernel(ShaderId::layer_norm);
  const auto seen = [&](const PushMembers& push) { return difference(members_of(push), info.push); };
  EXPECT_EQ(seen(WholePush::members), "");
  EXPECT_EQ(seen(SwappedPush::members),
            "member 3: the op has uint y_begin at byte 12, the kernel uint x_begin at byte 12");
  EXPECT_EQ(seen(SwappedBehindPush::members),
            "member 1: the op has uint ld4 at byte 4, the kernel uint cols at byte 4");
  EXPECT_EQ(seen(OtherNamePush::members),
            "member 1: the op has uint columns at byte 4, the kernel uint cols at byte 4");
  EXPECT_EQ(seen(OtherTypePush::members),
            "member 5: the op has int epsilon at byte 20, the kernel float epsilon at byte 20");
  EXPECT_EQ(seen(SizesPush::members), "member 3: the op has nothing, the kernel uint x_begin at byte 12");
}

}  // namespace
}  // namespace lapilli
