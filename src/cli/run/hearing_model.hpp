// The model of `lapilli transcribe`, and what it hears in a recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/run/spoken_line.hpp"
#include "lapilli/lapilli.h"

namespace lapilli::cli {

struct HearingModelRequest {
  std::string model;  // directory
  std::string select, caps, dtype = "fp32", kv_dtype = "fp32";
  std::string cache;             // the folder of what is kept between runs; "": nothing is
  unsigned long memory_mib = 0;  // of the device at most; 0: what there is
  bool ids = false;              // segments are wanted as ids: a model without a tokenizer will do
};

// Samples that come once: as many as are there and `to` has room for. If there are none, waits for some, a while, if
// it may.
struct SoundPiece {
  size_t count = 0;
  bool ended = false;   // there are no more
  bool failed = false;  // the caller knows why: it ends as if it were cancelled
};
using NextSamples = std::function<SoundPiece(std::span<float> to, bool may_wait)>;

struct HearRequest {
  const lapilli_sample_source* sound = nullptr;  // at HearingModel::rate()
  NextSamples next;                              // instead of `sound`
  double offset = 0;                             // seconds of the recording before them, which its times count
  std::string language;                          // a code or a name; empty: detected
  std::string prompt;                            // text that each window is to go on from; empty: none
  std::string task;                              // "transcribe" or "translate"
  unsigned beams = 0, new_tokens = 0;            // of a window; 0: as the model's files say
  unsigned batch = 0;         // of `sound`: cut where it is quiet, so many pieces at a time; 0: not cut
  bool words = false;         // SpokenLine::words
  std::string pictures;       // of what each word looked at: "svg", "png"; "": none
  bool skip_silence = false;  // what the model takes for silence, and is not sure of, says nothing
  bool fallback = false;      // a window that came out badly is tried again at higher temperatures
  // Each when it is certain, with its picture: a file's content, empty where there is no word. False ends it, and so
  // does false of `progress` (seconds).
  std::function<bool(const SpokenLine&, const std::string& picture)> on_segment;
  // Before the first window nothing is done, and `sound` is read.
  std::function<bool(double done)> progress;
  // Of `next`, if wanted: what may be said at the end of what has come so far. It replaces the one before, and is void
  // when on_segment brings something new.
  std::function<bool(const std::vector<SpokenLine>&)> on_draft;
  std::function<void(const std::string&)> on_note;  // what is to be known of it beside its text
};

// What ended something, for who prints it.
struct Trouble {
  lapilli_status status = LAPILLI_OK;
  std::string message;
};

// Of one thread.
class HearingModel {
 public:
  HearingModel();
  ~HearingModel();
  // A model of another kind is told what serves it.
  Trouble open(const HearingModelRequest& request);
  // After open().
  [[nodiscard]] unsigned rate() const;
  [[nodiscard]] const lapilli_model_info& info() const;
  // What the model cannot do of it, before anything is heard.
  [[nodiscard]] Trouble check(const HearRequest& request) const;
  Trouble hear(const HearRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli::cli
