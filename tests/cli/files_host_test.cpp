// The program's work with files that needs no device: names, journals, records, progress.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "base/counts.hpp"
#include "cli/files/journal.hpp"
#include "cli/files/json_object.hpp"
#include "cli/files/output_names.hpp"
#include "cli/files/record_format.hpp"
#include "cli/progress/progress_text.hpp"

namespace lapilli::cli {
namespace {

// ---- names ----

TEST(OutputNames, SuffixesStandBeforeTheEnding) {
  EXPECT_EQ(with_suffix("letter.txt", ".fr"), "letter.fr.txt");
  EXPECT_EQ(with_suffix("a.b/letter.tar.md", "-de"), "a.b/letter.tar-de.md");
  EXPECT_EQ(with_suffix("a.b/letter", ".fr"), "a.b/letter.fr");
  EXPECT_EQ(with_suffix(".profile", ".fr"), ".profile.fr");
  EXPECT_EQ(with_suffix("..", ".fr"), "...fr");
  EXPECT_EQ(with_suffix("letter.", ".fr"), "letter..fr");
  EXPECT_EQ(with_suffix("", ".fr"), ".fr");
  EXPECT_EQ(with_suffix("letter.txt", ""), "letter.txt");
}

TEST(OutputNames, SuffixesAreKnownAgain) {
  EXPECT_TRUE(has_suffix(with_suffix("a/letter.txt", ".fr"), ".fr"));
  EXPECT_TRUE(has_suffix("letter-de.md", "-de"));
  EXPECT_FALSE(has_suffix("letter.txt", ".fr"));
  EXPECT_FALSE(has_suffix("letter.fr", ".fr"));
  EXPECT_FALSE(has_suffix(".fr.txt", ".fr"));
  EXPECT_FALSE(has_suffix("letter.fr.txt", ""));
}

TEST(OutputNames, Paths) {
  EXPECT_EQ(path_in("a", "b"), "a/b");
  EXPECT_EQ(path_in("a/", "b"), "a/b");
  EXPECT_EQ(path_in("", "b"), "b");
  EXPECT_EQ(last_part("a/b.txt"), "b.txt");
  EXPECT_EQ(last_part("b.txt"), "b.txt");
  EXPECT_TRUE(names_folder("a/"));
  EXPECT_FALSE(names_folder("a"));
  EXPECT_FALSE(names_folder(""));
}

// ---- journals ----

const Identity kIdentity = {{"model", "a\tb\nc\\d\r"}, {"--beam", "4"}, {"", ""}};

TEST(Journals, ComeBack) {
  const SavedSegment segment{false, "line\n\ttab \\", {{1, 2, 3, 4, 0.25f}, {5, 6, 7, 8, 1.f}}};
  const SavedSegment failed{true, "", {}};
  std::string text = journal_head(kIdentity) + journal_record(segment) + journal_record(failed);
  const auto begun = read_journal(text);
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->identity, kIdentity);
  EXPECT_TRUE(begun->segments.empty()) << "no point stands behind them";
  text += journal_record(Point{3, 2, 1000, 7, 42});
  const auto journal = read_journal(text);
  ASSERT_TRUE(journal);
  EXPECT_EQ(journal->point.source, 3u);
  EXPECT_EQ(journal->point.units, 2u);
  EXPECT_EQ(journal->point.bytes, 1000u);
  EXPECT_EQ(journal->point.failed, 7u);
  EXPECT_EQ(journal->point.lines_before, 42u);
  EXPECT_FALSE(journal->complete);
  // Those of an input that is done do not count; whether it is complete comes last.
  text += journal_record(Point{4, 0, 2000, 7, 44}) + journal_end();
  const auto ended = read_journal(text);
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->segments.empty());
  EXPECT_TRUE(ended->complete);
}

