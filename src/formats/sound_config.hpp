// preprocessor_config.json of models that hear: which features their encoder takes, and how they are made of samples.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

enum class SoundKind : uint8_t {
  log_mel,       // Whisper: log-mel spectrum, clipped below the loudest of the recording
  filter_banks,  // Speech2Text: Kaldi's filter banks, normalized over the recording
  samples,       // Moonshine: the samples as they are
};

struct SoundConfig {
  SoundKind kind = SoundKind::log_mel;
  uint32_t sampling_rate = 16000;
  uint32_t mel_bins = 0;       // 0: samples
  uint32_t frame_length = 0;   // samples
  uint32_t fft_length = 0;     // at least frame_length; what is behind a frame counts as zeros
  uint32_t hop = 0;            // samples from frame to frame, at most frame_length
  uint32_t chunk_samples = 0;  // log_mel: what the encoder takes at a time
  bool normalize_means = false, normalize_deviations = false;  // filter_banks
  std::string where;                                           // the file, for messages

  [[nodiscard]] uint32_t bins() const { return fft_length / 2 + 1; }
  // So many frames come of so many samples: those of log_mel are centred, and the last of them is dropped; Kaldi's lie
  // within the recording.
  [[nodiscard]] uint64_t frames(uint64_t samples) const {
    if (kind == SoundKind::log_mel) return samples / hop;
    return samples < frame_length ? 0 : 1 + (samples - frame_length) / hop;
  }
};

// From preprocessor_config.json, or the "feature_extractor" of processor_config.json where there is no such file.
Result<SoundConfig> read_sound_config(const Files& files);
// From such an object; `where` stands for the file in messages, `model_type` (of config.json) for the class where none
// is named.
Result<SoundConfig> parse_sound_config(const nlohmann::json& json, const std::string& where,
                                       std::string_view model_type = {});

// What a model's config.json says of its input.
struct SoundInput {
  uint32_t mel_bins = 0;      // 0: samples
  uint32_t chunk_frames = 0;  // that the encoder takes, no more and no fewer; 0: any number
};
// An error that says which of the two files is to be corrected how, if they contradict each other.
Status check_sound_config(const SoundConfig& config, const SoundInput& model);

}  // namespace lapilli
