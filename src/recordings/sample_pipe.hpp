// Samples of a live source, read by a thread of their own, so that the writer is not held up while a model computes.
// The queue is bounded; when it is full, the writer waits.
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
  // Does not join the thread, which may be waiting for its writer.
  ~SamplePipe();

  struct Taken {
    size_t count = 0;
    bool ended = false;  // no more will come
  };
  // Takes the next samples, at the requested rate: as many as are there and `to` holds. If there are none, waits for
  // some, at most this long.
  Result<Taken> take(std::span<float> to, std::chrono::milliseconds most);
  // After the end; see Recording.
  [[nodiscard]] std::string shortage() const;
  [[nodiscard]] std::string silence() const;

 private:
  struct Shared;
  explicit SamplePipe(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;
};

}  // namespace lapilli::recordings
