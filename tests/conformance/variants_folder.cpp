// Folders with one model in several formats of numbers, as another program's files: what that program found, and what
// the reference found with the weights before they were converted.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/path.hpp"
#include "conformance/folder.hpp"
#include "generate/generate.hpp"
#include "search/network_on_device.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;
using LinesOfIds = std::vector<Ids>;

// Scores of two sequences this close are one: another order of additions may take either.
constexpr double kTie = 2e-3;

int32_t special_id(const Record& record, const char* name) { return record.json.at("special_tokens").at(name); }

std::string ids_text(const Ids& ids) {
  std::string t;
  for (const int32_t id : ids) t += (t.empty() ? "" : " ") + std::to_string(id);
  return t;
}

// Inputs may lie in another folder's record; folders are found beside this one's.
Result<Record> input_record(const std::string& directory, const Json& c) {
  const std::string path = directory + "/../../" + c.at("inputs_from").get<std::string>();
  Record r;
  LAPILLI_TRY(r.tensors, Checkpoint::open_file(file_exists(path) ? path : directory + "/inputs.safetensors"));
  r.has_tensors = true;
  return r;
}

Status read_inputs(const std::string& directory, const Json& c, const Model& model,
                   std::vector<std::vector<int32_t>>& ids,
                   std::vector<std::shared_ptr<const model::Features>>& features) {
  if (!c.contains("inputs")) return ids = c.at("input_ids").get<LinesOfIds>(), Status();
  LAPILLI_TRY(const auto record, input_record(directory, c));
  LAPILLI_TRY(auto sources, read_sources(record, c["inputs"], model.on_device().config()));
  features = std::move(sources.features);
  return {};
}

Result<GenerateRequest> search_request(const std::string& directory, const Record& record, const Json& c,
                                       const Model& model) {
  GenerateRequest request;
  request.deterministic = true;
  const Json& args = c.at("args");
  request.options.num_beams = args.at("beam_size").get<uint32_t>();
  request.options.max_new_tokens =
      args.at(args.contains("max_new_tokens") ? "max_new_tokens" : "max_decoding_length").get<uint32_t>();
  request.options.length_penalty = args.at("length_penalty").get<float>();
  if (c.at("kind") == "generate") {
    request.decoder_ids = c.at("input_ids").get<LinesOfIds>();
    return request;
  }
  LAPILLI_CHECK(read_inputs(directory, c, model, request.sources, request.features));
  if (c.contains("prompt")) request.decoder_ids = c["prompt"].get<LinesOfIds>();
  if (!c.contains("target_prefix")) return request;
  Ids prefix = c["target_prefix"].get<Ids>();
  *request.options.max_new_tokens -= static_cast<uint32_t>(prefix.size());  // the other program counts them as new
  prefix.insert(prefix.begin(), special_id(record, "decoder_start"));
  request.decoder_ids.assign(request.sources.size(), prefix);
  return request;
}

// One source of a search with the ids before the new ones.
struct Sentence {
  const GenerateRequest& request;
  size_t row;
  int32_t start, end;
  [[nodiscard]] Ids prompt() const { return request.decoder_ids.empty() ? Ids{start} : request.decoder_ids[row]; }
  [[nodiscard]] double most() const { return *request.options.max_new_tokens; }
};

// The logarithm of an id's probability, by the row of logits at a place of a target; NaN if there is no such row.
double log_probability_at(const std::vector<ForwardTensor>& outputs, size_t target, size_t place, int32_t id) {
  const auto logits = std::find_if(outputs.begin(), outputs.end(), [](const auto& t) { return t.name == "logits"; });
  if (logits == outputs.end() || logits->shape.size() != 3 || place >= logits->shape[1]) return std::nan("");
  const uint64_t vocabulary = logits->shape[2];
  const float* row = logits->values.data() + (target * logits->shape[1] + place) * vocabulary;
  const double largest = *std::max_element(row, row + vocabulary);
  double sum = 0;
  for (size_t i = 0; i < vocabulary; ++i) sum += std::exp(row[i] - largest);
  return row[id] - largest - std::log(sum);
}

