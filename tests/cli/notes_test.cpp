// The program's notes on outputs that are no errors: cut, in a loop, of unknown words, with lost addresses, kept.
#include "cli/run/notes.hpp"

#include "cli/program.hpp"

namespace lapilli::test {
namespace {

using cli::notes_of;

Sequence sequence(Finish finish, size_t tokens) {
  Sequence s;
  s.finish = finish;
  s.ids.assign(tokens, 5);
  s.parts.push_back({"", s.ids, 0, 0, 0, 0, 0, finish, false});
  return s;
}

std::string only(const std::vector<cli::Note>& notes) {
  return notes.size() == 1 ? notes[0].what + "; " + notes[0].advice : "not one note";
}

TEST(CliNotes, NothingToSay) {
  EXPECT_TRUE(notes_of(sequence(Finish::stop, 9), {}).empty());
  EXPECT_TRUE(notes_of(sequence(Finish::kept, 0), {}).empty());
  Sequence half = sequence(Finish::stop, 9);
  half.word_tokens = 10;
  half.unknown_tokens = 5;
  EXPECT_TRUE(notes_of(half, {}).empty());
}

TEST(CliNotes, SayWhatToDo) {
  const Sequence cut = sequence(Finish::length, 511);
  EXPECT_TRUE(contains(only(notes_of(cut, {0, false})), "cut at 511 tokens (max_length)"));
  EXPECT_TRUE(contains(only(notes_of(cut, {1024, false})), "allow more with --max-length"));
  EXPECT_TRUE(contains(only(notes_of(cut, {512, false})), "all that the model has"));
  Sequence loop = cut;
  loop.repeats = true;
  EXPECT_TRUE(contains(only(notes_of(loop, {})), "repeats itself"));
  Sequence unknown = sequence(Finish::stop, 9);
  unknown.word_tokens = 10;
  unknown.unknown_tokens = 6;
  EXPECT_TRUE(
      contains(only(notes_of(unknown, {})), "6 of 10 tokens with letters are unknown to the model; is the text in "));
  Sequence lost = sequence(Finish::stop, 9);
  lost.lost_address = "https://a.b/" + std::string(107, 'x') + "\u00e9\u00e9\u00e9";
  EXPECT_TRUE(contains(only(notes_of(lost, {})), "xx... is not in the output"));  // no character in half
  EXPECT_TRUE(notes_of(lost, {512, false, true}).empty());
  EXPECT_TRUE(contains(only(notes_of(sequence(Finish::kept, 0), {512, true})), "no attention to write"));
  unknown.finish = Finish::length;
  unknown.lost_address = "a@b.c";
  EXPECT_EQ(notes_of(unknown, {}).size(), 3u);
}

TEST(CliNotes, SayWhereARecordingsTextRepeatsItself) {
  std::vector<Segment> segments(3);
  EXPECT_EQ(cli::loop_note(segments, {}), "");
  segments[1].begin = 12.5;
  segments[1].end = 30;
  segments[1].repeats = true;
  const std::string one = cli::loop_note(segments, {true, false});
  EXPECT_TRUE(contains(one, "repeats itself again and again (12.50 to 30.00 s), ")) << one;
  EXPECT_TRUE(contains(one, "--fallback"));
  segments[2].repeats = true;
  const std::string more = cli::loop_note(segments, {true, true});
  EXPECT_TRUE(contains(more, "30.00 s, and in 1 more segments)")) << more;
  EXPECT_FALSE(contains(more, "--fallback"));
  EXPECT_TRUE(contains(cli::loop_note(segments, {}), "shorter recordings"));
}

// Once a window, whatever it has of segments; of many the first few.
TEST(CliNotes, SayWhichWindowsWantAnotherAttempt) {
  std::vector<Segment> segments(3);
  EXPECT_EQ(cli::doubt_note(segments), "");
  const auto add = [&](double window, double begin, double end) {
    Segment s;
    s.window_begin = window;
    s.begin = begin;
    s.end = end;
    s.doubtful = true;
    segments.push_back(s);
  };
  add(30, 30, 32.5);
  add(30, 32.5, 41.25);
  const std::string one = cli::doubt_note(segments);
  EXPECT_TRUE(contains(one, "what is written of 30.00 to 41.25 s is unlikely")) << one;
  EXPECT_TRUE(contains(one, "--fallback")) << one;
  for (int i = 2; i < 7; ++i) add(30.0 * i, 30.0 * i + 1, 30.0 * i + 2);
  const std::string many = cli::doubt_note(segments);
  EXPECT_TRUE(contains(many, "30.00 to 41.25 s, 61.00 to 62.00 s, 91.00 to 92.00 s, and 3 more windows")) << many;
}

TEST(CliDeviceNotes, NameTheLine) {
  TemporaryFolder folder;
  const std::string address = "https://example.com/abc/def-ghi?x=12&y=3";
  const std::string file =
      folder.file("letter.txt", "Good morning.\n" + address + "\nSee it at " + address +
                                    " now.\n\xe4\xbd\xa0\xe5\xa5\xbd\xef\xbc\x8c\xe4\xb8\x96\xe7\x95\x8c\n");
  const Outcome outcome = run(lapilli({"translate", file}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1], address);
  EXPECT_TRUE(contains(lines[2], address)) << lines[2];
  EXPECT_TRUE(contains(outcome.err, "lapilli: note: " + file + ":4: ")) << outcome.err;
  for (const char* line : {":1: ", ":2: ", ":3: "}) EXPECT_FALSE(contains(outcome.err, line)) << outcome.err;
  // A stream cannot be put right.
  const Outcome streamed = run(lapilli({"translate", "--stream", file}));
  EXPECT_TRUE(contains(streamed.err, "lapilli: note: " + file + ":3: " + address + " is not in the output"))
      << streamed.err;
  EXPECT_EQ(run(lapilli({"translate", "--quiet", file})).err, "");

  const Outcome cut =
      run(lapilli({"translate", "--max-length", "5", "Hello.", "I would like a cup of coffee, please."}));
  EXPECT_EQ(cut.code, 0);
  EXPECT_TRUE(contains(cut.err, "lapilli: note: line 2: the output was cut at 4 tokens (max_length)")) << cut.err;
}

// Each line has its note, and the advice comes with the first.
TEST(CliDeviceNotes, AdviceComesOnce) {
  const Outcome outcome = run(lapilli({"translate", "--unsure", "-0.0001"}), "Good morning.\nHello.\nThank you.\n");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  size_t notes = 0, advice = 0;
  for (const std::string& line : lines_of(outcome.err)) {
    notes += contains(line, ": the model is unsure (");
    advice += contains(line, "; read it again, or take a larger model");
  }
  EXPECT_EQ(notes, 3u) << outcome.err;
  EXPECT_EQ(advice, 1u) << outcome.err;
}

TEST(CliDeviceNotes, JsonSaysWhyOutputsEnd) {
  const Outcome outcome = run(lapilli({"translate", "--quiet", "--json", "--max-length", "8"}),
                              "Good morning.\n12:30\nI would like a cup of coffee, please.\n\n"
                              "Good morning. 12:30. I would like a cup of coffee, please.\n");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 5u);
  const char* wanted[] = {"stop", "kept", "length", "kept", "length"};
  for (size_t i = 0; i < 5; ++i) {
    const auto json = nlohmann::json::parse(lines[i], nullptr, false);
    ASSERT_TRUE(json.is_object()) << lines[i];
    EXPECT_EQ(json["finish"], wanted[i]) << lines[i];
    EXPECT_FALSE(json.contains("repeats"));
    if (i < 4) continue;
    ASSERT_EQ(json["parts"].size(), 3u) << lines[i];
    for (size_t p = 0; p < 3; ++p) EXPECT_EQ(json["parts"][p]["finish"], wanted[p]) << lines[i];
  }
  EXPECT_EQ(nlohmann::json::parse(lines[1])["text"], "12:30");
  std::string suppressed;  // all but two ids
  for (int id = 0; id < 8001; ++id)
    if (id != 32 && id != 297) suppressed += (suppressed.empty() ? "" : ",") + std::to_string(id);
  TemporaryFolder folder;
  const std::string options = folder.file(
      "options.json", R"({"no_repeat_ngram_size":0,"forced_eos_token_id":[],"suppress_tokens":[)" + suppressed + "]}");
  const Outcome loop = run(lapilli({"translate", "--json", "--beam", "1", "--max-length", "60", "--options",
                                    "@" + options, "I would like a cup of coffee, please."}));
  EXPECT_EQ(loop.code, 0) << loop.err;
  EXPECT_EQ(nlohmann::json::parse(loop.out, nullptr, false)["repeats"], true) << loop.out;
  EXPECT_TRUE(contains(loop.err, "note: line 1: the output repeats itself")) << loop.err;
}

// A line with something that was kept has its alignment, and its attention but for that.
TEST(CliDeviceNotes, KeptTextHasAlignmentButNoAttention) {
  TemporaryFolder folder;
  const std::string file = (folder.path() / "map.json").string();
  const Outcome outcome =
      run(lapilli({"translate", "--alignment", "--attention", file, "12", "The cat sleeps. 12:30. What time is it?"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "12\n\t0-2\t0-2\t1.00\t12\t12\n")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "\tcat\tchat")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "\t1.00\t30\t30")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "note: line 1: the text was kept as it is, so there is no attention"))
      << outcome.err;
  std::ifstream written(file);
  size_t maps = 0;
  for (std::string line; std::getline(written, line);) ++maps;
  EXPECT_EQ(maps, 2u);
}

}  // namespace
}  // namespace lapilli::test
