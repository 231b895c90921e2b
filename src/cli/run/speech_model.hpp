// The model of `lapilli transcribe`, and its transcripts of recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lapilli/lapilli.h"
#include "subtitles/spoken_line.hpp"

namespace lapilli::cli {

using subtitles::SpokenLine, subtitles::SpokenWord;

struct SpeechModelRequest {
  std::string model;  // directory
  std::string select, caps, dtype = "fp32", kv_dtype = "fp32";
  bool require_gpu = false;
  std::string cache;             // folder of data kept between runs; "": none
  unsigned long memory_mib = 0;  // limit of device memory; 0: none
  bool ids = false;              // segments are requested as ids, so a model without a tokenizer will do
};

// Samples of a live source: as many as are there and `to` holds. If there are none, waits a while for some, if allowed.
struct SampleBlock {
  size_t count = 0;
  bool ended = false;   // no more will come
  bool failed = false;  // ends like a cancellation; the caller knows the error
};
using NextSamples = std::function<SampleBlock(std::span<float> to, bool may_wait)>;

struct SpeechRequest {
  const lapilli_sample_source* sound = nullptr;  // at SpeechModel::rate()
  NextSamples next;                              // instead of `sound`
  double offset = 0;                             // seconds of the recording before the sound, added to all times
  std::string language;                          // a code or a name; empty: detected
  std::string prompt;                            // text that each window continues; empty: none
  std::string task;                              // "transcribe" or "translate"
  unsigned beams = 0, new_tokens = 0;            // per window; 0: as the model's files say
  unsigned batch = 0;         // for `sound`: cut at quiet places, this many chunks at a time; 0: not cut
  bool words = false;         // SpokenLine::words
  std::string pictures;       // of each word's attention: "svg", "png"; "": none
  bool skip_silence = false;  // drop windows that the model takes for silence and is unsure of
  bool fallback = false;      // retry bad windows at higher temperatures
  // Called for each final segment, with its picture: the content of a file, empty if there is no word. False ends the
  // run, as does false from `progress` (seconds).
  std::function<bool(const SpokenLine&, const std::string& picture)> on_segment;
  // `done` is 0 before the first window, while `sound` is read.
  std::function<bool(double done)> progress;
  // For `next`, optional: the probable text at the end of the samples so far. It replaces the previous interim result,
  // and is void once on_segment brings a new segment.
  std::function<bool(const std::vector<SpokenLine>&)> on_interim;
  std::function<void(const std::string&)> on_note;  // facts about the recording other than its text
};

// The error that ended an operation, for the caller to print.
struct Trouble {
  lapilli_status status = LAPILLI_OK;
  std::string message;
};

// Not thread-safe.
class SpeechModel {
 public:
  SpeechModel();
  ~SpeechModel();
  // For a model of another kind, the error says which command serves it.
  Trouble open(const SpeechModelRequest& request);
  // To be called after open().
  [[nodiscard]] unsigned rate() const;
  [[nodiscard]] const lapilli_model_info& info() const;
  // Checks, before the work begins, that the model can serve the request.
  [[nodiscard]] Trouble check(const SpeechRequest& request) const;
  Trouble transcribe(const SpeechRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli::cli
