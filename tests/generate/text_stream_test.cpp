// Text as it comes: nothing is taken back, no half characters, white space between pieces as joining would put it.
#include "generate/text_stream.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "support/fixtures.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

// Tokens are given strings; decoding joins them and may rewrite the whole, as families do.
class FakeTokenizer final : public Tokenizer {
 public:
  using Rewrite = std::function<std::string(std::string)>;
  explicit FakeTokenizer(std::vector<std::string> tokens, Rewrite rewrite = {})
      : tokens_(std::move(tokens)), rewrite_(std::move(rewrite)) {}
  [[nodiscard]] std::string_view token(int32_t id) const override { return tokens_[static_cast<size_t>(id)]; }
  [[nodiscard]] uint64_t vocabulary_size(TextSide) const override { return tokens_.size(); }

 private:
  [[nodiscard]] Result<Encoding> encode_plain(std::string_view, const EncodeOptions&) const override {
    return Encoding{};
  }
  [[nodiscard]] Result<Encoding> surround(const Encoding& first, const Encoding*, const EncodeOptions&) const override {
    return first;
  }
  [[nodiscard]] Result<std::string> decode_valid(std::span<const int32_t> ids, const DecodeOptions&) const override {
    std::string text;
    for (const int32_t id : ids) text += tokens_[static_cast<size_t>(id)];
    return rewrite_ ? rewrite_(text) : text;
  }
  std::vector<std::string> tokens_;
  Rewrite rewrite_;
};

std::vector<int32_t> all_of(const Tokenizer& t) {
  std::vector<int32_t> ids(t.vocabulary_size());
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i);
  return ids;
}

// The text that comes out after each id, and at the end.
std::vector<std::string> stream(const Tokenizer& t, const std::vector<int32_t>& ids) {
  IncrementalText text(&t);
  std::vector<std::string> parts;
  for (const int32_t id : ids) {
    auto part = text.push(std::span(&id, 1));
    EXPECT_TRUE(part.ok());
    parts.push_back(part.ok() ? *part : "");
    EXPECT_EQ(find_invalid_utf8(parts.back()), std::string_view::npos);
  }
  auto whole = t.decode(ids);
  EXPECT_TRUE(whole.ok());
  parts.push_back(text.finish(*whole));
  std::string joined;
  for (const auto& part : parts) joined += part;
  EXPECT_EQ(joined, *whole);
  return parts;
}

TEST(IncrementalText, WordsComeWhenTheyAreComplete) {
  const FakeTokenizer t({"Wh", "ere", " is", " the", " sta", "tion", "?"});
  EXPECT_EQ(stream(t, all_of(t)), (std::vector<std::string>{"", "", "Where", " is", " the", "", "", " station?"}));
}

TEST(IncrementalText, HalfCharactersWait) {
  // "é" and a face of four bytes, byte by byte, as byte-level tokens give them.
  const FakeTokenizer t({"caf", "\xc3", "\xa9", " ", "\xf0", "\x9f\x98", "\x80", " end", "s"});
  EXPECT_EQ(stream(t, all_of(t)),
            (std::vector<std::string>{"", "", "", "café", "", "", "", " \xf0\x9f\x98\x80", "", " ends"}));
}

std::vector<std::string> bytes_of(std::string_view text) {
  std::vector<std::string> tokens;
  for (const char c : text) tokens.emplace_back(1, c);
  return tokens;
}

TEST(IncrementalText, BytesOneATokenGiveWholeCharacters) {
  const std::string astronaut = "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80";
  const FakeTokenizer t(bytes_of(astronaut + " x"));
  const auto parts = stream(t, all_of(t));
  for (size_t i = 0; i + 1 < parts.size(); ++i) EXPECT_EQ(parts[i], i == astronaut.size() ? astronaut : "") << i;
}

TEST(IncrementalText, AnUnfinishedOrWrongByteGivesOneReplacement) {
  const std::string replaced = "\xEF\xBF\xBD";
  const FakeTokenizer unfinished(bytes_of("up \xF0\x9F\x91"));
  const auto parts = stream(unfinished, all_of(unfinished));
  EXPECT_EQ(parts.back(), " " + replaced);
  for (size_t i = 0; i + 1 < parts.size(); ++i) EXPECT_EQ(parts[i].find(replaced), std::string::npos) << i;
  const FakeTokenizer wrong(bytes_of("a \xFF b"));
  std::string text;
  for (const auto& part : stream(wrong, all_of(wrong))) text += part;
  EXPECT_EQ(text, "a " + replaced + " b");
}

TEST(IncrementalText, CharactersThatStandAloneDoNotWaitForASpace) {
  const FakeTokenizer t({"私", "は", "\xe5", "\xad\xa6", "生", "です", "。"});
  const auto parts = stream(t, all_of(t));
  EXPECT_EQ(parts[1], "私");
  EXPECT_EQ(parts[2], "は");
  EXPECT_EQ(parts[3], "");
  EXPECT_EQ(parts[4], "学");
}

TEST(IncrementalText, WhatIsCleanedUpLaterIsNotGivenBefore) {
  const auto clean = [](std::string text) {
    for (const auto& [from, to] : {std::pair<std::string, std::string>{" ' ", "'"}, {" .", "."}, {" n't", "n't"}})
      for (size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, from.size(), to);
    return text;
  };
  stream(FakeTokenizer({"I", " do", " n't", " know", " ."}, clean), {0, 1, 2, 3, 4});
  const auto parts = stream(FakeTokenizer({"it", " '", " s", " fine", " ."}, clean), {0, 1, 2, 3, 4});
  EXPECT_EQ(parts[1], "it");  // not "it '"
  EXPECT_EQ(parts[3], "'s");
}

