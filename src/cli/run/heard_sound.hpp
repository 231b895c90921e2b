// What is heard, at the model's rate: of a file or of what comes through a pipe, from a time on and so long.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/run/excerpt.hpp"
#include "cli/run/hearing_model.hpp"
#include "recordings/recording.hpp"
#include "recordings/sample_pipe.hpp"

namespace lapilli::cli {

// A file is read more than once, a pipe once.
class HeardSound {
 public:
  // Counts its samples. `show` is asked often; false ends it with ErrorCode::cancelled.
  static Result<HeardSound> of_file(const recordings::Opener& opener, const std::string& name, uint32_t rate,
                                    const Excerpt& excerpt,
                                    const std::function<bool(const recordings::Recording&)>& show);
  static Result<HeardSound> of_pipe(const recordings::Opener& opener, const std::string& name, uint32_t rate,
                                    const Excerpt& excerpt);

  [[nodiscard]] bool is_pipe() const { return pipe_ != nullptr; }
  [[nodiscard]] recordings::Recording& file() { return *file_; }
  [[nodiscard]] const recordings::Recording& file() const { return *file_; }
  // What is heard of it; of a pipe what has come.
  [[nodiscard]] const Stretch& stretch() const { return stretch_; }
  // Notes on its samples, once they are all there.
  [[nodiscard]] std::vector<std::string> notes() const;
  // Of reading it.
  [[nodiscard]] const Status& error() const { return error_; }

  // Of a pipe: the next samples.
  SoundPiece next(std::span<float> to, bool may_wait);
  // Of a file: where in it somebody may be speaking. `show` as that of of_file().
  Result<std::vector<Stretch>> speech(uint32_t rate, const std::function<bool(const recordings::Recording&)>& show);
  // Of a file: for the model, of a part of the recording. What is heard must outlive it.
  [[nodiscard]] lapilli_sample_source source(const Stretch& part);

 private:
  static lapilli_status read(void* user, uint64_t first, float* to, uint64_t room, uint64_t* got);
  [[nodiscard]] uint64_t samples_left() const { return most_ ? *most_ - stretch_.count : UINT64_MAX; }

  std::unique_ptr<recordings::Recording> file_;
  std::unique_ptr<recordings::SamplePipe> pipe_;
  Stretch stretch_;
  uint64_t skip_ = 0;             // of a pipe: samples that are still to come before what is heard
  std::optional<uint64_t> most_;  // of a pipe: that are heard
  uint64_t part_first_ = 0;       // of the part that source() was asked for last
  Status error_;
};

}  // namespace lapilli::cli
