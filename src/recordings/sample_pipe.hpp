// Samples that come once, as fast as somebody makes them: read by a thread of their own, so that who writes them is not
// held up while a model computes. What is waiting is bounded: then the writer waits.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "recordings/recording.hpp"

namespace lapilli::recordings {

class SamplePipe {
 public:
  static Result<std::unique_ptr<SamplePipe>> open(const Opener& opener, const std::string& name, uint32_t rate);
  // The thread may be waiting for its writer; nobody waits for it.
  ~SamplePipe();

  struct Taken {
    size_t count = 0;
    bool ended = false;  // there are no more
  };
  // The next samples, at the rate asked for: as many as are there and `to` has room for. If there are none, waits for
  // some, at most this long.
  Result<Taken> take(std::span<float> to, std::chrono::milliseconds most);
  // After the end, as Recording's.
  [[nodiscard]] std::string shortage() const;
  [[nodiscard]] std::string silence() const;

 private:
  struct Shared;
  explicit SamplePipe(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;
};

}  // namespace lapilli::recordings