// The score of these new ids, as the search counts it, by a pass of the network.
Result<double> score_of(const std::shared_ptr<Model>& model, const Sentence& s, Ids ids) {
  if (static_cast<double>(ids.size()) < s.most()) ids.push_back(s.end);
  ForwardRequest request;
  if (!s.request.sources.empty()) request.sources = {s.request.sources[s.row]};
  if (!s.request.features.empty()) request.features = {s.request.features[s.row]};
  request.targets = {s.prompt()};
  const size_t first = request.targets[0].size() - 1, count = ids.size();
  request.targets[0].insert(request.targets[0].end(), ids.begin(), ids.end());
  LAPILLI_TRY(const auto outputs, forward(model, request));
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += log_probability_at(outputs, 0, first + i, ids[i]);
  return sum / std::pow(static_cast<double>(count), double{*s.request.options.length_penalty});
}

// Either the ids of one of both searches, or, with beams, a sentence that the network finds as good: the searches end
// differently.
Status compare_sentence(const std::shared_ptr<Model>& model, const Sentence& s, const Ids& found, const Json& c,
                        Outcome& o) {
  Ids theirs = c.at("ids").at(s.row).get<Ids>(), reference = c.at("reference_ids").at(s.row).get<Ids>();
  const auto prefix = static_cast<ptrdiff_t>(c.value("target_prefix", Json::array()).size());
  for (Ids* ids : {&theirs, &reference}) ids->erase(ids->begin(), ids->begin() + prefix);
  if (found == theirs || found == reference) return {};
  LAPILLI_TRY(const double ours, score_of(model, s, found));
  LAPILLI_TRY(const double other, score_of(model, s, theirs));
  if (*s.request.options.num_beams > 1 && ours >= other - kTie) return {};
  o.fail(format("sequence %u is %s (%.4f), not %s (%.4f)", s.row, ids_text(found), ours, ids_text(theirs), other));
  return {};
}

Result<Outcome> run_variant_search(const std::shared_ptr<Model>& model, const std::string& directory,
                                   const Record& record, const Json& c) {
  LAPILLI_TRY(const auto request, search_request(directory, record, c, *model));
  LAPILLI_TRY(const auto ours, generate(model, request));
  Outcome o;
  for (size_t i = 0; i < ours.hypotheses.size(); ++i) {
    const Sentence s{request, i, special_id(record, "decoder_start"), special_id(record, "eos")};
    Ids ids = ours.hypotheses[i].at(0).ids;
    ids.erase(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(std::min(ids.size(), s.prompt().size())));
    ids.erase(std::find(ids.begin(), ids.end(), s.end), ids.end());
    LAPILLI_CHECK(compare_sentence(model, s, ids, c, o));
  }
  return o;
}

Result<Outcome> run_variant_scores(const std::shared_ptr<Model>& model, const Record& record, const Json& c) {
  ForwardRequest request;
  request.sources = c.at("input_ids").get<LinesOfIds>();
  for (auto target : c.at("target").get<LinesOfIds>()) {
    target.insert(target.begin(), special_id(record, "decoder_start"));
    target.push_back(special_id(record, "eos"));
    request.targets.push_back(std::move(target));
  }
  LAPILLI_TRY(const auto outputs, forward(model, request));
  Outcome o;
  for (size_t i = 0; i < request.targets.size(); ++i) {
    const auto expected = c.at("token_log_probs").at(i).get<std::vector<double>>();
    for (size_t p = 0; p < expected.size(); ++p)
      o.compare(std::abs(log_probability_at(outputs, i, p, request.targets[i].at(p + 1)) - expected[p]),
                c.at("atol_fp32").get<double>(), format("token %u of %u", p, i));
  }
  return o.tolerance > 0 ? o : Outcome::failed("no scores came back");
}

