// preprocessor_config.json: what it means, what of it is refused, and what becomes of odd pictures. That the numbers
// are the reference's: the conformance program, on tests/data/pictures.
#include "image/processor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "support/temp_directory.hpp"

namespace lapilli::image {
namespace {

using testing::HasSubstr;

Result<Processor> parse(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  return parse_processor({json, "p.json"});
}

std::string refusal(const std::string& text) {
  const auto p = parse(text);
  return p ? "taken" : p.error().message;
}

image::Picture plain(uint32_t width, uint32_t height, uint8_t value) {
  return {width, height, std::vector<uint8_t>(size_t{3} * width * height, value)};
}

TEST(Processor, OldNamesAndMissingFields) {
  const auto vit = parse(R"({"feature_extractor_type": "ViTFeatureExtractor", "size": 384})");
  ASSERT_TRUE(vit.ok()) << vit.error().message;
  EXPECT_EQ(vit->size, (Size{384, 384}));
  EXPECT_EQ(vit->filter, Filter::bilinear);
  EXPECT_FALSE(vit->center_crop);
  const auto deit = parse(R"({"image_processor_type": "DeiTImageProcessorFast"})");
  ASSERT_TRUE(deit.ok());
  EXPECT_EQ(deit->size, (Size{256, 256}));
  EXPECT_EQ(deit->filter, Filter::bicubic);
  EXPECT_TRUE(deit->center_crop);
  EXPECT_EQ(deit->crop, (Size{224, 224}));
  const auto donut = parse(R"({"feature_extractor_type": "DonutFeatureExtractor", "size": [40, 56]})");
  ASSERT_TRUE(donut.ok());
  EXPECT_EQ(donut->size, (Size{56, 40}));
  EXPECT_EQ(donut->shortest_edge, 40u);
  EXPECT_TRUE(donut->pad && donut->shrink && !donut->turn);
}

TEST(Processor, RefusesByName) {
  EXPECT_THAT(refusal(R"({"image_processor_type": "BeitImageProcessor"})"), HasSubstr("BeitImageProcessor"));
  EXPECT_THAT(refusal(R"({"size": 0})"), HasSubstr("size 0 is not between 1 and 8192"));
  EXPECT_THAT(refusal(R"({"size": {"height": 9, "width": 100000}})"), HasSubstr("p.json: size: width 100000"));
  EXPECT_THAT(refusal(R"({"size": {"height": 9}})"), HasSubstr("lacks \"width\""));
  EXPECT_THAT(refusal(R"({"size": {"longest_edge": 9, "shortest_edge": 3}})"),
              HasSubstr("longest_edge is not supported"));
  EXPECT_THAT(refusal(R"({"size": [1, 2, 3]})"), HasSubstr("3 numbers, not 2"));
  EXPECT_THAT(refusal(R"({"resample": 4})"), HasSubstr("resample 4 is not supported"));
  EXPECT_THAT(refusal(R"({"image_std": [1, 0, 1]})"), HasSubstr("image_std of 0"));
  EXPECT_THAT(refusal(R"({"image_mean": [1, 0]})"), HasSubstr("image_mean has 2 numbers"));
  EXPECT_THAT(refusal(R"({"rescale_factor": 0})"), HasSubstr("rescale_factor of 0"));
  EXPECT_THAT(refusal(R"({"do_center_crop": true})"), HasSubstr("do_center_crop without crop_size"));
}

TEST(Processor, TheFilesOfADirectory) {
  const TempDirectory dir;
  const auto none = read_processor(dir.path());
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("preprocessor_config.json"));
  dir.write("processor_config.json", R"({"image_processor": {"size": 8}})");
  const auto joint = read_processor(dir.path());
  ASSERT_TRUE(joint.ok()) << joint.error().message;
  EXPECT_EQ(joint->size, (Size{8, 8}));
  dir.write("preprocessor_config.json", R"({"size": 9})");
  const auto own = read_processor(dir.path());
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->size, (Size{9, 9}));
}

TEST(Processing, OnePixelFillsAll) {
  for (const Filter filter : {Filter::nearest, Filter::bilinear, Filter::bicubic}) {
    Processor p;
    p.size = {7, 5};
    p.filter = filter;
    const auto pixels = process(p, plain(1, 1, 255));
    ASSERT_TRUE(pixels.ok());
    EXPECT_EQ(pixels->size, (Size{7, 5}));
    EXPECT_THAT(pixels->values, testing::Each(testing::FloatEq(1)));
  }
}

