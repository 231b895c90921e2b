// Ids put together to words: text, times, confidence; by hand, with a published tokenizer, and of a model's segments.
#include "speech/words.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "formats/checkpoint.hpp"
#include "speech/segment_overlays.hpp"
#include "support/fixtures.hpp"
#include "support/shared_device.hpp"

namespace lapilli::speech {
namespace {

using namespace testing_support;

std::string text_of(const std::vector<Word>& words) {
  std::string text;
  for (const Word& w : words) text += format("%.2f-%.2f|%s|%.2f\n", w.begin, w.end, w.text.c_str(), w.confidence);
  return text;
}

class Words : public testing::Test {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(tokenizer_, load_tokenizer(Files(LAPILLI_TEST_DATA "/tokenizers/whisper/files"), "whisper"));
  }

  // The words of a text whose id number i ends at i + 1 seconds, with a probability of 1 / (i + 1).
  std::vector<Word> words(const std::string& text, const std::string& language) {
    EncodeOptions plain;
    plain.add_special = false;
    const auto ids = tokenizer_->encode(text, plain);
    EXPECT_TRUE(ids.ok()) << text;
    ids_ = *ids;
    std::vector<double> times;
    std::vector<float> probabilities;
    for (size_t i = 0; i < ids_.size(); ++i) {
      times.push_back(static_cast<double>(i) + 1);
      probabilities.push_back(1.0f / static_cast<float>(i + 1));
    }
    const auto words = words_of({ids_, times, probabilities, 0.5}, {tokenizer_.get(), kNone, language});
    EXPECT_TRUE(words.ok()) << text;
    return words ? *words : std::vector<Word>();
  }
  std::string texts(const std::string& text, const std::string& language = "<|en|>") {
    std::string joined;
    for (const Word& w : words(text, language)) joined += "|" + w.text;
    return joined;
  }

