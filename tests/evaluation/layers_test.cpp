// A matrix that a format does not suit is found among good ones, whatever a whole network's figures say.
#include "evaluation/layers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "support/fixtures.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::evaluation {
namespace {

using testing::Contains;
using testing::IsEmpty;

constexpr const char* kModel = LAPILLI_SOURCE_DIR "/models/en-fr";
constexpr const char* kBad = "model.decoder.layers.1.fc1";

// The bundled model, in one of whose matrices every block of 32 depths holds a number that is far above the others.
class PlantedModel {
 public:
  explicit PlantedModel(const std::string& matrix) {
    directory_.copy_from(kModel);
    std::string bytes = read_file(std::string(kModel) + "/model.safetensors");
    uint64_t size = 0;
    std::memcpy(&size, bytes.data(), 8);
    const auto tensor = nlohmann::json::parse(bytes.substr(8, size)).at(matrix + ".weight");
    EXPECT_EQ(tensor.at("dtype"), "F16");
    const auto begin = tensor.at("data_offsets").at(0).get<uint64_t>(),
               end = tensor.at("data_offsets").at(1).get<uint64_t>();
    constexpr uint16_t kOne = 0x3c00;  // the others are about 0.05
    for (uint64_t at = begin; at < end; at += 64) std::memcpy(bytes.data() + 8 + size + at, &kOne, 2);
    directory_.write("model.safetensors", bytes);
  }
  [[nodiscard]] const std::string& path() const { return directory_.path(); }

 private:
  TempDirectory directory_;
};

LossRequest request_of(const std::string& model, WeightFormat format) {
  LossRequest request;
  request.model = model;
  request.format = format;
  request.matrices = "decoder.layers.1.";
  request.without = false;
  auto sentences = recorded_sentences(kModel);
  EXPECT_TRUE(sentences.ok());
  if (sentences) request.sentences.assign(sentences->begin(), sentences->begin() + 8);
  return request;
}

TEST(DeviceLayers, ABadOneIsFound) {
  LAPILLI_ASSERT_VALUE(const auto device, vulkan::Device::create({}));
  const PlantedModel planted(kBad);
  for (const WeightFormat format : {WeightFormat::int8, WeightFormat::int4}) {
    LAPILLI_ASSERT_VALUE(const auto good, measure_losses(device, request_of(kModel, format)));
    EXPECT_THAT(bad_layers(good, format), IsEmpty()) << name(format);
    EXPECT_EQ(good.matrices.size(), 7u);
    for (const MatrixLoss& m : good.matrices) EXPECT_GT(m.alone, 0.0) << m.name;  // each was rounded
    LAPILLI_ASSERT_VALUE(const auto bad, measure_losses(device, request_of(planted.path(), format)));
    for (const MatrixLoss& m : bad.matrices) std::printf("%s %s %.2e\n", name(format), m.name.c_str(), m.alone);
    EXPECT_THAT(bad_layers(bad, format), Contains(kBad)) << name(format);
    const auto worst = std::max_element(bad.matrices.begin(), bad.matrices.end(),
                                        [](const auto& a, const auto& b) { return a.alone < b.alone; });
    EXPECT_EQ(worst->name, kBad) << name(format);
  }
}

TEST(DeviceLayers, WhatStaysInFp32LosesNothing) {
  LAPILLI_ASSERT_VALUE(const auto device, vulkan::Device::create({}));
  auto request = request_of(kModel, WeightFormat::int8);
  request.without = true;
  request.matrices = kBad;
  LAPILLI_ASSERT_VALUE(const auto int8, measure_losses(device, request));
  ASSERT_EQ(int8.matrices.size(), 1u);
  EXPECT_LT(int8.matrices[0].alone, int8.all);
  EXPECT_LT(int8.matrices[0].without, int8.all * 1.5);
  request.format = WeightFormat::fp32;
  LAPILLI_ASSERT_VALUE(const auto fp32, measure_losses(device, request));
  EXPECT_EQ(fp32.all, 0.0);
  EXPECT_EQ(fp32.matrices[0].alone, 0.0);
}

}  // namespace
}  // namespace lapilli::evaluation