TEST(Journals, SegmentsComeBack) {
  const SavedSegment segment{false, "line\n\ttab \\", {{1, 2, 3, 4, 0.25f}, {5, 6, 7, 8, 1.f}}};
  const SavedSegment failed{true, "", {}};
  const auto journal = read_journal(journal_head(kIdentity) + journal_record(segment) + journal_record(failed) +
                                    journal_record(Point{0, 2, 0, 1, 0}));
  ASSERT_TRUE(journal);
  ASSERT_EQ(journal->segments.size(), 2u);
  EXPECT_EQ(journal->segments[0].text, segment.text);
  ASSERT_EQ(journal->segments[0].links.size(), 2u);
  EXPECT_EQ(journal->segments[0].links[0].target_end, 4u);
  EXPECT_EQ(journal->segments[0].links[0].weight, 0.25f);
  EXPECT_FALSE(journal->segments[0].failed);
  EXPECT_TRUE(journal->segments[1].failed);
}

// However much of it reached the disk: the last whole point counts.
TEST(Journals, CutAnywhere) {
  const std::string head = journal_head(kIdentity);
  std::string text = head;
  for (uint64_t i = 1; i <= 5; ++i)
    text += journal_record(SavedSegment{false, "text", {}}) + journal_record(Point{0, i, 0, 0, 0});
  for (size_t size = 0; size <= text.size(); ++size) {
    const auto journal = read_journal(std::string_view(text).substr(0, size));
    if (!journal) {
      EXPECT_LT(size, head.size());
    } else {
      EXPECT_EQ(journal->segments.size(), journal->point.units) << size;
    }
  }
}

TEST(Journals, OthersAreNone) {
  const std::string head = journal_head(kIdentity);
  for (const std::string& bad :
       {std::string(), std::string("\n"), std::string("lapilli journal 2\n"), std::string("lapilli journal 1"),
        head + "done 1 2 3\n", head + "done 1 2 3 4 5 6\n", head + "done 1 2 3 4 -5\n", head + "done  2 3 4 5\n",
        head + "over 1 2 3 4 5\n", head + "done 1 2 3 4 99999999999999999999\n", head + "segment\tok\n",
        head + "segment\tmaybe\ttext\n", head + "segment\tok\ttext\t1 2 3\n", head + "segment\tok\tbad\\x\n",
        head + "segment\tok\tbad\\\n", head + "segment\tok\ttext\t1 2 3 4 99999999999\n",
        head + "done 0 0 0 0 0\nof\tlate\tvalue\n", head + "segment\tok\ta\nsegment\tok\tb\ndone 0 1 0 0 0\n",
        std::string("lapilli journal 1\nof\ta\n")}) {
    EXPECT_FALSE(read_journal(bad)) << bad;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text =
        head + journal_record(SavedSegment{false, "text", {{1, 2, 3, 4, 1.f}}}) + journal_record(Point{0, 1, 0, 0, 0});
    for (int n = 0; n < 3; ++n) text[random() % text.size()] = static_cast<char>(random());
    (void)read_journal(text);
  }
}

TEST(Journals, WhatDiffersIsNamed) {
  EXPECT_EQ(difference(kIdentity, kIdentity), "");
  Identity other = kIdentity;
  other[1].second = "5";
  EXPECT_EQ(difference(kIdentity, other), "--beam");
  other = kIdentity;
  other.emplace_back("input b.txt", "1");
  EXPECT_EQ(difference(kIdentity, other), "input b.txt");
  EXPECT_EQ(difference(other, kIdentity), "input b.txt");
}

// ---- JSON ----

TEST(JsonObjects, OneMemberIsReadAndWritten) {
  const std::string text = R"({ "a": [1, {"text": "no"}], "text" :"x\u00e9\ud83d\ude00\"\\\n", "b":1e-5})";
  const JsonObject object(text);
  ASSERT_EQ(object.error(), "");
  std::string value;
  EXPECT_EQ(object.find("text", value), JsonObject::Found::string);
  EXPECT_EQ(value, "x\u00e9\U0001f600\"\\\n");
  EXPECT_EQ(object.find("a", value), JsonObject::Found::other);
  EXPECT_EQ(object.find("c", value), JsonObject::Found::nothing);
  EXPECT_EQ(object.with("text", "y"), R"({ "a": [1, {"text": "no"}], "text" :"y", "b":1e-5})");
  EXPECT_EQ(object.with("c", "\""), text.substr(0, text.size() - 1) + R"(, "c": "\""})");
  EXPECT_EQ(JsonObject("{}").with("c", "1"), R"({"c":"1"})");
  EXPECT_EQ(JsonObject(" {\"a\":0 } ").with("c", "1"), " {\"a\":0,\"c\":\"1\" } ");
}

