// Shared by tests of recordings through the C interface: models and sounds of the records, and the contents of results
// and events.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "api/all_options.hpp"
#include "api/handles_that_free.hpp"
#include "lapilli/lapilli.h"

namespace lapilli::test {

inline const std::string kModels = LAPILLI_SOURCE_DIR "/tests/data/models/";
inline const std::string kWhisper = kModels + "whisper-long";

// One of the record's WAV files: 16 bits, one channel, 16,000 a second.
inline std::vector<float> samples_of(const std::string& file) {
  std::ifstream in(kWhisper + "/audio/" + file, std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(in), {});
  EXPECT_GT(content.size(), 44u) << file;
  std::vector<float> samples;
  for (size_t at = content.find("data") + 8; at + 1 < content.size(); at += 2) {
    int16_t value = 0;
    std::memcpy(&value, content.data() + at, 2);
    samples.push_back(static_cast<float>(value) / 32768.0f);
  }
  return samples;
}

inline lapilli_input input_of(const std::vector<float>& samples) {
  return lapilli_samples(samples.data(), samples.size(), 16000);
}

inline ModelHandle load(const DeviceHandle& device, const std::string& directory) {
  lapilli_model* model = nullptr;
  EXPECT_EQ(lapilli_model_load(device.get(), directory.c_str(), &model), LAPILLI_OK) << lapilli_last_error();
  return ModelHandle(model);
}

// As the records were made.
inline AllOptions speech_options(const char* language = "en") {
  AllOptions options = lapilli_default_options();
  options.source_language = language;
  options.max_new_tokens = 24;
  return options;
}

// A segment as a line: "0.00-0.98: 249 55 156 156 298 298".
inline std::string line_of(double begin, double end, const lapilli_ids& ids) {
  char times[64];
  std::snprintf(times, sizeof times, "%.2f-%.2f:", begin, end);
  std::string line = times;
  for (size_t k = 0; k < ids.count; ++k) line += " " + std::to_string(ids.ids[k]);
  return line + "\n";
}

inline lapilli_segment segment_of(const lapilli_result* result, size_t input, size_t number) {
  lapilli_segment s{};
  s.struct_size = sizeof s;
  EXPECT_EQ(lapilli_result_get_segment(result, input, number, &s), LAPILLI_OK) << lapilli_last_error();
  return s;
}

inline std::string segments_of(const lapilli_result* result, size_t input) {
  size_t count = 0;
  EXPECT_EQ(lapilli_result_segments(result, input, &count), LAPILLI_OK) << lapilli_last_error();
  std::string lines;
  for (size_t i = 0; i < count; ++i) {
    const lapilli_segment s = segment_of(result, input, i);
    lines += line_of(s.begin, s.end, s.ids);
  }
  return lines;
}

// Collects what the events of a job say about its recordings.
struct Events {
  std::vector<std::string> segments, texts;
  std::vector<std::vector<int32_t>> ids;
  std::vector<lapilli_status> inputs;
  uint64_t done = 0, total = 0;
  int errors = 0, ends = 0;
  std::string message;

  explicit Events(size_t count) : segments(count), texts(count), ids(count), inputs(count, -1) {}

  void read(lapilli_job* job) {
    lapilli_event event{};
    event.struct_size = sizeof event;
    int32_t has = 1;
    while (lapilli_job_next_event(job, &event, &has) == LAPILLI_OK && has) add(event);
  }
  void add(const lapilli_event& e) {
    EXPECT_EQ(ends, 0) << "behind the end";
    if (e.kind == LAPILLI_EVENT_SEGMENT) {
      segments.at(e.of.segment.input) += line_of(e.of.segment.begin, e.of.segment.end, e.of.segment.ids);
    } else if (e.kind == LAPILLI_EVENT_TEXT) {
      auto& to = ids.at(e.of.text.input);
      to.insert(to.end(), e.of.text.ids.ids, e.of.text.ids.ids + e.of.text.ids.count);
      texts.at(e.of.text.input).append(e.of.text.text, e.of.text.text_bytes);
    } else if (e.kind == LAPILLI_EVENT_PROGRESS) {
      done = e.of.progress.done;
      total = e.of.progress.total;
    } else if (e.kind == LAPILLI_EVENT_INPUT) {
      EXPECT_EQ(inputs.at(e.of.input.input), -1) << "told twice";
      inputs.at(e.of.input.input) = e.of.input.status;
    } else if (e.kind == LAPILLI_EVENT_ERROR) {
      ++errors;
      message = e.of.error.message;
    } else if (e.kind == LAPILLI_EVENT_END) {
      ++ends;
    }
  }
  // Checks that the events of an input that ended well are its result.
  void expect_is(const lapilli_result* result, size_t input) const {
    lapilli_sequence best{};
    best.struct_size = sizeof best;
    ASSERT_EQ(lapilli_result_get(result, input, 0, &best), LAPILLI_OK) << lapilli_last_error();
    EXPECT_EQ(segments[input], segments_of(result, input));
    EXPECT_EQ(ids[input], std::vector<int32_t>(best.ids.ids, best.ids.ids + best.ids.count));
    EXPECT_EQ(texts[input], std::string(best.text, best.text_bytes));
    EXPECT_EQ(inputs[input], LAPILLI_OK);
  }
};

}  // namespace lapilli::test
