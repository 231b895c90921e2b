// Folders with a model of fairseq, OpenNMT-py or Tensor2Tensor as that program keeps it, and what it found: ids of
// texts, ids and texts of searches, and for some texts the numbers of the network.
#include <algorithm>
#include <cmath>
#include <functional>

#include "conformance/folder.hpp"
#include "generate/generate.hpp"
#include "search/network_on_device.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;
using TrainedIds = std::vector<int32_t>;

constexpr double kScores = 1e-3, kNumbers = 1e-4, kNear = 1e-3;

// A search by the name that the record gives it.
struct TrainedSearch {
  uint32_t beams = 1;
  double power = 0;  // of the length, by which scores are divided
  double wu = 0;     // not 0: ((wu + n) / 6)^power instead (Wu et al. 2016), which no search of ours has
  [[nodiscard]] double divisor(size_t n) const {
    const auto length = static_cast<double>(n);
    return std::pow(wu != 0 ? (wu + length) / 6 : length, power);
  }
};

struct TrainedRecord {
  std::shared_ptr<Model> model;
  Json json;
  [[nodiscard]] int32_t start() const { return json["settings"].value("start", 0); }
  [[nodiscard]] int32_t end() const { return json["settings"].at("eos"); }
  [[nodiscard]] double tolerance() const { return json["format"] == "Tensor2Tensor" ? 1e-3 : kNumbers; }
  // Tensor2Tensor takes ends from twice as many candidates, so that its searches with beams find others.
  [[nodiscard]] bool can_search(const TrainedSearch& s) const {
    return s.beams == 1 || (s.wu == 0 && json["format"] != "Tensor2Tensor");
  }
  // OpenNMT-py's texts have spaces before these signs, as its codes were learned.
  [[nodiscard]] std::string text(const Json& c) const {
    std::string out;
    for (const char ch : c.at("text").get<std::string>())
      out += (json["format"] == "OpenNMT-py" && json["subwords"] == "bpe" && (ch == '.' || ch == ',' || ch == '?'))
                 ? std::string(" ") + ch
                 : std::string(1, ch);
    return out;
  }
  // The most new ids of a source, the end included.
  [[nodiscard]] uint32_t most(const TrainedIds& source) const {
    const Json& s = json["settings"];
    if (s.contains("max_length")) return s["max_length"].get<uint32_t>();
    if (s.contains("extra_length")) return static_cast<uint32_t>(source.size()) + s["extra_length"].get<uint32_t>();
    const double most = s["max_len_a"].get<double>() * static_cast<double>(source.size());
    return static_cast<uint32_t>(most + s["max_len_b"].get<double>()) + 1;
  }
};

// OpenNMT-py counts one more than the ids, and its "avg" divides nothing in these records. fairseq's "no_repeat3" found
// the same as the search without it, with repetitions.
TrainedSearch search_named(const std::string& format, const std::string& name) {
  const bool fairseq = format == "fairseq";
  if (name == "greedy") return {1, fairseq ? 1.0 : 0.0};
  TrainedSearch s;
  s.beams = static_cast<uint32_t>(name[4] - '0');
  const auto behind = [&](const char* word) {
    const size_t at = name.find(word);
    return at == std::string::npos ? -1.0 : std::atof(name.c_str() + at + std::string_view(word).size());
  };
  const double lenpen = behind("_lenpen"), wu = std::max(behind("_wu"), behind("_alpha"));
  if (fairseq) s.power = lenpen >= 0 ? lenpen : 1;
  if (wu >= 0) s.power = wu, s.wu = format == "OpenNMT-py" ? 6 : 5;
  return s;
}

std::string trained_text(const TrainedIds& ids) {
  std::string t;
  for (const int32_t id : ids) t += (t.empty() ? "" : " ") + std::to_string(id);
  return t;
}

