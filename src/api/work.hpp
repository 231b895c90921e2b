// The work of a job of the C interface: a task on texts, recordings or pictures, and what is made of its results.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/inputs.hpp"
#include "generate/front_end.hpp"
#include "generate/picture_overlays.hpp"
#include "generate/translation_task.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::api {

// The tasks that read lapilli_encoder_options, as bits.
enum EncoderTask : uint32_t {
  kEmbed = 1,
  kClassify = 2,
  kByLabels = 4,  // classify, by labels that the call names
  kTag = 8,
  kAnswer = 16,
  kFill = 32,
  kScore = 64,  // of a model that writes
};

// The options of one call, complete.
struct CallOptions {
  static Result<CallOptions> read(const lapilli_options* from);
  // The first field that differs from its default, for messages; null if none does.
  [[nodiscard]] const char* speech_field() const;
  [[nodiscard]] const char* picture_field() const;
  // The same, of those that this task does not read; 0: of all.
  [[nodiscard]] const char* encoder_field(uint32_t task = 0) const;
  [[nodiscard]] const char* chat_field() const;

  lapilli_options general = lapilli_default_options();
  lapilli_speech_options speech = lapilli_default_speech_options();
  lapilli_picture_options picture = lapilli_default_picture_options();
  lapilli_encoder_options encoder = lapilli_default_encoder_options();
  lapilli_chat_options chat = lapilli_default_chat_options();
};

// A segment of a recording, as reported and kept.
struct TranscriptSegment {
  speech::Segment segment;
  std::string language;       // a code; empty: the model knows no languages
  float log_probability = 0;  // NaN: unknown
  bool repeats = false;       // the text up to and including it ends in a loop
};

// Data kept of a picture to draw the attention overlays of its words.
struct OverlayInput {
  ShownPicture picture;
  int32_t start = 0;  // the decoder's start id
};

// See lapilli_span.
struct TextSpan {
  std::string label, text, filled;
  double score = 0;
  ByteRange bytes, characters;
  int32_t token = -1;
};

// The result of an encoder for a text.
struct EncodedInput {
  Status status;  // the reason if there is no result
  std::vector<float> vector;
  std::vector<ScoredClass> classes;  // the highest score first
  std::vector<TextSpan> spans;
  uint32_t tokens = 0;   // with those that the tokenizer adds
  uint32_t windows = 0;  // texts that were made of it
  bool cut = false;      // the text was longer than the model reads
};

// Results of the inputs, in order.
struct WorkOutput {
  TranslateOutput text;
  std::vector<std::vector<TranscriptSegment>> segments;     // for recordings; otherwise empty
  std::vector<std::vector<ScoredClass>> classes;            // for pictures; otherwise empty
  std::vector<EncodedInput> encoded;                        // for encoders of texts; otherwise empty
  std::vector<std::optional<OverlayInput>> overlay_inputs;  // for pictures, if asked for
  double read_ms = 0;                                       // part of the time that the host spent on reading pictures
};

// Called on the thread that pumps. Functions may be empty.
struct WorkSinks {
  StreamSink text;
  std::function<void(size_t input, size_t number, const TranscriptSegment& segment)> segment;
  std::function<void(size_t input, const Status& status)> input_ended;
  // An interim result for the end of a recording in progress.
  std::function<void(size_t input, std::vector<TranscriptSegment> segments)> interim;
};

struct WorkRequest {
  const char* function = "";  // for messages
  std::shared_ptr<Model> model;
  std::shared_ptr<const FrontEnd> front;
  std::vector<Input> inputs;  // of kinds that the model takes; the data they refer to outlives the work
  CallOptions options;        // pointers are read at once
  WorkSinks sinks;
};

// Used by one thread at a time, like the task.
class Work {
 public:
  virtual ~Work() = default;
  [[nodiscard]] virtual Task& task() const = 0;
  // After the task's end, once.
  virtual Result<WorkOutput> take() = 0;
  // For inputs that are recordings still in progress.
  virtual Status append(size_t input, std::span<const float> samples);
  virtual Status end_recording(size_t input);
};

// Refuses what concerns all inputs: bad options, a directory that lacks settings for sound or pictures.
Result<std::unique_ptr<Work>> start_work(WorkRequest request);
// Work without inputs; see TranslationTask::prepare.
Result<std::unique_ptr<Work>> prepare_work(WorkRequest request, const JobShape& shape);

// One per kind of model.
Result<std::unique_ptr<Work>> start_texts(WorkRequest request);
Result<std::unique_ptr<Work>> prepare_texts(WorkRequest request, const JobShape& shape);
Result<std::unique_ptr<Work>> start_recordings(WorkRequest request);
Result<std::unique_ptr<Work>> start_pictures(WorkRequest request);
Result<std::unique_ptr<Work>> start_encoder(WorkRequest request);
// The task "score" of a model that writes texts.
Result<std::unique_ptr<Work>> start_scores(WorkRequest request);

// A sequence of one part, without a source for attention.
TextSequence sequence_of(std::string text, std::vector<int32_t> ids, std::vector<float> token_scores, Finish finish);
TranslateStats stats_of(const GenerateStats& from, uint64_t tokens, double total_ms);

}  // namespace lapilli::api
