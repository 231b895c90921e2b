// Host-written input of an encode pass: its sources, where their rows lie, and its grid sizes.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/features.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/run/upload.hpp"

namespace lapilli {

// One source of a pass.
struct PassSource {
  std::span<const int32_t> ids;         // at least one unless it has features
  uint32_t slot = 0;                    // its slot in cross_kv, unique within the pass
  std::span<const uint32_t> globals{};  // positions with global attention, in any order
  const model::Features* features = nullptr;
  std::span<const uint32_t> types{};  // token types of the ids; empty: all are 0
};

// Contents of the pass's states, named after their kinds.
struct EncodePass {
  uint32_t rows = 0, tiles = 0;
  std::vector<uint32_t> source_ids, spans;
  std::vector<uint32_t> globals;                  // empty for models without windows
  std::vector<uint32_t> features, feature_spans;  // empty for models whose sources are ids
  std::vector<uint32_t> source_types;             // empty for models whose sources tell none
};
// Options of the model and the session.
struct PassOptions {
  bool windows = false;                           // the model has window attention, with
  uint32_t globals = 0;                           // room for this many positions in a sentence's list
  const model::FeatureInput* features = nullptr;  // null for models whose sources are ids
  bool types = false;                             // sources tell the token types of their ids
};
PassOptions pass_options(const model::Config& config, uint32_t source_positions);
// Packs the sources in the given order; at most state::MAX_ROWS rows.
EncodePass pack_pass(std::span<const PassSource> sources, const PassOptions& options);
// The contents by kind of state; empty for states that the model does not have.
std::vector<std::pair<StateKind, const std::vector<uint32_t>*>> words_of(const EncodePass& pass);

// Contents of an encode plan's grids buffer for the pass.
std::vector<uint32_t> encode_grid_words(const Plan& encode, const EncodePass& pass);

// Writes all of these to the area's states, for a session with this many source positions.
void put_pass(UploadArea& area, const Plan& encode, std::span<const PassSource> sources, const model::Config& config,
              uint32_t source_positions);

}  // namespace lapilli
