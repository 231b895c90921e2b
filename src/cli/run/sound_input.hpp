// The sound that is transcribed, at the model's rate: an excerpt of a file, or of the content of a pipe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/run/excerpt.hpp"
#include "cli/run/speech_model.hpp"
#include "recordings/recording.hpp"
#include "recordings/sample_pipe.hpp"

namespace lapilli::cli {

// Samples of a file are read several times, those of a pipe once.
class SoundInput {
 public:
  // Counts the samples. Calls `show` often; false ends it with ErrorCode::cancelled.
  static Result<SoundInput> of_file(const recordings::Opener& opener, const std::string& name, uint32_t rate,
                                    const Excerpt& excerpt,
                                    const std::function<bool(const recordings::Recording&)>& show);
  static Result<SoundInput> of_pipe(const recordings::Opener& opener, const std::string& name, uint32_t rate,
                                    const Excerpt& excerpt);

  [[nodiscard]] bool is_pipe() const { return pipe_ != nullptr; }
  [[nodiscard]] recordings::Recording& file() { return *file_; }
  [[nodiscard]] const recordings::Recording& file() const { return *file_; }
  // The part that is transcribed; of a pipe, the part that has come so far.
  [[nodiscard]] const Stretch& stretch() const { return stretch_; }
  // Notes on the samples, once all are there.
  [[nodiscard]] std::vector<std::string> notes() const;
  // The error of reading it.
  [[nodiscard]] const Status& error() const { return error_; }

  // For a pipe: the next samples.
  SampleBlock next(std::span<float> to, bool may_wait);
  // For a file: where somebody may be speaking. `show`: see of_file().
  Result<std::vector<Stretch>> speech(uint32_t rate, const std::function<bool(const recordings::Recording&)>& show);
  // For a file: a part of the recording as the model's input. This object must outlive it.
  [[nodiscard]] lapilli_sample_source source(const Stretch& part);

 private:
  static lapilli_status read(void* user, uint64_t first, float* to, uint64_t room, uint64_t* got);
  [[nodiscard]] uint64_t samples_left() const { return most_ ? *most_ - stretch_.count : UINT64_MAX; }

  std::unique_ptr<recordings::Recording> file_;
  std::unique_ptr<recordings::SamplePipe> pipe_;
  Stretch stretch_;
  uint64_t skip_ = 0;             // of a pipe: samples still to be skipped
  std::optional<uint64_t> most_;  // of a pipe: limit of samples to read
  uint64_t part_first_ = 0;       // first sample of the part that source() was last asked for
  Status error_;
};

}  // namespace lapilli::cli
