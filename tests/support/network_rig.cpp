#include "support/network_rig.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "base/half.hpp"
#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/shape.hpp"

namespace lapilli::testing_support {

Result<LoadedNetwork> load_network(const std::string& directory) {
  LAPILLI_TRY(const auto json, read_json_file(directory + "/config.json"));
  LAPILLI_TRY(const auto type, get_string({json, directory}, "model_type"));
  const model::Family* family = model::find_family(type);
  if (!family) return fail(ErrorCode::unsupported, "no family %s", type.c_str());
  LAPILLI_TRY(const auto config, family->config(json, directory));
  LAPILLI_TRY(auto checkpoint, Checkpoint::open(directory));
  LoadedNetwork loaded;
  loaded.checkpoint = std::make_unique<Checkpoint>(std::move(checkpoint));
  LAPILLI_TRY(loaded.network, model::bind_weights(config, family->names(config), *loaded.checkpoint));
  return loaded;
}

Result<LoadedNetwork> make_network(const std::string& shape, uint64_t seed) {
  if (shape.starts_with("data/")) return load_network(LAPILLI_TEST_DATA "/models/" + shape.substr(5) + "/model");
  LAPILLI_TRY(const auto config, model::parse_shape(shape));
  LoadedNetwork loaded;
  loaded.network = model::random_network(config, seed);
  return loaded;
}

std::vector<std::vector<int32_t>> random_sources(const std::vector<uint32_t>& lengths, uint32_t vocabulary,
                                                 uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<int32_t>> sources;
  for (const uint32_t length : lengths) {
    auto& ids = sources.emplace_back();
    for (uint32_t i = 0; i < length; ++i) ids.push_back(static_cast<int32_t>(random() % vocabulary));
  }
  return sources;
}

WorkspaceKey exact_key(const SearchInput& input) {
  size_t longest = 1;
  for (const auto& s : input.sources) longest = std::max(longest, s.size());
  WorkspaceKey key;
  key.shape.sentences = static_cast<uint32_t>(input.sources.size());
  key.shape.beams = input.options.beams;
  key.shape.source_positions = static_cast<uint32_t>(longest);
  key.shape.target_positions = input.options.max_length + 1;
  key.shape.list_words = 256;
  key.candidates = input.options.candidates();
  key.renormalize = input.options.renormalize;
  return key;
}

namespace {

float stored_value(const std::byte* bytes, StoredFormat format, uint64_t i) {
  if (format == StoredFormat::f32) {
    float f;
    std::memcpy(&f, bytes + 4 * i, 4);
    return f;
  }
  uint16_t bits;
  std::memcpy(&bits, bytes + 2 * i, 2);
  return format == StoredFormat::f16 ? half_to_float(bits) : bfloat16_to_float(bits);
}

}  // namespace

Result<std::vector<double>> host_weight(const WeightSource& source) {
  std::vector<double> words(source.words, 0.0);
  std::copy(source.values.begin(), source.values.end(), words.begin());
  for (const WeightPiece& p : source.pieces) {
    LAPILLI_TRY(const auto bytes, p.bytes());
    for (uint64_t r = 0; r < p.rows; ++r) {
      const uint64_t column = p.first_column + r / p.group * p.group_stride + r % p.group;
      for (uint64_t c = 0; c < p.k; ++c) {
        const double value = stored_value(bytes.data(), p.format, r * p.k + c);
        if (p.kind == WeightPiece::Kind::plain) words[p.destination + r * p.k + c] = value;
        else if (p.kind == WeightPiece::Kind::bias) words[packed::bias_word(column, source.n, source.k)] = value;
        else words[packed::word(column, c, source.k)] = value;
      }
    }
  }
  return words;
}

std::map<uint32_t, std::vector<uint32_t>> host_states(const model::Network& network, const WorkspaceKey& key,
                                                      const SearchInput& input, const Plan* step) {
  const std::vector<std::vector<int32_t>> prefix(input.sources.size(), {input.options.decoder_start});
  auto words = encode_options(input.options, network.config, prefix, input.sources);
  words.lists.resize(std::max<size_t>(words.lists.size(), key.shape.list_words));
  std::map<uint32_t, std::vector<uint32_t>> states;
  states[state_id(StateKind::params)] = std::move(words.params);
  states[state_id(StateKind::lists)] = std::move(words.lists);
  auto& lengths = states[state_id(StateKind::lengths)];
  auto& ids = states[state_id(StateKind::source_ids)];
  lengths.assign(2 * uint64_t{kMaxRows}, 0);
  ids.assign(uint64_t{key.shape.sentences} * key.shape.source_positions, 0);
  for (size_t i = 0; i < input.sources.size(); ++i) {
    lengths[2 * i + 1] = static_cast<uint32_t>(input.sources[i].size());
    for (size_t j = 0; j < input.sources[i].size(); ++j)
      ids[i * key.shape.source_positions + j] = static_cast<uint32_t>(input.sources[i][j]);
  }
  if (!network.config.encoder.windows.empty()) {
    auto& globals = states[state_id(StateKind::globals)];
    const uint64_t stride = uint64_t{key.shape.source_positions} + 1;
    globals.assign(key.shape.sentences * stride, 0);
    for (size_t i = 0; i < input.global_positions.size(); ++i) {
      const auto& list = input.global_positions[i];
      globals[i * stride] = static_cast<uint32_t>(list.size());
      std::copy(list.begin(), list.end(), globals.begin() + static_cast<ptrdiff_t>(i * stride + 1));
    }
  }
  auto& grids = states[state_id(StateKind::grids)];
  grids.assign(uint64_t{kMaxGrids} * GridWords::stride, 0);
  for (size_t i = 0; step && i < step->grids.size(); ++i) {
    grids[i * GridWords::stride + GridWords::groups_per_tile] = step->grids[i].groups_per_tile;
    grids[i * GridWords::stride + GridWords::rows_per_tile] = step->grids[i].rows_per_tile;
    grids[i * GridWords::stride + GridWords::max_x] = step->max_group_x;
  }
  return states;
}

Result<Interpreter> make_interpreter(const model::Network& network, const WorkspaceKey& key, const SearchInput& input) {
  Interpreter interpreter;
  LAPILLI_TRY(const auto sources, weight_sources(network));
  for (uint32_t i = 0; i < sources.size(); ++i) {
    LAPILLI_TRY(interpreter.weights[i].f, host_weight(sources[i]));
  }
  for (auto& [id, words] : host_states(network, key, input, nullptr)) interpreter.states[id].u = std::move(words);
  return interpreter;
}

Result<WorkspacePlans> compile_plans(const model::Network& network, const WorkspaceKey& key, const Capabilities& caps,
                                     const CompileOptions& options) {
  WorkspacePlans plans;
  LAPILLI_TRY(plans.encode, compile(encode_graph(network, key.shape), caps, options));
  LAPILLI_TRY(plans.init, compile(init_graph(network, key.shape), caps, options));
  StepGraph step = step_graph(network, key);
  plans.logits = step.logits;
  plans.scores = step.scores;
  LAPILLI_TRY(plans.step, compile(std::move(step.graph), caps, options));
  for (const uint32_t rows : narrow_rows(key)) {
    LAPILLI_TRY(auto narrow, compile(step_graph(network, key, rows).graph, caps, options));
    plans.narrow_steps.push_back(std::move(narrow));
  }
  return plans;
}

}  // namespace lapilli::testing_support
