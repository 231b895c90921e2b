// What a job of the C interface pumps: texts, recordings or pictures on their way through a model.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/front_end.hpp"
#include "api/inputs.hpp"
#include "generate/picture_looks.hpp"
#include "generate/translation_job.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::api {

// A segment of a recording, as it is told and kept.
struct HeardSegment {
  speech::Segment segment;
  std::string language;       // a code; empty: the model knows none
  float log_probability = 0;  // not a number: not known
  bool repeats = false;       // with it the text ends in a loop
};

// What is kept of a picture, so that what its words looked at can be drawn.
struct SeenInput {
  SeenPicture picture;
  int32_t start = 0;  // the decoder's
};

// What came of the inputs, in their order.
struct WorkOutput {
  TranslateOutput text;
  std::vector<std::vector<HeardSegment>> segments;  // of recordings, or empty
  std::vector<std::vector<ScoredClass>> classes;    // of pictures, or empty
  std::vector<std::optional<SeenInput>> seen;       // of pictures, if asked for
  double read_ms = 0;                               // of the time: on the host, for pictures
};

// Told in the thread that pumps. Functions may be empty.
struct WorkSinks {
  StreamSink text;
  std::function<void(size_t input, size_t number, const HeardSegment& segment)> segment;
  std::function<void(size_t input, const Status& status)> input_ended;
  // What may be said at the end of a recording that goes on.
  std::function<void(size_t input, std::vector<HeardSegment> segments)> draft;
};

struct WorkRequest {
  const char* function = "";  // for messages
  std::shared_ptr<Model> model;
  std::shared_ptr<const FrontEnd> front;
  std::vector<Input> inputs;  // of kinds that the model takes; what they show outlives the work
  lapilli_options options;    // complete; what it points to is read at once
  WorkSinks sinks;
};

struct WorkProgress {
  uint64_t done = 0, total = 0, tokens = 0;
};

// Of one thread at a time. As TranslationJob.
class Work {
 public:
  virtual ~Work() = default;
  virtual bool pump(double budget_us) = 0;
  virtual void rest() = 0;
  virtual void cancel() = 0;
  [[nodiscard]] virtual WorkProgress progress() const = 0;
  [[nodiscard]] virtual const Status& status() const = 0;
  virtual Result<WorkOutput> take() = 0;

  [[nodiscard]] virtual bool is_interrupted() const = 0;
  virtual Status resume(const std::shared_ptr<Model>& model, const FrontEnd& front) = 0;
  virtual Status abandon() = 0;

  // There is nothing to do before samples come, or an end.
  [[nodiscard]] virtual bool is_hungry() const { return false; }
  // Of inputs that are recordings which go on.
  virtual Status append(size_t input, std::span<const float> samples);
  virtual Status end_recording(size_t input);
};

// Refuses what concerns all inputs: options, a directory that does not say how sound or pictures are prepared.
Result<std::unique_ptr<Work>> start_work(WorkRequest request);
// Of no inputs, see TranslationJob::prepare.
Result<std::unique_ptr<Work>> prepare_work(WorkRequest request, const JobShape& shape);

// By the kind of model.
Result<std::unique_ptr<Work>> start_texts(WorkRequest request);
Result<std::unique_ptr<Work>> prepare_texts(WorkRequest request, const JobShape& shape);
Result<std::unique_ptr<Work>> start_recordings(WorkRequest request);
Result<std::unique_ptr<Work>> start_pictures(WorkRequest request);

// A sequence of one piece, with no source whose attention could be asked for.
TextSequence sequence_of(std::string text, std::vector<int32_t> ids, std::vector<float> token_scores, Finish finish);
TranslateStats stats_of(const GenerateStats& from, uint64_t tokens, double total_ms);

}  // namespace lapilli::api