Outcome compare_trained_rows(const std::vector<std::vector<double>>& expected, const ForwardTensor& ours,
                             double tolerance) {
  Outcome o;
  double largest = 1;
  for (const auto& row : expected)
    for (const double v : row) largest = std::max(largest, std::abs(v));
  const size_t columns = ours.shape.back();
  for (size_t r = 0; r < expected.size(); ++r)
    for (size_t c = 0; c < expected[r].size(); ++c) {
      if ((r + 1) * columns > ours.values.size() || c >= columns) return Outcome::failed(ours.name + " is smaller");
      o.compare(std::abs(ours.values[r * columns + c] - expected[r][c]) / largest, tolerance, ours.name);
    }
  return o;
}

Result<ForwardTensor> pass(const TrainedRecord& record, const TrainedIds& source, const TrainedIds& written,
                           const char* name) {
  ForwardRequest request;
  request.want_hidden_states = true;
  request.deterministic = true;
  request.sources = {source};
  request.targets = {{record.start()}};
  request.targets[0].insert(request.targets[0].end(), written.begin(), written.end());
  LAPILLI_TRY(auto outputs, forward(record.model, request));
  for (ForwardTensor& t : outputs)
    if (t.name == name) return std::move(t);
  return fail(ErrorCode::invalid_data, "no output %s", name);
}

// The sum of the log-probabilities of ids that were written.
Result<double> log_probability_of(const TrainedRecord& record, const TrainedIds& source, const TrainedIds& ids) {
  LAPILLI_TRY(const auto logits, pass(record, source, ids, "logits"));
  const size_t columns = logits.shape.back();
  double sum = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const float* row = logits.values.data() + i * columns;
    const double largest = *std::max_element(row, row + columns);
    double all = 0;
    for (size_t c = 0; c < columns; ++c) all += std::exp(row[c] - largest);
    sum += row[ids[i]] - largest - std::log(all);
  }
  return sum;
}

Result<Outcome> run_trained_numbers(const TrainedRecord& record, const Json& c) {
  const TrainedIds source = c.at("source_ids").get<TrainedIds>(), ids = c.at("greedy").at("ids").get<TrainedIds>();
  LAPILLI_TRY(const auto states, pass(record, source, ids, "encoder_last_hidden_state"));
  Outcome o =
      compare_trained_rows(c.at("encoder_output").get<std::vector<std::vector<double>>>(), states, record.tolerance());
  LAPILLI_TRY(const auto logits, pass(record, source, ids, "logits"));
  const Outcome more =
      compare_trained_rows(c.at("logits").get<std::vector<std::vector<double>>>(), logits, record.tolerance());
  if (more.verdict != Verdict::passed) return more;
  o.compare(more.deviation, more.tolerance, "logits");
  return o;
}

Result<TrainedIds> searched_ids(const TrainedRecord& record, const TrainedIds& source, const TrainedSearch& search) {
  GenerateRequest request;
  request.deterministic = true;
  request.sources = {source};
  request.options.num_beams = search.beams;
  request.options.length_penalty = search.power;
  request.options.early_stopping = EarlyStopping::yes;
  request.options.max_new_tokens = record.most(source);
  LAPILLI_TRY(const auto found, generate(record.model, request));
  TrainedIds ids = found.hypotheses.at(0).at(0).ids;
  ids.erase(ids.begin());
  return ids;
}

double recorded_score(const Json& hypothesis) {
  return hypothesis.value("score", hypothesis.value("logprob", std::nan("")));
}

// The network finds what the program found as good as that did.
Status compare_trained_scores(const TrainedRecord& record, const TrainedIds& source, const TrainedSearch& search,
                              const Json& hypotheses, Outcome& o) {
  for (const Json& h : hypotheses) {
    const TrainedIds ids = h.at("ids").get<TrainedIds>();
    LAPILLI_TRY(const double sum, log_probability_of(record, source, ids));
    const double score = h.value("finished", true) ? sum / search.divisor(ids.size()) : sum;
    o.compare(std::abs(score - recorded_score(h)) / std::max(1.0, std::abs(score)), kScores,
              "score of " + trained_text(ids));
  }
  return {};
}

