#include "ops/products/row_parts.hpp"

#include "ops/products/matmul.hpp"

namespace lapilli {

RowNorm norm_of(const graph::Node& node) {
  if (node.op == &layer_norm_op)
    return {node.inputs[0], node.inputs[1], node.outputs[0], node.attributes.as<LayerNormAttributes>()};
  const auto a = node.attributes.as<MatmulAttributes>();
  const LayerNormAttributes how{a.epsilon, a.norm == NormFirst::rms ? 1u : 0u};
  return {node.inputs[0], node.inputs[kNormWeightInput], node.outputs[kMultipliedOutput], how};
}

graph::Node normalizing(graph::Node product, const RowNorm& norm) {
  auto a = product.attributes.as<MatmulAttributes>();
  a.norm = norm.how.rms ? NormFirst::rms : NormFirst::layer;
  a.epsilon = norm.how.epsilon;
  product.attributes = graph::Attributes(a);
  product.inputs.resize(kNormWeightInput + 1, graph::kNone);
  product.outputs.resize(kMultipliedOutput + 1, graph::kNone);
  product.inputs[0] = norm.x;
  product.inputs[kNormWeightInput] = norm.weight;
  product.outputs[kMultipliedOutput] = norm.y;
  return product;
}

RowGate gate_of(const graph::Node& node) {
  if (node.op == &gate_op)
    return {node.inputs[0], node.outputs[0], node.attributes.as<ElementwiseAttributes>().activation};
  return {node.inputs[0], node.outputs[kMultipliedOutput], node.attributes.as<MatmulAttributes>().gate};
}

graph::Node gating(graph::Node product, const RowGate& gate) {
  auto a = product.attributes.as<MatmulAttributes>();
  a.gated = 1;
  a.gate = gate.activation;
  product.attributes = graph::Attributes(a);
  product.outputs.resize(kMultipliedOutput + 1, graph::kNone);
  product.inputs[0] = gate.x;
  product.outputs[kMultipliedOutput] = gate.y;
  return product;
}

}  // namespace lapilli
