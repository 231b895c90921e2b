// The attention of words about a picture: the places of an encoder's rows in it, and the recorded weights there.
#include "generate/picture_overlays.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/worst.hpp"
#include "formats/checkpoint.hpp"
#include "model/patches.hpp"
#include "search/network_on_device.hpp"
#include "support/fixtures.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

model::Config config_of(model::PatchInput patches, uint32_t front) {
  model::Config c;
  c.patches = patches;
  c.features.front = front;
  return c;
}

TEST(PictureGrid, OfPatches) {
  const model::PatchInput vit{3, 224, 224, 16, 16, 0, 0, false};
  EXPECT_EQ(grid_of(config_of(vit, 1)), (PictureGrid{1, 14, 14, 224, 224}));
  EXPECT_EQ(grid_of(config_of(vit, 2)), (PictureGrid{2, 14, 14, 224, 224}));  // DeiT
  const model::PatchInput left_over{3, 50, 70, 16, 32, 0, 0, false};
  EXPECT_EQ(grid_of(config_of(left_over, 1)), (PictureGrid{1, 3, 2, 48, 64}));
}

TEST(PictureGrid, OfTheLastStage) {
  auto c = config_of({3, 58, 40, 4, 4, 0, 0, true}, 0);  // 15 by 10 patches
  c.stages.resize(3);
  const uint32_t sides[3][2] = {{15, 10}, {8, 5}, {4, 3}};  // what is left over makes a place of its own
  for (size_t i = 0; i < 3; ++i) {
    c.stages[i].height = sides[i][0];
    c.stages[i].width = sides[i][1];
    c.stages[i].merges = i < 2;
  }
  EXPECT_EQ(grid_of(c), (PictureGrid{0, 4, 3, 64, 48}));
}

std::vector<std::string> texts_of(const std::vector<WrittenWord>& words) {
  std::vector<std::string> texts;
  for (const auto& w : words) texts.push_back(w.text);
  return texts;
}

TEST(WrittenWords, BeginBehindWhiteSpace) {
  //                             a  | cat|,  |   | no | w.
  const std::vector<ByteRange> bytes{{0, 1}, {1, 5}, {5, 6}, {6, 7}, {7, 9}, {9, 11}, {}};
  const auto words = written_words("a cat, now.", bytes, std::vector<bool>(7));
  EXPECT_THAT(texts_of(words), ElementsAre("a", "cat,", "now."));
  EXPECT_THAT(words[1].ids, ElementsAre(1, 2));
  EXPECT_THAT(words[2].ids, ElementsAre(4, 5));
  EXPECT_TRUE(written_words("", std::vector<ByteRange>(2), {false, false}).empty());
}

TEST(WrittenWords, FieldsAndScriptsWithoutSpaces) {
  const std::vector<ByteRange> fields{{0, 4}, {4, 7}, {7, 9}, {9, 14}};
  EXPECT_THAT(texts_of(written_words("<nm>Teas!</nm>", fields, {true, false, false, true})),
              ElementsAre("<nm>", "Teas!", "</nm>"));
  // The first sign is of three ids, which all stand for it.
  const std::vector<ByteRange> signs{{0, 3}, {0, 3}, {0, 3}, {3, 6}};
  const auto words = written_words("\u732b\u72ac", signs, std::vector<bool>(4));
  EXPECT_THAT(texts_of(words), ElementsAre("\u732b", "\u72ac"));
  EXPECT_THAT(words[0].ids, ElementsAre(0, 1, 2));
}

// A picture whose left upper quarter is white.
ShownPicture picture_of(uint32_t height, uint32_t width, image::Size original) {
  ShownPicture picture{{width, height, std::vector<uint8_t>(size_t{3} * width * height)}, original};
  for (size_t y = 0; y < height / 2; ++y)
    std::fill_n(picture.prepared.rgb.begin() + static_cast<ptrdiff_t>(3 * y * width), 3 * (width / 2), uint8_t{255});
  return picture;
}

