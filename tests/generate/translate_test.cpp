// Texts through the bundled model: sentences and their joining, streaming, scores, what is too long.
#include "generate/translate.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <deque>

#include "generate/searches.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using testing::HasSubstr;

class DeviceTranslate : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    LAPILLI_ASSERT_VALUE(const auto device, testing_support::shared_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device, LAPILLI_SOURCE_DIR "/models/en-fr"));
  }
  static void TearDownTestSuite() { model_.reset(); }
  static TranslateRequest request_of(const std::vector<std::string>& texts) {
    TranslateRequest r;
    for (const auto& text : texts) r.inputs.push_back({kept_.emplace_back(text), {}, false});
    r.task.task = TextTask::translate;
    return r;
  }
  static std::string say(const std::string& text) {
    const auto out = translate(model_, request_of({text}));
    return out && out->outputs[0].status ? out->outputs[0].sequences[0].text : "failed";
  }
  static std::shared_ptr<Model> model_;
  static std::deque<std::string> kept_;  // requests refer to their texts
};
std::shared_ptr<Model> DeviceTranslate::model_;
std::deque<std::string> DeviceTranslate::kept_;

TEST_F(DeviceTranslate, SentenceBySentenceWithItsWhiteSpace) {
  const std::vector<std::string> sentences{"Good morning.", "Where is the station?",
                                           "I would like a cup of coffee, please."};
  const std::string text = "  " + sentences[0] + "  " + sentences[1] + "\n" + sentences[2] + " ";
  const auto request = request_of({text, sentences[1]});
  LAPILLI_ASSERT_VALUE(const auto out, translate(model_, request));
  ASSERT_TRUE(out.outputs[0].status.ok());
  const TextSequence& s = out.outputs[0].sequences[0];
  EXPECT_EQ(s.text, "  " + say(sentences[0]) + "  " + say(sentences[1]) + "\n" + say(sentences[2]) + " ");
  ASSERT_EQ(s.parts.size(), 3u);
  std::vector<int32_t> ids;
  double sum = 0;
  for (size_t i = 0; i < 3; ++i) {
    const SequencePart& p = s.parts[i];
    EXPECT_EQ(text.substr(p.source.begin, p.source.end - p.source.begin), sentences[i]);
    EXPECT_EQ(s.text.substr(p.target.begin, p.target.end - p.target.begin), p.text);
    EXPECT_EQ(p.text, say(sentences[i]));
    ASSERT_EQ(p.source_bytes.size(), p.source_ids.size());
    EXPECT_EQ(p.source_bytes.front().begin, p.source.begin);
    for (const ByteRange& b : p.source_bytes) {
      EXPECT_TRUE(b.begin == b.end || (b.begin >= p.source.begin && b.end <= p.source.end));
    }
    ids.insert(ids.end(), p.ids.begin(), p.ids.end());
  }
  EXPECT_EQ(s.ids, ids);
  ASSERT_EQ(s.token_scores.size(), s.ids.size());
  for (const float t : s.token_scores) sum += static_cast<double>(t);
  const double penalty = model_->generation_config().length_penalty.value_or(1.0);
  EXPECT_NEAR(static_cast<double>(s.score), sum / std::pow(static_cast<double>(ids.size()), penalty), 1e-4);
  // One sentence is left as it is.
  EXPECT_EQ(out.outputs[1].sequences[0].parts.size(), 1u);
  EXPECT_EQ(out.outputs[1].sequences[0].text, say(sentences[1]));
}

TEST_F(DeviceTranslate, WithoutATaskOrWhenToldSoTextsStayWhole) {
  const std::string text = "Good morning. Where is the station?";
  for (const int how : {0, 1}) {
    auto request = request_of({text});
    if (how == 0) request.task.task = TextTask::none;
    if (how == 1) request.split = false;
    LAPILLI_ASSERT_VALUE(const auto out, translate(model_, request));
    EXPECT_EQ(out.outputs[0].sequences[0].parts.size(), 1u);
    EXPECT_EQ(out.stats.source_tokens, model_->tokenizer()->encode(text)->size());
  }
}

