#include "conformance/report.hpp"

#include <algorithm>
#include <cstdio>

#include "base/worst.hpp"

namespace lapilli::conformance {

void Outcome::compare(double seen, double allowed, const std::string& what) {
  seen = worse(0, seen);  // a NaN is never within a tolerance
  largest = worse(largest, seen);
  const bool good = seen <= allowed;
  if (deviation <= tolerance * 0 && tolerance == 0) {
    deviation = seen;
    tolerance = allowed;
  } else if (!(seen * tolerance <= deviation * allowed)) {
    deviation = seen;
    tolerance = allowed;
  }
  if (!good) fail(what + " deviates too much");
}

void Outcome::fail(std::string why) {
  if (verdict == Verdict::failed) return;
  verdict = Verdict::failed;
  reason = std::move(why);
}

void Outcome::add_part(const std::string& name, double seen, double allowed) {
  const auto it = std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.name == name; });
  Part& part = it == parts.end() ? parts.emplace_back(Part{name, 0, 0}) : *it;
  part.largest = worse(part.largest, seen);
  if (allowed > 0) part.share = worse(part.share, seen / allowed);
}

void Report::add(const std::string& folder, const std::string& name, const Outcome& o, const Subject& subject) {
  const char* word = o.verdict == Verdict::passed ? "pass" : o.verdict == Verdict::failed ? "FAIL" : "unsupported";
  (o.verdict == Verdict::passed ? passed_ : o.verdict == Verdict::failed ? failed_ : skipped_)++;
  nlohmann::json line = {{"folder", folder}, {"case", name}, {"result", word}};
  if (o.tolerance > 0) line["deviation"] = o.deviation, line["tolerance"] = o.tolerance, line["largest"] = o.largest;
  if (!o.reason.empty()) line["reason"] = o.reason;
  for (const auto& [key, value] : {std::pair{"family", subject.family}, std::pair{"checkpoint", subject.checkpoint},
                                   std::pair{"dtype", subject.dtype}, std::pair{"group", subject.group}})
    if (!value.empty()) line[key] = value;
  for (const Part& p : o.parts) line["parts"][p.name] = {{"largest", p.largest}, {"share", p.share}};
  cases_.push_back(std::move(line));
  if (json_) return;
  std::printf("%s  %s  ", folder.c_str(), name.c_str());
  if (o.tolerance > 0) std::printf("%.3g of %.3g  ", o.deviation, o.tolerance);
  std::printf("%s%s%s\n", word, o.reason.empty() ? "" : ": ", o.reason.c_str());
  std::fflush(stdout);
}

int Report::finish(bool strict) {
  if (json_) {
    const nlohmann::json all = {{"cases", cases_}, {"passed", passed_}, {"failed", failed_}, {"skipped", skipped_}};
    std::printf("%s\n", all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  }
  // Standard output is one JSON document, if that.
  std::fprintf(json_ ? stderr : stdout, "%llu passed, %llu failed, %llu skipped\n",
               static_cast<unsigned long long>(passed_), static_cast<unsigned long long>(failed_),
               static_cast<unsigned long long>(skipped_));
  if (cases_.empty()) std::fprintf(stderr, "no case was found\n");
  return failed_ > 0 || cases_.empty() || (strict && skipped_ > 0) ? 1 : 0;
}

}  // namespace lapilli::conformance