TEST(PictureToShow, HasTheShapeOfTheFileWhereItWasSqueezed) {
  const PictureGrid grid{1, 24, 24, 384, 384};
  const auto picture = picture_of(384, 384, {60, 1000});
  LAPILLI_ASSERT_VALUE(const auto shown, picture_to_show(picture, grid, true));
  EXPECT_EQ(shown.width, 560u);
  EXPECT_EQ(shown.height, 34u);
  EXPECT_EQ(shown.rgb[3 * 270], 255);
  EXPECT_EQ(shown.rgb[3 * 290], 0);
  LAPILLI_ASSERT_VALUE(const auto cut, picture_to_show(picture, grid, false));
  EXPECT_EQ(cut.width, 384u);
  EXPECT_EQ(cut.height, 384u);
}

TEST(PictureToShow, IsAsLargeAsTheGrid) {
  const auto picture = picture_of(250, 250, {250, 250});
  LAPILLI_ASSERT_VALUE(const auto less, picture_to_show(picture, {0, 3, 3, 240, 240}, false));
  EXPECT_EQ(less.width, 240u);
  EXPECT_EQ(less.rgb[3 * 124], 255);
  EXPECT_EQ(less.rgb[3 * 126], 0);
  LAPILLI_ASSERT_VALUE(const auto more, picture_to_show(picture, {0, 4, 4, 256, 256}, false));
  EXPECT_EQ(more.width, 256u);
  EXPECT_EQ(more.rgb[3 * 124], 255);
  LAPILLI_ASSERT_VALUE(const auto tiny, picture_to_show(picture_of(32, 16, {32, 16}), {1, 4, 2, 32, 16}, true));
  EXPECT_EQ(tiny.height, 200u);
  EXPECT_EQ(tiny.width, 100u);
}

// ---- on the device -------------------------------------------------------------------------------------------------

struct Recorded {
  std::string name;
  PictureGrid grid;
};

class DevicePictureOverlays : public testing::TestWithParam<Recorded> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(const auto device, testing_support::shared_device());
    const std::string base = std::string(LAPILLI_TEST_DATA) + "/models/" + GetParam().name;
    LAPILLI_ASSERT_VALUE(model_, Model::load(device, base + "/model"));
    LAPILLI_ASSERT_VALUE(const auto tensors, Checkpoint::open_file(base + "/expected.safetensors"));
    const auto pixels = values_of(tensors, "single.pixel_values");
    LAPILLI_ASSERT_VALUE(auto features, model::patches_of(model_->on_device().config().patches, pixels));
    source_ = std::make_shared<const model::Features>(std::move(features));
    const auto* ids = tensors.find("forward_single.decoder_input_ids");
    ASSERT_TRUE(ids);
    LAPILLI_ASSERT_VALUE(const auto read, read_integers(*ids));
    ids_.assign(read.begin(), read.end());
    ids_.push_back(0);  // is read by nobody
    for (uint32_t l = 0; l < model_->info().decoder_layers; ++l)
      layers_.push_back(values_of(tensors, "forward_single.cross_attentions." + std::to_string(l)));
  }
  static std::vector<float> values_of(const Checkpoint& tensors, const std::string& name) {
    const auto* stored = tensors.find(name);
    std::vector<float> values(stored ? stored->bytes.size() / sizeof(float) : 0);
    if (stored) std::memcpy(values.data(), stored->bytes.data(), values.size() * sizeof(float));
    EXPECT_FALSE(values.empty()) << name;
    return values;
  }
  // The record's weight of a part at an id.
  [[nodiscard]] double weight(size_t layer, size_t head, size_t id, size_t part) const {
    const PictureGrid& g = GetParam().grid;
    const size_t keys = g.front + size_t{g.rows} * g.columns, queries = ids_.size() - 1;
    return static_cast<double>(layers_[layer].at((head * queries + id) * keys + g.front + part));
  }
  auto attention(const AttentionChoice& choice) {
    return attention_of_ids(model_, source_, ids_, choice, [] { return true; });
  }

  std::shared_ptr<Model> model_;
  std::shared_ptr<const model::Features> source_;
  std::vector<int32_t> ids_;
  std::vector<std::vector<float>> layers_;
};

