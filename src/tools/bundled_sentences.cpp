#include "tools/bundled_sentences.hpp"

#include <nlohmann/json.hpp>

#include "base/path.hpp"
#include "formats/hf_config.hpp"
#include "generate/generate.hpp"
#include "tools/locate.hpp"

namespace lapilli::tools {
namespace {

constexpr size_t kShownSentences = 3;
constexpr int32_t kLongestOutput = 256;

struct Recorded {
  std::string text;
  std::vector<int32_t> ids, output;
  bool robust = true;  // the two best were not nearly equal
};

Result<std::vector<Recorded>> read_recorded(const std::string& file, const char* kind, size_t most) {
  LAPILLI_TRY(const auto json, read_json_file(file));
  std::vector<Recorded> all;
  try {
    for (const auto& c : json.at("cases")) {
      if (most != 0 && all.size() == most) break;
      const auto& result = c.at(kind);
      all.push_back({c.at("text").get<std::string>(), c.at("input_ids").get<std::vector<int32_t>>(),
                     result.at("ids").get<std::vector<int32_t>>(), result.value("robust", true)});
    }
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorCode::invalid_data, "the record of the bundled model's sentences cannot be read");
  }
  return all;
}

Status run_kind(const std::shared_ptr<Model>& model, std::span<const Recorded> recorded, uint32_t beams,
                SentenceReport& report) {
  GenerateRequest request;
  for (const Recorded& r : recorded) request.sources.push_back(r.ids);
  request.options.num_beams = static_cast<int32_t>(beams);
  request.options.max_length = kLongestOutput;
  LAPILLI_TRY(const auto out, generate(model, request));
  for (size_t i = 0; i < recorded.size(); ++i) {
    ++report.total;
    const auto& hypotheses = out.hypotheses.at(i);
    if (!hypotheses.empty() && hypotheses.front().ids == recorded[i].output) {
      ++report.equal;
      continue;
    }
    if (!recorded[i].robust || report.wrong.size() == kShownSentences) continue;
    report.wrong.push_back(format("\"%s\", %u beams: %s", recorded[i].text, beams,
                                  out.errors.at(i) ? "other words" : error_code_name(out.errors.at(i).error().code)));
  }
  return {};
}

}  // namespace

Result<SentenceReport> run_bundled_sentences(const std::shared_ptr<vulkan::Device>& device, size_t most) {
  const std::string file = bundled_file("en-fr/expected.json");
  if (file.empty()) return fail(ErrorCode::not_found, "the bundled model is not there");
  LAPILLI_TRY(const auto greedy, read_recorded(file, "greedy", most));
  LAPILLI_TRY(const auto beams, read_recorded(file, "beam4", most));
  LAPILLI_TRY(const auto model, Model::load(device, file.substr(0, file.size() - sizeof("/expected.json") + 1)));
  SentenceReport report;
  LAPILLI_CHECK(run_kind(model, greedy, 1, report));
  LAPILLI_CHECK(run_kind(model, beams, 4, report));
  return report;
}

}  // namespace lapilli::tools
