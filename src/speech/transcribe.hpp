// Transcription with models of the Whisper family: windows in sequence, by the reference's rules (Radford et al. 2022,
// section 3.8). Each recording's result is as if it were alone; windows of several share the device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "generate/generate.hpp"
#include "speech/frame_source.hpp"

namespace lapilli::speech {

// Part of a segment: between spaces, with adjacent punctuation.
struct Word {
  double begin = 0, end = 0;  // seconds from the recording's start
  std::string text;           // empty without a tokenizer; each id is a word then
  std::vector<int32_t> ids;
  // The mean of its ids' probabilities by the network, among all text ids, without the search's processing.
  double confidence = 0;
  size_t first = 0, last = 0;  // its ids in the segment for time and confidence: [first, last)
};

// The sound of a segment, and the alignment heads' attention while each word was written.
struct SegmentAttention {
  uint32_t frames = 0, bands = 0, positions = 0;
  std::vector<float> features;            // [frames, bands], as the encoder reads them
  std::vector<std::vector<float>> words;  // per word: a weight per position, the mean over heads and ids
};

struct Segment {
  size_t recording = 0;                               // index in the request
  double begin = 0, end = 0;                          // seconds from the recording's start; may lie beyond its end
  std::vector<int32_t> ids;                           // timestamps included
  std::string text;                                   // empty without a tokenizer
  std::string language;                               // Transcript::language
  std::vector<double> times;                          // of each id, in seconds, if asked for
  std::vector<Word> words;                            // if asked for
  std::shared_ptr<const SegmentAttention> attention;  // if asked for; only for on_segment and on_interim
  std::vector<float> token_scores;                    // log-probability of each id
  // Its window's, if a threshold asks for it.
  std::optional<double> no_speech_probability;
  double window = 0;      // start of its window, in seconds from the recording's start
  bool doubtful = false;  // its window's last attempt still failed a threshold
};

// One attempt at a window. Only measures that a threshold uses are taken.
struct Attempt {
  std::optional<double> temperature;
  std::vector<int32_t> ids;  // new ids, with the end token if there is one
  std::optional<double> compression_ratio, average_log_probability, no_speech_probability;
  bool fallback = false, skip = false;
};

enum class WindowEnding : uint8_t { single, pair, cut_off, no_pair };
const char* name(WindowEnding ending);

// A record of a window's processing, for logs and tests.
struct Window {
  size_t recording = 0;
  uint64_t seek = 0;                 // its first frame
  std::vector<int32_t> decoder_ids;  // before the search
  std::vector<Attempt> attempts;
  bool skipped = false;
  uint32_t frames = 0, segments = 0, advance = 0;  // of a window that was kept
  WindowEnding ending = WindowEnding::no_pair;
};

struct TranscribeRequest {
  std::vector<Recording> recordings;
  // Codes, names or tokens ("en", "English", "<|en|>"): one for all, or one per recording. Empty: detected in each
  // recording's first window, if the model has several.
  std::vector<std::string> languages;
  std::string task;          // "transcribe", "translate"; empty: the model files' choice
  bool timestamps = true;    // of segments; required for recordings longer than a window
  bool word_times = false;   // Segment::times
  bool words = false;        // Segment::words, and times
  bool attention = false;    // Segment::attention, with words
  GenerationConfig options;  // beams, max_new_tokens, penalties, suppressed ids...
  // Attempts at a window by temperature: 0 searches, higher values sample. Empty: one attempt, as `options` say.
  std::vector<double> temperatures;
  std::optional<double> compression_ratio_threshold, logprob_threshold, no_speech_threshold;
  bool condition_on_previous = false;  // a window reads the text before it
  std::vector<int32_t> prompt_ids;     // before everything; begins with the id that marks earlier text
  bool prompt_in_all_windows = false;  // with condition_on_previous: later text does not displace the prompt
  // Computes word times as the reference does in a batch: the ids of a sentence are padded to the longest of its batch,
  // and the padding counts. To reproduce records of batches; otherwise each recording is alone.
  bool fill_batches = false;
  uint32_t batch = 0, steps_in_flight = 0;  // as in GenerateRequest
  // Called with each segment once its window is done, in the calling thread. An error ends the run.
  std::function<Status(const Segment& segment)> on_segment;
  // Called for each recording once it is complete, with its own error if it has one; not in a run that was cancelled or
  // failed as a whole.
  std::function<void(size_t recording, const Status& status)> on_end;
  // For recordings in progress: after this many new frames, and with nothing else to do, the incomplete window is
  // transcribed as if it were the last. on_interim gets its segments, which replace earlier ones until on_segment
  // brings the final ones. Final results do not depend on them. 0: none.
  uint32_t interim_frames = 0;
  std::function<Status(size_t recording, std::span<const Segment> segments)> on_interim;
  // Used by transcribe(); those who pump a job query it instead. Frames done and in total, over all recordings; false
  // cancels.
  std::function<bool(uint64_t done, uint64_t total)> progress;
};

struct Transcript {
  Status status;  // this recording's own error; segments before it are kept
  std::vector<Segment> segments;
  std::string language;  // its token ("<|en|>"); empty: the model has none
  bool cut = false;      // for recordings transcribed as a whole: the text hit the length limit
};
struct TranscribeOutput {
  std::vector<Transcript> transcripts;  // by recording
  std::vector<Window> windows;          // in processing order
  GenerateStats stats;                  // of its searches
  bool cancelled = false;               // results finished before are kept
};

// Refuses models of families that do not transcribe; the error lists those that do.
Status check_transcribes(const Model& model);

// Runs a TranscriptionTask to its end, waiting; an error of one recording fails the call. Refuses what the model cannot
// do: features of another width, unknown languages and tasks, a recording of several windows without timestamps,
// thresholds that this build cannot measure.
Result<TranscribeOutput> transcribe(const std::shared_ptr<Model>& model, const TranscribeRequest& request);

}  // namespace lapilli::speech
