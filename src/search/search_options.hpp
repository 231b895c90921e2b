// Merged and checked generation options, and their form in GPU memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "formats/generation_config.hpp"
#include "model/config.hpp"
#include "ops/core/state.hpp"

namespace lapilli {

constexpr int32_t kNoStart = -1;

struct SearchOptions {
  uint32_t beams = 1, return_sequences = 1;
  uint32_t max_length = 20;     // ids in total
  uint32_t min_length = 0;      // ids in total; 0: none
  uint32_t min_new_length = 0;  // likewise, from min_new_tokens
  EarlyStopping early_stopping = EarlyStopping::no;
  uint32_t no_repeat_ngram = 0;
  int32_t pad = 0, decoder_start = 0;  // kNoStart: there is none
  std::vector<int32_t> end_ids, forced_eos;
  std::optional<int32_t> forced_bos;
  std::vector<int32_t> suppress, begin_suppress;
  std::vector<std::vector<int32_t>> bad_words;
  std::vector<std::pair<std::vector<int32_t>, float>> sequence_bias;
  std::optional<std::pair<uint32_t, float>> exponential_decay;  // start (generated tokens), factor
  uint32_t encoder_no_repeat_ngram = 0;
  bool renormalize = false;
  // Sampling; a filter is off at its neutral value.
  bool sample = false;
  uint64_t seed = 0;
  uint32_t top_k = 0;
#define NUMBER(NAME, FIELD, OTHERWISE, RANGE, WORD) float FIELD = OTHERWISE;
#include "formats/search_options.inc"
  bool shortlist = true;        // of models that have one
  float new_per_source_id = 0;  // 0: any number
  // Whisper's rules for timestamps: the first timestamp's id, and the latest that may come first.
  std::optional<std::pair<uint32_t, std::optional<uint32_t>>> timestamps;

  // Candidates that one step needs, and those it takes: taking more changes nothing and lets searches with different
  // end tokens share a session. (Sampled results do depend on the number of draws.)
  [[nodiscard]] uint32_t needed_candidates() const {
    return beams == 1 ? 1 : std::max<uint32_t>(2, 1 + static_cast<uint32_t>(end_ids.size())) * beams;
  }
  [[nodiscard]] uint32_t candidates() const {
    if (beams == 1 || sample) return needed_candidates();
    const uint32_t room = (end_ids.size() <= 1 ? 2 : end_ids.size() <= 3 ? 4 : 1 + state::MAX_END_TOKENS) * beams;
    return std::min(room, state::MAX_CANDIDATES);
  }
  // Sentences made from one source: without beams, each returned sequence is drawn by its own sentence.
  [[nodiscard]] uint32_t copies() const { return sample && beams == 1 ? return_sequences : 1; }
  // Ids that no sampling filter may remove: with beams, enough to continue whichever of them end.
  [[nodiscard]] uint32_t min_keep() const {
    return beams == 1 ? 1 : std::max<uint32_t>(2, static_cast<uint32_t>(end_ids.size()) + 1);
  }
  [[nodiscard]] bool needs_source_ids() const {
    return encoder_no_repeat_ngram > 0 || encoder_repetition_penalty != 1.0f;
  }
};

// Options merged and checked once per request. Lengths depend on the number of prompt ids.
class ResolvedOptions {
 public:
  ResolvedOptions(SearchOptions common, const GenerationConfig& merged, const model::Config& config);
  // The options that do not depend on it; lengths are unset.
  [[nodiscard]] const SearchOptions& common() const { return common_; }
  // `given` counts the decoder start, `source` the source's ids (0: not known, or none). Refuses lengths that are out
  // of range or leave nothing to generate.
  [[nodiscard]] Result<SearchOptions> for_prompt(uint32_t given, uint64_t source = 0) const;
  // New ids where nobody says how many, as far as the model has positions; the reference's are 20.
  void set_default_new_tokens(uint32_t count) { default_new_ = count; }

 private:
  [[nodiscard]] uint64_t longest(uint32_t given, uint64_t source) const;

  SearchOptions common_;
  std::optional<uint32_t> max_new_, max_length_, min_length_, min_new_;
  uint32_t positions_ = 0;  // of the decoder; 0: unlimited
  uint32_t default_new_ = 20;
};

// `request` overrides `model`, which overrides the reference's defaults. Refuses by name what is out of range or not
// supported.
Result<ResolvedOptions> resolve_options(const GenerationConfig& model, const GenerationConfig& request,
                                        const model::Config& config);

// A sentence's options (state::P_*) and the lists that they point to. Offsets are relative to the lists' first word;
// place_lists() moves them to the lists' final offset.
struct SearchWords {
  std::vector<uint32_t> params, lists;
};
// `source` is used by options that depend on it; `sequence` selects the sentence's random draws.
SearchWords encode_options(const SearchOptions& options, uint32_t given, const std::vector<int32_t>& source,
                           uint32_t sequence);
void place_lists(std::vector<uint32_t>& params, uint32_t offset);
// Adds a mask of the ids that the sentence may write.
void add_shortlist(SearchWords& words, std::span<const uint32_t> mask);

}  // namespace lapilli