TEST(JsonObjects, LoneSurrogatesAndDoubledNames) {
  std::string value;
  EXPECT_EQ(JsonObject(R"({"a":"\ud83d","b":"\ude00x","c":"\ud83d\u0041"})").find("c", value),
            JsonObject::Found::string);
  EXPECT_EQ(value,
            "\ufffd"
            "A");
  EXPECT_EQ(JsonObject(R"({"a":"1","\u0061":"2"})").find("a", value), JsonObject::Found::string);
  EXPECT_EQ(value, "2");
}

TEST(JsonObjects, OtherTextIsNone) {
  std::string deep(100000, '[');
  for (const std::string& bad : {std::string(),
                                 std::string(" "),
                                 std::string("[]"),
                                 std::string("\"a\""),
                                 std::string("{"),
                                 std::string("{\"a\""),
                                 std::string("{\"a\":}"),
                                 std::string("{\"a\":1,}"),
                                 std::string("{a:1}"),
                                 std::string("{\"a\":01}"),
                                 std::string("{\"a\":1.}"),
                                 std::string("{\"a\":-}"),
                                 std::string("{\"a\":1e}"),
                                 std::string("{\"a\":tru}"),
                                 std::string("{\"a\":\"\\x\"}"),
                                 std::string("{\"a\":\"\\u12g4\"}"),
                                 std::string("{\"a\":\"\\u12"),
                                 std::string("{\"a\":\"\\"),
                                 std::string("{\"a\":\"\t\"}"),
                                 std::string("{} {}"),
                                 std::string("{}}"),
                                 std::string("{\"a\":[1 2]}"),
                                 "{\"a\":" + deep}) {
    const JsonObject object(bad);
    EXPECT_NE(object.error(), "") << bad.substr(0, 40);
    std::string value;
    EXPECT_EQ(object.find("a", value), JsonObject::Found::nothing) << bad.substr(0, 40);
  }
  const std::string good = R"({"a":[1,2.5,-0,1e+9,true,false,null,{"b":"\u00e9"}],"text":"x"})";
  EXPECT_EQ(JsonObject(good).error(), "");
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    std::string text = good;
    for (int n = 0; n < 2; ++n) text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % (text.size() + 1));
    const JsonObject object(text);
    if (object.error().empty()) (void)object.with("text", "y");
  }
}

// ---- records ----

Line line(const std::string& text, uint64_t number = 1, std::string_view end = "\n") {
  Line made;
  made.text = text;
  made.number = number;
  made.end = end;
  return made;
}

TEST(Records, JsonLines) {
  const auto format = json_lines("text", "translation");
  const Line some = line(R"({"text":"Hello.","n":1})", 1, "\r\n");
  EXPECT_EQ(format->text(some).text, "Hello.");
  EXPECT_EQ(format->output(some, {"Bonjour.", "", false}),
            "{\"text\":\"Hello.\",\"n\":1,\"translation\":\"Bonjour.\"}\r\n");
  EXPECT_EQ(format->output(some, {"", "too long", false}), "{\"text\":\"Hello.\",\"n\":1,\"error\":\"too long\"}\r\n");
  EXPECT_EQ(format->text(line(" ")).error, "");
  EXPECT_EQ(format->output(line(" "), {"", "", true}), " \n");
  EXPECT_NE(format->text(line("Hello.")).error, "");
  EXPECT_EQ(format->output(line("Hello.", 1, ""), {"", "no", false}), "Hello.");
  EXPECT_NE(format->text(line("{\"text\":1}")).error, "");
  EXPECT_NE(format->text(line("{}")).error, "");
  EXPECT_EQ(format->refusal(), "");
  EXPECT_EQ(json_lines("text", "text")->output(some, {"Bonjour.", "", false}), "{\"text\":\"Bonjour.\",\"n\":1}\r\n");
}