  static constexpr int32_t kNone = 1 << 30;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<int32_t> ids_;
};

TEST_F(Words, GoFromSpaceToSpaceWithTheirPunctuation) {
  EXPECT_EQ(texts(" The weather is nice today."), "| The| weather| is| nice| today.");
  EXPECT_EQ(texts(" He said, (no) \"yes\" well!"), "| He| said,| (no)| \"yes\"| well!");
  EXPECT_EQ(texts(" caf\u00e9 na\u00efve \U0001f600 x"), "| caf\u00e9| na\u00efve| \U0001f600| x");
  EXPECT_EQ(texts(""), "");
}

TEST_F(Words, AreCharactersWhereThereAreNoSpaces) {
  EXPECT_EQ(texts("\u4f60\u597d\uff0c", "<|zh|>"), "|\u4f60|\u597d\uff0c");
  EXPECT_EQ(texts("\u4f60\u597d", "<|en|>"), "|\u4f60\u597d");
}

// From where the id before was read to where its last one was; the mean of its ids, without marks that join it later.
TEST_F(Words, HaveTimesAndConfidence) {
  const auto all = words(" weather, today", "<|en|>");
  ASSERT_EQ(all.size(), 2u) << text_of(all);
  ASSERT_GT(ids_.size(), 3u);
  size_t own = all[0].ids.size() - 1;  // without the comma
  EXPECT_EQ(all[0].text, " weather,");
  EXPECT_EQ(all[0].begin, 0.5);
  EXPECT_EQ(all[0].end, static_cast<double>(own));
  double mean = 0;
  for (size_t i = 0; i < own; ++i) mean += 1.0 / static_cast<double>(i + 1) / static_cast<double>(own);
  EXPECT_NEAR(all[0].confidence, mean, 1e-6);
  EXPECT_EQ(all[1].begin, static_cast<double>(own + 1));
  EXPECT_EQ(all[1].end, static_cast<double>(ids_.size()));
}

TEST_F(Words, AreSingleIdsWithoutATokenizer) {
  const std::vector<int32_t> ids{300, 5, 6, 301};
  const std::vector<double> times{1, 2, 3, 4};
  const std::vector<float> probabilities{0, 0.5f, 0.25f, 0};
  const auto words = words_of({ids, times, probabilities, 0}, {nullptr, 300, ""});
  ASSERT_TRUE(words.ok());
  EXPECT_EQ(text_of(*words), "1.00-2.00||0.50\n2.00-3.00||0.25\n");
  EXPECT_FALSE(words_of({ids, {}, probabilities, 0}, {nullptr, 300, ""}).ok());
}

// ---- of segments, as the record has the times of their ids
// -----------------------------------------------------------

const std::string kFolder = LAPILLI_TEST_DATA "/models/whisper-words";

class DeviceWords : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, shared_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, kFolder + "/model"));
    LAPILLI_ASSERT_VALUE(const auto tensors, Checkpoint::open_file(kFolder + "/expected.safetensors"));
    const StoredTensor *t = tensors.find("long.input_features"), *mask = tensors.find("long.attention_mask");
    ASSERT_TRUE(t && mask);
    LAPILLI_ASSERT_VALUE(const auto values, read_floats(*t));
    LAPILLI_ASSERT_VALUE(const auto bits, read_integers(*mask));
    timed_ = static_cast<uint64_t>(std::count(bits.begin(), bits.end(), 1));
    auto f = std::make_shared<model::Features>();
    f->width = static_cast<uint32_t>(t->shape[1]);
    f->rows = static_cast<uint32_t>(t->shape[2]);
    for (size_t r = 0; r < f->rows; ++r)
      for (size_t c = 0; c < f->width; ++c) f->values.push_back(values[c * f->rows + r]);
    features_ = std::move(f);
  }

  TranscribeRequest request() {
    TranscribeRequest r;
    r.recordings = {recording_of(features_)};
    r.recordings[0].timed_frames = timed_;
    r.languages = {"en"};
    r.options.max_new_tokens = 20;
    r.options.num_beams = GetParam();
    r.words = true;
    return r;
  }

  // The probability of each id of a window's search, among those of text, by a pass of its own.
  std::vector<double> probabilities(const Window& window) {
    ForwardRequest pass;
    auto f = std::make_shared<model::Features>();
    f->rows = model_->info().feature_rows;
    f->width = features_->width;
    f->values.assign(uint64_t{f->rows} * f->width, 0.0f);
    const size_t begin = window.seek * f->width, n = std::min(f->values.size(), features_->values.size() - begin);
    std::copy_n(features_->values.begin() + static_cast<ptrdiff_t>(begin), n, f->values.begin());
    pass.features = {f};
    pass.targets = {window.decoder_ids};
    const auto& ids = window.attempts.back().ids;
    pass.targets[0].insert(pass.targets[0].end(), ids.begin(), ids.end());
    const auto out = forward(model_, pass);
    EXPECT_TRUE(out.ok()) << message_of(out);
    std::vector<double> all;
    const ForwardTensor& logits = out->back();
    EXPECT_EQ(logits.name, "logits");
    constexpr size_t kText = 208;  // the model's end; what follows is no text
    for (size_t i = 0; i < ids.size(); ++i) {
      const float* row = logits.values.data() + (window.decoder_ids.size() - 1 + i) * logits.shape.back();
      double sum = 0;
      for (size_t k = 0; k < kText; ++k) sum += std::exp(static_cast<double>(row[k] - row[ids[i]]));
      all.push_back(1 / sum);
    }
    return all;
  }

  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
  std::shared_ptr<const model::Features> features_;
  uint64_t timed_ = 0;
};

nlohmann::json recorded(const std::string& name) {
  const auto text = read_text_file(kFolder + "/expected.json");
  EXPECT_TRUE(text.ok());
  const auto record = nlohmann::json::parse(*text);
  for (const auto& c : record.at("cases"))
    if (c.at("name") == name) return c.at("segments").at(0);
  ADD_FAILURE() << name << " is not in the record";
  return {};
}

