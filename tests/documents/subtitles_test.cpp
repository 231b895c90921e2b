// Subtitles whose frame is written otherwise than usual: it stays, and the words between are translated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents/document.hpp"

namespace lapilli::documents {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(Kind kind, const std::string& bytes) {
  std::vector<std::string> texts;
  const auto document = Document::parse(kind, bytes);
  EXPECT_TRUE(document.ok());
  for (const Segment& s : document->segments()) texts.push_back(s.text);
  return texts;
}

// Each text in other words.
std::string translated(Kind kind, const std::string& bytes) {
  const auto document = Document::parse(kind, bytes);
  EXPECT_TRUE(document.ok());
  std::vector<Translation> other;
  for (size_t i = 0; i < document->segments().size(); ++i) other.push_back({"mot" + std::to_string(i), {}});
  return *document->render(other);
}

std::string between(const std::string& number, const std::string& time) {
  return "1\n00:00:01,000 --> 00:00:02,000\nGood morning.\n\n" + number + "\n" + time +
         "\nWhere is it?\n\n3\n00:00:55,000 --> 00:00:56,000\nThank you.\n";
}

TEST(SubtitleTimes, StayHoweverTheyAreWritten) {
  for (const char* time :
       {"00:00:01,500 --> 00:00:02,500", "-00:00:01,500 --> 00:00:02,500", "00:00:-01,500 --> 00:00:02,500",
        "00:00:01:500 --> 00:00:02:500", "00:00:01;12 --> 00:00:02;12", "00.00.01.500 --> 00.00.02.500",
        "00:00:01,500 -> 00:00:02,500", "00:00:01,500 => 00:00:02,500", "00:00:01,500 \u2192 00:00:02,500",
        "00:00:01,500 \u2014> 00:00:02,500", "00:00:01,500 --&gt; 00:00:02,500", "100:00:01,500 --> 100:00:02,500",
        "00: 00: 01, 500 -> 00: 00: 02, 500", "00:00:01,500 bis 00:00:02,500", "00:00:01,500 00:00:02,500",
        "\uff10\uff10:\uff10\uff10:\uff10\uff11 --> \uff10\uff10:\uff10\uff10:\uff10\uff12",
        "00:00:01,500 --> ??:??:??,???", "99999999999999999999:00:01 --> 9:9"}) {
    const std::string bytes = between("2", time);
    EXPECT_THAT(texts(Kind::srt, bytes), ElementsAre("Good morning.", "Where is it?", "Thank you.")) << time;
    std::string wanted = bytes;
    wanted.replace(wanted.find("Good morning."), 13, "mot0").replace(wanted.find("Where is it?"), 12, "mot1");
    wanted.replace(wanted.find("Thank you."), 10, "mot2");
    EXPECT_EQ(translated(Kind::srt, bytes), wanted);
  }
}

TEST(SubtitleTimes, NumbersAreNoTextWhateverFollows) {
  for (const char* number : {"2", "2.", "#2", " 2 ", "\u0662", "002"}) {
    EXPECT_THAT(texts(Kind::srt, between(number, "00:00:01,500 -> 00:00:02,500")),
                ElementsAre("Good morning.", "Where is it?", "Thank you."))
        << number;
    EXPECT_THAT(texts(Kind::srt, between(number, "no time")),
                ElementsAre("Good morning.", "no time Where is it?", "Thank you."))
        << number;
  }
}

TEST(SubtitleTimes, TextsMaySayTimes) {
  for (const char* text :
       {"10:30 -> 11:30 breakfast", "Call 0800 123 456 now.", "1984\nwas a year.", "It is 10:30:00"}) {
    const std::string bytes = "1\n00:00:01,000 --> 00:00:02,000\n" + std::string(text) + "\n";
    EXPECT_EQ(texts(Kind::srt, bytes).size(), 1u) << text;
    EXPECT_EQ(texts(Kind::srt, bytes)[0].size(), std::string(text).size());
  }
}

TEST(SubtitleTimes, InWebVttTheArrowIsOne) {
  EXPECT_THAT(
      texts(Kind::vtt, "WEBVTT\n\n1\n100:00:01.500 --> 100:00:02.500\nWhere?\n\n-00:01.000 --> 00:02.000\nNow\n"),
      ElementsAre("Where?", "Now"));
  EXPECT_THAT(
      texts(Kind::vtt, "WEBVTT\n\nNOTE\n00:00:01.000 -> 00:00:02.000\nNo text\n\n00:01.000 --> 00:02.000\nNow\n"),
      ElementsAre("Now"));
}

TEST(SubtitleTimes, SentencesGoOnOnlyWhereTimesAreKnown) {
  const std::string first = "1\n00:00:01,000 --> 00:00:02,000\nThe red car\n\n2\n", last = "\nis here.\n";
  EXPECT_THAT(texts(Kind::srt, first + "00:00:02:100 -> 00:00:03:000" + last), ElementsAre("The red car is here."));
  EXPECT_THAT(texts(Kind::srt, first + "00:00:02,100 bis 00:00:03,000" + last), ElementsAre("The red car", "is here."));
}

}  // namespace
}  // namespace lapilli::documents
