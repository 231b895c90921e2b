#include "ops/core/kv_layout.hpp"

#include <algorithm>
#include <cmath>

#include "ops/core/lower_util.hpp"

namespace lapilli {

const char* name(KvFormat format) { return format == KvFormat::fp16 ? "fp16" : "fp32"; }

Result<KvFormat> parse_kv_format(const std::string& text) {
  for (const KvFormat f : {KvFormat::fp32, KvFormat::fp16})
    if (text == name(f)) return f;
  return fail(ErrorCode::invalid_argument, "there is no kv-dtype \"%s\"; give fp32 or fp16", text);
}

double half_step(double number) {
  constexpr double kLeastNormal = 0x1p-14;
  return std::exp2(std::floor(std::log2(std::max(std::abs(number), kLeastNormal))) - 10);
}

Status expect_kv(const graph::Graph& g, const graph::Node& node, graph::TensorId id, const KvShape& shape,
                 bool cached) {
  if (id == graph::kNone) return node_error(node, "operand kv is missing");
  const graph::DType dtype = g.tensor(id).dtype;
  if (dtype != graph::DType::f32 && !(cached && dtype == graph::DType::f16))
    return node_error(node, "kv is %s; %s", name(dtype), cached ? "f32 and f16 will do" : "here it must be f32");
  LAPILLI_CHECK(expect_words(g, node, id, "kv", KvLayout(shape, g.tensor(id)).words()));
  if (shape.numbers() > 0xffffffffu) return node_error(node, "kv has more than 2^32 numbers");
  return {};
}

HostKv::HostKv(const graph::Graph& g, graph::TensorId id, HostTensors& values) {
  if (kv_format_of(g.tensor(id).dtype) == KvFormat::fp32)
    f_ = &values.at(id).f;
  else
    u_ = &values.at(id).u;
}

}  // namespace lapilli