TEST(Records, TabColumns) {
  const auto second = tab_columns("2");
  const Line some = line("1\tHello.\tx", 1, "\r\n");
  EXPECT_EQ(second->text(some).text, "Hello.");
  EXPECT_EQ(second->output(some, {"Bon\tjour\n.", "", false}), "1\tBon jour .\tx\r\n");
  EXPECT_EQ(second->output(some, {"", "failed", false}), "1\tHello.\tx\r\n");
  EXPECT_NE(second->text(line("1")).error, "");
  EXPECT_EQ(second->text(line("")).error, "");
  EXPECT_EQ(second->output(line("1\t"), {"", "", true}), "1\t\n");
  const auto last = tab_columns("3");
  EXPECT_EQ(last->output(some, {"y", "", false}), "1\tHello.\ty\r\n");
  EXPECT_NE(tab_columns("18446744073709551615")->text(some).error, "");
}

TEST(Records, TabColumnsByName) {
  const auto named = tab_columns("text");
  EXPECT_EQ(named->refusal(), "");
  const Line head = line("id\ttext", 1), some = line("1\tHello.", 2);
  EXPECT_EQ(named->text(head).text, "");
  EXPECT_EQ(named->refusal(), "");
  EXPECT_EQ(named->output(head, {"", "", true}), "id\ttext\n");
  EXPECT_EQ(named->text(some).text, "Hello.");
  EXPECT_EQ(named->output(some, {"Bonjour.", "", false}), "1\tBonjour.\n");
  for (const char* name : {"texts", "", "0", "-1", "1x"}) {
    const auto none = tab_columns(name);
    EXPECT_EQ(none->text(head).text, "") << name;
    EXPECT_NE(none->refusal(), "") << name;
  }
}

// ---- 1,000 records of each kind by chance: all but the words comes out as it went in ----

std::string some_text(std::mt19937& random) {
  static const char* const parts[] = {"a", "Hello", " ", "\xc3\xa9", "\xf0\x9f\x98\x80", "\"", "\\", "/", "{", "]",
                                      ",", ":",     "'", "9"};
  std::string text;
  for (size_t i = random() % 12; i > 0; --i) text += parts[random() % std::size(parts)];
  return text;
}

std::string json_value(std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 6 : 4)) {
    case 0: return nlohmann::json(some_text(random)).dump(-1, ' ', random() % 2 == 0);
    case 1: return std::to_string(static_cast<int>(random() % 2000) - 1000) + (random() % 2 ? ".50" : "e0");
    case 2: return "null";
    case 3: return random() % 2 ? "true" : "false";
    case 4: return "[" + json_value(random, depth - 1) + " ,\t" + json_value(random, depth - 1) + "]";
    default: return "{\"text\": " + json_value(random, depth - 1) + "}";
  }
}

TEST(Records, AThousandJsonLinesKeepAllElse) {
  std::mt19937 random(11);
  const auto format = json_lines("text", "text");
  for (int i = 0; i < 1000; ++i) {
    std::string front = random() % 2 ? " {" : "{ ", behind;
    for (size_t n = random() % 4; n > 0; --n)
      front += nlohmann::json("a" + std::to_string(n) + some_text(random)).dump() + " : " + json_value(random, 3) + ",";
    front += "\"text\":";
    for (size_t n = random() % 4; n > 0; --n) behind += ", \"b" + std::to_string(n) + "\" :" + json_value(random, 3);
    behind += random() % 2 ? "}" : " } ";
    const std::string words = some_text(random), other = some_text(random);
    const Line made = line(front + nlohmann::json(words).dump() + behind, 1, random() % 2 ? "\r\n" : "\n");
    const auto read = format->text(made);
    EXPECT_EQ(read.text, words) << made.text << read.error;
    const std::string out = format->output(made, {other, "", false});
    ASSERT_TRUE(out.starts_with(front) && out.ends_with(behind + std::string(made.end))) << made.text << "\n" << out;
    const std::string value = out.substr(front.size(), out.size() - front.size() - behind.size() - made.end.size());
    EXPECT_EQ(nlohmann::json::parse(value, nullptr, false), nlohmann::json(other)) << out;
  }
}

