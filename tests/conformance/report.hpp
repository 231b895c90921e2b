// The outcome of a case, and the print of a run.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lapilli::conformance {

enum class Verdict { passed, failed, unsupported };

// One part of a case ("states", "attention", "logits"): the largest deviation, and the largest share of a tolerance.
struct Part {
  std::string name;
  double largest = 0, share = 0;
};

struct Outcome {
  Verdict verdict = Verdict::passed;
  double deviation = 0, tolerance = 0;  // the pair that came closest to failing, or failed
  std::string reason;                   // of a failure, or why it is unsupported
  double largest = 0;                   // deviation, whatever its tolerance
  std::vector<Part> parts;

  static Outcome unsupported(std::string why) { return {Verdict::unsupported, 0, 0, std::move(why), 0, {}}; }
  static Outcome failed(std::string why) { return {Verdict::failed, 0, 0, std::move(why), 0, {}}; }
  // Takes one compared value in; the worst ratio to its tolerance stands in the end.
  void compare(double deviation_seen, double allowed, const std::string& what);
  void fail(std::string why);
  void add_part(const std::string& name, double seen, double allowed);
};

// The row of a case; empty words are left out.
struct Subject {
  std::string family, checkpoint, dtype;  // of the model
  std::string group;                      // case_group(), or "tokenizer"
};

class Report {
 public:
  explicit Report(bool json) : json_(json) {}
  void add(const std::string& folder, const std::string& name, const Outcome& outcome, const Subject& subject = {});
  // Every case so far, as --json prints it.
  [[nodiscard]] const nlohmann::json& cases() const { return cases_; }
  // Prints the last line (with JSON, that and the line on standard error) and gives the exit status: 1 also if there
  // was no case at all.
  int finish(bool strict);

 private:
  bool json_;
  nlohmann::json cases_ = nlohmann::json::array();
  uint64_t passed_ = 0, failed_ = 0, skipped_ = 0;
};

}  // namespace lapilli::conformance