TEST_P(DevicePictureOverlays, AreTheRecordedWeights) {
  const PictureGrid& g = GetParam().grid;
  EXPECT_EQ(grid_of(model_->on_device().config()), g);
  const size_t heads = model_->info().decoder_heads, parts = size_t{g.rows} * g.columns;
  LAPILLI_ASSERT_VALUE(const auto mean, attention({}));
  LAPILLI_ASSERT_VALUE(const auto one, attention({AttentionKind::cross, 1, 2}));
  ASSERT_EQ(mean.size(), ids_.size() - 1);
  ASSERT_EQ(one.size(), ids_.size() - 1);
  double worst = 0;
  for (size_t id = 0; id < mean.size(); ++id) {
    ASSERT_EQ(mean[id].size(), parts);
    for (size_t part = 0; part < parts; ++part) {
      double sum = 0;
      for (size_t l = 0; l < layers_.size(); ++l)
        for (size_t h = 0; h < heads; ++h) sum += weight(l, h, id, part);
      const auto count = static_cast<double>(layers_.size() * heads);
      worst = worse(worst, std::abs(static_cast<double>(mean[id][part]) - sum / count));
      worst = worse(worst, std::abs(static_cast<double>(one[id][part]) - weight(1, 2, id, part)));
    }
  }
  EXPECT_LE(worst, 2e-5);
}

// The part that the record gives the most weight is the most orange.
TEST_P(DevicePictureOverlays, AreDrawnWhereTheyLie) {
  const PictureGrid& g = GetParam().grid;
  LAPILLI_ASSERT_VALUE(const auto weights, attention({AttentionKind::cross, 0, 0}));
  drawing::OverlaySheet sheet;
  sheet.rows = g.rows;
  sheet.columns = g.columns;
  LAPILLI_ASSERT_VALUE(sheet.picture, picture_to_show(picture_of(g.height, g.width, {g.height, g.width}), g, true));
  sheet.picture.rgb.assign(sheet.picture.rgb.size(), 100);
  for (const auto& w : weights) sheet.overlays.push_back({U"x", w});
  drawing::Typeface typeface("", 14);
  LAPILLI_ASSERT_VALUE(const auto drawn, drawing::draw_overlay_sheet(sheet, typeface));
  LAPILLI_ASSERT_VALUE(const auto at, drawing::lay_out(sheet, typeface.line_height() + 2));
  for (size_t id = 0; id < weights.size(); ++id) {
    size_t most = 0;
    for (size_t part = 0; part < weights[id].size(); ++part)
      if (weight(0, 0, id, part) > weight(0, 0, id, most)) most = part;
    const auto x = static_cast<size_t>(at.x(id)) + (2 * (most % g.columns) + 1) * sheet.picture.width / (2 * g.columns);
    const auto y =
        static_cast<size_t>(at.y(id) + at.line) + (2 * (most / g.columns) + 1) * sheet.picture.height / (2 * g.rows);
    EXPECT_EQ(drawn.rgb[3 * (y * drawn.width + x)], 216) << "id " << id << ", part " << most;
  }
}

TEST_P(DevicePictureOverlays, RefuseWhatIsNotThere) {
  const auto layer = attention({AttentionKind::cross, 2, kAttentionMean});
  ASSERT_FALSE(layer.ok());
  EXPECT_THAT(layer.error().message, HasSubstr("layer 2: the decoder has layers 0 to 1"));
  EXPECT_FALSE(attention({AttentionKind::cross, kAttentionMean, 99}).ok());
  EXPECT_FALSE(attention({AttentionKind::cross, kAttentionAll, kAttentionMean}).ok());
  const auto ended = attention_of_ids(model_, source_, ids_, {}, [] { return false; });
  EXPECT_TRUE(ended.ok() || ended.error().code == ErrorCode::cancelled);
  LAPILLI_ASSERT_VALUE(const auto none,
                       attention_of_ids(model_, source_, std::vector<int32_t>{1}, {}, [] { return true; }));
  EXPECT_TRUE(none.empty());
}

INSTANTIATE_TEST_SUITE_P(Records, DevicePictureOverlays,
                         testing::Values(Recorded{"vit-gpt2", {1, 4, 4, 32, 32}}, Recorded{"trocr", {1, 4, 4, 32, 32}},
                                         Recorded{"donut", {0, 7, 5, 56, 40}}),
                         [](const auto& record) {
                           std::string name = record.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace lapilli
