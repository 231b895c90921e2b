#include <algorithm>
#include "ops/registry.hpp"
#include "ops/search_util.hpp"
namespace lapilli {
namespace {
using G = graph::Graph;
Status ok(const G&, const graph::Node&) { return {}; }
std::vector<Variant> one(const Capabilities&, const G&, const graph::Node&) { return {{0, "floor"}}; }
void noref(const G&, const graph::Node&, HostTensors&) {}
std::vector<OpCase> nocases() { return {}; }
struct TailAttributes { SearchShape shape; uint32_t candidates = 1, slices = 1; };
struct Bind {
  const LowerContext& c; Dispatch& d;
  Status operator()(uint32_t b, graph::TensorId t, graph::Access a) {
    LAPILLI_TRY(const auto o, bind_whole(c, b, t, a)); d.operands.push_back(o); return {};
  }
};
enum { kStep, kParams, kLineage, kSearch, kLog, kLists, kGrids, kX };
std::vector<graph::TensorId> inputs(const ops::SearchTensors& s, graph::TensorId x = graph::kNone) { return {s.step, s.params, s.lineage, s.search, s.log, s.lists, s.grids, x}; }
Status lower_processors(const LowerContext& c, const graph::Node& n, Variant, std::vector<Dispatch>& out) {
  const auto a = n.attributes.as<TailAttributes>();
  const auto& t = c.graph.tensor(n.inputs[kX]);
  LAPILLI_TRY(const auto ranges, row_slices(c, n, t.rows, {t.ld * 4, 1}));
  for (const auto& r : ranges) {
    Dispatch d; d.shader = ShaderId::processors; d.constants = {c.caps.type == DeviceType::cpu ? 8u : 64u};
    d.groups = r.end - r.begin; if (ranges.size() == 1) follow_live_rows(d, 1, 1);
    uint32_t dx = 0; d.operands.push_back(bind_range(c, 0, n.outputs[0], r.begin * t.ld * 4, r.end * t.ld * 4, graph::Access::read_write, dx));
    Bind b{c, d};
    LAPILLI_CHECK(b(1, n.inputs[kLineage], graph::Access::read)); LAPILLI_CHECK(b(2, n.inputs[kLists], graph::Access::read));
    LAPILLI_CHECK(b(4, n.inputs[kStep], graph::Access::read)); LAPILLI_CHECK(b(5, n.inputs[kParams], graph::Access::read));
    struct { uint32_t groups, columns, ld, begin, first_row, slots, positions, beams; } p{uint32_t(d.groups), uint32_t(t.cols), uint32_t(t.ld), dx, uint32_t(r.begin), a.shape.slots, a.shape.positions, a.shape.beams};
    d.set_push(p); d.cost = 1000.0 * double(d.groups); out.push_back(d);
  }
  return {};
}
Status lower_greedy(const LowerContext& c, const graph::Node& n, Variant, std::vector<Dispatch>& out) {
  const auto a = n.attributes.as<TailAttributes>(); const auto& t = c.graph.tensor(n.inputs[kX]);
  Dispatch d; d.shader = ShaderId::greedy_step; d.groups = div_up<uint64_t>(t.rows, 64); follow_live_rows(d, 1, 64);
  Bind b{c, d};
  LAPILLI_CHECK(b(0, n.inputs[kX], graph::Access::read)); LAPILLI_CHECK(b(1, n.inputs[kSearch], graph::Access::read_write)); LAPILLI_CHECK(b(2, n.inputs[kLineage], graph::Access::read_write));
  LAPILLI_CHECK(b(3, n.inputs[kLog], graph::Access::write)); LAPILLI_CHECK(b(4, n.inputs[kStep], graph::Access::read)); LAPILLI_CHECK(b(5, n.inputs[kParams], graph::Access::read));
  struct { uint32_t groups, slots, positions, slices, ld4; } p{uint32_t(d.groups), a.shape.slots, a.shape.positions, uint32_t(t.cols / 4), uint32_t(t.ld / 4)};
  d.set_push(p); d.cost = 1000; out.push_back(d); return {};
}
Status lower_beam(const LowerContext& c, const graph::Node& n, Variant, std::vector<Dispatch>& out) {
  const auto a = n.attributes.as<TailAttributes>(); const auto& t = c.graph.tensor(n.inputs[kX]);
  Dispatch d; d.shader = ShaderId::beam_step; d.groups = div_up<uint64_t>(t.rows, a.shape.beams); follow_live_rows(d, 1, a.shape.beams);
  Bind b{c, d};
  LAPILLI_CHECK(b(0, n.inputs[kX], graph::Access::read)); LAPILLI_CHECK(b(1, n.inputs[kSearch], graph::Access::read_write)); LAPILLI_CHECK(b(2, n.inputs[kLineage], graph::Access::read_write));
  LAPILLI_CHECK(b(3, n.inputs[kLog], graph::Access::write)); LAPILLI_CHECK(b(4, n.inputs[kStep], graph::Access::read)); LAPILLI_CHECK(b(5, n.inputs[kParams], graph::Access::read));
  struct { uint32_t groups, slots, positions, beams, k, slices, ld2; } p{uint32_t(d.groups), a.shape.slots, a.shape.positions, a.shape.beams, a.candidates, uint32_t(t.cols / (2 * a.candidates)), uint32_t(t.ld / 2)};
  d.set_push(p); d.cost = 10000; out.push_back(d); return {};
}
Status lower_init(const LowerContext& c, const graph::Node& n, Variant, std::vector<Dispatch>& out) {
  const auto a = n.attributes.as<TailAttributes>();
  struct { uint32_t groups, slots, positions, beams, sentences; } p{1, a.shape.slots, a.shape.positions, a.shape.beams, a.shape.sentences};
  { Dispatch d; d.shader = ShaderId::search_init_state; d.groups = 1; Bind b{c, d};
    LAPILLI_CHECK(b(0, n.inputs[kStep], graph::Access::write)); LAPILLI_CHECK(b(1, n.inputs[kSearch], graph::Access::write)); LAPILLI_CHECK(b(2, n.inputs[kGrids], graph::Access::read_write)); LAPILLI_CHECK(b(5, n.inputs[kParams], graph::Access::read));
    d.set_push(p); d.cost = 1000; out.push_back(d); }
  { Dispatch d; d.shader = ShaderId::search_init_lineage; d.groups = a.shape.slots; p.groups = a.shape.slots; Bind b{c, d};
    LAPILLI_CHECK(b(0, n.inputs[kLineage], graph::Access::write)); LAPILLI_CHECK(b(1, n.inputs[kLists], graph::Access::read)); LAPILLI_CHECK(b(5, n.inputs[kParams], graph::Access::read));
    d.set_push(p); d.cost = 1000; out.push_back(d); }
  return {};
}
Status lower_advance(const LowerContext& c, const graph::Node& n, Variant, std::vector<Dispatch>& out) {
  const auto a = n.attributes.as<TailAttributes>();
  struct { uint32_t groups, slots, positions, beams, sentences; } p{1, a.shape.slots, a.shape.positions, a.shape.beams, a.shape.sentences};
  Dispatch d; d.shader = ShaderId::advance; d.groups = 1; Bind b{c, d};
  LAPILLI_CHECK(b(0, n.inputs[kStep], graph::Access::read_write)); LAPILLI_CHECK(b(1, n.inputs[kSearch], graph::Access::read)); LAPILLI_CHECK(b(2, n.inputs[kLog], graph::Access::write)); LAPILLI_CHECK(b(3, n.inputs[kGrids], graph::Access::read_write)); LAPILLI_CHECK(b(5, n.inputs[kParams], graph::Access::read));
  d.set_push(p); d.cost = 1000; out.push_back(d); return {};
}
const OpDef processors_op{"processors", ok, one, lower_processors, noref, nocases};
const OpDef greedy_op{"greedy_step", ok, one, lower_greedy, noref, nocases};
const OpDef beam_op{"beam_step", ok, one, lower_beam, noref, nocases};
const OpDef init_op{"search_init", ok, one, lower_init, noref, nocases};
const OpDef advance_op_{"advance", ok, one, lower_advance, noref, nocases};
}  // namespace
namespace ops {
graph::TensorId processors(G& g, const std::string& l, graph::TensorId x, const SearchTensors& s, const SearchShape& sh) {
  auto y = g.updated(l, x); g.add_node({&processors_op, l, inputs(s, x), {y}, graph::Attributes(TailAttributes{sh})}); return y; }
void greedy_step(G& g, const std::string& l, graph::TensorId x, const SearchTensors& s, const SearchShape& sh) { g.add_node({&greedy_op, l, inputs(s, x), {s.search, s.lineage, s.log}, graph::Attributes(TailAttributes{sh})}); }
void beam_step(G& g, const std::string& l, graph::TensorId x, uint32_t k, const SearchTensors& s, const SearchShape& sh) { g.add_node({&beam_op, l, inputs(s, x), {s.search, s.lineage, s.log}, graph::Attributes(TailAttributes{sh, k})}); }
void search_init(G& g, const SearchTensors& s, const SearchShape& sh) { auto in = inputs(s); in.pop_back(); g.add_node({&init_op, "search_init", in, {s.step, s.search, s.lineage, s.grids}, graph::Attributes(TailAttributes{sh})}); }
void advance(G& g, const SearchTensors& s, const SearchShape& sh) { auto in = inputs(s); in.pop_back(); g.add_node({&advance_op_, "advance", in, {s.step, s.log, s.grids}, graph::Attributes(TailAttributes{sh})}); }
#ifdef TMP_COPY
#endif
}  // namespace ops
}  // namespace lapilli
