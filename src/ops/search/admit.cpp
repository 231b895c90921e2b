// "admit": see search.hpp. Three dispatches, since together they touch six buffers.
#include <algorithm>

#include "ops/core/registry.hpp"
#include "ops/search/inbox_parts.hpp"
#include "ops/search/search_util.hpp"

namespace lapilli {
namespace admit_impl {
namespace {

constexpr uint32_t kListGroups = 16;

struct Push {
  LAPILLI_PUSH(uint32_t groups, beam_slots, positions, beams, slots, room, list_words;)
};

// inputs: inbox, then the updated tensors; outputs: step, search, lineage, lists, lengths.
enum Input : size_t { kInbox, kInputs = 6 };
enum Output : size_t { kStep, kSearch, kLineage, kLists, kLengths, kOutputs };

Status infer(const graph::Graph& g, const graph::Node& node) {
  if (node.inputs.size() != kInputs || node.outputs.size() != kOutputs) return node_error(node, "operands are missing");
  const auto a = node.attributes.as<AdmitAttributes>();
  ops::SearchTensors state;
  state.inbox = node.inputs[kInbox];
  state.step = node.outputs[kStep];
  state.search = node.outputs[kSearch];
  state.lineage = node.outputs[kLineage];
  state.lists = node.outputs[kLists];
  state.lengths = node.outputs[kLengths];
  if (a.sentences == 0 || a.sentences > a.shape.slots)
    return node_error(node, "%u sentences at once for %u slots", a.sentences, a.shape.slots);
  LAPILLI_CHECK(expect_words(g, node, state.inbox, "inbox", state::inbox_entry_at(a.sentences)));
  return search::expect_state(g, node, state, a.shape);
}

std::vector<Variant> variants(const Capabilities&, const graph::Graph&, const graph::Node&) { return {{0, "floor"}}; }

Status lower(const LowerContext& context, const graph::Node& node, Variant, std::vector<Dispatch>& out) {
  const auto a = node.attributes.as<AdmitAttributes>();
  using graph::Access;
  struct Part {
    ShaderId shader;
    uint32_t groups;
    std::vector<std::pair<graph::TensorId, Access>> writes;
  };
  const Part parts[] = {{ShaderId::admit_sentences,
                         a.sentences + 1,
                         {{node.outputs[kSearch], Access::write}, {node.outputs[kStep], Access::read_write}}},
                        {ShaderId::admit_given, a.sentences * a.shape.beams, {{node.outputs[kLineage], Access::write}}},
                        {ShaderId::admit_lists,
                         kListGroups,
                         {{node.outputs[kLists], Access::write}, {node.outputs[kLengths], Access::write}}}};
  for (const Part& part : parts) {
    Dispatch d;
    d.shader = part.shader;
    d.groups = part.groups;
    LAPILLI_TRY(const auto inbox, bind_whole(context, 0, node.inputs[kInbox], Access::read));
    d.operands.push_back(inbox);
    for (const auto& [tensor, access] : part.writes) {
      LAPILLI_TRY(const auto bound, bind_whole(context, static_cast<uint32_t>(d.operands.size()), tensor, access));
      d.operands.push_back(bound);
    }
    d.set_push(Push{part.groups, a.shape.beam_slots, a.shape.positions, a.shape.beams, a.shape.slots, a.sentences,
                    static_cast<uint32_t>(context.graph.tensor(node.outputs[kLists]).elements())});
    d.cost = 128.0 * part.groups;
    out.push_back(std::move(d));
  }
  return {};
}

class Admission {
 public:
  Admission(const graph::Node& node, HostTensors& values)
      : shape_(node.attributes.as<AdmitAttributes>().shape),
        room_(node.attributes.as<AdmitAttributes>().sentences),
        inbox_(values.at(node.inputs[kInbox]).u),
        step_(values.at(node.outputs[kStep]).u),
        search_(values.at(node.outputs[kSearch]).u),
        lineage_(values.at(node.outputs[kLineage]).u),
        lists_(values.at(node.outputs[kLists]).u),
        lengths_(values.at(node.outputs[kLengths]).u) {}

  void run() {
    for (uint32_t i = 0; i < std::min(inbox_[state::INBOX_CANCELLED], shape_.slots); ++i)
      record(inbox_[inbox_[state::INBOX_CANCELLED_OFFSET] + i])[state::SEARCH_STATUS] =
          static_cast<uint32_t>(SentenceStatus::none);
    const uint32_t sentences = std::min(inbox_[state::INBOX_SENTENCES], room_);
    const uint32_t queued = std::min(inbox_[state::INBOX_QUEUED], sentences);
    for (uint32_t i = 0; i < sentences; ++i) enter(i, i < queued);
    step_[state::STEP_ADMITTED] = queued;
    step_[state::STEP_MARK] = inbox_[state::INBOX_MARK];
    for (uint32_t b = 0; b < inbox_[state::INBOX_BLOCKS]; ++b) {
      const uint32_t* block = &inbox_[inbox_[state::INBOX_BLOCKS_OFFSET] + state::INBOX_BLOCK * b];
      std::copy_n(&inbox_[block[state::INBOX_BLOCK_FROM]], block[state::INBOX_BLOCK_SIZE],
                  &lists_[block[state::INBOX_BLOCK_TO]]);
    }
  }