TEST(IncrementalText, ADecodingThatRewritesEverythingIsNeverTakenBack) {
  // As no tokenizer here does: the text turns over with every token. What was given stays, nothing false is added.
  const FakeTokenizer t({"a ", "b ", "c "}, [](std::string s) { return std::string(s.rbegin(), s.rend()); });
  IncrementalText text(&t);
  std::string given;
  for (const int32_t id : {0, 1, 2}) given += text.push(std::span(&id, 1)).value();
  EXPECT_TRUE(text.finish("else").empty() || given.empty());
}

// Recorded texts of every tokenizer that the project keeps, id by id.
TEST(IncrementalText, RecordedTextsComeWhole) {
  size_t texts = 0, early = 0;
  for (const char* name : {"marian", "m2m_100", "byt5"}) {
    const std::string folder = std::string(LAPILLI_TEST_DATA) + "/tokenizers/" + name;
    std::ifstream file(folder + "/expected.json");
    const auto expected = nlohmann::json::parse(file, nullptr, false);
    ASSERT_TRUE(expected.is_object()) << folder;
    auto tokenizer = load_tokenizer(folder + "/files", name);
    if (!tokenizer) tokenizer = load_tokenizer(folder, name);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
    for (const auto& c : expected["cases"]) {
      if (!c.contains("ids")) continue;
      const auto parts = stream(**tokenizer, c["ids"].get<std::vector<int32_t>>());
      ++texts;
      for (size_t i = 0; i + 1 < parts.size(); ++i) early += !parts[i].empty();
    }
  }
  EXPECT_GT(texts, 200u);
  EXPECT_GT(early, 500u);
}

// ---- several pieces -----------------------------------------------------------------------------------------------

TEST(InputStream, PiecesComeInOrderWithTheirWhiteSpace) {
  const FakeTokenizer t({"One", " two", ".", "Three", ".", "<end>"});
  const std::string text = "\tEin zwei. \n Drei.  ";
  const std::vector<TextRange> ranges{{1, 10}, {13, 18}};
  InputStream in(&t, text, ranges);
  std::string got;
  std::vector<int32_t> ids;
  const auto take = [&](const InputStream::Output& out) {
    got += out.text;
    ids.insert(ids.end(), out.ids.begin(), out.ids.end());
    return out.text;
  };
  EXPECT_EQ(take(in.push(1, std::vector<int32_t>{3, 4}, true).value()), "");  // the second is ready first
  EXPECT_EQ(take(in.push(0, std::vector<int32_t>{0, 1}, false).value()), "\tOne");
  EXPECT_EQ(take(in.push(0, std::vector<int32_t>{2}, true).value()), " two. \n Three.  ");
  EXPECT_EQ(take(in.finish(0, "One two.", std::vector<int32_t>{0, 1, 2})), "");
  EXPECT_EQ(take(in.finish(1, "Three.", std::vector<int32_t>{3, 4})), "");
  EXPECT_EQ(got, join_sentences(text, ranges, std::vector<std::string>{"One two.", "Three."}));
  EXPECT_EQ(ids, (std::vector<int32_t>{0, 1, 2, 3, 4}));
}

// Any interleaving of any pieces gives what joining gives.
TEST(InputStream, AnyInterleavingIsTheJoinedText) {
  const FakeTokenizer t({"Uno", " dos", ".", "文", "。", "", " ", "é", "\xc3", "\xa9"});
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::string text(random() % 3, ' ');
    std::vector<TextRange> ranges;
    const size_t count = 2 + random() % 3;
    for (size_t i = 0; i < count; ++i) {
      ranges.push_back({text.size(), text.size() + 4});
      text += i + 1 < count && random() % 2 ? "abcd" : "abcd ";
    }
    std::vector<std::vector<int32_t>> ids(count);
    std::vector<std::string> said(count);
    for (size_t i = 0; i < count; ++i) {
      for (size_t n = random() % 6; n > 0; --n) ids[i].push_back(static_cast<int32_t>(random() % 10));
      said[i] = t.decode(ids[i]).value();
    }
    InputStream in(&t, text, ranges);
    std::string got;
    std::vector<int32_t> got_ids;
    const auto take = [&](const InputStream::Output& out) {
      got += out.text;
      got_ids.insert(got_ids.end(), out.ids.begin(), out.ids.end());
    };
    std::vector<size_t> at(count, 0);
    for (size_t open = count * 8; open > 0; --open) {
      const size_t i = random() % count;
      if (at[i] == ids[i].size()) continue;
      take(in.push(i, std::span(ids[i]).subspan(at[i], 1), false).value());
      ++at[i];
    }
    for (size_t i = 0; i < count; ++i) take(in.finish(i, said[i], ids[i]));
    EXPECT_EQ(got, join_sentences(text, ranges, said)) << round;
    std::vector<int32_t> all;
    for (const auto& one : ids) all.insert(all.end(), one.begin(), one.end());
    EXPECT_EQ(got_ids, all);
  }
}

}  // namespace
}  // namespace lapilli
