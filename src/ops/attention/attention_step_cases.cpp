// Test cases of "attention_step".
#include <algorithm>

#include "ops/attention/attention_cases.hpp"
#include "ops/core/state.hpp"

namespace lapilli {
namespace attention_step_cases_impl {
namespace {

struct CaseShape {
  uint32_t rows, live, beams, sentences, positions, heads, head_dim, step;
  bool self = true;
  BiasForm bias = BiasForm::none;
  uint32_t part = 0;  // cells per part; 0: as many as fit
  KvFormat format = KvFormat::fp32;
  uint32_t group = 1;
  uint32_t window = kNoWindow;
  bool sinks = false;
  float cap = 0;
  bool log_sums = false;
  double size = 2;                   // of q's numbers
  std::vector<uint32_t> texts = {};  // not empty: rows of prompts, so many of each, in slots of their own
};

// Words of rows, and of what each sees.
struct CaseRows {
  std::vector<uint32_t> slots, positions;
};

// The first text ends at position `step`, the others before it.
CaseRows prompt_rows(const CaseShape& s) {
  CaseRows rows;
  for (uint32_t t = 0; t < s.texts.size(); ++t)
    for (uint32_t i = 0; i < s.texts[t]; ++i) {
      rows.slots.push_back(t * s.beams);
      rows.positions.push_back(s.step - std::min(5 * t, s.step + 1 - s.texts[t]) + i + 1 - s.texts[t]);
    }
  return rows;
}

CaseRows case_rows(const CaseShape& s) {
  if (!s.texts.empty()) return prompt_rows(s);
  const uint32_t slots = s.beams * s.sentences;
  CaseRows rows{{}, mixed_positions(s.step, s.rows)};
  for (uint32_t r = 0; r < s.rows; ++r) rows.slots.push_back(slots - 1 - r % slots);
  return rows;
}

// The slots of a sentence share their positions, and the rows of a prompt are all in their own.
void put_ancestry(const CaseShape& s, const CaseRows& rows, const AttentionStepAttributes& a, CaseRandom& random,
                  std::vector<uint32_t>& words) {
  for (uint32_t slot = 0; slot < a.kv.slots; ++slot)
    for (uint32_t j = 0; j < s.step; ++j)
      for (const uint32_t parity : {0u, 1u}) {
        const auto word = [&](uint32_t p) {
          return state::lineage_word(p, state::LINEAGE_ANCESTRY, slot, j, a.lineage_beam_slots, a.lineage_positions);
        };
        const auto row = std::find(rows.slots.begin(), rows.slots.end(), slot);
        const bool own = row != rows.slots.end() && rows.positions[static_cast<size_t>(row - rows.slots.begin())] <= j;
        if (a.prompt && (own || parity == 1))
          words[word(parity)] = own ? slot : words[word(0)];
        else
          words[word(parity)] = slot / s.beams * s.beams + random.below(s.beams);
      }
}

OpCase make_case(const CaseShape& s) {
  OpCase c;
  c.name = format("%s rows %u of %u beams %u sentences %u positions %u heads %ux%u step %u", s.self ? "self" : "cross",
                  s.live, s.rows, s.beams, s.sentences, s.positions, s.heads, s.head_dim, s.step);
  if (s.group > 1) c.name += format(" %u share keys", s.group);
  if (s.window != kNoWindow) c.name += format(" window %u", s.window);
  if (s.cap != 0) c.name += format(" cap %g", s.cap);
  const uint32_t slots = s.beams * s.sentences;
  CaseRandom random(s.rows * 3 + s.positions * 5 + s.head_dim * 7 + s.step);
  AttentionStepAttributes a;
  a.kv = {s.heads, s.head_dim, s.self ? slots : s.sentences, s.positions, s.self ? RowLayout::step : RowLayout::batch};
  a.kv.group = s.group;
  a.self = s.self;
  a.scale = 0.3f;
  a.beams = s.beams;
  a.part_cells = s.part;
  a.lineage_beam_slots = slots + 1;  // strides larger than the cache's
  a.lineage_positions = std::max(s.positions, s.step + 1) + 3;
  a.window = s.window;
  a.cap = s.cap;
  a.prompt = s.texts.empty() ? 0 : 1;
  if (a.prompt) c.name += format(" of %u prompts", static_cast<uint32_t>(s.texts.size()));
  if (s.bias != BiasForm::none) {
    a.bias = bias_case(s.bias, -static_cast<int32_t>(s.positions) / 2, 1, a.kv);
    c.name += s.bias == BiasForm::table ? " bias" : " bias in rows";
  }
  if (s.part) c.name += format(" parts of %u", s.part);
  if (s.sinks) {
    a.sink_column = static_cast<uint32_t>(bias_columns(a.bias, a.kv));
    c.name += ", sinks";
  }
  c.name += suffix(s.format);
  const auto q = c.graph.activation("q", s.rows, bias_columns(a.bias, a.kv) + (s.sinks ? a.kv.query_heads() : 0));
  const KvLayout layout(a.kv, s.format);
  const auto kv = add_kv(c.graph, s.self ? StateKind::self_kv : StateKind::cross_kv, layout);
  ops::StepTensors state;
  state.step = add_step(c.graph);
  c.prepare = [q, kv, layout, random, size = s.size](OpCase& into) mutable {
    into.inputs.emplace_back(q, random_values(into.graph.tensor(q), random, size));
    into.inputs.emplace_back(kv, kv_values(layout, random, 2));
  };
  const CaseRows rows = case_rows(s);
  c.inputs.emplace_back(state.step, step_values(rows.positions, s.live, rows.slots));
  if (s.self) {
    state.lineage = add_state(c.graph, "lineage", StateKind::lineage,
                              state::lineage_words(a.lineage_beam_slots, a.lineage_positions), graph::DType::u32);
    std::vector<uint32_t> words(state::lineage_words(a.lineage_beam_slots, a.lineage_positions), 0xffffffffu);
    put_ancestry(s, rows, a, random, words);
    c.inputs.emplace_back(state.lineage, words_of(std::move(words)));
  } else {
    state.lengths = add_lengths(c.graph);
    std::vector<std::pair<uint32_t, uint32_t>> lengths;
    for (uint32_t i = 0; i < s.sentences; ++i)
      lengths.emplace_back(i % 3 == 2 ? 1 : 0, i % 4 == 3 ? 1 : s.positions - i % s.positions);  // some are empty
    c.inputs.emplace_back(state.lengths, length_values(lengths));
  }
  c.live_rows = s.live;
  const BiasInputs bias = add_bias_inputs(c, a.bias, a.kv, random);
  state.distances = bias.distances;
  state.bias = bias.values;
  if (s.log_sums) c.name += ", logarithms";
  ops::attention_step(c.graph, "context", {q, kv, state, s.log_sums}, a);
  return c;
}

// Heads of queries that share a head of keys and values.
void add_groups(std::vector<OpCase>& all, KvFormat kv) {
  const auto add = [&](CaseShape s, uint32_t group) {
    s.format = kv;
    s.group = group;
    all.push_back(make_case(s));
  };
  for (const uint32_t head_dim : {64u, 128u})
    for (const uint32_t group : {2u, 4u}) {
      add({4, 3, 2, 2, 9, 1, head_dim, 7}, group);
      add({4, 3, 2, 2, 9, 1, head_dim, 5, false}, group);
    }
  add({8, 5, 4, 2, 9, 3, 12, 6}, 3);
  add({4, 3, 2, 2, 300, 2, 5, 280}, 2);
  add({8, 5, 4, 2, 9, 3, 12, 6, true, BiasForm::table}, 2);
  add({8, 5, 4, 2, 9, 3, 12, 6, true, BiasForm::rows}, 2);
  add({8, 5, 4, 2, 9, 3, 12, 6, true, BiasForm::none, 7}, 2);  // in parts
  add({8, 8, 4, 2, 30, 2, 64, 21}, 2);                         // sliced on devices with small bindings
}

// Scores without a key behind those of the biases.
void add_sinks(std::vector<OpCase>& all, KvFormat kv) {
  const auto add = [&](CaseShape s, uint32_t part) {
    s.bias = BiasForm::rows;
    s.sinks = true;
    s.part = part;
    s.format = kv;
    all.push_back(make_case(s));
  };
  add({1, 1, 1, 1, 5, 2, 8, 0}, 0);
  add({8, 5, 4, 2, 9, 3, 12, 6}, 0);
  add({4, 3, 2, 2, 300, 2, 5, 280}, 0);
  add({6, 6, 3, 2, 301, 2, 64, 290}, 0);  // for the self-test
  add({8, 5, 4, 2, 9, 3, 12, 6}, 7);
}

void add_parts(std::vector<OpCase>& all, BiasForm bias, KvFormat kv) {
  const auto add = [&](CaseShape s, uint32_t part) {
    s.bias = bias;
    s.part = part;
    s.format = kv;
    all.push_back(make_case(s));
  };
  add({1, 1, 1, 1, 5, 2, 8, 0}, 2);  // rows whose keys are all in the first part
  add({1, 1, 1, 1, 5, 2, 8, 4}, 1);
  add({8, 5, 4, 2, 9, 3, 12, 6}, 7);     // edges within sentences and slots
  add({9, 8, 3, 3, 9, 2, 16, 7}, 27);    // parts that end with sentences
  add({9, 9, 3, 3, 9, 2, 16, 8}, 1000);  // a single part
  add({3, 3, 3, 1, 7, 3, 5, 3}, 4);
  add({2, 2, 1, 2, 6, 1, 256, 5}, 5);
  add({2, 1, 2, 1, 6, 1, 255, 2}, 4);
  add({4, 0, 4, 1, 6, 2, 8, 2}, 5);
  add({8, 8, 4, 2, 20, 1, 64, 18}, 50);      // for the self-test
  add({12, 7, 4, 3, 300, 2, 64, 260}, 500);  // several chunks of keys
}

// On devices with small bindings: caches that just fit, caches one position too large, and slots that do not fit.
void add_large(std::vector<OpCase>& all) {
  all.push_back(make_case({6, 6, 2, 3, 64, 2, 64, 63}));
  all.push_back(make_case({6, 6, 2, 3, 65, 2, 64, 64}));
  all.push_back(make_case({32, 31, 32, 1, 20, 2, 64, 15}));
  all.push_back(make_case({5, 4, 1, 5, 200, 1, 64, 180}));
  all.push_back(make_case({8, 8, 4, 2, 150, 3, 61, 131}));  // parts that begin unaligned
}

// The same with halves, at twice the positions.
void add_large_halves(std::vector<OpCase>& all) {
  const auto add = [&](CaseShape s) {
    s.format = KvFormat::fp16;
    all.push_back(make_case(s));
  };
  add({6, 6, 2, 3, 128, 2, 64, 127});
  add({6, 6, 2, 3, 129, 2, 64, 128});
  add({32, 31, 32, 1, 40, 2, 64, 35});
  add({5, 4, 1, 5, 400, 1, 64, 380});
  add({8, 8, 4, 2, 300, 3, 61, 261});
}

void add_whole(std::vector<OpCase>& all, KvFormat kv) {
  const auto add = [&](CaseShape s) {
    s.format = kv;
    all.push_back(make_case(s));
  };
  add({1, 1, 1, 1, 5, 2, 8, 0});
  add({1, 1, 1, 1, 5, 2, 8, 4});
  add({8, 8, 4, 2, 9, 4, 16, 5});
  add({8, 5, 4, 2, 9, 3, 12, 6});
  add({12, 7, 4, 3, 300, 2, 64, 260});  // several chunks of keys
  add({3, 3, 3, 1, 7, 3, 5, 3});        // heads that are not whole vec4s
  add({2, 2, 1, 2, 6, 1, 256, 5});
  add({2, 1, 2, 1, 6, 1, 255, 2});
  add({4, 0, 4, 1, 6, 2, 8, 2});     // no live rows
  add({8, 8, 4, 2, 30, 2, 64, 21});  // sliced on devices with small bindings
  add({8, 7, 4, 2, 20, 1, 64, 15});  // for the self-test: the head size of most models
  add({8, 7, 4, 2, 20, 1, 64, 15, false});
  for (const uint32_t head_dim : {16u, 32u, 36u, 40u, 52u, 80u, 128u}) {  // head sizes of other models
    add({4, 4, 2, 2, 9, 1, head_dim, 7});
    add({4, 3, 2, 2, 9, 1, head_dim, 5, false});
  }
  add({1, 1, 1, 1, 9, 4, 16, 0, false});
  add({8, 6, 4, 2, 11, 3, 12, 3, false});
  add({9, 9, 1, 9, 7, 2, 10, 3, false});
  add({8, 8, 2, 4, 100, 2, 64, 7, false});
  add({5, 5, 5, 1, 131, 2, 8, 7, false});
  add({4, 3, 2, 2, 300, 2, 8, 7, false});   // chunks of keys in parallel on GPUs
  add({3, 2, 1, 3, 257, 2, 10, 9, false});  // the last chunk has one key
  for (const auto bias : {BiasForm::table, BiasForm::rows}) {
    add({1, 1, 1, 1, 5, 2, 8, 0, true, bias});
    add({8, 5, 4, 2, 9, 3, 12, 6, true, bias});
    add({12, 7, 4, 3, 300, 2, 64, 260, true, bias});
    add({3, 3, 3, 1, 7, 3, 5, 3, true, bias});
    add({8, 8, 4, 2, 30, 2, 64, 21, true, bias});
    for (const uint32_t head_dim : {16u, 32u, 64u, 128u}) add({4, 4, 2, 2, 9, 1, head_dim, 7, true, bias});
  }
}

// Rows that see a window of the positions before them, in a ring or in a cache of all.
void add_windows(std::vector<OpCase>& all, KvFormat kv) {
  const auto add = [&](CaseShape s, uint32_t window, uint32_t part = 0) {
    s.window = window;
    s.format = kv;
    s.part = part;
    all.push_back(make_case(s));
  };
  add({1, 1, 1, 1, 5, 2, 8, 0}, 3);   // nothing before the row
  add({1, 1, 1, 1, 5, 2, 8, 23}, 0);  // the row alone
  add({1, 1, 1, 1, 5, 2, 8, 4}, 4);
  add({1, 1, 1, 1, 5, 2, 8, 5}, 4);  // the oldest cell is the row's now
  add({8, 5, 4, 2, 9, 3, 12, 6}, 2);
  add({8, 5, 4, 2, 9, 3, 12, 31}, 6);
  add({3, 3, 3, 1, 7, 3, 5, 40}, 5);          // heads that are not whole vec4s
  add({12, 7, 4, 3, 300, 2, 64, 1000}, 170);  // several chunks of keys, across the ring's end
  add({12, 7, 4, 3, 300, 2, 64, 260}, 130);   // the same in a cache that has not come round
  add({8, 8, 4, 2, 30, 2, 64, 100}, 21);      // sliced on devices with small bindings
  add({8, 5, 4, 2, 9, 3, 12, 31}, 6, 7);      // in parts
  add({9, 8, 3, 3, 9, 2, 16, 7}, 3, 27);
  add({8, 8, 4, 2, 20, 1, 64, 47}, 12, 50);
  add({12, 7, 4, 3, 300, 2, 64, 1000}, 170, 500);
  add({2, 2, 1, 2, 6, 1, 256, 15}, 4);
  for (const uint32_t head_dim : {16u, 32u, 64u, 80u, 96u, 128u, 256u}) add({4, 4, 2, 2, 9, 1, head_dim, 25}, 5);
  CaseShape biased{8, 5, 4, 2, 9, 3, 12, 31};
  biased.bias = BiasForm::table;
  add(biased, 6);
  add(biased, 6, 7);
  CaseShape shared{8, 5, 4, 2, 9, 3, 12, 31};
  shared.group = 3;
  add(shared, 6);
  add(shared, 6, 7);
}

// Contexts with the logarithms of sums behind the heads.
void add_log_sums(std::vector<OpCase>& all, KvFormat kv) {
  const auto add = [&](CaseShape s, uint32_t window = kNoWindow, uint32_t part = 0) {
    s.format = kv;
    s.window = window;
    s.part = part;
    s.log_sums = true;
    all.push_back(make_case(s));
  };
  for (const bool self : {true, false}) {
    add({8, 5, 4, 2, 9, 3, 12, 6, self});
    add({3, 3, 3, 1, 7, 3, 5, 3, self});
    add({4, 3, 2, 2, 300, 2, 8, 280, self});  // several chunks of keys
    add({8, 6, 1, 8, 11, 3, 7, 3, self});     // some slots of cross attention have no keys
    CaseShape usual{4, 3, 2, 2, 9, 1, 256, 7, self};
    usual.group = 4;
    add(usual);
  }
  add({8, 5, 4, 2, 9, 3, 12, 31}, 6);
  add({8, 5, 4, 2, 9, 3, 12, 31}, 6, 7);  // in parts
  add({3, 3, 3, 1, 7, 3, 5, 3}, kNoWindow, 4);
  add({8, 8, 4, 2, 30, 2, 64, 21});  // sliced on devices with small bindings
}

// Scores that a tanh caps; 50 is that of published models, with heads of 64 and 256.
void add_capped(std::vector<OpCase>& all, KvFormat kv) {
  const auto add = [&](CaseShape s, float cap, uint32_t part = 0) {
    s.format = kv;
    s.cap = cap;
    s.part = part;
    all.push_back(make_case(s));
  };
  for (const bool self : {true, false}) {
    add({8, 5, 4, 2, 9, 3, 12, 6, self}, 0.5f);
    add({3, 3, 3, 1, 7, 3, 5, 3, self}, 1.5f);
    add({4, 3, 2, 2, 300, 2, 8, 280, self}, 2);  // several chunks of keys
    add({4, 3, 2, 2, 9, 1, 64, 7, self}, 50);
    CaseShape wide{4, 3, 2, 2, 9, 1, 256, 7, self};
    wide.group = 2;
    add(wide, 50);
    CaseShape many{2, 2, 1, 2, 257, 1, 64, 255, self};
    add(many, 50);
  }
  add({4, 3, 2, 2, 9, 1, 64, 7, true, BiasForm::table}, 50);
  CaseShape near{8, 5, 4, 2, 9, 3, 12, 31};
  near.window = 6;
  add(near, 1);
  add(near, 1, 7);  // in parts
  add({8, 5, 4, 2, 9, 3, 5, 6, true, BiasForm::rows}, 2, 7);
}

// Rows of prompts: edges of tiles, texts side by side, windows, rings.
void add_prompts(std::vector<OpCase>& all, KvFormat kv) {
  struct Room {
    uint32_t beams, positions, heads, head_dim, step;
  };
  const auto add = [&](std::vector<uint32_t> texts, const Room& r, CaseShape s = {}, uint32_t skipped = 0) {
    const auto sentences = static_cast<uint32_t>(texts.size());
    uint32_t rows = 0;
    for (const uint32_t n : texts) rows += n;
    CaseShape shape{rows, rows - skipped, r.beams, sentences, r.positions, r.heads, r.head_dim, r.step};
    shape.window = s.window;
    shape.cap = s.cap;
    shape.group = s.group;
    shape.log_sums = s.log_sums;
    shape.size = s.size;
    shape.format = kv;
    shape.texts = std::move(texts);
    all.push_back(make_case(shape));
  };
  const auto near = [](uint32_t window) {
    CaseShape s{};
    s.window = window;
    return s;
  };
  add({1}, {1, 5, 2, 8, 0});
  add({5}, {1, 5, 2, 8, 4});
  add({2, 1, 3}, {2, 9, 3, 12, 6});
  add({16, 17}, {1, 40, 2, 64, 31});
  add({33}, {1, 70, 1, 64, 66});
  add({19, 4, 40, 1}, {3, 60, 2, 64, 41}, {}, 9);  // the last rows do not run
  add({9}, {1, 20, 2, 5, 15});                     // heads that are not whole vec4s
  add({150}, {1, 290, 1, 64, 280});                // several chunks of keys
  add({150}, {1, 290, 1, 128, 280});
  // With queries twice as large, scores spread by 6.4, and the rounding of their sums of 256 products alone, all else
  // in double precision, takes 0.95 of the tolerance: that would measure cancellation.
  CaseShape wide{};
  wide.size = 1;
  add({150}, {1, 290, 1, 256, 280}, wide);
  add({37}, {1, 64, 2, 64, 63}, near(9));
  add({37}, {1, 64, 1, 64, 163}, near(20));  // across a ring's end
  add({70, 3}, {1, 300, 1, 16, 1000}, near(170));
  add({21, 5}, {1, 60, 1, 64, 40}, near(0));
  CaseShape shared{};
  shared.group = 3;
  add({21, 6}, {2, 40, 2, 64, 30}, shared);
  shared.log_sums = true;
  shared.cap = 2;
  shared.window = 11;
  add({21, 6}, {2, 40, 1, 32, 30}, shared);
  for (const uint32_t head_dim : {16u, 32u, 36u, 40u, 52u, 64u, 80u, 96u, 128u, 256u})
    add({18}, {1, 20, 1, head_dim, 19});
  CaseShape capped{};
  capped.cap = 50;
  for (const uint32_t head_dim : {64u, 256u}) add({18}, {1, 20, 1, head_dim, 19}, capped);
  CaseShape many{};
  for (const uint32_t group : {2u, 4u}) {
    many.group = capped.group = group;
    add({18}, {1, 20, 1, 64, 19}, many);
    // Small enough for the test on a user's device; tiles of wide heads have eight rows at most.
    for (const uint32_t head_dim : {128u, 256u}) add({10}, {1, 12, 1, head_dim, 11}, many);
    add({10}, {1, 12, 1, 256, 11}, capped);
  }
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const auto kv : {KvFormat::fp32, KvFormat::fp16}) {
    add_whole(all, kv);
    add_groups(all, kv);
    add_windows(all, kv);
    add_sinks(all, kv);
    add_capped(all, kv);
    add_log_sums(all, kv);
    add_prompts(all, kv);
    for (const auto bias : {BiasForm::none, BiasForm::table, BiasForm::rows}) add_parts(all, bias, kv);
  }
  add_large(all);
  add_large_halves(all);
  return all;
}

}  // namespace
}  // namespace attention_step_cases_impl

std::vector<OpCase> attention_step_cases() { return attention_step_cases_impl::cases(); }

}  // namespace lapilli
