// Segments of speech as each format writes them.
#include "cli/run/subtitle_lines.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lapilli::cli {
namespace {

SpokenLine line() {
  SpokenLine l{1.5, 3, " Salt & <pepper> --> now", {300, 1, 2, 3, 4, 301}, {}};
  l.words = {{1.5, 1.75, " Salt", {1}, 0.9},
             {1.75, 1.75, " &", {2}, 0.8},
             {1.75, 2.5, " <pepper>", {3}, 0.123},
             {3.25, 3.5, " --> now", {4}, 1}};
  return l;
}

std::string written(SpeechFormat format, bool ids, bool words) {
  SubtitleLines lines({format, ids, false, words}, "a \"talk\".wav");
  return lines.head() + lines.line(line());
}

TEST(SubtitleLines, Text) {
  EXPECT_EQ(written(SpeechFormat::text, false, false), "Salt & <pepper> --> now\n");
  EXPECT_EQ(written(SpeechFormat::text, true, false), "300 1 2 3 4 301\n");
}

TEST(SubtitleLines, Srt) {
  SubtitleLines lines({SpeechFormat::srt}, "");
  EXPECT_EQ(lines.line(line()), "1\n00:00:01,500 --> 00:00:03,000\nSalt & <pepper> -> now\n\n");
  EXPECT_EQ(lines.line({4, 5, "  ", {}, {}}), "");
  EXPECT_EQ(lines.line({3599.9996, 360000, "late\nthen", {}, {}}).substr(0, 42),
            "2\n01:00:00,000 --> 100:00:00,000\nlate then");
}

// A time within a cue must be later than all before it, and earlier than the cue's end.
TEST(SubtitleLines, Vtt) {
  const std::string head = "WEBVTT\n\n00:00:01.500 --> 00:00:03.000\n";
  EXPECT_EQ(written(SpeechFormat::vtt, false, false), head + "Salt &amp; &lt;pepper> -> now\n\n");
  EXPECT_EQ(written(SpeechFormat::vtt, false, true), head + "Salt <00:00:01.750>&amp; &lt;pepper> -> now\n\n");
  EXPECT_EQ(written(SpeechFormat::vtt, true, true), head + "1 <00:00:01.750>2 3 4\n\n");
}

bool text_holds_arrow(const std::string& written) {
  size_t arrows = 0;
  for (size_t at = 0; (at = written.find("-->", at)) != std::string::npos; ++at) ++arrows;
  return arrows != 1;  // of its times
}

// Also where dashes and head are words of their own, or dashes are left when some are taken away.
TEST(SubtitleLines, NoTextHoldsAnArrow) {
  SpokenLine l{0, 9, "", {}, {}};
  const auto say = [&](const std::vector<std::string>& words, double apart) {
    l.text.clear();
    l.words.clear();
    for (const std::string& word : words) {
      const double begin = apart * static_cast<double>(l.words.size());
      l.text += word;
      l.words.push_back({begin, begin + 1, word, {}, 1});
    }
  };
  for (const std::vector<std::string>& words : {std::vector<std::string>{" Tom", " --", "> end"},
                                                {"-", "-", ">"},
                                                {"--->"},
                                                {" a", "----", "->", ">"},
                                                {"--", ">", "--", ">"},
                                                {"-->-->"},
                                                {" --", "&>"}})
    for (const double apart : {0.0, 0.5})
      for (const SpeechFormat format : {SpeechFormat::srt, SpeechFormat::vtt}) {
        say(words, apart);
        EXPECT_FALSE(text_holds_arrow(SubtitleLines({format, false, false, format == SpeechFormat::vtt}, "").line(l)));
        const std::string plain = SubtitleLines({format}, "").line(l);
        EXPECT_FALSE(text_holds_arrow(plain)) << plain;
      }
  say({" Tom", " --", "> end"}, 0);
  EXPECT_EQ(SubtitleLines({SpeechFormat::vtt, false, false, true}, "").line(l),
            "00:00:00.000 --> 00:00:09.000\nTom -> end\n\n");
  say({" Tom", " ----> end -- > -"}, 0);
  EXPECT_EQ(SubtitleLines({SpeechFormat::srt}, "").line(l), "1\n00:00:00,000 --> 00:00:09,000\nTom -> end -- > -\n\n");
}

SpeechStyle shaped(SpeechFormat format, bool words, uint32_t width, uint32_t count = 0) {
  SpeechStyle style;
  style.format = format;
  style.words = words;
  style.line_width = width;
  style.line_count = count;
  return style;
}

// Without a width a subtitle a word; one that takes no time stays up to the next, the last up to the segment's end.
TEST(SubtitleLines, SrtOfWords) {
  SubtitleLines each(shaped(SpeechFormat::srt, true, 0), "");
  EXPECT_EQ(each.line(line()),
            "1\n00:00:01,500 --> 00:00:01,750\nSalt\n\n2\n00:00:01,750 --> 00:00:01,750\n&\n\n"
            "3\n00:00:01,750 --> 00:00:02,500\n<pepper>\n\n4\n00:00:03,250 --> 00:00:03,500\n-> now\n\n");
  EXPECT_EQ(each.line({4, 5, " On", {}, {{4.5, 4.5, " On", {}, 1}}}), "5\n00:00:04,500 --> 00:00:05,000\nOn\n\n");
  EXPECT_EQ(SubtitleLines({SpeechFormat::srt, true, false, true}, "").line({0, 1, "", {7, 8}, {{0, 1, "", {7}, 1}}}),
            "1\n00:00:00,000 --> 00:00:01,000\n7\n\n");
}

// As many words as a line has room for, as many lines as a subtitle has; a word that is too long has one of its own.
TEST(SubtitleLines, WordsWithinAWidth) {
  EXPECT_EQ(SubtitleLines(shaped(SpeechFormat::srt, true, 6), "").line(line()),
            "1\n00:00:01,500 --> 00:00:01,750\nSalt &\n\n2\n00:00:01,750 --> 00:00:02,500\n<pepper>\n\n"
            "3\n00:00:03,250 --> 00:00:03,500\n-> now\n\n");
  EXPECT_EQ(SubtitleLines(shaped(SpeechFormat::srt, true, 6, 2), "").line(line()),
            "1\n00:00:01,500 --> 00:00:02,500\nSalt &\n<pepper>\n\n2\n00:00:03,250 --> 00:00:03,500\n-> now\n\n");
  EXPECT_EQ(SubtitleLines(shaped(SpeechFormat::vtt, true, 15), "").line(line()),
            "00:00:01.500 --> 00:00:02.500\nSalt <00:00:01.750>&amp; &lt;pepper>\n\n"
            "00:00:03.250 --> 00:00:03.500\n-> now\n\n");
  // Characters count, not bytes; what has no blank before it is not put apart.
  const std::vector<SpokenWord> others{
      {0, 1, " \u00e9t\u00e9", {}, 1}, {1, 2, "\u4f60", {}, 1}, {2, 3, "\u597d", {}, 1}};
  EXPECT_EQ(SubtitleLines(shaped(SpeechFormat::srt, true, 4), "").line({0, 3, "x", {}, others}),
            "1\n00:00:00,000 --> 00:00:02,000\n\u00e9t\u00e9\u4f60\n\n2\n00:00:02,000 --> 00:00:03,000\n\u597d\n\n");
}

// Without words a subtitle is a segment, in lines.
TEST(SubtitleLines, TextWithinAWidth) {
  EXPECT_EQ(SubtitleLines(shaped(SpeechFormat::srt, false, 8), "").line(line()),
            "1\n00:00:01,500 --> 00:00:03,000\nSalt &\n<pepper>\n-> now\n\n");
  EXPECT_EQ(SubtitleLines(shaped(SpeechFormat::vtt, false, 100), "").line({0, 1, "a\tb  c\nd", {}, {}}),
            "00:00:00.000 --> 00:00:01.000\na b c d\n\n");
  SpeechStyle ids = shaped(SpeechFormat::srt, false, 5);
  ids.ids = true;
  EXPECT_EQ(SubtitleLines(ids, "").line(line()), "1\n00:00:01,500 --> 00:00:03,000\n300 1\n2 3 4\n301\n\n");
}

// As far as it goes; times of words that are later are left out.
TEST(SubtitleLines, SubtitlesEndWithTheRecording) {
  const auto within = [](SpeechFormat format, double length) {
    return SubtitleLines({format, false, false, format == SpeechFormat::vtt}, "a").line(line(), length);
  };
  EXPECT_TRUE(within(SpeechFormat::srt, 2.25).starts_with("1\n00:00:01,500 --> 00:00:02,250\n"));
  EXPECT_TRUE(within(SpeechFormat::srt, 4).starts_with("1\n00:00:01,500 --> 00:00:03,000\n"));
  EXPECT_TRUE(within(SpeechFormat::srt, 1).starts_with("1\n00:00:01,000 --> 00:00:01,000\n"));
  EXPECT_EQ(within(SpeechFormat::vtt, 1.75), "00:00:01.500 --> 00:00:01.750\nSalt &amp; &lt;pepper> -> now\n\n");
  EXPECT_TRUE(within(SpeechFormat::tsv, 1).starts_with("1500\t3000\t"));
  EXPECT_EQ(nlohmann::json::parse(within(SpeechFormat::json, 1)).at("end"), 3);
}

TEST(SubtitleLines, Tsv) {
  EXPECT_EQ(written(SpeechFormat::tsv, false, false), "start\tend\ttext\n1500\t3000\tSalt & <pepper> --> now\n");
  EXPECT_EQ(written(SpeechFormat::tsv, false, true),
            "start\tend\tconfidence\ttext\n1500\t1750\t0.90\tSalt\n1750\t1750\t0.80\t&\n1750\t2500\t0.12\t<pepper>\n"
            "3250\t3500\t1.00\t--> now\n");
}

// Several recordings have one output.
TEST(SubtitleLines, TextAndTsvSayWhichRecordingTheyAreOf) {
  SpeechStyle style;
  style.named = true;
  EXPECT_EQ(SubtitleLines(style, "a\tb\n.wav").line({1, 2, "Hello", {}, {}}), "a b .wav\tHello\n");
  style.format = SpeechFormat::tsv;
  SubtitleLines tsv(style, "a.wav");
  EXPECT_EQ(tsv.head(), "file\tstart\tend\ttext\n");
  EXPECT_EQ(tsv.line({1, 2, "Hello", {}, {}}), "a.wav\t1000\t2000\tHello\n");
}

TEST(SubtitleLines, Json) {
  const auto plain = nlohmann::json::parse(written(SpeechFormat::json, false, false));
  EXPECT_EQ(plain, nlohmann::json::parse(R"({"file": "a \"talk\".wav", "begin": 1.5, "end": 3,
                                             "text": "Salt & <pepper> --> now"})"));
  const auto words = nlohmann::json::parse(written(SpeechFormat::json, true, true));
  EXPECT_EQ(words.at("ids"), nlohmann::json({300, 1, 2, 3, 4, 301}));
  ASSERT_EQ(words.at("words").size(), 4u);
  EXPECT_EQ(words["words"][2], nlohmann::json::parse(R"({"begin": 1.75, "end": 2.5, "text": " <pepper>", "ids": [3],
                                                         "confidence": 0.12})"));
}

TEST(SubtitleLines, JsonSaysTheLanguage) {
  SpokenLine l = line();
  EXPECT_FALSE(nlohmann::json::parse(SubtitleLines({SpeechFormat::json}, "-").line(l)).contains("language"));
  l.language = "fr";
  EXPECT_EQ(nlohmann::json::parse(SubtitleLines({SpeechFormat::json}, "-").line(l)).at("language"), "fr");
}

// One object of all, also where there is nothing.
TEST(SubtitleLines, JsonDocument) {
  SubtitleLines lines(shaped(SpeechFormat::document, false, 0), "a \"talk\".wav");
  std::string all = lines.head();
  EXPECT_EQ(nlohmann::json::parse(all + lines.tail()).at("segments").size(), 0u);
  all += lines.line(line());
  all += lines.line({4, 5, " Then", {}, {}});
  const auto document = nlohmann::json::parse(all + lines.tail());
  EXPECT_EQ(document.at("file"), "a \"talk\".wav");
  ASSERT_EQ(document.at("segments").size(), 2u);
  EXPECT_EQ(document["segments"][1], nlohmann::json::parse(R"({"file": "a \"talk\".wav", "begin": 4, "end": 5,
                                                               "text": "Then"})"));
}

TEST(SubtitleLines, FormatsOfNames) {
  EXPECT_EQ(format_of_target("a/talk.srt"), SpeechFormat::srt);
  EXPECT_EQ(format_of_target("talk.json"), SpeechFormat::document);
  EXPECT_EQ(format_of_target("talk.jsonl"), SpeechFormat::json);
  EXPECT_EQ(format_of_target("talk.txt"), SpeechFormat::text);
  for (const char* other : {"talk", "talk.mp3", ".srt", "srt", "a.srt/talk"}) EXPECT_FALSE(format_of_target(other));
}

TEST(SubtitleLines, JsonSaysWhatMayChange) {
  SubtitleLines lines({SpeechFormat::json, false, true}, "-");
  SpokenLine l = line();
  EXPECT_EQ(nlohmann::json::parse(lines.line(l)).at("final"), true);
  l.final = false;
  EXPECT_EQ(nlohmann::json::parse(lines.line(l)).at("final"), false);
}

}  // namespace
}  // namespace lapilli::cli
