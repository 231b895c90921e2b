#include "support/network_rig.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "base/half.hpp"
#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/shape.hpp"
#include "ops/products/pack.hpp"
#include "ops/search/search_util.hpp"
#include "search/encode_pass.hpp"
#include "search/inbox.hpp"

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
  WorkspaceKey key;
  for (const auto& s : input.sources) {
    longest = std::max(longest, s.size());
    key.encode_rows += static_cast<uint32_t>(s.size());
  }
  for (const auto& prompt : input.prompt) key.prompt_rows += static_cast<uint32_t>(prompt.size());
  key.shape.running = static_cast<uint32_t>(input.sources.size());
  key.shape.beams = input.options.beams;
  key.shape.source_positions = static_cast<uint32_t>(longest);
  key.shape.target_positions = input.options.max_length + 1;
  key.shape.list_words = 256;
  key.candidates = input.options.candidates();
  key.renormalize = input.options.renormalize;
  key.timestamps = input.options.timestamps.has_value();
  key.narrow = true;
  complete_key(key, 0);
  key.shape.log_ticks = std::bit_ceil(input.options.max_length);  // a whole search without a second look
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

namespace {

Result<std::vector<double>> fp32_words(const WeightSource& source) {
  std::vector<double> words(source.words, 0.0);
  std::copy(source.values.begin(), source.values.end(), words.begin());
  for (const WeightPart& p : source.parts) {
    LAPILLI_TRY(const auto bytes, p.bytes(0, p.rows * p.k * (p.format == StoredFormat::f32 ? 4 : 2)));
    for (uint64_t r = 0; r < p.rows; ++r) {
      const uint64_t column = p.first_column + r / p.group * p.group_stride + r % p.group;
      for (uint64_t c = 0; c < p.k; ++c) {
        const double value = stored_value(bytes.data(), p.format, r * p.k + c);
        if (p.kind == WeightPart::Kind::plain)
          words[p.destination + r * p.k + c] = value;
        else if (p.kind == WeightPart::Kind::bias)
          words[source.layout().bias_word(column)] = value;
        else
          words[source.layout().word(column, c)] = value;
      }
    }
  }
  return words;
}

}  // namespace

Result<HostTensor> host_weight(const WeightSource& source) {
  HostTensor host;
  if (source.format == WeightFormat::fp32) {
    LAPILLI_TRY(host.f, fp32_words(source));
    return host;
  }
  for (const float v : source.values) host.u.push_back(std::bit_cast<uint32_t>(v));
  if (!host.u.empty()) return host;
  WeightSource exact = source;
  exact.format = WeightFormat::fp32;
  exact.words = exact.layout().words();
  LAPILLI_TRY(const auto words, fp32_words(exact));
  host.u = pack_words(source.layout(), std::vector<float>(words.begin(), words.end()));
  return host;
}

