// Samples that come once, from a pipe, kept in a file without a name until they are needed no more.
#pragma once

#include <memory>

#include "audio/samples.hpp"
#include "recordings/bytes.hpp"

namespace lapilli::recordings {

class Spool : public audio::SampleSource {
 public:
  static Result<std::unique_ptr<Spool>> create();
  Status append(std::span<const float> samples);
  [[nodiscard]] uint64_t size() const { return size_; }
  Result<uint64_t> read(uint64_t first, std::span<float> to) override;

 private:
  Stream file_;
  uint64_t size_ = 0;
};

}  // namespace lapilli::recordings
