// A recording as a model reads it: one channel at the model's rate, whatever the file's format.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "audio/samples.hpp"
#include "recordings/reader.hpp"
#include "recordings/sample_store.hpp"

namespace lapilli::recordings {

// The range of sample values.
struct Extent {
  float lowest = std::numeric_limits<float>::infinity(), highest = -std::numeric_limits<float>::infinity();
  void add(float sample) {
    lowest = std::min(lowest, sample);
    highest = std::max(highest, sample);
  }
  [[nodiscard]] double width() const {
    return std::max(0.0, static_cast<double>(highest) - static_cast<double>(lowest));
  }
};

// Opens the recording from its beginning.
using Opener = std::function<Result<std::unique_ptr<Reader>>()>;

// Mixes channels evenly. The file is read once; where its samples cannot be kept (SampleStore), only the last second
// stays, and a step back beyond it reads the file again.
class Recording : public audio::SampleSource {
 public:
  // `most_kept`: in samples.
  static Result<std::unique_ptr<Recording>> open(Opener opener, std::string name, uint32_t rate,
                                                 uint64_t most_kept = SampleStore::kMost);
  Result<uint64_t> read(uint64_t first, std::span<float> to) override;
  // Reads to the end and gives the number of samples at the model's rate. Calls `go_on` often; false ends it with
  // ErrorCode::cancelled.
  Result<uint64_t> count(const std::function<bool()>& go_on = {});
  // The end of the last read, in samples at the model's rate.
  [[nodiscard]] uint64_t position() const { return position_; }
  // After count(): a message if the file has fewer samples than it claims; "" otherwise.
  [[nodiscard]] const std::string& shortage() const { return shortage_; }
  // After count(): a message if the samples are silent or nearly so; "" otherwise.
  [[nodiscard]] std::string silence() const;

 private:
  Recording(Opener opener, std::string name, uint32_t rate, uint64_t most_kept)
      : opener_(std::move(opener)), name_(std::move(name)), rate_(rate), store_(most_kept) {}
  Status rewind();
  Status more();
  Status take_block();
  Status mix(uint64_t sets);
  Status resample();
  void note_shortage();
  Status store_up_to(uint64_t end);
  Result<uint64_t> read_without_store(uint64_t first, std::span<float> to);

  Opener opener_;
  std::string name_;
  uint32_t rate_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<Resampler> resampler_;  // null: no resampling is needed
  uint64_t taken_ = 0;                    // samples a channel read from the file
  bool read_all_ = false, ended_ = false;
  std::vector<float> block_, mono_;  // as read; mixed, and not resampled yet
  SampleStore store_;                // all samples from the beginning, unless lost
  std::vector<float> kept_;          // samples from number begin_ on: those behind the store, or all without it
  uint64_t begin_ = 0, position_ = 0;
  std::string shortage_;
  std::vector<Extent> channels_;
  Extent mixed_;  // of all samples taken
};

}  // namespace lapilli::recordings
