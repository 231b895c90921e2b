// The C interface: segments of recordings, classes of pictures, vectors and spans of texts.
#include <cmath>

#include "api/handles.hpp"

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Result;
using lapilli::ScoredClass;
using lapilli::Status;
using lapilli::api::EncodedInput;
using lapilli::api::guarded;
using lapilli::api::TextSpan;
using lapilli::api::TranscriptSegment;

namespace lapilli::api {

lapilli_segment c_segment(const TranscriptSegment& from) {
  const speech::Segment& s = from.segment;
  lapilli_segment to{};
  to.struct_size = sizeof to;
  to.repeats = from.repeats ? 1 : 0;
  to.begin = s.begin;
  to.end = s.end;
  to.text = s.text.c_str();
  to.text_bytes = s.text.size();
  to.ids = {s.ids.data(), s.ids.size()};
  to.language = from.language.empty() ? nullptr : from.language.c_str();
  to.words = s.words.size();
  to.log_probability = from.log_probability;
  to.no_speech_probability = static_cast<float>(s.no_speech_probability.value_or(NAN));
  to.window_begin = s.window;
  to.doubtful = s.doubtful ? 1 : 0;
  return to;
}

Status write_word(const char* function, std::span<const speech::Word> words, size_t number, lapilli_word* out) {
  if (number >= words.size())
    return fail(ErrorCode::invalid_argument, "%s: word %u of %u%s", function, number, words.size(),
                words.empty() ? "; set lapilli_speech_options.word_times" : "");
  const speech::Word& from = words[number];
  lapilli_word to{};
  to.probability = static_cast<float>(from.confidence);
  to.begin = from.begin;
  to.end = from.end;
  to.text = from.text.c_str();
  to.text_bytes = from.text.size();
  to.ids = {from.ids.data(), from.ids.size()};
  return write_struct(to, out, "lapilli_word");
}

}  // namespace lapilli::api

namespace {

// The items of one kind for an input; may be empty.
template <class T>
Result<std::span<const T>> find(const char* function, const lapilli_result* result,
                                const std::vector<std::vector<T>> lapilli_result::*all, size_t input) {
  if (!result) return fail(ErrorCode::invalid_argument, "%s: result is null", function);
  const size_t inputs = result->output.outputs.size();
  if (input >= inputs) return fail(ErrorCode::invalid_argument, "%s: input %u of %u", function, input, inputs);
  const auto& of = result->*all;
  return input < of.size() ? std::span<const T>(of[input]) : std::span<const T>();
}

Result<const TranscriptSegment*> find_segment(const char* function, const lapilli_result* result, size_t input,
                                              size_t segment) {
  LAPILLI_TRY(const auto segments, find(function, result, &lapilli_result::segments, input));
  if (segment < segments.size()) return &segments[segment];
  return fail(ErrorCode::invalid_argument, "%s: segment %u of %u of input %u", function, segment, segments.size(),
              input);
}

// An encoder's result for an input; null for other models.
Result<const EncodedInput*> find_encoded(const char* function, const lapilli_result* result, size_t input) {
  if (!result) return fail(ErrorCode::invalid_argument, "%s: result is null", function);
  const size_t inputs = result->output.outputs.size();
  if (input >= inputs) return fail(ErrorCode::invalid_argument, "%s: input %u of %u", function, input, inputs);
  return input < result->encoded.size() ? &result->encoded[input] : nullptr;
}

lapilli_span c_span(const TextSpan& from) {
  lapilli_span to{};
  to.token = from.token;
  to.label = from.label.c_str();
  to.text = from.text.c_str();
  to.text_bytes = from.text.size();
  to.filled = from.filled.c_str();
  to.filled_bytes = from.filled.size();
  to.begin = from.bytes.begin;
  to.end = from.bytes.end;
  to.first_character = from.characters.begin;
  to.end_character = from.characters.end;
  to.score = from.score;
  return to;
}

}  // namespace