 private:
  uint32_t* record(uint32_t slot) { return &search_[state::search_record(slot, shape_.beams)]; }

  void enter(uint32_t i, bool queued) {
    const uint32_t* entry = &inbox_[state::inbox_entry_at(i)];
    const uint32_t slot = entry[state::INBOX_SLOT];
    uint32_t* r = record(slot);
    std::fill_n(r, state::search_stride(shape_.beams), 0u);
    std::copy_n(entry + state::INBOX_PARAMS, state::PARAM_WORDS, r);
    r[state::SEARCH_STATUS] = static_cast<uint32_t>(queued ? SentenceStatus::waiting : SentenceStatus::none);
    r[state::SEARCH_POSITION] = r[state::P_PREFIX] - 1;
    for (uint32_t b = 0; b < shape_.beams; ++b) {
      // Only the first beam counts at first; otherwise all beams would find the same candidates.
      r[state::search_running(b)] = search::as_word(b == 0 ? 0.0f : state::NO_SCORE);
      r[state::search_finished_entry(shape_.beams, b)] = search::as_word(state::NO_SCORE);
    }
    lengths_[2 * slot] = entry[state::INBOX_SOURCE_BEGIN];
    lengths_[2 * slot + 1] = entry[state::INBOX_SOURCE_END];
    if (queued) step_[state::step_queue_word(step_[state::STEP_QUEUED] + i)] = slot;
    give(entry, &inbox_[inbox_[state::INBOX_PARTS_OFFSET] + state::INBOX_PART * i], slot * shape_.beams);
  }

  void give(const uint32_t* entry, const uint32_t* part, uint32_t first) {
    const uint32_t given = std::min(entry[state::INBOX_PARAMS + state::P_PREFIX], shape_.positions);
    const uint32_t begin = part[state::INBOX_PART_BEGIN], end = std::min(part[state::INBOX_PART_END], given);
    for (uint32_t beam_slot = first; beam_slot < first + shape_.beams; ++beam_slot)
      for (uint32_t i = begin; i < end; ++i)
        for (const uint32_t parity : {0u, 1u}) {
          const auto word = [&](uint32_t plane) -> uint32_t& {
            return lineage_[state::lineage_word(parity, plane, beam_slot, i, shape_.beam_slots, shape_.positions)];
          };
          word(state::LINEAGE_ANCESTRY) = i + 1 < given ? first : beam_slot;
          word(state::LINEAGE_TOKENS) = inbox_[entry[state::INBOX_PROMPT_OFFSET] + i - begin];
        }
  }