TEST_F(DeviceTranslate, NothingIsCutOffInSilence) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "stone ";
  auto request = request_of({text, "Good morning."});
  request.split = false;
  LAPILLI_ASSERT_VALUE(const auto whole, translate(model_, request));
  ASSERT_FALSE(whole.outputs[0].status.ok());
  EXPECT_THAT(whole.outputs[0].status.error().message, testing::AllOf(HasSubstr("256"), HasSubstr("split")));
  EXPECT_TRUE(whole.outputs[1].status.ok());
  request.split = true;
  LAPILLI_ASSERT_VALUE(const auto split, translate(model_, request));
  ASSERT_TRUE(split.outputs[0].status.ok()) << split.outputs[0].status.error().message;
  const auto& parts = split.outputs[0].sequences[0].parts;
  EXPECT_GE(parts.size(), 2u);
  uint64_t at = 0;
  for (const auto& p : parts) {
    EXPECT_LE(p.source_ids.size(), 256u);
    EXPECT_EQ(text.substr(at, p.source.begin - at).find_first_not_of(' '), std::string::npos);
    at = p.source.end;
  }
  EXPECT_EQ(text.substr(at).find_first_not_of(' '), std::string::npos);
}

TEST_F(DeviceTranslate, StreamsWhatItReturns) {
  const std::vector<std::string> texts{"Good morning. Where is the station? I would like a cup of coffee, please.",
                                       "What time is it?", "\xff", ""};
  for (const uint32_t beams : {1u, 4u}) {
    for (const uint32_t batch : {1u, 2u, 32u}) {
      auto request = request_of(texts);
      request.options.num_beams = beams;
      request.batch = batch;
      std::vector<std::string> got(texts.size());
      std::vector<std::vector<int32_t>> ids(texts.size());
      uint32_t calls = 0;
      request.stream = [&](size_t input, std::string_view text, std::span<const int32_t> fresh) {
        got[input] += text;
        ids[input].insert(ids[input].end(), fresh.begin(), fresh.end());
        ++calls;
        return true;
      };
      LAPILLI_ASSERT_VALUE(const auto out, translate(model_, request));
      for (const size_t i : {0u, 1u, 3u}) {
        ASSERT_TRUE(out.outputs[i].status.ok());
        EXPECT_EQ(got[i], out.outputs[i].sequences[0].text) << beams << " beams, batches of " << batch;
        EXPECT_EQ(ids[i], out.outputs[i].sequences[0].ids);
      }
      EXPECT_FALSE(out.outputs[2].status.ok());
      EXPECT_EQ(got[2], "");
      EXPECT_GE(calls, 4u);  // each part at least: on a loaded machine one look may find all of one
    }
  }
}

TEST_F(DeviceTranslate, StreamsThePromptToo) {
  auto request = request_of({"Where is the station?"});
  request.decoder_prompt = {327, 31};
  std::string got;
  std::vector<int32_t> ids;
  request.stream = [&](size_t, std::string_view text, std::span<const int32_t> fresh) {
    got += text;
    ids.insert(ids.end(), fresh.begin(), fresh.end());
    return true;
  };
  LAPILLI_ASSERT_VALUE(const auto out, translate(model_, request));
  const TextSequence& s = out.outputs[0].sequences[0];
  EXPECT_EQ(got, s.text);
  EXPECT_EQ(ids, s.ids);
  ASSERT_EQ(s.token_scores.size(), s.ids.size());
  EXPECT_TRUE(std::isnan(s.token_scores[0]) && std::isnan(s.token_scores[1]));
  EXPECT_FALSE(std::isnan(s.token_scores[2]));
}

TEST_F(DeviceTranslate, AStreamThatHasEnoughCancels) {
  auto request = request_of({"Good morning.", "Where is the station?", "What time is it?"});
  request.batch = 1;
  uint32_t calls = 0;
  request.stream = [&](size_t, std::string_view, std::span<const int32_t>) { return ++calls < 3; };
  LAPILLI_ASSERT_VALUE(const auto out, translate(model_, request));
  EXPECT_TRUE(out.cancelled);
  EXPECT_EQ(calls, 3u);
  EXPECT_FALSE(out.outputs[2].status.ok());
  EXPECT_EQ(out.outputs[2].status.error().code, ErrorCode::cancelled);
}

TEST_F(DeviceTranslate, BestListsOfSeveralPieces) {
  auto request = request_of({"Good morning. What time is it?"});
  request.split = true;
  request.options.num_beams = request.options.num_return_sequences = 3;
  LAPILLI_ASSERT_VALUE(const auto out, translate(model_, request));
  const auto& sequences = out.outputs[0].sequences;
  ASSERT_EQ(sequences.size(), 3u);
  for (size_t k = 0; k < 3; ++k) {
    ASSERT_EQ(sequences[k].parts.size(), 2u);
    EXPECT_EQ(sequences[k].text, sequences[k].parts[0].text + " " + sequences[k].parts[1].text);
    if (k == 0) continue;
    EXPECT_LE(sequences[k].parts[0].score, sequences[k - 1].parts[0].score);
    EXPECT_NE(sequences[k].ids, sequences[k - 1].ids);
  }
}

