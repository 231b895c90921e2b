// Recordings to text, with a model of the Whisper family: windows one after the other, as the reference's sequential
// rules have it (Radford et al. 2022, section 3.8). Each recording is treated as if it were alone,
// whatever others run beside it: their windows share the device.
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

// Part of a segment: between spaces, with the punctuation that it touches.
struct Word {
  double begin = 0, end = 0;  // seconds from the recording's start
  std::string text;           // empty without a tokenizer: an id is a word then
  std::vector<int32_t> ids;
  // The mean of its ids' probabilities by the network, of all ids of text, whatever the search did with them.
  double confidence = 0;
  size_t first = 0, last = 0;  // of the segment's ids, those that time and confidence are of: [first, last)
};

// The sound of a segment, and what the alignment heads looked at while each word was written.
struct SegmentLooks {
  uint32_t frames = 0, bands = 0, positions = 0;
  std::vector<float> features;            // [frames, bands], as the encoder read them
  std::vector<std::vector<float>> words;  // of each word: of each position its weight, the mean over heads and ids
};

struct Segment {
  size_t recording = 0;                       // by number in the request
  double begin = 0, end = 0;                  // seconds from the recording's start; they may lie beyond its end
  std::vector<int32_t> ids;                   // timestamps included
  std::string text;                           // empty without a tokenizer
  std::string language;                       // Transcript::language
  std::vector<double> times;                  // of each id, in seconds, if asked for
  std::vector<Word> words;                    // if asked for
  std::shared_ptr<const SegmentLooks> looks;  // if asked for; of the segments that are given out alone
  std::vector<float> token_scores;            // of each id: logarithm of its probability
  // Of its window, if a threshold asks for it.
  std::optional<double> no_speech_probability;
  double window = 0;      // seconds from the recording's start: where its window begins
  bool doubtful = false;  // by a threshold its window calls for another attempt, and the last one was made
};

// One try at a window. What no threshold looks at is not measured.
struct Attempt {
  std::optional<double> temperature;
  std::vector<int32_t> ids;  // new ones, the end token included if there is one
  std::optional<double> compression_ratio, average_log_probability, no_speech_probability;
  bool fallback = false, skip = false;
};

enum class WindowEnding : uint8_t { single, pair, cut_off, no_pair };
const char* name(WindowEnding ending);

// What was done with a window: for protocols and tests.
struct Window {
  size_t recording = 0;
  uint64_t seek = 0;                 // frame where it begins
  std::vector<int32_t> decoder_ids;  // before the search
  std::vector<Attempt> attempts;
  bool skipped = false;
  uint32_t frames = 0, segments = 0, advance = 0;  // of a window that was kept
  WindowEnding ending = WindowEnding::no_pair;
};

struct TranscribeRequest {
  std::vector<Recording> recordings;
  // Codes, names or tokens ("en", "English", "<|en|>"): one for all, or one a recording. Empty: each recording's is
  // detected in its first window, if the model knows several.
  std::vector<std::string> languages;
  std::string task;          // "transcribe", "translate"; empty: what the model's files say
  bool timestamps = true;    // of segments. Recordings longer than a window need them
  bool word_times = false;   // Segment::times
  bool words = false;        // Segment::words, and times
  bool looks = false;        // Segment::looks, with words
  GenerationConfig options;  // beams, max_new_tokens, penalties, suppressed ids...
  // Attempts at a window, each at its temperature: 0 searches, above that ids are drawn. Empty: one, as `options` say.
  std::vector<double> temperatures;
  std::optional<double> compression_ratio_threshold, logprob_threshold, no_speech_threshold;
  bool condition_on_previous = false;  // a window reads what was written before
  std::vector<int32_t> prompt_ids;     // before everything; the id that marks earlier text in front
  bool prompt_in_all_windows = false;  // with condition_on_previous: the prompt is not pushed out in time
  // Word times as the reference has them in a batch: the ids of a sentence are filled up to the longest of its batch,
  // and the filling counts. For records of batches; otherwise each recording is alone.
  bool fill_batches = false;
  uint32_t batch = 0, steps_in_flight = 0;  // as in GenerateRequest
  // Each segment when its window is done, in the calling thread. An error ends the run.
  std::function<Status(const Segment& segment)> on_segment;
  // Each recording when there will be no more of it, with its own error if it has one; not of a run that was cancelled
  // or has failed as a whole.
  std::function<void(size_t recording, const Status& status)> on_end;
  // Recordings that are going on: once there are so many new frames, and nothing else to do, the window that is not
  // full yet is heard as if it were the last. Its segments are given out here and replace those before; they are
  // settled when on_segment brings the window's. What is settled does not depend on them. 0: not.
  uint32_t draft_frames = 0;
  std::function<Status(size_t recording, std::span<const Segment> segments)> on_draft;
  // For transcribe(); who pumps a job asks it. Frames that are done, of all recordings, and how many there are; false
  // cancels.
  std::function<bool(uint64_t done, uint64_t total)> progress;
};

struct Transcript {
  Status status;  // an error of this recording alone: its segments are those before
  std::vector<Segment> segments;
  std::string language;  // token of it ("<|en|>"); empty: the model knows none
  bool cut = false;      // of a recording that is heard as a whole: the text ends where it had to, not where it ends
};
struct TranscribeOutput {
  std::vector<Transcript> transcripts;  // by recording
  std::vector<Window> windows;          // in the order of the work
  GenerateStats stats;                  // of its searches
  bool cancelled = false;               // what was finished before is there
};

// Whether this family does; the error says which do.
Status check_transcribes(const Model& model);

// A TranscriptionJob to its end, waiting; an error of one recording is the call's. Refuses what the model cannot do:
// features of another width, languages and tasks that it does not know, a recording of several windows without
// timestamps, thresholds that this build cannot measure.
Result<TranscribeOutput> transcribe(const std::shared_ptr<Model>& model, const TranscribeRequest& request);

// The id of each recording's language, by its first window.
Result<std::vector<int32_t>> detect_languages(const std::shared_ptr<Model>& model,
                                              std::span<const Recording> recordings);

}  // namespace lapilli::speech
