// The samples of the record's recordings: WAV files of 16 bits, one channel, 16,000 Hz.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace lapilli::speech::test {

inline const std::string kWhisperLong = std::string(LAPILLI_TEST_DATA) + "/models/whisper-long";

inline std::vector<float> samples_of(const std::string& file) {
  std::ifstream in(kWhisperLong + "/audio/" + file, std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(in), {});
  EXPECT_GT(content.size(), 44u) << file;
  const size_t begin = content.find("data") + 8;
  if (begin > content.size()) return {};
  std::vector<int16_t> whole((content.size() - begin) / 2);
  std::memcpy(whole.data(), content.data() + begin, whole.size() * 2);
  std::vector<float> samples;
  for (const int16_t v : whole) samples.push_back(static_cast<float>(v) / 32768.0f);
  return samples;
}

}  // namespace lapilli::speech::test
