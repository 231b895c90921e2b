// Inputs of XLNet's two streams: the ids that each row does not see, and the rows that are predicted.
#include "conformance/folder.hpp"
#include "generate/generate.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;

// A tensor [sources, rows, ids] by source, behind the padding of ids and, where rows are ids, of rows.
struct Cube {
  Matrix of;
  [[nodiscard]] float at(size_t source, size_t row, size_t id) const {
    return of.values.at((source * of.shape[1] + row) * of.shape[2] + id);
  }
};

Result<Cube> read_cube(const Record& record, const std::string& name, const ForwardRequest& request) {
  LAPILLI_TRY(auto values, read_matrix(record, name));
  if (values.shape.size() == 3 && values.shape[0] == request.sources.size()) return Cube{std::move(values)};
  return fail(ErrorCode::invalid_data, "%s is not by source, row and id", name);
}

Result<std::vector<size_t>> padding_of(const Record& record, const Json& inputs, size_t sources) {
  std::vector<size_t> padding(sources, 0);
  if (!inputs.contains("attention_mask")) return padding;
  LAPILLI_TRY(const auto masks, read_ids(record, inputs["attention_mask"].get<std::string>()));
  for (size_t i = 0; i < sources; ++i) padding[i] = padding_before(masks.at(i));
  return padding;
}

void hide_ids(const Cube& mask, const std::vector<size_t>& padding, ForwardRequest& request) {
  for (size_t i = 0; i < request.sources.size(); ++i) {
    auto& hidden = request.hidden_ids.emplace_back();
    const size_t n = request.sources[i].size(), before = padding[i];
    for (size_t pair = 0; pair < n * n; ++pair)
      hidden.push_back(mask.at(i, before + pair / n, before + pair % n) != 0 ? 1 : 0);
  }
}

// Each predicted row is that of one id.
Status predict_rows(const Cube& mapping, const std::vector<size_t>& padding, ForwardRequest& request) {
  request.second_stream = true;
  for (size_t i = 0; i < request.sources.size(); ++i) {
    auto& rows = request.head_rows.emplace_back();
    for (size_t row = 0; row < mapping.of.shape[1]; ++row)
      for (size_t id = padding[i]; id < mapping.of.shape[2]; ++id)
        if (mapping.at(i, row, id) != 0) rows.push_back(static_cast<uint32_t>(id - padding[i]));
    if (rows.size() != mapping.of.shape[1]) return fail(ErrorCode::unsupported, "predicted rows of several ids");
  }
  return {};
}

}  // namespace

Status read_streams(const Record& record, const Json& inputs, ForwardRequest& request) {
  LAPILLI_TRY(const auto padding, padding_of(record, inputs, request.sources.size()));
  if (inputs.contains("perm_mask")) {
    LAPILLI_TRY(const auto mask, read_cube(record, inputs["perm_mask"].get<std::string>(), request));
    hide_ids(mask, padding, request);
  }
  if (!inputs.contains("target_mapping")) return {};
  LAPILLI_TRY(const auto mapping, read_cube(record, inputs["target_mapping"].get<std::string>(), request));
  return predict_rows(mapping, padding, request);
}

// Predicted rows come one behind the other; the reference has them by source.
void rows_by_source(const ForwardRequest& request, std::vector<ForwardTensor>& outputs) {
  const size_t sources = request.sources.size();
  for (ForwardTensor& t : outputs)
    if (request.second_stream && t.name == "logits" && t.shape.size() == 2)
      t.shape = {sources, t.shape[0] / sources, t.shape[1]};
}

}  // namespace lapilli::conformance
