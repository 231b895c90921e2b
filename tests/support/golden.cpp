#include "support/golden.hpp"

#include "formats/hf_config.hpp"

namespace lapilli::testing_support {

namespace {

// Ids of a row up to where the padding begins: behind the first end token after the start.
std::vector<int32_t> without_padding(const nlohmann::json& row, int32_t end, int32_t pad) {
  std::vector<int32_t> ids = row.get<std::vector<int32_t>>();
  for (size_t i = 1; i < ids.size(); ++i) {
    if (ids[i] != end) continue;
    ids.resize(i + 1);
    return ids;
  }
  while (ids.size() > 1 && ids.back() == pad) ids.pop_back();
  return ids;
}

}  // namespace

Result<Golden> Golden::open(const std::string& folder) {
  const std::string base = std::string(LAPILLI_TEST_DATA) + "/models/" + folder;
  Golden g;
  g.model_ = base + "/model";
  LAPILLI_TRY(g.expected_, read_json_file(base + "/expected.json"));
  LAPILLI_TRY(auto tensors, Checkpoint::open_file(base + "/expected.safetensors"));
  g.tensors_ = std::make_unique<Checkpoint>(std::move(tensors));
  LAPILLI_TRY(g.generation_, read_generation_config(g.model_));
  return g;
}

Result<GoldenCase> Golden::generate_case(const std::string& name) const {
  for (const auto& c : expected_["cases"]) {
    if (c["name"] != name || c["kind"] != "generate") continue;
    GoldenCase out;
    out.name = name;
    const auto* ids = tensors_->find(c["inputs"]["input_ids"].get<std::string>());
    const auto* mask = tensors_->find(c["inputs"]["attention_mask"].get<std::string>());
    if (!ids || !mask) return fail(ErrorCode::not_found, "%s: no inputs", name.c_str());
    LAPILLI_TRY(const auto values, read_integers(*ids));
    LAPILLI_TRY(const auto counts, read_integers(*mask));
    const uint64_t length = ids->shape[1];
    for (uint64_t r = 0; r < ids->shape[0]; ++r) {
      auto& source = out.sources.emplace_back();
      for (uint64_t i = 0; i < length; ++i)
        if (counts[r * length + i]) source.push_back(static_cast<int32_t>(values[r * length + i]));
    }
    LAPILLI_TRY(out.arguments, parse_generation_config(c["args"], name));
    const auto& special = expected_["special_tokens"];
    for (const auto& row : c["sequences"])
      out.sequences.push_back(without_padding(row, special["eos"].get<int32_t>(), special["pad"].get<int32_t>()));
    if (c.contains("sequences_scores")) out.scores = c["sequences_scores"].get<std::vector<double>>();
    out.scores_tolerance = c.value("scores_atol_fp32", 0.0);
    return out;
  }
  return fail(ErrorCode::not_found, "no case %s", name.c_str());
}

}  // namespace lapilli::testing_support
