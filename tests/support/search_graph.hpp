// Shared by the graphs of recorded searches and of processors.
#pragma once

#include "ops/core/case_util.hpp"
#include "support/options.hpp"
#include "support/search_records.hpp"

namespace lapilli::search_records {

inline model::Config config_of(uint32_t vocabulary) {
  model::Config c;
  c.source_vocabulary = c.target_vocabulary = vocabulary;
  return c;
}

// The settings of a recorded case over those of its "model".
inline Result<SearchOptions> options_of(const Recorded& recorded, const nlohmann::json& args, uint32_t prefix) {
  GenerationConfig base;
  base.decoder_start_token_id = 0;
  base.pad_token_id = recorded.info.value("pad_token_id", 1);
  // Null is a way to have none.
  if (!args.contains("eos_token_id")) base.eos_token_id = std::vector<int32_t>{recorded.info.value("eos_token_id", 2)};
  LAPILLI_TRY(const auto asked, parse_generation_config(args, "expected.json"));
  return testing_support::options_for(base, asked, prefix, config_of(recorded.info.at("vocab_size")));
}

// The state of a search in a graph; the same in every graph of a session.
inline ops::SearchTensors add_search(graph::Graph& g, const SearchShape& s, uint64_t list_words,
                                     uint64_t inbox_words = state::INBOX_HEADER) {
  const auto state = [&](const char* name, StateKind kind, uint64_t words) {
    return add_state(g, name, kind, words, graph::DType::u32);
  };
  ops::SearchTensors t;
  t.step = add_step(g);
  t.lineage = state("lineage", StateKind::lineage, state::lineage_words(s.beam_slots, s.positions));
  t.search = state("search", StateKind::search, uint64_t{s.slots} * state::search_stride(s.beams));
  t.log = state("log", StateKind::log, s.ticks * state::log_stride(s.rows));
  t.lists = state("lists", StateKind::lists, std::max<uint64_t>(1, list_words));
  t.inbox = state("inbox", StateKind::inbox, inbox_words);
  t.lengths = add_lengths(g);
  t.grids = state("grids", StateKind::grids, uint64_t{state::MAX_GRIDS} * state::GRID_STRIDE);
  return t;
}

}  // namespace lapilli::search_records
