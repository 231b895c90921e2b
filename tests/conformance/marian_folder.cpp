// Folders with models in Marian's own files, beside texts and what Marian made of them.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <span>

#include "base/path.hpp"
#include "conformance/folder.hpp"
#include "formats/shortlist.hpp"
#include "generate/generate.hpp"
#include "search/network_on_device.hpp"
#include "text/tokenizer.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;
using Line = std::vector<int32_t>;

// Searches whose choices were closer than this may take either.
constexpr double kMarianTie = 1e-3, kMarianScore = 1e-4, kMarianNumber = 1e-3;

struct MarianCase {
  const std::shared_ptr<Model>& model;
  const Json &settings, &c;
  [[nodiscard]] Line source() const { return c.at("source_ids").get<Line>(); }
};

std::string line_text(const Line& ids) {
  std::string t;
  for (const int32_t id : ids) t += (t.empty() ? "" : " ") + std::to_string(id);
  return t;
}

GenerateRequest marian_request(const MarianCase& m, uint32_t beams, bool listed) {
  GenerateRequest request;
  request.deterministic = true;
  request.sources = {m.source()};
  request.options.num_beams = beams;
  request.options.shortlist = listed;
  request.options.length_penalty = m.settings.at("normalize").get<float>();
  return request;
}

// The best hypothesis of a search, without the decoder's start.
Result<Hypothesis> best_line(const MarianCase& m, uint32_t beams, bool listed) {
  LAPILLI_TRY(auto found, generate(m.model, marian_request(m, beams, listed)));
  Hypothesis best = std::move(found.hypotheses.at(0).at(0));
  best.ids.erase(best.ids.begin());
  return best;
}

// A recorded search: its best hypothesis, and how close its closest choice was.
struct MarianSearch {
  const Json& best;
  double margin;
  uint32_t beams;
  bool listed;
};

Result<Outcome> compare_line(const MarianCase& m, const MarianSearch& search) {
  LAPILLI_TRY(const auto ours, best_line(m, search.beams, search.listed));
  const auto ids = search.best.at("ids").get<Line>();
  Outcome o;
  o.compare(0, kMarianScore, "score");
  if (ours.ids == ids) {
    const double score = search.best.at("score").get<double>();
    if (search.beams > 1)
      o.compare(std::abs(double{ours.score} - score) / std::max(1.0, std::abs(score)), kMarianScore, "score");
  } else if (search.margin >= kMarianTie) {
    o.fail("ids are " + line_text(ours.ids) + ", not " + line_text(ids));
  }
  return o;
}

Result<Outcome> run_marian_search(const MarianCase& m, const std::string& search, uint32_t beams) {
  const Json& all = m.c.at(search);
  return compare_line(m, {all.is_array() ? all.at(0) : all, m.c.at(search + "_margin").get<double>(), beams,
                          search.ends_with("shortlist")});
}

// Records of real models have their margins inside.
Result<Outcome> run_real_search(const MarianCase& m, const std::string& search, uint32_t beams) {
  const Json& all = m.c.at(search);
  const Json& best = all.is_array() ? all.at(0) : all;
  return compare_line(m, {best, best.at("margin").get<double>(), beams, !search.ends_with("full")});
}

void compare_numbers(const ForwardTensor& t, const Json& expected, Outcome& o) {
  for (size_t i = 0; i < expected.size(); ++i)
    o.compare(std::abs(double{t.values.at(i)} - expected[i].get<double>()), kMarianNumber, t.name);
}

Result<Outcome> run_marian_pass(const MarianCase& m) {
  ForwardRequest request;
  request.sources = {m.source()};
  request.targets = {{static_cast<int32_t>(m.model->on_device().config().target_vocabulary) - 1}};
  LAPILLI_TRY(const auto ours, forward(m.model, request));
  Outcome o;
  for (const ForwardTensor& t : ours) {
    if (t.name == "encoder_last_hidden_state") compare_numbers(t, m.c.at("encoder_output_first"), o);
    if (t.name == "logits") compare_numbers(t, m.c.at("first_logits"), o);
  }
  return o.tolerance > 0 ? o : Outcome::failed("no numbers came back");
}

Result<Outcome> run_marian_text(const MarianCase& m) {
  LAPILLI_TRY(const auto encoded, m.model->tokenizer()->encode(m.c.at("text").get<std::string>()));
  Outcome o;
  if (encoded != m.source()) o.fail("the text is " + line_text(encoded) + ", not " + line_text(m.source()));
  const auto& expected = m.c.at("greedy");
  LAPILLI_TRY(const auto text, m.model->tokenizer()->decode(expected.at("ids").get<Line>(), true));
  if (text != expected.at("text").get<std::string>()) o.fail("the ids are \"" + text + "\"");
  return o;
}

// The ids of the list.
Result<Outcome> run_marian_list(const MarianCase& m) {
  Outcome o;
  if (!m.model->shortlist()) return Outcome::failed("the model has no shortlist");
  const auto mask = m.model->shortlist()->mask(m.source());
  Line ids;
  for (size_t id = 0; id < 32 * mask.size(); ++id)
    if (mask[id / 32] >> (id % 32) & 1) ids.push_back(static_cast<int32_t>(id));
  if (ids != m.c.at("shortlist").get<Line>()) o.fail("the list is " + line_text(ids));
  return o;
}