// With beams, another sentence is right if it is as good: the programs end their searches by rules of their own.
Status compare_trained_best(const TrainedRecord& record, const Json& c, const TrainedSearch& search, const Json& best,
                            Outcome& o) {
  const TrainedIds source = c.at("source_ids").get<TrainedIds>(), expected = best.at("ids").get<TrainedIds>();
  LAPILLI_TRY(const TrainedIds ours, searched_ids(record, source, search));
  if (ours == expected) return {};
  const double margin = c.value("greedy_margin", best.value("margin", 1.0));
  if (search.beams == 1 && margin >= kNear)
    return o.fail("ids are " + trained_text(ours) + ", not " + trained_text(expected)), Status();
  LAPILLI_TRY(double sum, log_probability_of(record, source, ours));
  // A forced end costs nothing here, and its probability there.
  if (ours.size() == record.most(source) && ours.back() == record.end()) {
    LAPILLI_TRY(sum, log_probability_of(record, source, {ours.begin(), ours.end() - 1}));
  }
  if (sum / search.divisor(ours.size()) < recorded_score(best) - 2e-3)
    o.fail(format("ids are %s (%.4f), not %s (%.4f)", trained_text(ours), sum / search.divisor(ours.size()),
                  trained_text(expected), recorded_score(best)));
  return {};
}

Result<Outcome> run_trained_search(const TrainedRecord& record, const Json& c, const std::string& name) {
  const TrainedSearch search = search_named(record.json.at("format"), name);
  const Json hypotheses = c.at(name).is_array() ? c.at(name) : Json::array({c.at(name)});
  Outcome o;
  LAPILLI_CHECK(compare_trained_scores(record, c.at("source_ids").get<TrainedIds>(), search, hypotheses, o));
  if (record.can_search(search)) LAPILLI_CHECK(compare_trained_best(record, c, search, hypotheses.at(0), o));
  return o;
}

Result<Outcome> run_trained_texts(const TrainedRecord& record, const Json& c) {
  const Tokenizer* tokenizer = record.model->tokenizer();
  if (!tokenizer) return Outcome::failed("the model has no tokenizer");
  LAPILLI_TRY(const auto ids, tokenizer->encode(record.text(c)));
  Outcome o;
  if (ids != c.at("source_ids").get<TrainedIds>())
    o.fail("ids of the text are " + trained_text(ids) + ", not " + trained_text(c.at("source_ids").get<TrainedIds>()));
  LAPILLI_TRY(const auto text, tokenizer->decode(c.at("greedy").at("ids").get<TrainedIds>()));
  const auto expected = c.at("greedy").at("text").get<std::string>();
  if (text != expected) o.fail("the text is '" + text + "', not '" + expected + "'");
  return o;
}

bool is_search(const std::string& key) {
  return (key == "greedy" || key.starts_with("beam")) && !key.ends_with("margin");
}

}  // namespace

void run_trained_folder(const std::string& directory, const RunOptions& options, Report& report) {
  TrainedRecord record;
  const auto json = read_json_file(directory + "/expected.json", size_t{64} << 20);
  if (!json) return report.add(directory, "expected.json", Outcome::failed(json.error().message));
  record.json = *json;
  const auto device = the_device(options);
  if (!device) return report.add(directory, "device", Outcome::failed(device.error().message));
  LoadOptions load;
  load.kv_format = options.kv_format;
  const auto model = Model::load(*device, directory, load);
  if (!model) return report.add(directory, "load", from_error(model.error()));
  record.model = *model;
  size_t number = 0, counted = 0;
  const auto add = [&](const std::string& name, const std::function<Result<Outcome>()>& run) {
    if (name.find(options.filter) == std::string::npos || counted++ % options.every) return;
    report.add(directory, name, guarded_case(run));
  };
  for (const Json& c : record.json.at("cases")) {
    const std::string at = std::to_string(number++);
    add("texts " + at, [&] { return run_trained_texts(record, c); });
    if (c.contains("encoder_output")) add("numbers " + at, [&] { return run_trained_numbers(record, c); });
    for (const auto& [key, value] : c.items())
      if (is_search(key)) add(key + " " + at, [&] { return run_trained_search(record, c, key); });
  }
}

}  // namespace lapilli::conformance
