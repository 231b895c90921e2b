// Keeps samples in the order in which they were read: up to a minute in memory, more in a file without a name, so that
// a long recording is decoded once and memory does not grow with it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

namespace lapilli::recordings {

class SampleStore {
 public:
  static constexpr uint64_t kInMemory = uint64_t{1} << 20;  // samples: a minute of speech
  static constexpr uint64_t kMost = uint64_t{1} << 30;      // 4 GiB: 18 hours of speech

  // `most`: number of samples kept.
  explicit SampleStore(uint64_t most = kMost) : most_(most) {}

  // False: there is no room for them, and the store has lost its content.
  bool append(std::span<const float> samples);
  // Gives how many samples from `first` on were read; 0 if the file failed.
  uint64_t read(uint64_t first, std::span<float> to);
  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  bool write(std::span<const float> samples);
  bool lose();

  uint64_t most_, size_ = 0;
  std::vector<float> memory_;  // used while the recording is short
  std::unique_ptr<std::FILE, Close> file_;
  bool lost_ = false;
};

}  // namespace lapilli::recordings