std::map<uint32_t, std::vector<uint32_t>> host_states(const model::Network& network, const WorkspaceKey& key,
                                                      const SearchInput& input, const WorkspacePlans* plans) {
  std::map<uint32_t, std::vector<uint32_t>> states;
  auto& inbox = states[state_id(StateKind::inbox)];
  inbox.assign(key.shape.inbox_words, 0);
  InboxWriter writer(inbox, key.shape.running);
  std::vector<uint32_t> prompt_rows;
  for (uint32_t i = 0; i < input.sources.size(); ++i) {
    Sentence s;
    s.source = input.sources[i];
    s.prompt = {input.options.decoder_start};
    if (i < input.prompt.size()) s.prompt.insert(s.prompt.end(), input.prompt[i].begin(), input.prompt[i].end());
    for (uint32_t t = 0; t + 1 < s.prompt.size(); ++t)
      prompt_rows.push_back(state::row_word_of(i * key.shape.beams, t));
    s.words = encode_options(input.options, static_cast<uint32_t>(s.prompt.size()), s.source, i);
    s.mark = i + 1;
    writer.enter(s, i, 0, i == 0);
  }
  writer.finish(kSessionMark, {});
  for (const auto& [kind, words] : {std::pair<StateKind, uint64_t>{StateKind::step, state::STEP_WORDS},
                                    {StateKind::search, key.shape.slots * state::search_stride(key.shape.beams)},
                                    {StateKind::lists, key.shape.list_words}})
    states[state_id(kind)].assign(words, 0);
  if (key.prompt_rows) {
    auto& prompt = states[state_id(StateKind::prompt)];
    prompt.assign(state::STEP_QUEUE, 0);
    prompt[state::STEP_LIVE] = static_cast<uint32_t>(prompt_rows.size());
    std::copy(prompt_rows.begin(), prompt_rows.end(), prompt.begin() + state::STEP_ROWS);
  }
  std::vector<PassSource> sources;
  auto& lengths = states[state_id(StateKind::lengths)];
  lengths.assign(2 * uint64_t{state::MAX_ROWS}, 0);
  for (uint32_t i = 0; i < input.sources.size(); ++i) {
    lengths[2 * uint64_t{i} + 1] = static_cast<uint32_t>(input.sources[i].size());
    sources.push_back({input.sources[i], i});
    if (i < input.global_positions.size()) sources.back().globals = input.global_positions[i];
  }
  const PassOptions windows{!network.config.encoder.windows.empty(), key.shape.source_positions};
  const EncodePass pass = pack_pass(sources, windows);
  states[state_id(StateKind::source_ids)] = pass.source_ids;
  states[state_id(StateKind::spans)] = pass.spans;
  if (windows.windows) states[state_id(StateKind::globals)] = pass.globals;
  if (!plans) return states;
  states[state_id(StateKind::encode_grids)] = encode_grid_words(*plans->encode.front(), pass);
  states[state_id(StateKind::grids)] = grid_words(plans->step->grids, plans->step->max_group_x);
  if (!plans->prompt) return states;
  auto grids = grid_words(plans->prompt->grids, plans->prompt->max_group_x);
  for (uint32_t i = 0; i < state::MAX_GRIDS; ++i)
    search::write_grid(grids, uint64_t{i} * state::GRID_STRIDE, static_cast<uint32_t>(prompt_rows.size()));
  states[state_id(StateKind::prompt_grids)] = std::move(grids);
  return states;
}

Result<Interpreter> make_interpreter(const model::Network& network, const WorkspaceKey& key, const SearchInput& input) {
  Interpreter interpreter;
  LAPILLI_TRY(const auto sources, weight_sources(network));
  for (uint32_t i = 0; i < sources.size(); ++i) {
    LAPILLI_TRY(interpreter.weights[i], host_weight(sources[i]));
  }
  for (auto& [id, words] : host_states(network, key, input, nullptr)) interpreter.states[id].u = std::move(words);
  return interpreter;
}

Result<WorkspacePlans> compile_plans(const model::Network& network, const WorkspaceKey& key, const Capabilities& caps,
                                     const CompileOptions& options) {
  WorkspacePlans plans;
  LAPILLI_TRY(plans.admit, compile(admit_graph(network, key.shape), caps, options));
  LAPILLI_TRY(auto encode, compile(encode_graph(network, key), caps, options));
  plans.encode.push_back(std::move(encode));
  if (key.prompt_rows) {
    LAPILLI_TRY(plans.prompt, compile(prompt_graph(network, key), caps, options));
  }
  LAPILLI_TRY(plans.start, compile(start_graph(network, key.shape), caps, options));
  StepGraph step = step_graph(network, key);
  plans.logits = step.logits;
  plans.scores = step.scores;
  LAPILLI_TRY(plans.step, compile(std::move(step.graph), caps, options));
  for (const uint32_t sentences : narrow_sentences(key)) {
    LAPILLI_TRY(auto narrow, compile(step_graph(network, key, sentences * key.shape.beams).graph, caps, options));
    plans.narrow_steps.push_back(std::move(narrow));
  }
  return plans;
}

std::vector<std::shared_ptr<const Plan>> in_order(const WorkspacePlans& p) {
  std::vector<std::shared_ptr<const Plan>> plans{p.admit};
  plans.insert(plans.end(), p.encode.begin(), p.encode.end());
  if (p.prompt) plans.push_back(p.prompt);
  plans.insert(plans.end(), {p.start, p.step});
  return plans;
}

}  // namespace lapilli::testing_support