extern "C" {

lapilli_status lapilli_result_segments(const lapilli_result* result, size_t input, size_t* segments) {
  if (segments) *segments = 0;
  return guarded([&]() -> Status {
    if (!segments) return fail(ErrorCode::invalid_argument, "lapilli_result_segments: segments is null");
    LAPILLI_TRY(const auto found, find("lapilli_result_segments", result, &lapilli_result::segments, input));
    *segments = found.size();
    return {};
  });
}

lapilli_status lapilli_result_get_segment(const lapilli_result* result, size_t input, size_t segment,
                                          lapilli_segment* out) {
  return guarded([&]() -> Status {
    LAPILLI_TRY(const TranscriptSegment* found, find_segment("lapilli_result_get_segment", result, input, segment));
    return lapilli::api::write_struct(lapilli::api::c_segment(*found), out, "lapilli_segment");
  });
}

lapilli_status lapilli_result_get_word(const lapilli_result* result, size_t input, size_t segment, size_t word,
                                       lapilli_word* out) {
  return guarded([&]() -> Status {
    LAPILLI_TRY(const TranscriptSegment* found, find_segment("lapilli_result_get_word", result, input, segment));
    return lapilli::api::write_word("lapilli_result_get_word", found->segment.words, word, out);
  });
}

lapilli_status lapilli_result_classes(const lapilli_result* result, size_t input, size_t* classes) {
  if (classes) *classes = 0;
  return guarded([&]() -> Status {
    if (!classes) return fail(ErrorCode::invalid_argument, "lapilli_result_classes: classes is null");
    LAPILLI_TRY(const auto found, find("lapilli_result_classes", result, &lapilli_result::classes, input));
    *classes = found.size();
    return {};
  });
}

lapilli_status lapilli_result_get_class(const lapilli_result* result, size_t input, size_t rank, lapilli_class* out) {
  return guarded([&]() -> Status {
    LAPILLI_TRY(const auto found, find("lapilli_result_get_class", result, &lapilli_result::classes, input));
    if (rank >= found.size())
      return fail(ErrorCode::invalid_argument, "lapilli_result_get_class: class %u of %u of input %u", rank,
                  found.size(), input);
    lapilli_class to{};
    to.index = found[rank].index;
    to.label = found[rank].label.c_str();
    to.score = found[rank].score;
    to.probability = found[rank].probability;
    to.published_score = found[rank].published;
    return lapilli::api::write_struct(to, out, "lapilli_class");
  });
}

lapilli_status lapilli_result_get_vector(const lapilli_result* result, size_t input, lapilli_vector* out) {
  return guarded([&]() -> Status {
    if (!result) return fail(ErrorCode::invalid_argument, "lapilli_result_get_vector: result is null");
    if (input >= result->encoded.size())
      return fail(ErrorCode::invalid_argument, "lapilli_result_get_vector: vector %u of %u", input,
                  result->encoded.size());
    const lapilli::api::EncodedInput& found = result->encoded[input];
    LAPILLI_CHECK(Status(found.status));
    if (found.vector.empty())
      return fail(ErrorCode::invalid_argument,
                  "lapilli_result_get_vector: the model gives classes or spans, no vectors");
    lapilli_vector to{};
    to.dimensions = static_cast<uint32_t>(found.vector.size());
    to.values = found.vector.data();
    return lapilli::api::write_struct(to, out, "lapilli_vector");
  });
}

lapilli_status lapilli_result_spans(const lapilli_result* result, size_t input, size_t* spans) {
  if (spans) *spans = 0;
  return guarded([&]() -> Status {
    if (!spans) return fail(ErrorCode::invalid_argument, "lapilli_result_spans: spans is null");
    LAPILLI_TRY(const EncodedInput* found, find_encoded("lapilli_result_spans", result, input));
    *spans = found ? found->spans.size() : 0;
    return {};
  });
}

lapilli_status lapilli_result_get_span(const lapilli_result* result, size_t input, size_t number, lapilli_span* out) {
  return guarded([&]() -> Status {
    LAPILLI_TRY(const EncodedInput* found, find_encoded("lapilli_result_get_span", result, input));
    const size_t spans = found ? found->spans.size() : 0;
    if (number >= spans)
      return fail(ErrorCode::invalid_argument, "lapilli_result_get_span: span %u of %u of input %u", number, spans,
                  input);
    return lapilli::api::write_struct(c_span(found->spans[number]), out, "lapilli_span");
  });
}

lapilli_status lapilli_result_get_reading(const lapilli_result* result, size_t input, lapilli_reading* out) {
  return guarded([&]() -> Status {
    LAPILLI_TRY(const EncodedInput* found, find_encoded("lapilli_result_get_reading", result, input));
    if (!found)
      return fail(ErrorCode::invalid_argument, "lapilli_result_get_reading: input %u is not for an encoder of texts",
                  input);
    LAPILLI_CHECK(Status(found->status));
    lapilli_reading to{};
    to.tokens = found->tokens;
    to.windows = found->windows;
    to.cut = found->cut ? 1 : 0;
    return lapilli::api::write_struct(to, out, "lapilli_reading");
  });
}

}  // extern "C"
