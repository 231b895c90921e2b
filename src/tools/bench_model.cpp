#include "tools/bench_model.hpp"

#include <random>

#include "base/clock.hpp"
#include "ops/core/shader_table.hpp"
#include "ops/core/state.hpp"
#include "ops/core/weight_layout.hpp"
#include "search/network_on_device.hpp"
#include "tools/locate.hpp"

namespace lapilli::tools {

namespace {

constexpr unsigned kMostOfEach = 1u << 16;

}  // namespace

Status check_searches(const SearchesRequest& r) {
  if (r.source == 0 || r.target == 0) return fail(ErrorCode::invalid_argument, "source and target must be at least 1");
  if (r.source > kMostOfEach || r.target > kMostOfEach)
    return fail(ErrorCode::invalid_argument, "source and target must be at most %u", kMostOfEach);
  for (const unsigned batch : r.batches)
    if (batch == 0 || batch > state::MAX_ROWS)
      return fail(ErrorCode::invalid_argument, "batch %u is not between 1 and %u", batch, state::MAX_ROWS);
  return {};
}

Result<BenchModel> load_for_searches(const SearchesRequest& request, vulkan::DeviceOptions options) {
  LAPILLI_CHECK(check_searches(request));
  BenchModel b;
  options.select = request.select;
  options.mask = request.caps;
  b.name = request.model;
  if (b.name.empty()) {
    LAPILLI_TRY(b.name, default_model_directory());
  }
  const auto start = Clock::now();
  LAPILLI_TRY(b.device, vulkan::Device::create(options));
  LoadOptions load;
  LAPILLI_TRY(load.format, parse_format(request.dtype));
  LAPILLI_TRY(load.kv_format, parse_kv_format(request.kv_dtype));
  load.prefix_cache = false;  // each run computes its prompt
  if (b.name.starts_with("shape:")) {
    LAPILLI_TRY(b.model, Model::random(b.device, b.name.substr(6), 1, load));
  } else {
    LAPILLI_TRY(b.model, Model::load(b.device, b.name, load));
  }
  b.load_ms = ms_since(start);
  return b;
}

Result<BenchModel> load_bench_model(const BenchRequest& request) {
  if (request.runs == 0 || request.runs > kMostOfEach)
    return fail(ErrorCode::invalid_argument, "%u runs are not between 1 and %u", request.runs, kMostOfEach);
  vulkan::DeviceOptions options;
  if (!request.cache.empty()) options.keep = {folder_store(request.cache), shaders_checksum()};
  if (!request.trace_file.empty()) {
    LAPILLI_TRY(options.timeline, Timeline::into_file(request.trace_file));
  }
  return load_for_searches(request, std::move(options));
}

void end_trace(const BenchRequest& request, const vulkan::Device& device) {
  if (!device.timeline() || !request.trace_failed) return;
  if (const auto written = device.timeline()->write(); !written) request.trace_failed(written.error().message);
}

std::vector<std::vector<int32_t>> random_sources(const SearchesRequest& request, const Model& model, unsigned count) {
  std::mt19937 random(7);
  const model::Config& c = model.on_device().config();
  const uint32_t vocabulary = c.kind().encodes ? c.source_vocabulary : c.target_vocabulary;
  std::vector<std::vector<int32_t>> sources(count);
  for (auto& source : sources)
    for (unsigned k = 0; k < request.source; ++k)
      source.push_back(static_cast<int32_t>(vocabulary > 1 ? 1 + random() % (vocabulary - 1) : 0));
  return sources;
}

std::vector<std::shared_ptr<const model::Features>> random_features(const SearchesRequest& request, const Model& model,
                                                                    unsigned count) {
  std::mt19937 random(7);
  const ModelInfo& info = model.info();
  std::vector<std::shared_ptr<const model::Features>> sources;
  for (unsigned i = 0; i < count && info.feature_width != 0; ++i) {
    model::Features f{info.feature_rows ? info.feature_rows : request.source, info.feature_width, {}};
    f.values.resize(uint64_t{f.rows} * f.width);
    for (float& v : f.values) v = static_cast<float>(random() % 2048) / 1024.0f - 1.0f;
    sources.push_back(std::make_shared<const model::Features>(std::move(f)));
  }
  return sources;
}

GenerationConfig exact_steps(unsigned beams, unsigned steps) {
  GenerationConfig options;
  options.num_beams = beams;
  options.max_new_tokens = options.min_new_tokens = steps;
  options.forced_eos_token_id = std::vector<int32_t>{};
  options.num_return_sequences = 1;
  return options;
}

}  // namespace lapilli::tools