struct MarianRun {
  const char* name;
  std::function<Result<Outcome>(const MarianCase&)> run;
  const char* needs = nullptr;  // a field that not all cases have
};
const MarianRun kMarianRuns[] = {
    {"text", run_marian_text},
    {"pass", run_marian_pass, "encoder_output_first"},
    {"greedy", [](const MarianCase& m) { return run_marian_search(m, "greedy", 1); }},
    {"beam4", [](const MarianCase& m) { return run_marian_search(m, "beam4", 4); }},
    {"shortlist", [](const MarianCase& m) { return run_marian_search(m, "greedy_shortlist", 1); }},
    {"beam4 shortlist", [](const MarianCase& m) { return run_marian_search(m, "beam4_shortlist", 4); }},
    {"list", run_marian_list, "shortlist"},
};

const MarianRun kRealRuns[] = {
    {"list", run_marian_list, "shortlist"},
    {"greedy", [](const MarianCase& m) { return run_real_search(m, "float_greedy", 1); }},
    {"all ids", [](const MarianCase& m) { return run_real_search(m, "float_greedy_full", 1); }},
    {"beam4", [](const MarianCase& m) { return run_real_search(m, "float_beam4", 4); }},
};

// The cases of a model, each in all ways.
struct MarianCases {
  const std::string& directory;
  const Json &settings, &cases;
  std::span<const MarianRun> runs;
};

void run_marian_cases(const MarianCases& all, const RunOptions& options, Report& report) {
  const auto device = the_device(options);
  if (!device) return report.add(all.directory, "device", Outcome::failed(device.error().message));
  LoadOptions load;
  load.kv_format = options.kv_format;
  const auto model = Model::load(*device, all.directory, load);
  if (!model) return report.add(all.directory, "model", from_error(model.error()));
  size_t number = 0, n = 0;
  for (const Json& c : all.cases) {
    ++number;
    if (!c.contains("source_ids")) continue;  // texts of several sentences
    for (const MarianRun& run : all.runs) {
      if (run.needs && c.value(run.needs, Json()).is_null()) continue;
      const std::string name = format("%s %u", run.name, number);
      if (name.find(options.filter) == std::string::npos || n++ % options.every) continue;
      report.add(all.directory, name, guarded_case([&] { return run.run({*model, all.settings, c}); }));
    }
  }
}

}  // namespace

namespace {

void compare_rows(const ForwardTensor& t, const Json& expected, Outcome& o) {
  const size_t columns = t.shape.back();
  for (size_t row = 0; row < expected.size(); ++row)
    for (size_t i = 0; i < expected[row].size(); ++i)
      o.compare(std::abs(double{t.values.at(row * columns + i)} - expected[row][i].get<double>()), kMarianNumber,
                t.name);
}

// The encoder's rows, and the logits of the first steps of the greedy search.
Result<Outcome> run_npz_pass(const MarianCase& m) {
  ForwardRequest request;
  request.sources = {m.source()};
  request.targets = {{static_cast<int32_t>(m.model->on_device().config().target_vocabulary) - 1}};
  const auto greedy = m.c.at("greedy").at("ids").get<Line>();
  request.targets[0].insert(request.targets[0].end(), greedy.begin(), greedy.end());
  LAPILLI_TRY(const auto ours, forward(m.model, request));
  Outcome o;
  for (const ForwardTensor& t : ours) {
    if (t.name == "encoder_last_hidden_state") compare_rows(t, m.c.at("encoder_output"), o);
    if (t.name == "logits") compare_rows(t, m.c.at("logits"), o);
  }
  return o.tolerance > 0 ? o : Outcome::failed("no numbers came back");
}

const MarianRun kNpzRuns[] = {
    {"text", run_marian_text},
    {"pass", run_npz_pass, "logits"},
    {"greedy", [](const MarianCase& m) { return run_marian_search(m, "greedy", 1); }},
    {"beam4", [](const MarianCase& m) { return run_marian_search(m, "beam4", 4); }},
    {"beam6", [](const MarianCase& m) { return run_marian_search(m, "beam6", 6); }},
};

}  // namespace

void run_npz_folder(const std::string& directory, const RunOptions& options, Report& report) {
  const auto record = read_record(directory, "expected");
  if (!record) return report.add(directory, "record", Outcome::failed(record.error().message));
  run_marian_cases({directory, record->json.at("settings"), record->json.at("cases"), kNpzRuns}, options, report);
}

void run_marian_folder(const std::string& directory, const RunOptions& options, Report& report) {
  const auto record = read_record(directory, "expected");
  if (!record) return report.add(directory, "record", Outcome::failed(record.error().message));
  run_marian_cases({directory, record->json.at("settings"), record->json.at("cases"), kMarianRuns}, options, report);
}

void run_real_students(const std::string& directory, const RunOptions& options, Report& report) {
  const auto record = read_record(directory, "expected");
  if (!record) return report.add(directory, "record", Outcome::failed(record.error().message));
  const char* real = std::getenv("LAPILLI_REAL");
  const Json settings = {{"normalize", 1.0}};
  for (const auto& [pair, model] : record->json.at("models").items()) {
    const std::string folder = std::string(real ? real : ".") + "/firefox-" + pair;
    if (!directory_exists(folder))
      report.add(folder, "model", Outcome::unsupported("LAPILLI_REAL names no folder with firefox-" + pair));
    else
      run_marian_cases({folder, settings, model.at("cases"), kRealRuns}, options, report);
  }
}

}  // namespace lapilli::conformance
