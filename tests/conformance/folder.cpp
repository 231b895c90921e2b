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
    const size_t begin = std::min(padding_before(masks[r]), rows[r].size());
    size_t n = begin;
    while (n < masks[r].size() && masks[r][n] == 1) ++n;
    for (size_t i = n; i < masks[r].size(); ++i)
      if (masks[r][i] != 0) return fail(ErrorCode::unsupported, "%s whose ones are not together", mask);
    rows[r].resize(std::min(n, rows[r].size()));
    rows[r].erase(rows[r].begin(), rows[r].begin() + static_cast<ptrdiff_t>(begin));
  }
  return rows;
}

size_t padding_before(const std::vector<int32_t>& mask) {
  size_t n = 0;
  while (n < mask.size() && mask[n] == 0) ++n;
  return n;
}

Outcome from_error(const Error& e) {
  return e.code == ErrorCode::unsupported ? Outcome::unsupported(e.message) : Outcome::failed(e.message);
}

Outcome guarded_case(const std::function<Result<Outcome>()>& run) {
  try {  // records are read with nlohmann::json's checked accessors
    const auto o = run();
    return o ? *o : from_error(o.error());
  } catch (const std::exception& e) {
    return Outcome::failed(std::string("the record is damaged: ") + e.what());
  }
}

namespace {

// Frames of filter banks: [batch, width, frames] for models that take so many frames and no others, whose frames become
// rows; else [batch, frames, width].
Result<CaseSources> read_frames(const Record& record, const std::string& name, bool frames_last) {
  LAPILLI_TRY(const auto m, read_matrix(record, name));
  if (m.shape.size() != 3)
    return fail(ErrorCode::invalid_data, "tensor %s has %zu dimensions", name.c_str(), m.shape.size());
  const size_t width = m.shape[frames_last ? 1 : 2], frames = m.shape[frames_last ? 2 : 1];
  CaseSources sources;
  for (size_t i = 0; i < m.shape[0]; ++i) {
    auto f = std::make_shared<model::Features>();
    f->rows = static_cast<uint32_t>(frames);
    f->width = static_cast<uint32_t>(width);
    for (size_t frame = 0; frame < frames; ++frame)
      for (size_t c = 0; c < width; ++c)
        f->values.push_back(
            m.values[frames_last ? (i * width + c) * frames + frame : (i * frames + frame) * width + c]);
    sources.features.push_back(std::move(f));
  }
  return sources;
}

// [batch, samples]
Result<CaseSources> read_samples(const Record& record, const std::string& name) {
  LAPILLI_TRY(const auto m, read_matrix(record, name));
  if (m.shape.size() != 2)
    return fail(ErrorCode::invalid_data, "tensor %s has %zu dimensions", name.c_str(), m.shape.size());
  CaseSources sources;
  for (size_t i = 0; i < m.shape[0]; ++i) {
    const auto begin = m.values.begin() + static_cast<ptrdiff_t>(i * m.shape[1]);
    sources.features.push_back(std::make_shared<model::Features>(
        model::Features{static_cast<uint32_t>(m.shape[1]), 1, {begin, begin + static_cast<ptrdiff_t>(m.shape[1])}}));
  }
  return sources;
}

// Rows of a batch are filled up to the longest; the filling is part of what the reference computed.
Result<CaseSources> with_counts(const Record& record, const nlohmann::json& inputs, CaseSources sources) {
  LAPILLI_TRY(const auto rows, masked_rows(record, inputs, "attention_mask", "attention_mask"));
  if (rows.size() != sources.features.size()) return fail(ErrorCode::invalid_data, "a mask of other rows");
  for (size_t i = 0; i < rows.size(); ++i) {
    auto f = std::make_shared<model::Features>(*sources.features[i]);
    f->counted = static_cast<uint32_t>(rows[i].size());
    sources.features[i] = std::move(f);
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

Result<CaseSources> read_sources(const Record& record, const nlohmann::json& inputs, const model::Config& config) {
  if (inputs.contains("pixel_values"))
    return read_pictures(record, inputs["pixel_values"].get<std::string>(), config.patches);
  CaseSources sources;
  if (inputs.contains("input_features") || inputs.contains("input_values")) {
    const bool samples = inputs.contains("input_values"), chunks = config.features.rows != 0;
    const auto name = inputs.at(samples ? "input_values" : "input_features").get<std::string>();
    LAPILLI_TRY(sources, samples ? read_samples(record, name) : read_frames(record, name, chunks));
    return chunks || !inputs.contains("attention_mask") ? sources : with_counts(record, inputs, std::move(sources));
  }
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
  if (record->contains("format") && record->at("format") == "whisper.cpp ggml")
    return run_ggml_folder(directory, options, report);
  if (record->contains("format") && record->at("format") == "marian-bin")
    return run_marian_folder(directory, options, report);
  if (record->contains("format") && record->at("format") == "marian-npz")
    return run_npz_folder(directory, options, report);
  if (record->contains("models") && record->contains("format")) return run_real_students(directory, options, report);
  if (record->contains("format") && record->contains("settings")) return run_trained_folder(directory, options, report);
  if (record->contains("variants")) return run_variants_folder(directory, options, report);
  const std::string task = record->value("task", record->value("kind", std::string("unknown")));
  if (task == "argosmodel") return run_package_folder(directory, options, report);
  if (task == "search" || task == "logits-processors") return run_search_folder(directory, options, report);
  if (task == "audio-features") return run_features_folder(directory, options, report);
  if (task == "image-features") return run_image_folder(directory, options, report);
  // Reports every case of an unknown task by name.
  if (!record->contains("cases")) return report.add(directory, "expected.json", Outcome::failed("no cases"));
  for (const auto& c : (*record)["cases"])
    report.add(directory, c.value("name", std::string("?")), Outcome::unsupported("task " + task));
}

}  // namespace lapilli::conformance
