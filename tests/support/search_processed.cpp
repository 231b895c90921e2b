// Processors on prompt ids and scores.
#include <cmath>

#include "runtime/check/interpreter.hpp"
#include "runtime/run/session.hpp"
#include "support/search_graph.hpp"
#include "support/search_records.hpp"

namespace lapilli::search_records {

using nlohmann::json;

namespace {

struct Given {
  Rows history, sources;
  uint32_t prefix = 1;
  json args;
};

Result<Given> read_given(const Recorded& recorded, const json& c) {
  Given g;
  const json& inputs = c.at("inputs");
  LAPILLI_TRY(g.history, recorded.ids(inputs.at("ids")));
  if (inputs.contains("encoder_input_ids")) {
    LAPILLI_TRY(g.sources, recorded.ids(inputs.at("encoder_input_ids")));
  } else {
    g.sources.assign(g.history.size(), {});
  }
  g.args = c.at("args");
  g.args.erase("remove_invalid_values");  // forbidden scores are finite here anyhow
  if (c.at("kind") == "whisper-timestamps") {
    // The rules work from the first generated id on, which is where the given ones end.
    g.prefix = g.args.at("begin_index");
    g.args.erase("begin_index");
    g.args["return_timestamps"] = true;
  } else {
    g.prefix = c.at("prompt_length");
  }
  if (g.sources.size() != g.history.size() || g.prefix == 0 || g.prefix > g.history[0].size())
    return fail(ErrorCode::invalid_data, "ids, sources and prompt ids do not fit together");
  return g;
}

}  // namespace

Result<Processed> make_processed(const Recorded& recorded, const json& c) {
  const uint32_t vocabulary = recorded.info.at("vocab_size");
  LAPILLI_TRY(const auto g, read_given(recorded, c));
  LAPILLI_TRY(const auto scores, recorded.matrix(c.at("inputs").at("scores")));
  LAPILLI_TRY(const auto want, recorded.matrix(c.at("output")));
  const auto rows = static_cast<uint32_t>(g.history.size()), count = static_cast<uint32_t>(g.history[0].size());
  if (scores.rows != rows || want.rows != rows || scores.columns != vocabulary || want.columns != vocabulary)
    return fail(ErrorCode::invalid_data, "the scores are not [%u, %u]", rows, vocabulary);
  LAPILLI_TRY(const auto options, options_of(recorded, g.args, g.prefix));
  Processed p;
  const SearchShape shape{rows, count + 2, 1, rows, rows, 8};
  std::vector<uint32_t> lists, search;
  for (uint32_t r = 0; r < rows; ++r) {
    auto words = encode_options(options, g.prefix, g.sources[r], r);
    place_lists(words.params, static_cast<uint32_t>(lists.size()));
    lists.insert(lists.end(), words.lists.begin(), words.lists.end());
    words.params.resize(state::search_stride(1), 0);
    search.insert(search.end(), words.params.begin(), words.params.end());
  }
  lists.resize(std::max<size_t>(lists.size(), 1));
  const auto s = add_search(p.graph, shape, lists.size());
  const auto x = p.graph.activation("scores", rows, vocabulary);
  // The scores come in as the session's, so that a plan has a writer for them.
  const uint64_t ld = p.graph.tensor(x).ld;
  p.graph.tensor(x).space = graph::Space::state;
  p.graph.tensor(x).id = state_id(StateKind::self_kv);
  auto y = ops::processors(p.graph, "processors", x, s, {shape});
  if (options.sample) y = ops::warp(p.graph, "warp", y, s, {1});
  if (options.renormalize) ops::log_softmax(p.graph, "renormalize", y, s.step);
  p.states[state_id(StateKind::search)] = std::move(search);
  p.states[state_id(StateKind::lists)] = std::move(lists);
  p.states[state_id(StateKind::step)] = step_values({count - 1}, rows).u;
  std::vector<uint32_t> lineage(state::lineage_words(rows, shape.positions), 0);
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t i = 0; i < count; ++i)
      lineage[state::lineage_word(state::lineage_parity(count - 1), state::LINEAGE_TOKENS, r, i, rows,
                                  shape.positions)] = static_cast<uint32_t>(g.history[r][i]);
  p.states[state_id(StateKind::lineage)] = std::move(lineage);
  p.in.assign(rows * ld, 0.0f);
  p.want.assign(rows * ld, 0.0f);
  for (uint64_t i = 0; i < scores.values.size(); ++i) {
    p.in[i / vocabulary * ld + i % vocabulary] = scores.values[i];
    p.want[i / vocabulary * ld + i % vocabulary] = want.values[i];
  }
  p.tolerance = c.at("atol_fp32");
  return p;
}

std::vector<double> interpret(const Processed& p) {
  Interpreter run;
  for (const auto& [id, words] : p.states) run.states[id] = words_of(words);
  auto& scores = run.states[state_id(StateKind::self_kv)];
  scores.f.assign(p.in.begin(), p.in.end());
  run.run(p.graph);
  return scores.f;
}

Result<std::vector<double>> run_on(const std::shared_ptr<vulkan::Device>& device, const Processed& p) {
  LAPILLI_TRY(const auto plan, compile(p.graph, device->caps()));
  LAPILLI_TRY(auto session, Session::create(device));
  session->require(*plan);
  session->require_state(state_id(StateKind::grids), uint64_t{state::MAX_GRIDS} * state::GRID_STRIDE * 4);
  LAPILLI_CHECK(session->allocate());
  for (const auto& [id, words] : p.states) LAPILLI_CHECK(session->write(state_kind(id), words));
  const auto scores = session->state(StateKind::self_kv);
  LAPILLI_CHECK(device->write(*scores.buffer, 0, std::as_bytes(std::span(p.in))));
  // No step has written the grids: their arguments for all rows.
  std::vector<uint32_t> grids(uint64_t{state::MAX_GRIDS} * state::GRID_STRIDE, 0);
  for (size_t i = 0; i < plan->grids.size(); ++i) {
    uint32_t* arguments = grids.data() + i * state::GRID_STRIDE + state::GRID_ARGUMENTS;
    arguments[0] = plan->grids[i].groups_per_tile * p.states.at(state_id(StateKind::step))[state::STEP_LIVE];
    arguments[1] = arguments[2] = 1;
  }
  LAPILLI_CHECK(session->write(StateKind::grids, grids));
  LAPILLI_TRY(const auto bound, BoundPlan::bind(device, plan, session->memory({})));
  LAPILLI_CHECK(bound.run());
  std::vector<float> got(p.in.size());
  LAPILLI_CHECK(session->read(scores, 0, std::as_writable_bytes(std::span(got))));
  return std::vector<double>(got.begin(), got.end());
}

Comparison compare(const Processed& p, const std::vector<double>& got) {
  Comparison result;
  if (got.size() != p.want.size()) result.problems.push_back("another number of scores");
  for (size_t i = 0; i < got.size() && result.problems.empty(); ++i) {
    // Minus infinity, or what its removal makes of it; the reference's decay makes no number of a forbidden end token.
    if (p.want[i] <= state::FORBIDDEN || std::isnan(p.want[i])) {
      if (!(got[i] <= static_cast<double>(state::FORBIDDEN)))
        result.problems.push_back(format("element %zu is allowed", i));
    } else {
      result.number(std::abs(got[i] - static_cast<double>(p.want[i])), p.tolerance, format("element %zu", i));
    }
  }
  return result;
}

}  // namespace lapilli::search_records
