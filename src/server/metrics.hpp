// Counts for /metrics, in the text format of Prometheus.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace lapilli::server {

// Thread-safe.
class Metrics {
 public:
  // An answered request: its protocol, its status, and the seconds from its last byte to the end of its answer.
  void count(const std::string& protocol, int status, double seconds);
  // The requests as text: lapilli_requests_total and the histogram lapilli_request_seconds.
  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::array<double, 10> kBounds = {0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60};
  struct Times {
    std::array<uint64_t, kBounds.size()> below{};
    uint64_t all = 0;
    double sum = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, Times> times_;
};

// "# HELP" and "# TYPE", and a number as the format has it.
std::string metric_head(const char* name, const char* type, const char* help);
std::string metric_number(double value);

// A line "NAME VALUE" with its # HELP and # TYPE; `type` is "counter" or "gauge".
std::string metric(const char* name, const char* type, const char* help, double value);

}  // namespace lapilli::server
