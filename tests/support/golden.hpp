// The small published models of tests/data/models with what the reference implementation gave for them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "formats/checkpoint.hpp"
#include "formats/generation_config.hpp"

namespace lapilli::testing_support {

struct GoldenCase {
  std::string name;
  std::vector<std::vector<int32_t>> sources;    // without padding
  GenerationConfig arguments;                   // what the caller passed
  std::vector<std::vector<int32_t>> sequences;  // decoder start to end token, without padding
  std::vector<double> scores;                   // of beam searches
  double scores_tolerance = 0;
};

class Golden {
 public:
  // A folder of tests/data/models, in the layout of the conformance set.
  static Result<Golden> open(const std::string& folder);
  [[nodiscard]] const std::string& model_directory() const { return model_; }
  [[nodiscard]] const GenerationConfig& generation() const { return generation_; }
  Result<GoldenCase> generate_case(const std::string& name) const;

 private:
  std::string model_;
  nlohmann::json expected_;
  std::unique_ptr<Checkpoint> tensors_;
  GenerationConfig generation_;
};

}  // namespace lapilli::testing_support
