// Folders of searches without a network, and of processors: expected.json with the task "search" or
// "logits-processors".
#include "conformance/folder.hpp"
#include "support/search_records.hpp"

namespace lapilli::conformance {

namespace {

using search_records::Recorded;

Outcome from(const Error& e) {
  return e.code == ErrorCode::unsupported ? Outcome::unsupported(e.message) : Outcome::failed(e.message);
}

Outcome from(const search_records::Comparison& c) {
  Outcome o;
  if (c.tolerance > 0) o.compare(c.deviation, c.tolerance, "a score");
  if (!c.problems.empty()) o.fail(c.problems.front());
  return o;
}

Result<Outcome> run_search(const std::shared_ptr<vulkan::Device>& device, const Recorded& recorded,
                           const nlohmann::json& c) {
  LAPILLI_TRY(const auto bigram, search_records::make_bigram(recorded, c));
  if (c.at("args").value("do_sample", false)) return Outcome::unsupported("ids that were drawn by another generator");
  LAPILLI_TRY(const auto end, search_records::run_on(device, bigram));
  return from(search_records::compare(bigram, c, end));
}

Result<Outcome> run_processors(const std::shared_ptr<vulkan::Device>& device, const Recorded& recorded,
                               const nlohmann::json& c) {
  LAPILLI_TRY(const auto processed, search_records::make_processed(recorded, c));
  LAPILLI_TRY(const auto got, search_records::run_on(device, processed));
  return from(search_records::compare(processed, got));
}

Outcome run_case(const std::shared_ptr<vulkan::Device>& device, const Recorded& recorded, const nlohmann::json& c) {
  const std::string kind = c.value("kind", std::string("?"));
  try {  // records are read with nlohmann::json's checked accessors
    auto result = kind == "generate" ? run_search(device, recorded, c)
                  : kind == "processors" || kind == "whisper-timestamps"
                      ? run_processors(device, recorded, c)
                      : Result<Outcome>(Outcome::unsupported("kind " + kind));
    return result ? *result : from(result.error());
  } catch (const std::exception& e) {
    return Outcome::failed(std::string("the record is damaged: ") + e.what());
  }
}

}  // namespace

void run_search_folder(const std::string& directory, const RunOptions& options, Report& report) {
  const auto recorded = Recorded::open(directory);
  if (!recorded) return report.add(directory, "record", Outcome::failed(recorded.error().message));
  const auto device = the_device(options);
  if (!device) return report.add(directory, "device", Outcome::failed(device.error().message));
  for (const auto& c : recorded->info.value("cases", nlohmann::json::array())) {
    const std::string name = c.value("name", std::string("?"));
    if (name.find(options.filter) != std::string::npos) report.add(directory, name, run_case(*device, *recorded, c));
  }
}

}  // namespace lapilli::conformance
