// Folders with a package of Argos Translate: texts and what that program makes of them.
#include <algorithm>
#include <cmath>

#include "conformance/folder.hpp"
#include "generate/translate.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;

// Scores of two sentences this close are one: another order of additions may take either.
constexpr double kSameScore = 2e-3;

// The case as 32-bit arithmetic has it: with 8-bit arithmetic the other program computes another network.
const Json& case_in_fp32(const Json& cases, const Json& c) {
  for (const Json& other : cases)
    if (other.at("name") == c.at("name") && other.at("compute_type") == "float32") return other;
  return c;
}

// The same text, or another one that the network finds as good: the searches end differently.
void compare_hypothesis(const TextSequence& ours, const Json& theirs, Outcome& o) {
  const double wanted = theirs.at("score").get<double>();
  if (ours.text == theirs.at("text").get<std::string>())
    return o.compare(std::abs(ours.score - wanted), kSameScore, "the score of \"" + ours.text + "\"");
  if (ours.score < wanted - kSameScore)
    o.fail(format("\"%s\" (%.4f), not \"%s\" (%.4f)", ours.text, ours.score, theirs.at("text").get<std::string>(),
                  wanted));
}

Result<Outcome> run_text_case(const std::shared_ptr<Model>& model, const Json& c) {
  const auto text = c.at("text").get<std::string>();
  TranslateRequest request;
  request.inputs = {{.text = text}};
  request.task = {TextTask::translate, "", ""};
  request.split = false;
  request.deterministic = true;
  request.options.num_return_sequences = c.value("num_hypotheses", 1u);
  LAPILLI_TRY(const auto made, translate(model, request));
  LAPILLI_CHECK(made.outputs.at(0).status);
  const auto& ours = made.outputs[0].sequences;
  const Json& theirs = c.at("hypotheses");
  Outcome o;
  if (ours.size() != theirs.size()) return Outcome::failed("another number of hypotheses");
  for (size_t i = 0; i < ours.size(); ++i) compare_hypothesis(ours[i], theirs[i], o);
  return o;
}

}  // namespace

void run_package_folder(const std::string& directory, const RunOptions& options, Report& report) {
  const auto record = read_record(directory, "expected");
  if (!record) return report.add(directory, "record", Outcome::failed(record.error().message));
  const auto device = the_device(options);
  if (!device) return report.add(directory, "device", Outcome::failed(device.error().message));
  LoadOptions load;
  load.kv_format = options.kv_format;
  const std::string package = directory + "/" + record->json.at("package").get<std::string>();
  const auto model = Model::load(*device, package, load);
  const Json& cases = record->json.at("cases");
  size_t n = 0;
  for (const Json& c : cases) {
    const auto shown = c.at("name").get<std::string>() + " (" + c.at("compute_type").get<std::string>() + ")";
    if (shown.find(options.filter) == std::string::npos || n++ % options.every) continue;
    const auto o = model ? run_text_case(*model, case_in_fp32(cases, c)) : Result<Outcome>(model.error());
    report.add(package, shown, o ? *o : from_error(o.error()));
  }
}

}  // namespace lapilli::conformance