TEST(Records, AThousandRowsKeepAllElse) {
  std::mt19937 random(12);
  for (int i = 0; i < 1000; ++i) {
    const size_t column = random() % 5;
    std::string front, behind;
    for (size_t n = 0; n < column; ++n) front += some_text(random) + "\t";
    for (size_t n = random() % 4; n > 0; --n) behind += "\t" + some_text(random);
    const std::string words = "w" + some_text(random), other = some_text(random);
    const auto format = tab_columns(std::to_string(column + 1));
    const Line made = line(front + words + behind, 1, random() % 2 ? "\r\n" : "\n");
    EXPECT_EQ(format->text(made).text, words) << made.text;
    EXPECT_EQ(format->output(made, {other, "", false}), front + other + behind + std::string(made.end)) << made.text;
  }
}

// ---- progress ----

TEST(ProgressText, Numbers) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(counted(1, "layer"), "1 layer");
  EXPECT_EQ(counted(2048, "token"), "2,048 tokens");
  EXPECT_EQ(parameters_text(49664), "49,664 parameters");
  EXPECT_EQ(parameters_text(7322177), "7.3 million parameters");
  EXPECT_EQ(size_text(198656), "194 KiB");
  EXPECT_EQ(size_text(29884416), "28.5 MiB");
}

TEST(ProgressText, SaysWhatIsKnown) {
  ProgressState pipe;
  pipe.lines = 1234;
  pipe.seconds = 100;
  EXPECT_EQ(progress_text(pipe, 80), "1,234 lines, 12/s");
  EXPECT_EQ(progress_text(pipe, 20), "1,234 lines, 12/s");
  EXPECT_EQ(progress_text(pipe, 15), "1,234 lines");
  ProgressState file = pipe;
  file.share = 0.25;
  EXPECT_EQ(progress_text(file, 20), " 25 %, 1,234 lines");
  EXPECT_EQ(progress_text(file, 80), "[##########..............................]  25 %, 1,234 lines, 12/s, 5:00 left");
  ProgressState line;
  line.share = 0;
  line.seconds = 5;
  line.sentences = 12;
  line.sentences_of = 80;
  line.file = 2;
  line.files = 3;
  EXPECT_EQ(progress_text(line, 60), "[............]   0 %, file 2/3, 0 lines, 12 of 80 sentences");
}

// No terminal goes to another line, whatever there is to say, and the first part stays.
TEST(ProgressText, FitsEveryWidth) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    ProgressState state;
    if (i % 3 > 0) state.share = static_cast<double>(random() % 1001) / 1000;
    state.lines = random() >> (random() % 64);
    state.sentences = random() >> (random() % 64);
    state.sentences_of = random() >> (random() % 64);
    state.file = random() % 10000;
    state.files = random() % 10000;
    state.seconds = static_cast<double>(random() % 1000000) / 7;
    for (int columns = 1; columns <= 200; ++columns) {
      const std::string text = progress_text(state, columns);
      EXPECT_LT(static_cast<int>(text.size()), columns);
      EXPECT_EQ(text.find_first_not_of(" !\"#$%&'()*+,-./0123456789:;<=>?@[\\]abcdefghijklmnopqrstuvwxyz"),
                std::string::npos);
      if (columns < 20 || !state.share) continue;
      EXPECT_NE(text.find(" %"), std::string::npos) << columns << ": " << text;
    }
  }
}

}  // namespace
}  // namespace lapilli::cli