// Samples for an input depend on its number: in one call or several, in any batches.
TEST_F(DeviceTranslate, DrawsGoByTheNumbersOfInputs) {
  const std::vector<std::string> texts{"Good morning. Where is the station? I would like a cup of coffee, please.",
                                       "What time is it?", "What time is it?"};
  const auto sampled = [](const std::vector<std::string>& some) {
    auto request = request_of(some);
    request.options.do_sample = true;
    request.options.num_beams = 1;
    request.options.temperature = 2;  // equal texts are to differ, however sure the model is of them
    request.options.seed = 11;
    return request;
  };
  LAPILLI_ASSERT_VALUE(const auto all, translate(model_, sampled(texts)));
  EXPECT_NE(all.outputs[1].sequences[0].ids, all.outputs[2].sequences[0].ids);
  for (size_t i = 0; i < texts.size(); ++i) {
    auto request = sampled({texts[i]});
    request.inputs[0].number = i;
    request.batch = 1;
    LAPILLI_ASSERT_VALUE(const auto alone, translate(model_, request));
    EXPECT_EQ(alone.outputs[0].sequences[0].ids, all.outputs[i].sequences[0].ids) << i;
  }
}

// The end token that is forced at max_length is not the model's.
TEST_F(DeviceTranslate, SaysWhetherOutputsWereCut) {
  auto request =
      request_of({"Good morning.", "I would like a cup of coffee, please.", "Good morning. What time is it?"});
  for (const uint32_t beams : {1u, 4u}) {
    request.options.num_beams = beams;
    request.options.max_length = 6;  // "Bonjour." with start and end token
    for (const bool forced : {true, false}) {
      if (!forced) request.options.forced_eos_token_id = std::vector<int32_t>{};
      LAPILLI_ASSERT_VALUE(const auto cut, translate(model_, request));
      EXPECT_EQ(cut.outputs[0].sequences[0].finish, forced ? Finish::length : Finish::stop) << beams;
      EXPECT_EQ(cut.outputs[1].sequences[0].finish, Finish::length) << beams;
    }
    request.options.max_length = 7;
    request.options.forced_eos_token_id.reset();
    LAPILLI_ASSERT_VALUE(const auto some, translate(model_, request));
    EXPECT_EQ(some.outputs[0].sequences[0].finish, Finish::stop);
    EXPECT_EQ(some.outputs[0].sequences[0].parts[0].finish, Finish::stop);
    const TextSequence& two = some.outputs[2].sequences[0];
    EXPECT_EQ(two.finish, Finish::length);
    ASSERT_EQ(two.parts.size(), 2u);
    EXPECT_EQ(two.parts[0].finish, Finish::stop);
    EXPECT_EQ(two.parts[1].finish, Finish::length);
  }
}

TEST_F(DeviceTranslate, SaysThatOutputsRepeatThemselves) {
  auto request = request_of({"I would like a cup of coffee, please."});
  request.options.num_beams = 1;
  request.options.no_repeat_ngram_size = 0;
  request.options.max_length = 60;
  request.options.suppress_tokens = std::vector<int32_t>{};
  // Nothing but two ids may come behind the first ones.
  for (int32_t id = 0; id < 8001; ++id)
    if (id != 32 && id != 297) request.options.suppress_tokens->push_back(id);
  request.options.forced_eos_token_id = std::vector<int32_t>{};
  LAPILLI_ASSERT_VALUE(const auto out, translate(model_, request));
  ASSERT_TRUE(out.outputs[0].status.ok()) << out.outputs[0].status.error().message;
  const TextSequence& s = out.outputs[0].sequences[0];
  EXPECT_EQ(s.finish, Finish::length);
  EXPECT_TRUE(s.repeats) << s.text;
  EXPECT_TRUE(s.parts[0].repeats);
  EXPECT_FALSE(translate(model_, request_of({"Good morning."}))->outputs[0].sequences[0].repeats);
}