Result<Outcome> run_variant_pass(const std::shared_ptr<Model>& model, const std::string& directory,
                                 const Record& record, const Json& c) {
  ForwardRequest request;
  request.want_hidden_states = true;
  if (c.at("kind") == "forward") {
    request.targets = c.at("input_ids").get<LinesOfIds>();
  } else {
    LAPILLI_CHECK(read_inputs(directory, c, *model, request.sources, request.features));
    for (const auto& row : c.value("token_type_ids", Json::array()))
      request.source_types.push_back(row.get<std::vector<uint32_t>>());
    if (c.contains("inputs")) request.targets.assign(request.features.size(), {special_id(record, "decoder_start")});
  }
  LAPILLI_TRY(const auto ours, forward(model, request));
  Outcome o;
  for (const auto& [name, spec] : c.at("outputs").items()) {
    const auto t = std::find_if(ours.begin(), ours.end(), [&](const auto& each) { return each.name == name; });
    if (t == ours.end()) return Outcome::unsupported("output " + name);
    LAPILLI_TRY(const auto expected, read_matrix(record, spec.at("tensor").get<std::string>()));
    if (t->values.size() != expected.values.size()) return Outcome::failed(name + " has another size");
    for (size_t i = 0; i < expected.values.size(); ++i)
      o.compare(std::abs(double{t->values[i]} - expected.values[i]), spec.at("atol_fp32").get<double>(), name);
  }
  return o;
}

Result<Outcome> run_variant_kind(const std::shared_ptr<Model>& model, const std::string& directory,
                                 const Record& record, const Json& c) {
  const auto kind = c.at("kind").get<std::string>();
  if (kind == "score") return run_variant_scores(model, record, c);
  if (kind == "encode" || kind == "forward") return run_variant_pass(model, directory, record, c);
  if (c.contains("args")) return run_variant_search(model, directory, record, c);
  return Outcome::unsupported("kind " + kind);
}

// The record of this case in 32-bit arithmetic: with 8-bit arithmetic the other program computes another network.
const Json& in_fp32(const Json& cases, const Json& c) {
  for (const Json& other : cases)
    if (other.at("name") == c.at("name") && other.at("variant") == c.at("variant") &&
        other.value("compute_type", std::string()) == "float32")
      return other;
  return c;
}

Outcome run_variant_case(const Result<std::shared_ptr<Model>>& model, const std::string& directory,
                         const Record& record, const Json& c) {
  if (!model) return from_error(model.error());
  try {  // records are read with nlohmann::json's checked accessors
    const auto o = run_variant_kind(*model, directory, record, in_fp32(record.json.at("cases"), c));
    return o ? *o : from_error(o.error());
  } catch (const std::exception& e) {
    return Outcome::failed(std::string("the record is damaged: ") + e.what());
  }
}

}  // namespace

void run_variants_folder(const std::string& directory, const RunOptions& options, Report& report) {
  const auto record = read_record(directory, "expected");
  if (!record) return report.add(directory, "record", Outcome::failed(record.error().message));
  const auto device = the_device(options);
  if (!device) return report.add(directory, "device", Outcome::failed(device.error().message));
  for (const Json& variant : record->json.at("variants")) {
    const auto name = variant.at("dir").get<std::string>(), folder = directory + "/" + name;
    LoadOptions load;
    load.kv_format = options.kv_format;
    const auto model = Model::load(*device, folder, load);
    size_t n = 0;
    for (const Json& c : record->json.at("cases")) {
      const auto shown = c.at("name").get<std::string>() + " (" + c.value("compute_type", std::string()) + ")";
      if (c.at("variant") != name || shown.find(options.filter) == std::string::npos || n++ % options.every) continue;
      report.add(folder, shown, run_variant_case(model, directory, *record, c));
    }
  }
}

}  // namespace lapilli::conformance