TEST_P(DeviceWords, HaveTheRecordsTimes) {
  LAPILLI_ASSERT_VALUE(const auto out, transcribe(model_, request()));
  const auto expected = recorded(GetParam() == 1 ? "words_long" : "words_long_beam2");
  const auto& segments = out.transcripts[0].segments;
  ASSERT_EQ(segments.size(), expected.size());
  size_t count = 0;
  for (size_t s = 0; s < segments.size(); ++s) {
    const auto ids = expected[s].at("tokens").get<std::vector<int32_t>>();
    const auto times = expected[s].at("token_timestamps").get<std::vector<double>>();
    auto word = segments[s].words.begin();
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] >= 208) continue;
      ASSERT_NE(word, segments[s].words.end()) << s;
      EXPECT_EQ(word->ids, std::vector<int32_t>{ids[i]}) << s << " " << i;
      EXPECT_NEAR(word->begin, i > 0 ? times[i - 1] : expected[s].at("start").get<double>(), 1e-3) << s << " " << i;
      EXPECT_NEAR(word->end, times[i], 1e-3) << s << " " << i;
      ++word;
      ++count;
    }
    EXPECT_EQ(word, segments[s].words.end()) << s;
  }
  EXPECT_GT(count, 30u);
}

TEST_P(DeviceWords, AreAsSureAsTheNetwork) {
  LAPILLI_ASSERT_VALUE(const auto out, transcribe(model_, request()));
  const auto& segments = out.transcripts[0].segments;
  std::vector<double> ours, theirs;
  size_t next = 0;
  for (const Window& w : out.windows) {
    const auto all = probabilities(w);
    size_t at = 0;  // a window's segments are its ids, one after the other
    for (uint32_t k = 0; k < w.segments; ++k, ++next) {
      for (const Word& word : segments[next].words) ours.push_back(word.confidence);
      for (size_t i = 0; i < segments[next].ids.size(); ++i, ++at)
        if (segments[next].ids[i] < 208) theirs.push_back(all[at]);
    }
  }
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 2e-5) << i;
  EXPECT_GT(ours.size(), 30u);
}

// The frames are those of the segment, and what was looked at is most where its words are said to be.
TEST_P(DeviceWords, LookAtTheirSegment) {
  TranscribeRequest r = request();
  r.words = false;
  r.attention = true;
  size_t drawn = 0;
  r.on_segment = [&](const Segment& s) -> Status {
    EXPECT_TRUE(s.attention);
    if (!s.attention || s.words.empty()) return {};
    const SegmentAttention& attention = *s.attention;
    EXPECT_EQ(attention.words.size(), s.words.size());
    EXPECT_GE(attention.positions, 1u);
    EXPECT_LE(attention.positions, std::max(std::lround((s.end - s.begin) * 50), 1L));
    EXPECT_EQ(attention.frames, 2 * attention.positions);
    const auto first = static_cast<size_t>(std::lround(s.begin * 100));
    if (s.end * 100 > static_cast<double>(features_->rows)) return {};  // timestamps may lie behind the end
    for (size_t i = 0; i < attention.features.size(); ++i)
      EXPECT_EQ(attention.features[i], features_->values[first * attention.bands + i]) << i;
    for (const auto& weights : attention.words) {
      EXPECT_EQ(weights.size(), attention.positions);
      EXPECT_LE(std::accumulate(weights.begin(), weights.end(), 0.0), 1.0001);
      EXPECT_GE(*std::min_element(weights.begin(), weights.end()), 0);
    }
    LAPILLI_TRY(const auto sheet, overlay_sheet_of(s));
    LAPILLI_TRY(const auto svg, drawing::overlay_sheet_svg(sheet));
    EXPECT_TRUE(svg.starts_with("<svg"));
    ++drawn;
    return {};
  };
  LAPILLI_ASSERT_VALUE(const auto out, transcribe(model_, r));
  EXPECT_GT(drawn, 2u);
  for (const Segment& s : out.transcripts[0].segments) EXPECT_FALSE(s.attention);  // they would be many
  EXPECT_FALSE(overlay_sheet_of(out.transcripts[0].segments[0]).ok());
}

INSTANTIATE_TEST_SUITE_P(Beams, DeviceWords, testing::Values(1, 2));

}  // namespace
}  // namespace lapilli::speech