TEST_F(DeviceTranslate, WhatIsTheSameInEveryLanguageIsNotRun) {
  const std::vector<std::string> texts{" https://example.com/a?b=c ", "Good morning.\n\n12:30\n\nWhat time is it?",
                                       "-1", "Good morning."};
  for (const uint32_t beams : {1u, 3u}) {
    auto request = request_of(texts);
    request.options.num_beams = request.options.num_return_sequences = beams;
    std::vector<std::string> got(texts.size());
    request.stream = [&](size_t input, std::string_view text, std::span<const int32_t>) {
      got[input] += text;
      return true;
    };
    LAPILLI_ASSERT_VALUE(const auto out, translate(model_, request));
    for (const size_t i : {0u, 2u}) {
      ASSERT_EQ(out.outputs[i].sequences.size(), beams);
      for (const TextSequence& s : out.outputs[i].sequences) {
        EXPECT_EQ(s.text, texts[i]);
        EXPECT_EQ(s.finish, Finish::kept);
        EXPECT_EQ(s.score, 0);
        EXPECT_TRUE(s.ids.empty() && s.token_scores.empty());
      }
    }
    const TextSequence& mixed = out.outputs[1].sequences[0];
    EXPECT_EQ(mixed.finish, Finish::stop);
    ASSERT_EQ(mixed.parts.size(), 3u);
    EXPECT_EQ(mixed.parts[1].finish, Finish::kept);
    EXPECT_EQ(mixed.parts[1].text, "12:30");
    EXPECT_EQ(mixed.parts[1].score, 0);
    EXPECT_EQ(mixed.text, mixed.parts[0].text + "\n\n12:30\n\n" + mixed.parts[2].text);
    for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(got[i], out.outputs[i].sequences[0].text);
    // Nothing is run for it.
    EXPECT_EQ(out.stats.source_tokens, 2 * model_->tokenizer()->encode("Good morning.")->size() +
                                           model_->tokenizer()->encode("What time is it?")->size());
  }
  LAPILLI_ASSERT_VALUE(const auto only, translate(model_, request_of({"12", "www.a.b\n\n5"})));
  EXPECT_EQ(only.stats.batches, 0u);
  EXPECT_EQ(only.outputs[1].sequences[0].finish, Finish::kept);
  EXPECT_EQ(only.outputs[1].sequences[0].text, "www.a.b\n\n5");
}

// Other tasks, ids and prompts are the model's business, and so are errors of the options.
TEST_F(DeviceTranslate, OnlyTextsToTranslateAreKept) {
  auto request = request_of({"12"});
  request.task.task = TextTask::none;
  EXPECT_NE(translate(model_, request)->outputs[0].sequences[0].finish, Finish::kept);
  request = request_of({"12"});
  request.decoder_prompt = {327};
  EXPECT_NE(translate(model_, request)->outputs[0].sequences[0].finish, Finish::kept);
  request = request_of({"12"});
  request.options.num_beams = 0;
  EXPECT_FALSE(translate(model_, request).ok());
  request = request_of({"12", "\xff"});
  EXPECT_FALSE(translate(model_, request)->outputs[1].status.ok());
  request = request_of({"12", "13"});
  request.stream = [](size_t, std::string_view, std::span<const int32_t>) { return false; };
  LAPILLI_ASSERT_VALUE(const auto cancelled, translate(model_, request));
  EXPECT_TRUE(cancelled.cancelled);
  EXPECT_FALSE(cancelled.outputs[1].status.ok());
  request = request_of({"12", "13"});
  request.progress = [](uint64_t, uint64_t) { return false; };
  LAPILLI_ASSERT_VALUE(const auto at_once, translate(model_, request));
  EXPECT_TRUE(at_once.cancelled);
  EXPECT_FALSE(at_once.outputs[0].status.ok());
}

TEST_F(DeviceTranslate, LostAddressesAreNamed) {
  const std::string address = "https://example.com/abc/def-ghi?x=12&y=3";
  LAPILLI_ASSERT_VALUE(const auto out,
                       translate(model_, request_of({"See it at " + address + " now.", "Hello.", address})));
  const TextSequence& s = out.outputs[0].sequences[0];
  ASSERT_EQ(s.text.find(address), std::string::npos) << "another model must be asked more: " << s.text;
  EXPECT_EQ(s.lost_address, address);
  EXPECT_EQ(out.outputs[1].sequences[0].lost_address, "");
  EXPECT_EQ(out.outputs[2].sequences[0].lost_address, "");
}

}  // namespace
}  // namespace lapilli
