// What the host writes before an encode pass: which sources it encodes, where their rows lie, and how large its grids
// are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/features.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/run/upload.hpp"

namespace lapilli {

// One source of a pass.
struct PassSource {
  std::span<const int32_t> ids;         // at least one, if it has no features
  uint32_t place = 0;                   // its number in cross_kv; no other source of the pass has it
  std::span<const uint32_t> globals{};  // positions that see everything, in any order
  const model::Features* features = nullptr;
};

// The words of the states, by their kinds' names.
struct EncodePass {
  uint32_t rows = 0, tiles = 0;
  std::vector<uint32_t> source_ids, spans;
  std::vector<uint32_t> globals;                  // empty for models without windows
  std::vector<uint32_t> features, feature_spans;  // empty for models whose sources are ids
};
// Of the model and the session.
struct PassOptions {
  bool windows = false;                           // the model has some:
  uint32_t source_positions = 0;                  // a sentence's list has room for so many
  const model::FeatureInput* features = nullptr;  // of a model whose sources have some
};
// Sources one after another in the given order; at most kMaxRows.
EncodePass pack_pass(std::span<const PassSource> sources, const PassOptions& options);

// The grids buffer of an encode plan with the arguments for the pass.
std::vector<uint32_t> encode_grid_words(const Plan& encode, const EncodePass& pass);

// All of that into the area's states, for a session with so many source positions.
void put_pass(UploadArea& area, const Plan& encode, std::span<const PassSource> sources, const model::Config& config,
              uint32_t source_positions);

}  // namespace lapilli
