#include "conformance/folder.hpp"

#include <algorithm>
#include <filesystem>

#include "base/path.hpp"
#include "model/patches.hpp"

namespace lapilli::conformance {

Result<Record> read_record(const std::string& directory, const std::string& stem) {
  Record r;
  LAPILLI_TRY(r.json, read_json_file(directory + "/" + stem + ".json", size_t{64} << 20));
  const std::string tensors = directory + "/" + stem + ".safetensors";
  if (file_exists(tensors)) {
    LAPILLI_TRY(r.tensors, Checkpoint::open_file(tensors));
    r.has_tensors = true;
  }
  return r;
}

Result<Matrix> read_matrix(const Record& record, const std::string& name) {
  const StoredTensor* t = record.has_tensors ? record.tensors.find(name) : nullptr;
  if (!t) return fail(ErrorCode::invalid_data, "tensor %s is missing", name.c_str());
  Matrix m;
  m.shape = t->shape;
  LAPILLI_TRY(m.values, read_floats(*t));
  return m;
}

Result<std::vector<std::vector<int32_t>>> read_ids(const Record& record, const std::string& name) {
  const StoredTensor* t = record.has_tensors ? record.tensors.find(name) : nullptr;
  if (!t) return fail(ErrorCode::invalid_data, "tensor %s is missing", name.c_str());
  if (t->shape.size() != 2) return fail(ErrorCode::invalid_data, "tensor %s is not a matrix", name.c_str());
  LAPILLI_TRY(const auto values, read_integers(*t));
  std::vector<std::vector<int32_t>> rows(t->shape[0]);
  for (uint64_t r = 0; r < rows.size(); ++r)
    for (uint64_t c = 0; c < t->shape[1]; ++c) rows[r].push_back(static_cast<int32_t>(values[r * t->shape[1] + c]));
  return rows;
}

Result<std::vector<std::vector<int32_t>>> masked_rows(const Record& record, const nlohmann::json& inputs,
                                                      const char* ids, const char* mask) {
  if (!inputs.contains(ids)) return fail(ErrorCode::unsupported, "inputs without %s", ids);
  LAPILLI_TRY(auto rows, read_ids(record, inputs[ids].get<std::string>()));
  if (!inputs.contains(mask)) return rows;
  LAPILLI_TRY(const auto masks, read_ids(record, inputs[mask].get<std::string>()));
  if (masks.size() != rows.size()) return fail(ErrorCode::invalid_data, "%s and %s differ in rows", ids, mask);
  for (size_t r = 0; r < rows.size(); ++r) {
    size_t n = 0;
    while (n < masks[r].size() && masks[r][n] == 1) ++n;
    for (size_t i = n; i < masks[r].size(); ++i)
      if (masks[r][i] != 0) return fail(ErrorCode::unsupported, "%s that is not ones followed by zeros", mask);
    rows[r].resize(std::min(n, rows[r].size()));
  }
  return rows;
}

Outcome from_error(const Error& e) {
  return e.code == ErrorCode::unsupported ? Outcome::unsupported(e.message) : Outcome::failed(e.message);
}

namespace {

// [batch, width, frames], as the reference has frames of filter banks: frames become rows.
Result<CaseSources> read_frames(const Record& record, const std::string& name) {
  LAPILLI_TRY(const auto m, read_matrix(record, name));
  if (m.shape.size() != 3)
    return fail(ErrorCode::invalid_data, "tensor %s has %zu dimensions", name.c_str(), m.shape.size());
  const size_t width = m.shape[1], frames = m.shape[2];
  CaseSources sources;
  for (size_t i = 0; i < m.shape[0]; ++i) {
    auto f = std::make_shared<model::Features>();
    f->rows = static_cast<uint32_t>(frames);
    f->width = static_cast<uint32_t>(width);
    for (size_t frame = 0; frame < frames; ++frame)
      for (size_t c = 0; c < width; ++c) f->values.push_back(m.values[(i * width + c) * frames + frame]);
    sources.features.push_back(std::move(f));
  }
  return sources;
}

// [batch, channels, height, width]
Result<CaseSources> read_pictures(const Record& record, const std::string& name, const model::PatchInput& pictures) {
  LAPILLI_TRY(const auto m, read_matrix(record, name));
  const std::vector<uint64_t> shape{pictures.channels, pictures.height, pictures.width};
  if (m.shape.size() != 4 || !std::equal(shape.begin(), shape.end(), m.shape.begin() + 1))
    return fail(ErrorCode::invalid_data, "tensor %s does not have the shape of the model's pictures", name.c_str());
  const size_t numbers = m.values.size() / std::max<size_t>(m.shape[0], 1);
  CaseSources sources;
  for (size_t i = 0; i < m.shape[0]; ++i) {
    LAPILLI_TRY(auto f, model::patches_of(pictures, std::span(m.values).subspan(i * numbers, numbers)));
    sources.features.push_back(std::make_shared<model::Features>(std::move(f)));
  }
  return sources;
}

}  // namespace

Result<CaseSources> read_sources(const Record& record, const nlohmann::json& inputs,
                                 const model::PatchInput& pictures) {
  if (inputs.contains("pixel_values"))
    return read_pictures(record, inputs["pixel_values"].get<std::string>(), pictures);
  if (inputs.contains("input_features")) return read_frames(record, inputs["input_features"].get<std::string>());
  CaseSources sources;
  LAPILLI_TRY(sources.ids, masked_rows(record, inputs, "input_ids", "attention_mask"));
  return sources;
}

Result<std::shared_ptr<vulkan::Device>> the_device(const RunOptions& options) {
  if (!options.made) {
    LAPILLI_TRY(options.made, vulkan::Device::create(options.device));
  }
  return options.made;
}

void run_folder(const std::string& directory, const RunOptions& options, Report& report) {
  const auto record = read_json_file(directory + "/expected.json", size_t{64} << 20);
  if (!record) {
    report.add(directory, "expected.json", Outcome::failed(record.error().message));
    return;
  }
  if (record->contains("model_dirs")) return run_model_folder(directory, options, report);
  if (directory_exists(directory + "/files") && record->contains("class"))
    return run_tokenizer_folder(directory, options, report);
  const std::string task = record->value("task", record->value("kind", std::string("unknown")));
  if (task == "search" || task == "logits-processors") return run_search_folder(directory, options, report);
  if (task == "audio-features") return run_features_folder(directory, options, report);
  if (task == "image-features") return run_image_folder(directory, options, report);
  // What is not known, every case by name.
  if (!record->contains("cases")) return report.add(directory, "expected.json", Outcome::failed("no cases"));
  for (const auto& c : (*record)["cases"])
    report.add(directory, c.value("name", std::string("?")), Outcome::unsupported("task " + task));
}

}  // namespace lapilli::conformance
