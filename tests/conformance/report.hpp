// What a case came to, and how a run is printed.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lapilli::conformance {

enum class Verdict { passed, failed, unsupported };

struct Outcome {
  Verdict verdict = Verdict::passed;
  double deviation = 0, tolerance = 0;  // the pair that came closest to failing, or failed
  std::string reason;                   // of a failure, or why it is unsupported

  static Outcome unsupported(std::string why) { return {Verdict::unsupported, 0, 0, std::move(why)}; }
  static Outcome failed(std::string why) { return {Verdict::failed, 0, 0, std::move(why)}; }
  // Takes one compared value in; the worst ratio to its tolerance stands in the end.
  void compare(double deviation_seen, double allowed, const std::string& what);
  void fail(std::string why);
};

class Report {
 public:
  explicit Report(bool json) : json_(json) {}
  void add(const std::string& folder, const std::string& name, const Outcome& outcome);
  // Prints the last line (or the JSON) and gives the exit status.
  int finish(bool strict);

 private:
  bool json_;
  nlohmann::json cases_ = nlohmann::json::array();
  uint64_t passed_ = 0, failed_ = 0, skipped_ = 0;
};

}  // namespace lapilli::conformance
