// Recorded searches without a network, and recorded processors: folders of the conformance format whose expected.json
// has the task "search" or "logits-processors". Runs them in the interpreter and on devices; the conformance program
// and the tests of the search stand on this. Accessors of nlohmann::json may throw where a record is not what it should
// be.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "formats/checkpoint.hpp"
#include "ops/search/search.hpp"
#include "search/sentence.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli::search_records {

using Rows = std::vector<std::vector<int32_t>>;

struct Matrix {
  uint64_t rows = 0, columns = 0;
  std::vector<float> values;
};

class Recorded {
 public:
  // `directory` holds expected.json and expected.safetensors.
  static Result<Recorded> open(const std::string& directory);
  nlohmann::json info;
  [[nodiscard]] Result<Matrix> matrix(const std::string& name) const;
  [[nodiscard]] Result<Rows> ids(const std::string& name) const;

 private:
  Checkpoint checkpoint_;
};

// The result of a comparison: nothing in `problems` if all agree. Deviation and tolerance of the number that came
// closest.
struct Comparison {
  std::vector<std::string> problems;
  double deviation = 0, tolerance = 0;
  void number(double deviation_seen, double allowed, const std::string& what);
};

// A search over scores table[last id] + steps[ids - 1], which is what an embedding with positions computes.
struct Bigram {
  SearchShape shape;
  SearchOptions options;
  uint32_t vocabulary = 0, list_words = 0;
  Rows prompts;
  Matrix table, steps;
  std::vector<Sentence> sentences;
  std::vector<uint32_t> inbox;
};
// Shape, sentences and inbox from the rest.
void finish(Bigram& bigram);
// A case of kind "generate".
Result<Bigram> make_bigram(const Recorded& recorded, const nlohmann::json& c);

// The state of a search when it has ended.
struct SearchEnd {
  std::vector<uint32_t> step, search, log;
};
// The first `count` rows of a search's log that begins with tick 0 and that its ring still holds, as a search engine
// reads them: sentence i has slot i and mark i + 1.
struct LogRows {
  const std::vector<uint32_t>& words;
  SearchShape shape;
  uint32_t mark = 0;  // of the session
  uint32_t count = 0;
};
Status read_log(const LogRows& log, std::vector<Sentence>& sentences);
SearchEnd interpret(const Bigram& bigram);
Result<SearchEnd> run_on(const std::shared_ptr<vulkan::Device>& device, const Bigram& bigram);
// The sentences with what the log says of them, read as a search engine does.
Result<std::vector<Sentence>> read_log(const Bigram& bigram, const SearchEnd& end);
Comparison compare(const Bigram& bigram, const nlohmann::json& c, const SearchEnd& end);

// Processors on prompt ids and scores. Rows are padded to whole vectors.
struct Processed {
  graph::Graph graph;
  std::map<uint32_t, std::vector<uint32_t>> states;
  std::vector<float> in, want;
  double tolerance = 0;
};
// A case of kind "processors" or "whisper-timestamps".
Result<Processed> make_processed(const Recorded& recorded, const nlohmann::json& c);
std::vector<double> interpret(const Processed& processed);
Result<std::vector<double>> run_on(const std::shared_ptr<vulkan::Device>& device, const Processed& processed);
Comparison compare(const Processed& processed, const std::vector<double>& got);

}  // namespace lapilli::search_records
