// Folders with files of whisper.cpp, whose inputs are those of the record that they were made from. Their vocabularies
// are too small for the rule of special ids, so each file is run in a directory with the record's settings.
#include <atomic>
#include <filesystem>

#include "conformance/folder.hpp"
#include "generate/generate.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// A directory that goes away with it.
class StagedModel {
 public:
  StagedModel(const fs::path& weights, const fs::path& settings) {
    static std::atomic<int> count{0};
    path_ = fs::temp_directory_path() /
            ("lapilli-ggml-" + std::to_string(std::hash<std::string>()(fs::absolute(weights).generic_string())) + "-" +
             std::to_string(++count));
    fs::create_directories(path_);
    fs::copy_file(weights, path_ / weights.filename(), fs::copy_options::overwrite_existing);
    for (const char* name : {"config.json", "generation_config.json"})
      fs::copy_file(settings / name, path_ / name, fs::copy_options::overwrite_existing);
  }
  ~StagedModel() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  StagedModel(const StagedModel&) = delete;
  StagedModel& operator=(const StagedModel&) = delete;
  [[nodiscard]] std::string path() const { return path_.generic_string(); }

 private:
  fs::path path_;
};

const Json* case_named(const Json& record, const std::string& name) {
  for (const auto& c : record["cases"])
    if (c.value("name", std::string()) == name) return &c;
  return nullptr;
}

// The logits of quantized weights are held against the reference's of the same numbers.
constexpr double kTolerance = 1e-3;

// Cases in the form of a record. fp32 weights are the record's own, and so are their tolerances.
Json cases_of(const Json& file, const Json& record, bool same_weights) {
  Json cases = Json::array();
  for (Json c : file.at("cases")) {
    if (c.contains("outputs")) {
      const Json* of = case_named(record, c.at("name").get<std::string>());
      const double own = of ? (*of)["outputs"]["logits"]["atol_fp32"].get<double>() : kTolerance;
      c["outputs"]["logits"] = {{"tensor", c["outputs"]["logits"]}, {"atol_fp32", same_weights ? own : kTolerance}};
    }
    cases.push_back(std::move(c));
  }
  if (!same_weights) return cases;
  for (Json c : record.at("cases")) {
    c["name"] = "record." + c.at("name").get<std::string>();
    cases.push_back(std::move(c));
  }
  return cases;
}

// The folder of another record, which lies some folders above this one.
std::string folder_of_record(const std::string& directory, const std::string& name) {
  const std::string near = directory + "/../../" + name;
  return fs::exists(near) ? near : directory + "/../../../" + name;
}

Result<Record> joined_record(const std::string& directory, const std::string& of) {
  LAPILLI_TRY(auto record, read_record(of, "expected"));
  LAPILLI_TRY(auto own, read_record(directory, "expected"));
  record.tensors.join(std::move(own.tensors), "");
  return record;
}

}  // namespace

void run_ggml_folder(const std::string& directory, const RunOptions& options, Report& report) {
  const auto top = read_json_file(directory + "/expected.json", size_t{64} << 20);
  if (!top) return report.add(directory, "expected.json", Outcome::failed(top.error().message));
  const std::string of = folder_of_record(directory, top->at("record").get<std::string>());
  auto record = joined_record(directory, of);
  if (!record) return report.add(directory, "record", Outcome::failed(record.error().message));
  const auto device = the_device(options);
  if (!device) return report.add(directory, "device", Outcome::failed(device.error().message));
  const Json of_record = record->json;
  for (const auto& [kind, file] : top->at("files").items()) {
    const std::string name = directory + "/" + file.at("file").get<std::string>();
    const StagedModel staged(name, of + "/model");
    record->json["cases"] = cases_of(file, of_record, kind == "f32");
    LoadOptions load;
    load.kv_format = options.kv_format;
    run_cases(Model::load(*device, staged.path(), load), {directory, name}, *record, options, report);
  }
}

}  // namespace lapilli::conformance
