// A recording as a model hears it: one channel, at the model's rate, whatever the file has.
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

// How far samples lie apart.
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

// Opens the file, from its beginning.
using Opener = std::function<Result<std::unique_ptr<Reader>>()>;

// Channels are mixed evenly. The file is read once; where its samples cannot be kept (SampleStore), a second of what was
// read stays, and a step back beyond it reads the file anew.
class Recording : public audio::SampleSource {
 public:
  // `most_kept`: samples.
  static Result<std::unique_ptr<Recording>> open(Opener opener, std::string name, uint32_t rate,
                                                 uint64_t most_kept = SampleStore::kMost);
  Result<uint64_t> read(uint64_t first, std::span<float> to) override;
  // Reads to the end: how many samples there are, at the model's rate. `go_on` is asked often; false ends it with
  // ErrorCode::cancelled.
  Result<uint64_t> count(const std::function<bool()>& go_on = {});
  // The end of what was read last: samples at the model's rate.
  [[nodiscard]] uint64_t position() const { return position_; }
  // After count(): why the file has fewer than it should have, by what it claims; "" if it has what it claims.
  [[nodiscard]] const std::string& shortage() const { return shortage_; }
  // After count(): why nothing, or next to nothing, is to be heard of its samples; "" if something is.
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
  std::unique_ptr<Resampler> resampler_;  // null: the rate is right
  uint64_t taken_ = 0;                    // of the file, a channel
  bool read_all_ = false, ended_ = false;
  std::vector<float> block_, mono_;  // as read; mixed, and not resampled yet
  SampleStore store_;                // all from the beginning, unless lost
  std::vector<float> kept_;          // samples from number begin_ on: behind the store, or without it
  uint64_t begin_ = 0, position_ = 0;
  std::string shortage_;
  std::vector<Extent> channels_;
  Extent mixed_;  // of all that was taken
};

}  // namespace lapilli::recordings
