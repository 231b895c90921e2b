// The promises of every op, checked without a device.
#include "ops/core/op.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ops/core/case_util.hpp"
#include "ops/core/shader_table.hpp"
#include "support/other_numbers.hpp"
#include "vulkan/caps/bindings.hpp"

namespace lapilli {
namespace {

// The largest work of a case that the CPU tests run; larger ones are the suite's.
constexpr uint64_t kMaxElements = 4'000'000;

uint64_t elements(const graph::Graph& g) {
  uint64_t n = 0;
  for (const auto& t : g.tensors()) n += t.elements();
  return n;
}

std::string op_name(const testing::TestParamInfo<const OpDef*>& op) { return op.param->name; }

class EveryOp : public testing::TestWithParam<const OpDef*> {};
INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, testing::ValuesIn(all_ops().begin(), all_ops().end()), op_name);

TEST_P(EveryOp, IsComplete) {
  const OpDef& op = *GetParam();
  ASSERT_TRUE(op.name && op.infer && op.variants && op.lower && op.reference && op.cases);
  EXPECT_FALSE(op.cases().empty());
}

TEST_P(EveryOp, CasesAreWellFormed) {
  std::set<std::string> names;
  for (const auto& c : GetParam()->cases()) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name << " stands twice";
    ASSERT_EQ(c.graph.nodes().size(), 1u) << c.name;
    EXPECT_EQ(c.graph.node(0).op, GetParam()) << c.name;
    const auto status = GetParam()->infer(c.graph, c.graph.node(0));
    EXPECT_TRUE(status.ok()) << c.name << ": " << (status.ok() ? "" : status.error().message);
    for (const auto& [id, value] : c.inputs) {
      const auto& t = c.graph.tensor(id);
      EXPECT_EQ(t.dtype == graph::DType::f32 ? value.f.size() : value.u.size(), t.elements())
          << c.name << " " << t.name;
    }
  }
}

// By its place in the table: see simple_of().
TEST(Ops, SimpleShadersStandBehindTheirOriginals) {
  size_t found = 0;
  for (uint32_t i = 1; i < static_cast<uint32_t>(ShaderId::count); ++i) {
    const std::string name = shader_code(static_cast<ShaderId>(i)).name;
    if (!name.starts_with("attention") || !name.ends_with("_simple")) continue;
    EXPECT_EQ(name, std::string(shader_code(static_cast<ShaderId>(i - 1)).name) + "_simple");
    ++found;
  }
  EXPECT_GT(found, 0u);
}

TEST_P(EveryOp, FloorFitsEveryDevice) {
  const Capabilities floor;
  for (const auto& c : GetParam()->cases()) {
    const auto& node = c.graph.node(0);
    const auto variants = GetParam()->variants(floor, c.graph, node);
    ASSERT_FALSE(variants.empty()) << c.name;
    std::set<uint32_t> ids;
    for (const auto& v : variants) EXPECT_TRUE(ids.insert(v.id).second) << c.name << ": variant " << v.name << " twice";
    std::vector<Dispatch> dispatches;
    const auto status = GetParam()->lower({c.graph, floor}, node, variants.back(), dispatches);
    ASSERT_TRUE(status.ok()) << c.name << ": " << status.error().message;
    ASSERT_FALSE(dispatches.empty()) << c.name;
    for (const auto& d : dispatches) {
      EXPECT_LE(d.push_bytes, 128u);
      EXPECT_GE(d.push_bytes, 4u);
      EXPECT_LE(d.groups, max_groups(floor)) << c.name;
      EXPECT_GE(d.groups, 1u) << c.name;
      uint32_t groups = 0;
      std::memcpy(&groups, d.push.data(), 4);
      EXPECT_EQ(groups, d.groups) << c.name << ": the first push word is the count of groups";
      EXPECT_GT(d.cost, 0) << c.name;
      for (const auto& o : d.operands) {
        const auto& t = c.graph.tensor(o.tensor);
        EXPECT_LT(o.binding, kFloorBindings);
        EXPECT_LT(o.begin, o.end) << c.name << " " << t.name;
        EXPECT_LE(o.end, t.bytes()) << c.name << " " << t.name;
        EXPECT_EQ(o.begin % binding_alignment(floor, o.binding), 0u) << c.name << " " << t.name;
        EXPECT_LE(o.end - o.begin, max_binding_range(floor, o.binding)) << c.name << " " << t.name;
      }
    }
  }
}

void expect_it_fits(const OpDef& op, const OpCase& c, const Capabilities& caps) {
  const auto& node = c.graph.node(0);
  for (const auto& v : op.variants(caps, c.graph, node)) {
    std::vector<Dispatch> dispatches;
    const auto status = op.lower({c.graph, caps}, node, v, dispatches);
    if (!status.ok()) {
      EXPECT_FALSE(status.error().message.empty());
      continue;
    }
    for (const auto& d : dispatches) {
      EXPECT_LE(d.groups, max_groups(caps)) << c.name;
      for (const auto& o : d.operands) {
        SCOPED_TRACE(c.name + " " + v.name + " " + c.graph.tensor(o.tensor).name);
        EXPECT_EQ(o.begin % binding_alignment(caps, o.binding), 0u);
        EXPECT_LE(o.end - o.begin, max_binding_range(caps, o.binding));
        EXPECT_TRUE(!is_texels(o.binding) || (o.end - o.begin) % kTexelBytes == 0);
      }
    }
  }
}

