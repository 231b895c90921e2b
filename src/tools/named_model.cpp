#include "tools/named_model.hpp"

#include <cstring>

#include "formats/doors/door.hpp"
#include "search/network_on_device.hpp"
#include "tools/bench_model.hpp"
#include "tools/locate.hpp"

namespace lapilli::tools {

namespace {

constexpr unsigned kSources = 2, kIds = 12, kSteps = 8;

using Numbers = std::vector<float>;

SearchesRequest shape_of(const Model& model) {
  SearchesRequest shape;
  const uint32_t most = model.info().max_source_positions;
  shape.source = most ? std::min(most, kIds) : kIds;
  shape.target = kSteps;
  return shape;
}

// Ids and scores of a search of so many steps.
Result<Numbers> search_once(const std::shared_ptr<Model>& model) {
  const SearchesRequest shape = shape_of(*model);
  const bool encodes = model->on_device().config().kind().encodes;
  GenerateRequest request;
  request.features = random_features(shape, *model, kSources);
  if (request.features.empty())
    (encodes ? request.sources : request.decoder_ids) = random_sources(shape, *model, kSources);
  request.options = exact_steps(1, kSteps);
  request.deterministic = true;
  LAPILLI_TRY(const auto out, generate(model, request));
  Numbers numbers;
  for (const auto& hypotheses : out.hypotheses)
    for (const Hypothesis& h : hypotheses) {
      numbers.insert(numbers.end(), h.ids.begin(), h.ids.end());
      numbers.push_back(h.score);
    }
  return numbers;
}

Result<Numbers> encode_once(const std::shared_ptr<Model>& model) {
  const SearchesRequest shape = shape_of(*model);
  ForwardRequest request;
  request.features = random_features(shape, *model, kSources);
  if (request.features.empty()) request.sources = random_sources(shape, *model, kSources);
  request.deterministic = true;
  LAPILLI_TRY(const auto outputs, forward(model, request));
  Numbers numbers;
  for (const ForwardTensor& output : outputs) numbers.insert(numbers.end(), output.values.begin(), output.values.end());
  return numbers;
}

bool same_bits(const Numbers& a, const Numbers& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

Result<NamedModel> run_named_model(const std::shared_ptr<vulkan::Device>& device, const std::string& model) {
  LAPILLI_TRY(const auto directory, find_model_directory(model));
  LAPILLI_TRY(const auto entered, doors::enter(directory));
  LAPILLI_TRY(const auto loaded, Model::load(device, directory));
  const auto once = loaded->on_device().config().kind().writes ? search_once : encode_once;
  LAPILLI_TRY(const auto first, once(loaded));
  LAPILLI_TRY(const auto second, once(loaded));
  return NamedModel{loaded->info().family, entered.origin.program, loaded->info().parameters,
                    !first.empty() && same_bits(first, second)};
}

}  // namespace lapilli::tools
