// preprocessor_config.json of speech models: the features that the encoder takes, and how they are made from samples.
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
  uint32_t mel_bins = 0;                                       // 0: samples
  uint32_t frame_length = 0;                                   // samples
  uint32_t fft_length = 0;                                     // at least frame_length; frames are padded with zeros
  uint32_t hop = 0;                                            // samples between frames, at most frame_length
  uint32_t chunk_samples = 0;                                  // log_mel: input of the encoder at a time
  bool normalize_means = false, normalize_deviations = false;  // filter_banks
  std::string where;                                           // the file, for messages

  [[nodiscard]] uint32_t bins() const { return fft_length / 2 + 1; }
  // Number of frames from that many samples: log_mel frames are centred, and the last is dropped; Kaldi's lie within
  // the recording.
  [[nodiscard]] uint64_t frames(uint64_t samples) const {
    if (kind == SoundKind::log_mel) return samples / hop;
    return samples < frame_length ? 0 : 1 + (samples - frame_length) / hop;
  }
};

// From preprocessor_config.json, or without one from the "feature_extractor" of processor_config.json.
Result<SoundConfig> read_sound_config(const Files& files);
// From such an object; `where` stands for the file in messages, `model_type` (of config.json) for the class if none is
// named.
Result<SoundConfig> parse_sound_config(const nlohmann::json& json, const std::string& where,
                                       std::string_view model_type = {});

// The input that a model's config.json describes.
struct SoundInput {
  uint32_t mel_bins = 0;      // 0: samples
  uint32_t chunk_frames = 0;  // exactly what the encoder takes; 0: any number
};
// An error if the two files contradict each other; says which one to correct, and how.
Status check_sound_config(const SoundConfig& config, const SoundInput& model);

}  // namespace lapilli