// Whatever a mask allows, lowering either fits it or says why not.
TEST_P(EveryOp, LoweringRespectsSmallBindings) {
  Capabilities caps;
  caps.max_storage_range = 65536;
  caps.max_group_count = {64, 64, 64};
  Capabilities cpu = caps;
  cpu.type = DeviceType::cpu;
  cpu.driver_name = "llvmpipe";
  cpu.subgroup_size = cpu.min_subgroup_size = cpu.max_subgroup_size = 8;
  cpu.subgroup_shuffle = cpu.texels = true;
  for (const auto& c : GetParam()->cases())
    for (const Capabilities& device : {caps, cpu}) expect_it_fits(*GetParam(), c, device);
}

// Numbers are those of the variant, or an error says what is possible: nothing else chooses the size of a workgroup.
// Only products that have fewer columns than invocations take fewer of these, normalizations in front of a product a
// power of two, and gates in front of it have numbers of their own.
TEST_P(EveryOp, LoweringTakesTheVariantsNumbers) {
  const OpDef& op = *GetParam();
  const Capabilities floor;
  std::set<uint32_t> taken;
  bool free = false;
  for (const auto& c : GetParam()->cases()) {
    const auto& node = c.graph.node(0);
    for (Variant v : GetParam()->variants(floor, c.graph, node)) {
      const bool fewer = std::string(v.name).starts_with("rows");
      for (const Numbers& n : testing_support::other_numbers(v.numbers)) {
        free = true;
        v.numbers = n;
        std::vector<Dispatch> dispatches;
        const auto status = GetParam()->lower({c.graph, floor}, node, v, dispatches);
        if (!status.ok()) {
          EXPECT_EQ(status.error().code, ErrorCode::unsupported) << status.error().message;
          continue;
        }
        EXPECT_LE(n.local, floor.max_invocations) << c.name << " " << v.name;
        for (const auto& d : dispatches) {
          ASSERT_FALSE(d.constants.empty()) << c.name << " " << v.name;
          const bool product = std::string(op.name) == "matmul";
          if (product && d.shader == ShaderId::gate) continue;
          const bool in_front = product && d.constants.size() == 1;
          EXPECT_TRUE(d.constants[0] == n.local || ((fewer || in_front) && d.constants[0] < n.local))
              << c.name << " " << v.name;
          // Products have it behind what all of them have.
          EXPECT_TRUE(n.each == 0 || in_front || d.constants.at(1) == n.each || d.constants.at(5) == n.each)
              << c.name << " " << v.name;
          taken.insert(d.constants[0]);
        }
      }
    }
  }
  EXPECT_TRUE(!free || taken.size() >= 2);
}

TEST_P(EveryOp, LoweringRefusesNumbersThatAreNone) {
  const Capabilities floor;
  for (const auto& c : GetParam()->cases()) {
    const auto& node = c.graph.node(0);
    for (const Variant& v : GetParam()->variants(floor, c.graph, node)) {
      if (v.numbers.local == 0) continue;
      const uint32_t local = v.numbers.local, each = v.numbers.each;
      for (const Numbers n : {Numbers{0, each}, Numbers{129, each}, Numbers{256, each}, Numbers{0x80000000u, each},
                              Numbers{local, each == 0 ? 1u : 0u}, Numbers{local, 0xffffffffu}}) {
        std::vector<Dispatch> dispatches;
        Variant other = v;
        other.numbers = n;
        const auto status = GetParam()->lower({c.graph, floor}, node, other, dispatches);
        EXPECT_FALSE(status.ok()) << c.name << " " << v.name << " " << n.local << " x " << n.each;
      }
    }
  }
}

// Slow devices kill work that takes seconds: products and attention come in pieces of bounded work, down to a
// tile of rows by a panel of columns, or to one query.
TEST_P(EveryOp, LoweringBoundsTheWorkOfADispatch) {
  const std::string name = GetParam()->name;
  if (name != "matmul" && name != "attention") return;  // what others do is little beside these
  const Capabilities caps;
  const WorkLimit work(4e6);
  size_t pieces = 0;
  for (const auto& c : GetParam()->cases()) {
    const auto& node = c.graph.node(0);
    for (const auto& v : GetParam()->variants(caps, c.graph, node)) {
      std::vector<Dispatch> dispatches;
      if (!GetParam()->lower({c.graph, caps, work}, node, v, dispatches)) continue;
      pieces = std::max(pieces, dispatches.size());
      // The queries that see everything (LED) are any of a sentence, which stays whole.
      const bool whole = c.name.ends_with("global queries");
      for (const auto& d : dispatches)
        EXPECT_TRUE(whole || work.allows(d.cost)) << c.name << " " << v.name << " " << d.cost;
    }
  }
  EXPECT_GT(pieces, 3u);
}

// The reference defines every value, padding included.
TEST_P(EveryOp, ReferenceWritesEverything) {
  for (auto& c : GetParam()->cases()) {
    if (c.slow || elements(c.graph) > kMaxElements) continue;
    if (c.prepare) c.prepare(c);
    auto values = host_tensors(c);
    const auto& node = c.graph.node(0);
    GetParam()->reference(c.graph, node, values);
    for (const auto id : node.outputs) {
      if (id == graph::kNone || c.graph.tensor(id).dtype != graph::DType::f32) continue;
      const auto& t = c.graph.tensor(id);
      if (t.scratch) continue;
      ASSERT_EQ(values.at(id).f.size(), t.elements()) << c.name << " " << t.name;
      const uint64_t rows = std::min(t.rows, c.live_rows);
      for (uint64_t i = 0; i < rows * t.ld; ++i)
        ASSERT_TRUE(std::isfinite(values.at(id).f[i])) << c.name << " " << t.name << " element " << i;
    }
  }
}

TEST(Shaders, HaveUniqueNames) {
  std::set<std::string> names;
  for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i) {
    const auto& code = shader_code(static_cast<ShaderId>(i));
    EXPECT_TRUE(names.insert(code.name).second) << code.name;
    EXPECT_GT(code.word_count, 5u);
  }
}

}  // namespace
}  // namespace lapilli