TEST(Processing, CropsFromTheMiddleAndFillsWithBlack) {
  Processor p;
  p.resize = p.normalize = p.rescale = false;
  p.center_crop = true;
  p.crop = {1, 4};
  image::Picture picture = plain(3, 4, 0);
  for (size_t i = 0; i < picture.rgb.size(); ++i) picture.rgb[i] = static_cast<uint8_t>(1 + i / 3);
  const auto pixels = process(p, picture);
  ASSERT_TRUE(pixels.ok());
  // The second of four rows; three columns and black after them, whose odd pixel is on the right.
  EXPECT_THAT(std::vector<float>(pixels->values.begin(), pixels->values.begin() + 4), testing::ElementsAre(4, 5, 6, 0));
}

// A page of Nougat: what is darker than its margin, whatever the paper's grey.
TEST(Processing, NougatsMarginsAreCropped) {
  const auto nougat = parse(R"({"image_processor_type": "NougatImageProcessor", "size": {"height": 4, "width": 6}})");
  ASSERT_TRUE(nougat.ok()) << nougat.error().message;
  EXPECT_TRUE(nougat->crop_margin && nougat->shrink && nougat->pad);
  EXPECT_FLOAT_EQ(nougat->mean[0], 0.485f);
  image::Picture page = plain(20, 20, 240);
  for (uint32_t y = 5; y < 9; ++y)
    for (uint32_t x = 7; x < 13; ++x) page.rgb[3 * (y * 20 + x)] = 0, page.rgb[3 * (y * 20 + x) + 1] = 0;
  auto p = *nougat;
  p.resize = p.shrink = p.pad = false;
  const auto cropped = prepare(p, page);
  ASSERT_TRUE(cropped.ok());
  EXPECT_EQ(cropped->width, 6u);
  EXPECT_EQ(cropped->height, 4u);
  EXPECT_EQ(cropped->rgb[0], 0);
  // Nothing but margin: it stays.
  EXPECT_EQ(prepare(p, plain(20, 20, 240))->width, 20u);
  // Other processors have no such step.
  EXPECT_FALSE(parse(R"({"image_processor_type": "DonutImageProcessor", "do_crop_margin": true})")->crop_margin);
}

TEST(Processing, ShortestEdgeKeepsTheShape) {
  Processor p;
  p.size = {};
  p.shortest_edge = 10;
  const auto tall = process(p, plain(30, 91, 0));
  ASSERT_TRUE(tall.ok());
  EXPECT_EQ(tall->size, (Size{30, 10}));
}

TEST(Processing, RefusesShapesThatGrowWithoutEnd) {
  Processor p;
  p.size = {};
  p.shortest_edge = 2000;
  const auto line = process(p, plain(60'000, 1, 0));
  ASSERT_FALSE(line.ok());
  EXPECT_THAT(line.error().message, HasSubstr("closer to that first"));
  p = {};
  p.size = {8'000, 8'000};
  EXPECT_FALSE(process(p, plain(1, 60'000, 0)).ok());
}

// Random fields and random pictures: an error, or numbers that are as many as the size says.
TEST(Processing, AnyConfigAndPicture) {
  std::mt19937 random(7);
  const auto pick = [&](uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random); };
  const std::vector<nlohmann::json> values{nullptr,
                                           true,
                                           false,
                                           0,
                                           1,
                                           2,
                                           3,
                                           17,
                                           -1,
                                           1e300,
                                           "x",
                                           {3, 5},
                                           {1, 2, 3},
                                           {{"height", 6}, {"width", 4}},
                                           {{"shortest_edge", 5}},
                                           nlohmann::json::object()};
  const char* keys[] = {"size",       "crop_size",      "resample",          "do_resize",  "do_center_crop",
                        "do_rescale", "rescale_factor", "do_normalize",      "image_mean", "image_std",
                        "do_pad",     "do_thumbnail",   "do_align_long_axis"};
  const char* types[] = {"ViTImageProcessor", "DeiTImageProcessor", "DonutImageProcessor", "NougatImageProcessor"};
  int taken = 0;
  for (int i = 0; i < 10'000; ++i) {
    nlohmann::json json = {{"image_processor_type", types[pick(3)]}, {"size", 9}, {"crop_size", 4}};
    for (uint32_t k = 0; k < 1 + pick(3); ++k)
      json[keys[pick(std::size(keys))]] = values[pick(static_cast<uint32_t>(values.size()))];
    const auto p = parse_processor({json, "p.json"});
    if (!p) {
      EXPECT_THAT(p.error().message, HasSubstr("p.json"));
      continue;
    }
    ++taken;
    const auto pixels = process(*p, plain(1 + pick(12), 1 + pick(12), 9));
    if (!pixels) continue;
    EXPECT_EQ(pixels->values.size(), size_t{3} * pixels->size.height * pixels->size.width) << json.dump();
  }
  EXPECT_GT(taken, 1'000);
}

}  // namespace
}  // namespace lapilli::image
