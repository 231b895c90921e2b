// Kinds "embed" and "similarity": texts through a directory of sentence-transformers.
#include <cmath>

#include "base/worst.hpp"
#include "conformance/folder.hpp"
#include "generate/encoders/encoding_task.hpp"
#include "generate/front_end.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;
using Vectors = std::vector<std::vector<float>>;

struct SentenceRun {
  std::vector<std::string> texts;
  PromptChoice prompt;
  uint32_t batch = 0;
  SentenceSettings settings;
};

Result<SentenceRun> run_of(const std::shared_ptr<Model>& model, const std::string& directory, const Json& c) {
  SentenceRun run;
  const FrontEnd front = read_front_end(*model, directory);
  if (!front.sentences) return fail(ErrorCode::unsupported, "a model that makes no vectors of texts");
  run.settings = *front.sentences;
  run.texts = c.at("texts").get<std::vector<std::string>>();
  const Json args = c.value("args", Json::object());
  const std::string method = args.value("method", std::string());
  if (method == "encode_query") run.prompt = prompt_for(run.settings, "query");
  if (method == "encode_document") run.prompt = prompt_for(run.settings, "document");
  if (args.contains("prompt_name")) run.prompt.name = args["prompt_name"].get<std::string>();
  if (args.contains("prompt")) run.prompt.text = args["prompt"].get<std::string>();
  run.batch = args.value("batch_size", 0u);
  return run;
}

Result<Vectors> vectors_of(const std::shared_ptr<Model>& model, const SentenceRun& run) {
  LAPILLI_TRY(const auto encoder, TextEncoder::make(*model, run.settings, run.prompt));
  Vectors vectors(run.texts.size());
  Status failed;
  EncodingRequest request;
  request.sources = run.texts.size();
  request.source = [&](size_t i) { return one_text(encoder.encode(run.texts[i])); };
  request.on_result = [&](size_t i, Result<HeadNumbers> numbers) {
    if (!numbers) failed = std::move(numbers).error();
    if (numbers) vectors[i] = std::move(numbers->front());
  };
  request.most_ids = encoder.most_ids();
  request.prompt_rows = encoder.prompt_rows();
  request.batch = run.batch;
  LAPILLI_TRY(const auto task, EncodingTask::start(model, std::move(request)));
  LAPILLI_CHECK(task->run());
  LAPILLI_CHECK(std::move(failed));
  return vectors;
}

// The ids of the record: with the prompt that it names, cut, with special ones. The vectors of xlm-roberta-prompts for
// documents were made without that prompt.
Status check_ids(const std::shared_ptr<Model>& model, const SentenceRun& run, const Json& c) {
  const PromptChoice named{c.value("prompt", std::string()), ""};
  LAPILLI_TRY(const auto encoder, TextEncoder::make(*model, run.settings, named));
  const auto expected = c.at("input_ids").get<std::vector<std::vector<int32_t>>>();
  if (c.contains("prompt_length") && c["prompt_length"].get<uint32_t>() != encoder.prompt_rows())
    return fail(ErrorCode::invalid_data, "the prompt has %u ids", encoder.prompt_rows());
  for (size_t i = 0; i < run.texts.size(); ++i) {
    LAPILLI_TRY(const auto ids, encoder.encode(run.texts[i]));
    if (ids.ids != expected.at(i)) return fail(ErrorCode::invalid_data, "text %u has other ids", i);
  }
  return {};
}

void compare(const Vectors& ours, const Matrix& expected, const Json& output, Outcome& o) {
  const size_t columns = expected.shape.back();
  if (ours.size() * columns != expected.values.size()) return o.fail("another number of vectors");
  double worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].size() != columns) return o.fail("vectors of another width");
    for (size_t k = 0; k < columns; ++k)
      worst = worse(worst, std::abs(double{ours[i][k]} - expected.values[i * columns + k]));
  }
  const double tolerance = output.at("atol_fp32").get<double>();
  o.compare(worst, tolerance, "vectors");
  o.add_part("vectors", worst, tolerance);
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

Vectors cosines(const Vectors& of) {
  Vectors all(of.size());
  for (size_t i = 0; i < of.size(); ++i)
    for (const auto& other : of)
      all[i].push_back(static_cast<float>(dot(of[i], other) / std::sqrt(dot(of[i], of[i]) * dot(other, other))));
  return all;
}

}  // namespace

Result<Outcome> run_embed(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                          const Json& c) {
  LAPILLI_TRY(const auto run, run_of(model, directory, c));
  LAPILLI_CHECK(check_ids(model, run, c));
  LAPILLI_TRY(const auto vectors, vectors_of(model, run));
  const Json& output = c.at("outputs").at("sentence_embedding");
  LAPILLI_TRY(const auto expected, read_matrix(record, output.at("tensor").get<std::string>()));
  Outcome o;
  compare(vectors, expected, output, o);
  return o;
}

Result<Outcome> run_similarity(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                               const Json& c) {
  if (c.value("function", std::string()) != "cosine") return Outcome::unsupported("another function than cosine");
  const std::string name = c.at("embeddings_from").get<std::string>();
  for (const Json& other : record.json.at("cases")) {
    if (other.value("name", std::string()) != name) continue;
    LAPILLI_TRY(const auto run, run_of(model, directory, other));
    LAPILLI_TRY(const auto vectors, vectors_of(model, run));
    const Json& output = c.at("outputs").at("similarity");
    LAPILLI_TRY(const auto expected, read_matrix(record, output.at("tensor").get<std::string>()));
    Outcome o;
    compare(cosines(vectors), expected, output, o);
    return o;
  }
  return fail(ErrorCode::invalid_data, "there is no case %s", name);
}

}  // namespace lapilli::conformance