  SearchShape shape_;
  uint32_t room_;
  const std::vector<uint32_t>& inbox_;
  std::vector<uint32_t>&step_, &search_, &lineage_, &lists_, &lengths_;
};

void reference(const graph::Graph&, const graph::Node& node, HostTensors& values) { Admission(node, values).run(); }

// ---- cases --------------------------------------------------------------------------------------------------------

struct Build {
  SearchShape shape;
  std::vector<std::pair<uint32_t, uint32_t>> sentences = {};  // slot and prompt ids
  std::vector<uint32_t> cancelled = {};
  std::vector<std::pair<uint32_t, uint32_t>> blocks = {};  // for lists: offset, words
  uint32_t room = 0;                                       // 0: as many as needed
  uint32_t queued = 5;
  uint32_t later = 0;  // sentences, the last ones, whose prompts are not there yet: their second third comes
};

OpCase make_case(const std::string& name, const Build& b) {
  search::StateCase c(name, b.shape, 2000);
  c.inbox.assign(state::inbox_entry_at(100) + 8000, 0);
  c.lists.assign(500, 3);
  auto& in = c.inbox;
  const auto n = static_cast<uint32_t>(b.sentences.size());
  uint32_t data = state::inbox_entry_at(n);
  CaseRandom random(n + b.shape.beam_slots);
  const auto put = [&](uint32_t words) {
    const uint32_t at = data;
    for (uint32_t i = 0; i < words; ++i) in[data++] = random.below(90);
    return at;
  };
  in[state::INBOX_SENTENCES] = n;
  in[state::INBOX_MARK] = 77;
  in[state::INBOX_CANCELLED] = static_cast<uint32_t>(b.cancelled.size());
  in[state::INBOX_CANCELLED_OFFSET] = put(in[state::INBOX_CANCELLED]);
  std::copy(b.cancelled.begin(), b.cancelled.end(), in.begin() + in[state::INBOX_CANCELLED_OFFSET]);
  in[state::INBOX_BLOCKS] = static_cast<uint32_t>(b.blocks.size());
  in[state::INBOX_BLOCKS_OFFSET] = put(state::INBOX_BLOCK * in[state::INBOX_BLOCKS]);
  for (uint32_t i = 0; i < in[state::INBOX_BLOCKS]; ++i) {
    uint32_t* block = &in[in[state::INBOX_BLOCKS_OFFSET] + state::INBOX_BLOCK * i];
    block[state::INBOX_BLOCK_TO] = b.blocks[i].first;
    block[state::INBOX_BLOCK_SIZE] = b.blocks[i].second;
    block[state::INBOX_BLOCK_FROM] = put(b.blocks[i].second);
  }
  in[state::INBOX_QUEUED] = n - b.later;
  in[state::INBOX_PARTS_OFFSET] = put(state::INBOX_PART * n);
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t all = b.sentences[i].second;
    uint32_t* part = &in[in[state::INBOX_PARTS_OFFSET] + state::INBOX_PART * i];
    part[state::INBOX_PART_BEGIN] = i < n - b.later ? 0 : all / 3;
    part[state::INBOX_PART_END] = i < n - b.later ? all : 2 * all / 3;
    uint32_t* entry = &in[state::inbox_entry_at(i)];
    for (uint32_t w = 0; w < state::PARAM_WORDS; ++w) entry[state::INBOX_PARAMS + w] = random.word();
    entry[state::INBOX_PARAMS + state::P_PREFIX] = b.sentences[i].second;
    entry[state::INBOX_SLOT] = b.sentences[i].first;
    entry[state::INBOX_SOURCE_BEGIN] = i % 2;
    entry[state::INBOX_SOURCE_END] = 3 + i;
    entry[state::INBOX_PROMPT_OFFSET] = put(b.sentences[i].second);
  }
  c.step[state::STEP_QUEUED] = b.queued;
  for (auto& w : c.search) w = 77;
  // The inbox is larger than the case's default.
  auto& g = c.op_case.graph;
  c.tensors.inbox = add_state(g, "large inbox", StateKind::inbox, in.size(), graph::DType::u32);
  c.tensors.lists = add_state(g, "larger lists", StateKind::lists, c.lists.size(), graph::DType::u32);
  ops::admit(g, c.tensors, {b.shape, b.room ? b.room : std::max(n, 1u)});
  return c.finish();
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case("one greedy", {{1, 16, 1, 1, 1, 8}, {{0, 1}}}));
  all.push_back(make_case("nobody", {{4, 16, 2, 2, 4, 8}}));
  all.push_back(make_case("three of seven places", {{28, 33, 4, 7, 16, 8}, {{5, 3}, {0, 1}, {2, 12}}, {}, {{7, 100}}}));
  all.push_back(make_case("more room than sentences", {{28, 33, 4, 7, 16, 8}, {{6, 2}, {1, 1}}, {}, {}, 7}));
  all.push_back(
      make_case("some are cancelled", {{14, 33, 2, 7, 14, 8}, {{3, 2}}, {0, 6, 5}, {{0, 1}, {400, 90}, {9, 64}}}));
  all.push_back(make_case("prompt ids fill the capacity", {{10, 9, 5, 2, 10, 8}, {{1, 9}, {0, 4}}}));
  all.push_back(make_case("many prompt ids", {{4, 900, 2, 2, 4, 8}, {{1, 700}, {0, 333}}}));
  all.push_back(make_case("a prompt goes on later", {{14, 99, 2, 7, 14, 8}, {{3, 20}, {5, 90}}, {}, {}, 0, 5, 1}));
  all.push_back(make_case("all prompts go on later", {{14, 99, 2, 7, 14, 8}, {{4, 40}, {6, 91}}, {2}, {}, 0, 5, 2}));
  all.push_back(make_case("most beams", {{96, 8, state::MAX_BEAMS, 3, 96, 8}, {{2, 2}, {0, 1}}}));
  all.push_back(
      make_case("counters wrap", {{8, 16, 1, 8, 8, 8}, {{3, 1}, {1, 2}, {4, 1}}, {}, {}, 0, ~uint32_t{0} - 1}));
  {
    Build b{{100, 8, 1, 100, 50, 8}};
    for (uint32_t i = 0; i < 100; ++i) b.sentences.emplace_back((i * 37) % 100, 1 + i % 3);
    for (uint32_t i = 0; i < 40; ++i) b.blocks.emplace_back(i * 12, 1 + i % 12);
    all.push_back(make_case("a hundred", b));
  }
  return all;
}

constexpr OpDef op{"admit", infer, variants, lower, reference, cases};

}  // namespace
}  // namespace admit_impl

constinit const OpDef admit_op = admit_impl::op;

void ops::admit(graph::Graph& g, const SearchTensors& state, const AdmitAttributes& attributes) {
  g.add_node({&admit_op,
              "admit",
              {state.inbox, state.step, state.search, state.lineage, state.lists, state.lengths},
              {state.step, state.search, state.lineage, state.lists, state.lengths},
              graph::Attributes(attributes)});
}

}  // namespace lapilli
