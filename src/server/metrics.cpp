#include "server/metrics.hpp"

#include <cstdio>

namespace lapilli::server {

std::string metric_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

std::string metric_head(const char* name, const char* type, const char* help) {
  const std::string called(name);
  return "# HELP " + called + " " + help + "\n# TYPE " + called + " " + type + "\n";
}

std::string metric(const char* name, const char* type, const char* help, double value) {
  return metric_head(name, type, help) + name + " " + metric_number(value) + "\n";
}

void Metrics::count(const std::string& protocol, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{protocol, status}];
  Times& times = times_[protocol];
  for (size_t i = 0; i < kBounds.size(); ++i) times.below[i] += seconds <= kBounds[i] ? 1 : 0;
  ++times.all;
  times.sum += seconds;
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::string all = metric_head("lapilli_requests_total", "counter", "Answered requests by protocol and status");
  for (const auto& [what, count] : requests_)
    all += "lapilli_requests_total{protocol=\"" + what.first + "\",status=\"" + std::to_string(what.second) + "\"} " +
           std::to_string(count) + "\n";
  all +=
      metric_head("lapilli_request_seconds", "histogram", "From the last byte of a request to the end of its answer");
  for (const auto& [protocol, times] : times_) {
    const std::string of = "{protocol=\"" + protocol + "\"";
    for (size_t i = 0; i < kBounds.size(); ++i)
      all += "lapilli_request_seconds_bucket" + of + ",le=\"" + metric_number(kBounds[i]) + "\"} " +
             std::to_string(times.below[i]) + "\n";
    all += "lapilli_request_seconds_bucket" + of + ",le=\"+Inf\"} " + std::to_string(times.all) + "\n";
    all += "lapilli_request_seconds_sum" + of + "} " + metric_number(times.sum) + "\n";
    all += "lapilli_request_seconds_count" + of + "} " + std::to_string(times.all) + "\n";
  }
  return all;
}

}  // namespace lapilli::server
