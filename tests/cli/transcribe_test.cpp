// lapilli transcribe: recordings to segments, held against the records of the reference's.
#include <cstring>
#include <limits>
#include <set>

#include "cli/program.hpp"
#include "recordings/sounds.hpp"
#include "recordings/steady_sounds.hpp"

namespace lapilli::test {
namespace {

const std::string kWhisperTwin = LAPILLI_TEST_DATA "/models/whisper-long";
const std::string kLong = kWhisperTwin + "/audio/long.wav", kSecond = kWhisperTwin + "/audio/second.wav";

Outcome transcribe(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), {"transcribe", "--quiet"});
  return run(lapilli(std::move(arguments)), input);
}

// With the record's model, whose segments are ids, as it has no tokenizer.
Outcome transcribe_ids(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.end(),
                   {"--model", kWhisperTwin + "/model", "--dtype", "fp32", "--max-new-tokens", "24", "--ids"});
  return transcribe(std::move(arguments), input);
}

nlohmann::json recorded(const std::string& name) {
  const auto record = read_json(kWhisperTwin + "/expected.json");
  for (const auto& c : record.at("cases"))
    if (c.at("name") == name) return c.at("segments").at(0);
  ADD_FAILURE() << name << " is not in the record";
  return {};
}

void expect_segments(const Outcome& outcome, const std::string& name) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  const auto expected = recorded(name);
  ASSERT_EQ(lines.size(), expected.size()) << name << "\n" << outcome.out;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto line = nlohmann::json::parse(lines[i]);
    EXPECT_EQ(line.at("ids"), expected[i].at("tokens")) << name << " " << i;
    EXPECT_NEAR(line.at("begin").get<double>(), expected[i].at("start").get<double>(), 0.006);
    EXPECT_NEAR(line.at("end").get<double>(), expected[i].at("end").get<double>(), 0.006);
  }
}

TEST(CliDeviceTranscribe, SegmentsOfRecordings) {
  expect_segments(transcribe_ids({"--json", "--language", "en", kLong}), "long_greedy");
  const Outcome detected = transcribe_ids({"--json", kLong});
  expect_segments(detected, "long_detected");
  EXPECT_EQ(nlohmann::json::parse(lines_of(detected.out).at(0)).at("language"), "fr");
  expect_segments(transcribe_ids({"--json", "--language", "fr", "--to", "en", kLong}), "long_translate");
  expect_segments(transcribe_ids({"--json", "--language", "en", "--beam", "3", kLong}), "long_beam3");
}

// The recorded model with another setting in one of its files.
std::string with_setting(const TemporaryFolder& folder, const std::string& file, const char* key,
                         const nlohmann::json& value) {
  const fs::path model = folder.path() / (std::string(key) + "-" + file);
  fs::copy(kWhisperTwin + "/model", model, fs::copy_options::recursive);
  auto json = read_json((model / file).string());
  json[key] = value;
  fs::remove(model / file);  // it may be read-only
  std::ofstream(model / file) << json;
  return model.string();
}

// With ids that older publishers put into one of its two files.
std::string with_forced_ids(const TemporaryFolder& folder, const std::string& file, const nlohmann::json& ids) {
  return with_setting(folder, file, "forced_decoder_ids", ids);
}

TEST(CliDeviceTranscribe, ForcedIdsOfPublishedDirectories) {
  const TemporaryFolder folder;
  const auto transcribe_with = [&](const std::string& model, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(),
                     {"--json", "--model", model, "--dtype", "fp32", "--max-new-tokens", "24", "--ids", kLong});
    return transcribe(std::move(arguments));
  };
  // As openai/whisper-* have them: the language is detected.
  const auto common = with_forced_ids(folder, "generation_config.json", {{1, nullptr}, {2, 244}});
  expect_segments(transcribe_with(common, {}), "long_detected");
  expect_segments(transcribe_with(common, {"--language", "en"}), "long_greedy");
  // As fine-tunes have them, in the older of the two places: a language and a task.
  const auto tuned = with_forced_ids(folder, "config.json", {{1, 241}, {2, 243}});
  expect_segments(transcribe_with(tuned, {}), "long_translate");
  expect_segments(transcribe_with(tuned, {"--language", "en"}), "long_greedy");
}

// Measures the device's limits, which takes a CPU driver ten seconds.
TEST(CliDeviceSlowBench, ForcedIdsOfPublishedDirectories) {
  const TemporaryFolder folder;
  const auto model = with_forced_ids(folder, "generation_config.json", {{1, nullptr}, {2, 244}});
  EXPECT_EQ(run(lapilli({"bench", model, "--per-op", "--runs", "1"})).code, 0);
}

// The model knows a single word: it repeats it in a segment, and over segments that each say it once.
TEST(CliDeviceTranscribe, NotesWhatRepeatsItself) {
  const TemporaryFolder folder;
  const std::string file = folder.file("long.wav", wav_of(glide(16000, 14)));
  const auto told = [](const std::string& model, const std::string& sound) {
    const Outcome outcome = run(lapilli({"transcribe", "--dtype", "fp32", "--max-new-tokens", "24", "--ids",
                                         "--language", "en", "--model", model, sound}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.err;
  };
  const int word = 100, begins = 249, ends = 299;  // the last two are timestamps
  for (const bool in_one : {true, false}) {
    nlohmann::json others = nlohmann::json::array();
    for (int id = 0; id < 300; ++id)
      if (id != word && id != begins && (in_one || id != ends)) others.push_back(id);
    const TemporaryFolder own;
    const std::string err = told(with_setting(own, "generation_config.json", "suppress_tokens", others), file);
    EXPECT_TRUE(contains(err, "long.wav: the text repeats itself again and again (")) << in_one << err;
  }
  EXPECT_FALSE(contains(told(kWhisperTwin + "/model", kLong), "repeats itself again"));
}

// Silence, from a file and through a pipe, and channels of which each is the other's opposite.
TEST(CliDeviceTranscribe, NotesThatNothingIsToBeHeard) {
  const TemporaryFolder folder;
  std::vector<float> opposite;
  for (const float v : glide(16000, 0.5)) opposite.insert(opposite.end(), {v, -v});
  const std::string model = kWhisperTwin + "/model", silent = wav_of(std::vector<float>(8000, 0.0f));
  const auto told = [&](std::vector<std::string> arguments, const std::string& input) {
    arguments.insert(arguments.begin(), {"transcribe", "--dtype", "fp32", "--max-new-tokens", "4", "--ids",
                                         "--language", "en", "--model", model});
    return run(lapilli(std::move(arguments)), input).err;
  };
  EXPECT_TRUE(contains(told({folder.file("silent.wav", silent)}, ""), "silent.wav: it is silent"));
  EXPECT_TRUE(contains(told({"--raw", "s16le:16000"}, std::string(16000, '\0')), "lapilli: -: it is silent"));
  const std::string file = folder.file("opposite.wav", wav_of(opposite, {16000, 2, 1, 16}));
  EXPECT_TRUE(contains(told({file}, ""), "opposite.wav: its channels cancel each other out"));
  EXPECT_FALSE(contains(told({kSecond}, ""), "silent"));
}

// A recording of half a second, in a window that a model may take for a whole one.
TEST(CliDeviceTranscribe, SubtitlesEndWithTheRecording) {
  const TemporaryFolder folder;
  const std::string sound = wav_of(glide(16000, 0.5)), file = folder.file("half.wav", sound);
  for (const char* format : {"--srt", "--vtt"})
    for (const bool piped : {false, true}) {
      std::vector<std::string> how{format, "--language", "en"};
      how.push_back(piped ? "--raw" : file);
      if (piped) how.emplace_back("s16le:16000");
      const Outcome outcome = transcribe_ids(how, piped ? sound.substr(44) : "");
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      for (const std::string& line : lines_of(outcome.out)) {
        const size_t at = line.find(" --> 00:00:0");
        if (at == std::string::npos) continue;
        EXPECT_LE(1000 * std::stoi(line.substr(at + 12, 1)) + std::stoi(line.substr(at + 14, 3)), 500) << line;
      }
    }
}

// This model has no tokenizer: a word is an id of text.
TEST(CliDeviceTranscribe, WordsWithTimesAndConfidence) {
  for (const char* beams : {"1", "3"}) {
    const Outcome outcome = transcribe_ids({"--json", "--words", "--language", "en", "--beam", beams, kLong});
    expect_segments(outcome, std::string(beams) == "1" ? "long_greedy" : "long_beam3");
    std::set<double> times;
    for (const std::string& text : lines_of(outcome.out)) {
      const auto line = nlohmann::json::parse(text);
      double last = 0;
      std::vector<int> ids, words;
      for (const int id : line.at("ids").get<std::vector<int>>())
        if (id < 238) ids.push_back(id);  // before the model's end and timestamps
      for (const auto& word : line.at("words")) {
        words.push_back(word.at("ids").at(0));
        EXPECT_LE(word.at("begin").get<double>(), word.at("end").get<double>());
        EXPECT_GE(word.at("begin").get<double>(), last);
        times.insert(last = word.at("begin"));
        EXPECT_GT(word.at("confidence").get<double>(), 0);
        EXPECT_LE(word.at("confidence").get<double>(), 1);
      }
      EXPECT_EQ(words, ids);
    }
    EXPECT_GT(times.size(), 10u);
  }
  const Outcome vtt = transcribe_ids({"--vtt", "--words", "--language", "en", kSecond});
  EXPECT_TRUE(contains(vtt.out, " <00:00:0")) << vtt.out << vtt.err;
}

// A picture for each segment that has words, of the kind that its name says.
TEST(CliDeviceTranscribe, PicturesOfWhatWordsLookedAt) {
  TemporaryFolder folder;
  const std::string svg = (folder.path() / "heard.svg").string(), png = (folder.path() / "heard.png").string();
  const Outcome outcome = transcribe_ids({"--json", "--words", "--language", "en", "--attention", svg, kLong});
  expect_segments(outcome, "long_greedy");
  const auto lines = lines_of(outcome.out);
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto line = nlohmann::json::parse(lines[i]);
    const std::string name = i == 0 ? svg : svg.substr(0, svg.size() - 4) + "-" + std::to_string(i + 1) + ".svg";
    const std::string picture = read_file(name);
    EXPECT_TRUE(contains(picture, "href=\"data:image/png;base64,")) << name;
    size_t looks = 0;
    for (size_t at = 0; (at = picture.find("<use ", at)) != std::string::npos; ++at) ++looks;
    EXPECT_EQ(looks, line.at("words").size()) << name;
  }
  EXPECT_EQ(transcribe_ids({"--language", "en", "--batch", "4", "--attention", png, kSecond}).code, 0);
  EXPECT_TRUE(read_file(png).starts_with("\x89PNG"));
}

// Parts that are transcribed together give the results that they give one by one.
TEST(CliDeviceTranscribe, PiecesOfAFile) {
  std::vector<std::string> all;
  for (const char* batch : {"1", "8"}) {
    const Outcome outcome = transcribe_ids({"--json", "--language", "en", "--batch", batch, kLong});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    all.push_back(outcome.out);
  }
  EXPECT_EQ(all[0], all[1]);
  const auto lines = lines_of(all[0]);
  ASSERT_GT(lines.size(), 8u);
  EXPECT_GT(nlohmann::json::parse(lines.back()).at("begin").get<double>(), 4);
}

TEST(CliDeviceTranscribe, SamplesFromAPipeAreTheSame) {
  const std::string wav = read_file(kLong);
  const std::string samples = wav.substr(wav.find("data") + 8);
  Spawn spawn = lapilli({"transcribe", "--quiet", "--json", "--language", "en", "--raw", "s16le:16000", "--model",
                         kWhisperTwin + "/model", "--dtype", "fp32", "--max-new-tokens", "24", "--ids"});
  spawn.environment.push_back("TMPDIR=/nowhere");  // nothing is kept on the disk
  expect_segments(run(spawn, samples), "long_greedy");
}

// Whatever length its header claims.
TEST(CliDeviceTranscribe, AFileFromAPipeIsTheSame) {
  std::string wav = read_file(kLong);
  expect_segments(transcribe_ids({"--json", "--language", "en", "-"}, wav), "long_greedy");
  wav.replace(wav.find("data") + 4, 4, 4, '\xff');
  expect_segments(transcribe_ids({"--json", "--language", "en", "/dev/stdin"}, wav), "long_greedy");
}

// A script in the place of ffmpeg, and none.
TEST(CliDeviceTranscribe, WhatFfmpegReads) {
  const TemporaryFolder folder;
  const std::string film = folder.file("film.mp4", std::string("\0\0\0\x18", 4) + "ftypisom"),
                    script = folder.file("ffmpeg", "#!/bin/sh\nexec /usr/bin/tail -c +45 " + kLong + "\n");
  fs::permissions(script, fs::perms::owner_all);
  const auto outcome_of = [&](const std::string& path) {
    Spawn spawn = lapilli({"transcribe", "--json", "--language", "en", "--model", kWhisperTwin + "/model", "--dtype",
                           "fp32", "--max-new-tokens", "24", "--ids", film});
    spawn.environment.push_back("PATH=" + path);
    return run(spawn);
  };
  expect_segments(outcome_of(folder.path().string()), "long_greedy");
  const Outcome without = outcome_of("/nowhere");
  EXPECT_EQ(without.code, 3);
  EXPECT_TRUE(contains(without.err, "ffmpeg -i " + film + " -ar 16000 -ac 1 ")) << without.err;
}

// Interim lines come before the window is full; the final lines are those of a run without --live.
TEST(CliDeviceTranscribe, LiveShowsWhatMayChange) {
  const std::string wav = read_file(kLong), samples = wav.substr(wav.find("data") + 8);
  Spawn spawn = lapilli({"transcribe", "--quiet", "--json", "--live", "--language", "en", "--raw", "s16le:16000",
                         "--model", kWhisperTwin + "/model", "--dtype", "fp32", "--max-new-tokens", "24", "--ids"});
  Process live(spawn);
  live.write(samples.substr(0, 20000));  // over half of the first window
  ASSERT_TRUE(live.wait_for_out("\"final\":false")) << live.err();
  EXPECT_FALSE(contains(live.out(), "\"final\":true"));
  live.write(samples.substr(20000, 22000));  // a little more than the window, and a block of the reader's
  ASSERT_TRUE(live.wait_for_out("\"final\":true")) << live.err();
  Outcome outcome = live.finish(samples.substr(42000));
  std::string final_lines;
  for (const std::string& text : lines_of(outcome.out))
    if (nlohmann::json::parse(text).at("final")) final_lines += text + "\n";
  EXPECT_LT(final_lines.size(), outcome.out.size());
  outcome.out = final_lines;
  expect_segments(outcome, "long_greedy");
}

// The place of the progress shows it on a terminal; it is gone when the text is certain.
TEST(CliTerminalTranscribe, LiveTextIsMarked) {
  if (!have_terminals()) GTEST_SKIP() << "SKIPPED: there are no pseudo-terminals here";
  const std::string wav = read_file(kLong), samples = wav.substr(wav.find("data") + 8);
  Spawn spawn = lapilli({"transcribe", "--live", "--language", "en", "--raw", "s16le:16000", "--model",
                         kWhisperTwin + "/model", "--dtype", "fp32", "--max-new-tokens", "24", "--ids"});
  spawn.terminal_err = true;
  Process live(spawn);
  live.write(samples.substr(0, 20000));
  EXPECT_TRUE(live.wait_for_err("\r\033[K~ ")) << live.err();
  const Outcome outcome = live.finish(samples.substr(20000));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(contains(outcome.out, "~")) << outcome.out;
  EXPECT_EQ(lines_of(outcome.out).size(), recorded("long_greedy").size());
}

TEST(CliDeviceTranscribe, SubtitlesOfSeveralFiles) {
  TemporaryFolder folder;
  const std::string to = (folder.path() / "out").string() + "/", broken = folder.file("broken.wav", "RIFF no sound");
  const Outcome outcome = transcribe_ids({"--srt", "--language", "en", "-o", to, kSecond, broken, kLong});
  EXPECT_EQ(outcome.code, 3) << outcome.err;  // the others are written
  EXPECT_TRUE(contains(outcome.err, "broken.wav")) << outcome.err;
  EXPECT_FALSE(fs::exists(to + "broken.srt"));
  const std::string srt = read_file(to + "long.srt");
  const auto expected = recorded("long_greedy");
  EXPECT_TRUE(srt.starts_with("1\n00:00:0")) << srt;
  EXPECT_TRUE(contains(srt, "\n\n" + std::to_string(expected.size()) + "\n00:00:0")) << srt;
  EXPECT_TRUE(srt.ends_with("\n\n")) << srt;
  EXPECT_TRUE(contains(read_file(to + "second.srt"), " --> "));
  const Outcome again = transcribe_ids({"--srt", "-o", to, kSecond});
  EXPECT_EQ(again.code, 2);
  EXPECT_TRUE(contains(again.err, "--force")) << again.err;
  const Outcome vtt = transcribe_ids({"--vtt", "--language", "en", kSecond});
  EXPECT_TRUE(vtt.out.starts_with("WEBVTT\n\n00:00:0")) << vtt.out << vtt.err;
  const Outcome tsv = transcribe_ids({"--tsv", "--language", "en", kSecond});
  EXPECT_TRUE(tsv.out.starts_with("start\tend\ttext\n")) << tsv.out << tsv.err;
  const Outcome two = transcribe_ids({"--tsv", "--language", "en", kSecond, kSecond});
  EXPECT_TRUE(two.out.starts_with("file\tstart\tend\ttext\n" + kSecond + "\t")) << two.out << two.err;
  EXPECT_EQ(two.out.find("start\t"), two.out.rfind("start\t")) << two.out;
}

nlohmann::json json_in(const std::string& file) { return nlohmann::json::parse(read_file(file), nullptr, false); }

// The format is the ending of an output's name; several formats go to files named by the recording.
TEST(CliDeviceTranscribe, FormatsByNameAndSeveralAtOnce) {
  TemporaryFolder folder;
  const auto to = [&](const char* name) { return (folder.path() / name).string(); };
  EXPECT_EQ(transcribe_ids({"--language", "en", "-o", to("a.json"), kSecond}).code, 0);
  const auto document = json_in(to("a.json"));
  EXPECT_EQ(document.at("file"), kSecond);
  ASSERT_GT(document.at("segments").size(), 1u);
  EXPECT_EQ(transcribe_ids({"--language", "en", "-o", to("a.srt"), kSecond}).code, 0);
  const std::string srt = read_file(to("a.srt"));
  EXPECT_TRUE(srt.starts_with("1\n00:00:0")) << srt;

  const std::string sound = to("talk.wav");
  fs::copy(kSecond, sound);
  EXPECT_EQ(transcribe_ids({"--language", "en", "--srt", "--vtt", "--json", "--txt", sound}).code, 0);
  EXPECT_EQ(read_file(to("talk.srt")), srt);
  EXPECT_TRUE(read_file(to("talk.vtt")).starts_with("WEBVTT"));
  EXPECT_EQ(lines_of(read_file(to("talk.jsonl"))).size(), document.at("segments").size());
  EXPECT_EQ(lines_of(read_file(to("talk.txt"))).size(), document.at("segments").size());
  EXPECT_EQ(transcribe_ids({"--language", "en", "--tsv", "--suffix", ".en", "-o", to("out/"), sound}).code, 0);
  EXPECT_TRUE(read_file(to("out/talk.en.tsv")).starts_with("start\tend"));
}

TEST(CliDeviceTranscribe, SubtitlesOfWords) {
  const Outcome json = transcribe_ids({"--json", "--words", "--language", "en", kSecond});
  size_t words = 0;
  for (const std::string& line : lines_of(json.out)) words += nlohmann::json::parse(line).at("words").size();
  const Outcome each = transcribe_ids({"--srt", "--words", "--language", "en", kSecond});
  EXPECT_TRUE(contains(each.out, "\n\n" + std::to_string(words) + "\n00:00:")) << each.out << each.err;
  const Outcome wide = transcribe_ids(
      {"--srt", "--words", "--max-line-width", "12", "--max-line-count", "2", "--language", "en", kSecond});
  EXPECT_LT(lines_of(wide.out).size(), lines_of(each.out).size());
  for (const std::string& line : lines_of(wide.out)) EXPECT_TRUE(contains(line, "-->") || line.size() <= 12) << line;
}

// A part of a recording is what a recording of that part alone is, at its place.
TEST(CliDeviceTranscribe, PartsOfRecordings) {
  TemporaryFolder folder;
  const std::string whole = read_file(kLong), samples = whole.substr(whole.find("data") + 8);
  const WavShape shape;
  const std::string part = samples.substr(2 * 16000, 2 * 32000);
  const std::string cut = folder.file("cut.wav", wav_file(part, shape, part.size()));
  const std::vector<std::string> how{"--json", "--words", "--language", "en"};
  const auto lines_with = [&](std::vector<std::string> more, const std::string& input = "") {
    more.insert(more.begin(), how.begin(), how.end());
    const Outcome outcome = transcribe_ids(std::move(more), input);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::vector<nlohmann::json> lines;
    for (const std::string& line : lines_of(outcome.out)) lines.push_back(nlohmann::json::parse(line));
    return lines;
  };
  const auto alone = lines_with({cut});
  const auto expect_later = [&](const std::vector<nlohmann::json>& lines) {
    ASSERT_EQ(lines.size(), alone.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(lines[i].at("ids"), alone[i].at("ids"));
      for (const char* time : {"begin", "end"}) {
        EXPECT_NEAR(lines[i].at(time).get<double>(), alone[i].at(time).get<double>() + 1, 0.006);
        EXPECT_NEAR(lines[i].at("words").at(0).at(time).get<double>(),
                    alone[i].at("words").at(0).at(time).get<double>() + 1, 0.006);
      }
    }
  };
  expect_later(lines_with({"--offset", "0:01", "--duration", "2", kLong}));
  const auto piped = lines_with({"--offset", "1", "--duration", "00:02", "--raw", "s16le:16000"}, samples);
  ASSERT_FALSE(piped.empty());
  EXPECT_EQ(piped[0].at("ids"), alone[0].at("ids"));
  EXPECT_GE(piped[0].at("begin").get<double>(), 1);
  const Outcome behind = transcribe_ids({"--offset", "60", kLong});
  EXPECT_EQ(behind.code, 3);
  EXPECT_TRUE(contains(behind.err, "it ends after 5.43 s, before what --offset names")) << behind.err;
  const Outcome short_pipe = transcribe_ids({"--offset", "60", "--raw", "s16le:16000"}, samples);
  EXPECT_EQ(short_pipe.code, 3);
  EXPECT_TRUE(contains(short_pipe.err, "no sound in it from --offset on")) << short_pipe.err;
}

// Files that an earlier run has written are left as they are; recordings that it could not read are tried again.
TEST(CliDeviceTranscribe, FoldersAreResumed) {
  TemporaryFolder folder;
  const fs::path talks = folder.path() / "talks", out = folder.path() / "out";
  fs::create_directories(talks / "later");
  fs::copy(kSecond, talks / "first.wav");
  fs::copy(kSecond, talks / "later" / "second.WAV");
  std::ofstream(talks / "broken.wav") << "RIFF";
  const auto outcome_of = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--srt", "--json", "--language", "en", "-o", out.string() + "/", talks.string(), "--model",
                             kWhisperTwin + "/model", "--dtype", "fp32", "--max-new-tokens", "24", "--ids"});
    more.insert(more.begin(), "transcribe");  // with notes
    return run(lapilli(std::move(more)));
  };
  const Outcome first = outcome_of({});
  EXPECT_EQ(first.code, 3) << first.err;
  EXPECT_TRUE(contains(first.err, "2 of 3 recordings written")) << first.err;
  for (const char* name : {"first.srt", "first.jsonl", "later/second.srt", "later/second.jsonl"})
    EXPECT_TRUE(fs::exists(out / name)) << name;
  EXPECT_FALSE(fs::exists(out / "broken.srt") || fs::exists(out / "broken.srt.part"));
  EXPECT_EQ(outcome_of({}).code, 2);  // they are there
  const std::string srt = read_file((out / "first.srt").string());
  std::ofstream(out / "first.srt") << srt << "\nmine\n";
  fs::remove(talks / "broken.wav");
  fs::copy(kSecond, talks / "broken.wav");
  const Outcome again = outcome_of({"--resume"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(again.err, "1 of 3 recordings written, 2 by an earlier run")) << again.err;
  EXPECT_TRUE(contains(read_file((out / "first.srt").string()), "mine"));
  EXPECT_EQ(read_file((out / "broken.srt").string()), srt);
  for (const auto& entry : fs::recursive_directory_iterator(out))
    EXPECT_FALSE(contains(entry.path().string(), ".part")) << entry.path();
  const Outcome anew = outcome_of({"--resume"});
  EXPECT_EQ(anew.code, 2);
  EXPECT_TRUE(contains(anew.err, "nothing is left of a run to resume")) << anew.err;
}

// Runs of other options are no beginning of this one.
TEST(CliDeviceTranscribe, ResumesTheSameAlone) {
  TemporaryFolder folder;
  const std::string out = (folder.path() / "out").string() + "/", broken = folder.file("broken.wav", "RIFF");
  EXPECT_EQ(transcribe_ids({"--language", "en", "-o", out, kSecond, broken}).code, 3);
  const Outcome other = transcribe_ids({"--language", "fr", "--resume", "-o", out, kSecond, broken});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "second.txt was begun with another --language or --to")) << other.err;
}

// Where a recording has hum between speech, nothing is written.
TEST(CliDeviceTranscribe, WhatIsNoSpeechIsLeftOut) {
  TemporaryFolder folder;
  const std::string spoken = read_file(LAPILLI_TEST_DATA "/sounds/spoken.wav").substr(44);
  const std::string between = wav_samples(hum(16000, 4), {});
  const std::string all = between + spoken + between + spoken;
  const std::string file = folder.file("all.wav", wav_file(all, {}, all.size()));
  const double length = static_cast<double>(spoken.size()) / 32000;
  const auto segments = [&](const char* vad, const std::string& sound) {
    std::vector<std::pair<double, double>> times;
    const Outcome outcome = transcribe_ids({"--json", "--language", "en", vad, sound});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const std::string& text : lines_of(outcome.out)) {
      const auto line = nlohmann::json::parse(text);
      times.emplace_back(line.at("begin"), line.at("end"));
    }
    return times;
  };
  const auto is_within = [&](const std::pair<double, double>& s, double begin) {
    return s.first >= begin - 0.2 && s.second <= begin + length + 0.2;
  };
  size_t first = 0, second = 0;
  for (const auto& s : segments("--vad", file)) {
    EXPECT_TRUE(is_within(s, 4) || is_within(s, 8 + length)) << s.first << " to " << s.second;
    ++(s.first < 8 ? first : second);
  }
  EXPECT_GT(first, 0u);
  EXPECT_GT(second, 0u);
  size_t outside = 0;
  for (const auto& s : segments("--no-vad", file)) outside += s.first < 3 ? 1 : 0;
  EXPECT_GT(outside, 0u);
  // Nothing is said in it.
  const std::string quiet = folder.file("hum.wav", wav_of(hum(16000, 3)));
  EXPECT_TRUE(segments("--vad", quiet).empty());
}

// A model's directory as it is published: the record's, and what says how sound is prepared.
std::string published(const TemporaryFolder& folder, const std::string& family, const std::string& preprocessor) {
  const fs::path to = folder.path() / family;
  fs::copy(fs::path(LAPILLI_TEST_DATA) / "models" / family / "model", to);
  std::ofstream(to / "preprocessor_config.json") << preprocessor;
  return to.string();
}
const char* const kSamples = R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "sampling_rate": 16000})";
const char* const kFilterBanks = R"({"feature_extractor_type": "Speech2TextFeatureExtractor", "num_mel_bins": 24})";

// The bytes of a tensor of the record.
std::string recorded_bytes(const std::string& family, const std::string& tensor) {
  const std::string file = read_file(std::string(LAPILLI_TEST_DATA) + "/models/" + family + "/expected.safetensors");
  uint64_t size = 0;
  std::memcpy(&size, file.data(), 8);
  const auto header = nlohmann::json::parse(file.substr(8, size));
  const auto offsets = header.at(tensor).at("data_offsets");
  const uint64_t begin = offsets.at(0), end = offsets.at(1);
  return file.substr(8 + size + begin, end - begin);
}

TEST(CliDeviceTranscribe, RecordingsAsAWhole) {
  TemporaryFolder folder;
  const std::string moonshine = published(folder, "moonshine", kSamples);
  const std::string samples = recorded_bytes("moonshine", "single.input_values");
  const auto outcome_of = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--model", moonshine, "--dtype", "fp32", "--ids", "--raw", "f32le:16000"});
    more.insert(more.begin(), "transcribe");  // with notes
    return run(lapilli(std::move(more)), samples);
  };
  const Outcome whole = outcome_of({"--json", "--max-new-tokens", "20"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto line = nlohmann::json::parse(whole.out);
  EXPECT_EQ(line.at("ids"), nlohmann::json({10, 187, 200, 124, 133, 124, 168, 133}));  // greedy_single
  EXPECT_NEAR(line.at("end").get<double>(), 0.4375, 0.006);
  EXPECT_FALSE(contains(whole.err, "without an end")) << whole.err;
  const Outcome cut = outcome_of({"--max-new-tokens", "3"});
  EXPECT_EQ(cut.code, 0);
  EXPECT_TRUE(contains(cut.err, "3 ids without an end")) << cut.err;
  for (const std::vector<std::string>& choice : {std::vector<std::string>{"--language", "en"},
                                                 {"--to", "en"},
                                                 {"--words", "--json"},
                                                 {"--prompt", "names"},
                                                 {"--live"},
                                                 {"--fallback"}}) {
    const Outcome refused = outcome_of(choice);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_TRUE(contains(refused.err, choice[0])) << refused.err;
  }
}

TEST(CliDeviceTranscribe, MoreIdsThanTheModelHasPositionsFor) {
  const Outcome out =
      transcribe({"--model", kWhisperTwin + "/model", "--ids", "--raw", "f32le:16000", "--max-new-tokens", "81"},
                 std::string(6400, '\0'));
  EXPECT_EQ(out.code, 2);
  EXPECT_EQ(out.out, "");
  EXPECT_TRUE(contains(out.err, "lapilli: --max-new-tokens: 81 ids exceed the model's 80 positions")) << out.err;
}

TEST(CliDeviceTranscribe, SaysHowLongARecordingMayBe) {
  TemporaryFolder folder;
  const auto outcome_of = [&](const std::string& preprocessor, const std::string& samples) {
    TemporaryFolder own;
    return transcribe({"--model", published(own, "speech_to_text", preprocessor), "--ids", "--raw", "s16le:16000"},
                      samples);
  };
  EXPECT_EQ(outcome_of(kFilterBanks, std::string(32000, '\1')).code, 0);  // a second
  const Outcome longer = outcome_of(kFilterBanks, std::string(320000, '\1'));
  EXPECT_EQ(longer.code, 3);
  EXPECT_TRUE(contains(longer.err, "more than 2.0 s of sound")) << longer.err;
  TemporaryFolder folder_of_sound;
  const std::string file = folder_of_sound.file("long.raw", std::string(320000, '\1'));
  const Outcome known =
      transcribe({"--model", published(folder, "speech_to_text", kFilterBanks), "--ids", "--raw", "s16le:16000", file});
  EXPECT_EQ(known.code, 3);
  EXPECT_TRUE(contains(known.err, "10.0 s of sound")) << known.err;
  const Outcome shorter = outcome_of(kFilterBanks, std::string(100, '\1'));
  EXPECT_EQ(shorter.code, 3);
  EXPECT_TRUE(contains(shorter.err, "too few")) << shorter.err;
  const Outcome other = outcome_of(kSamples, "");
  EXPECT_EQ(other.code, 3);
  EXPECT_TRUE(contains(other.err, "weights take mel bands")) << other.err;
}

TEST(CliDeviceTranscribe, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const Outcome text = transcribe({"--model", bundled_model(), kLong});
  EXPECT_EQ(text.code, 3);
  EXPECT_TRUE(contains(text.err, "lapilli translate")) << text.err;
  const Outcome untold = transcribe({"--model", kWhisperTwin + "/model", kLong});
  EXPECT_EQ(untold.code, 3);  // no tokenizer
  const std::string empty = folder.file("empty.raw", "");
  const Outcome nothing = transcribe_ids({"--raw", "f32le:16000", empty});
  EXPECT_EQ(nothing.code, 3);
  EXPECT_TRUE(contains(nothing.err, "no sound")) << nothing.err;
  EXPECT_EQ(transcribe_ids({(folder.path() / "none.wav").string()}).code, 3);
}

// An error names its recording and does not change the others.
TEST(CliDeviceTranscribe, HostileRecordingsAmongOthers) {
  TemporaryFolder folder;
  const WavShape floats{16000, 1, 3, 32};
  std::vector<float> with_nan = glide(16000, 2);
  with_nan[30000] = std::numeric_limits<float>::quiet_NaN();
  const std::string nan = wav_of(with_nan, floats), whole = read_file(kLong);
  const std::string cut = whole.substr(0, whole.size() / 3 + 1);  // within a word, and within a sample
  const std::vector<std::pair<std::string, std::string>> files{
      {"text.wav", "no sound"},    {"none.wav", wav_of({})}, {"nan.wav", nan},
      {"one.wav", wav_of({0.5f})}, {"cut.wav", cut},         {"silence.wav", wav_of(std::vector<float>(40000))},
      {"long.wav", whole}};
  std::vector<std::string> arguments{"--json", "--language", "en", "-o", folder.path().string() + "/out/"};
  for (const auto& [name, content] : files) arguments.push_back(folder.file(name, content));
  arguments.insert(arguments.end(),
                   {"--model", kWhisperTwin + "/model", "--dtype", "fp32", "--max-new-tokens", "24", "--ids"});
  arguments.insert(arguments.begin(), "transcribe");  // with notes
  const Outcome outcome = run(lapilli(arguments));
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  for (const char* said : {"text.wav is no recording", "none.wav: there is no sound", "nan.wav: what it holds 1.875 s",
                           "cut.wav ends after 1.81 s, although it says that it has 5.43"})
    EXPECT_TRUE(contains(outcome.err, said)) << said << "\n" << outcome.err;
  const auto out = [&](const std::string& name) { return folder.path() / "out" / name; };
  for (const char* name : {"text.jsonl", "none.jsonl", "nan.jsonl"}) EXPECT_FALSE(fs::exists(out(name))) << name;
  for (const char* name : {"one.jsonl", "cut.jsonl", "silence.jsonl"}) EXPECT_TRUE(fs::exists(out(name))) << name;
  expect_segments({0, read_file(out("long.jsonl").string()), outcome.err}, "long_greedy");
}

TEST(CliTranscribe, ARecordingIsNeverWrittenOver) {
  const TemporaryFolder folder;
  const std::string wav = folder.file("a.txt", "RIFF"), elsewhere = (folder.path() / "mistyped/a.srt").string();
  for (const std::string& out : {wav, folder.path().string() + "/"}) {
    const Outcome outcome = transcribe({"--force", "-o", out, wav});
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "a.txt is an input; it cannot be the output")) << outcome.err;
  }
  EXPECT_EQ(read_file(wav), "RIFF");
  const Outcome mistyped = transcribe({"-o", elsewhere, wav});
  EXPECT_EQ(mistyped.code, 2);
  EXPECT_TRUE(contains(mistyped.err, "there is no folder ")) << mistyped.err;
}

// Files of a folder that are no recordings are named, with the reason.
TEST(CliTranscribe, FoldersSayWhatTheyLeaveOut) {
  const TemporaryFolder folder;
  for (const char* name : {"a.wav", "film.mkv", "notes.txt", "cover.jpg", ".hidden.wav"}) folder.file(name, "");
  const TemporaryFolder programs;
  fs::permissions(programs.file("ffmpeg", "#!/bin/sh\n"), fs::perms::owner_all);
  const auto told = [&](const std::string& of, const std::string& path = "/nowhere") {
    Spawn spawn = lapilli({"transcribe", "-o", (folder.path() / "out").string() + "/", of});
    spawn.environment.push_back("PATH=" + path);
    return run(spawn).err;
  };
  const std::string err = told(folder.path().string());
  EXPECT_TRUE(contains(err, ": 1 file left out (only ffmpeg reads them, which is not installed here")) << err;
  EXPECT_TRUE(contains(err, "film.mkv")) << err;
  EXPECT_FALSE(contains(told(folder.path().string(), programs.path().string()), "film.mkv"));
  EXPECT_TRUE(contains(err, ": 2 files left out (no recordings, by their endings): cover.jpg, notes.txt")) << err;
  EXPECT_FALSE(contains(err, "hidden")) << err;
  EXPECT_TRUE(contains(err, "takes no sound")) << err;  // for want of a model
  const TemporaryFolder other;
  other.file("notes.txt", "");
  const std::string none = told(other.path().string());
  EXPECT_TRUE(contains(none, "1 file left out (no recordings")) << none;
  EXPECT_TRUE(contains(none, "holds no recording")) << none;
}

// Formats that are typed add up; that of the settings' file gives way to them.
TEST(CliTranscribe, FormatsOfTheSettingsFileGiveWay) {
  const TemporaryFolder folder;
  const std::string settings = folder.file("config.toml", "[transcribe]\njson = true\n");
  const auto told = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"-o", (folder.path() / "a.out").string(), folder.file("a.wav", "")});
    more.insert(more.begin(), "--config=" + settings);
    return transcribe(std::move(more)).err;
  };
  EXPECT_TRUE(contains(told({"--srt"}), "takes no sound"));
  EXPECT_TRUE(contains(told({"--srt", "--vtt"}), "for several formats"));
}

TEST(CliTranscribe, SaysWhatIsWrongBeforeTheModelIsLoaded) {
  const struct {
    std::vector<std::string> arguments;
    std::string expected;
  } kCases[] = {{{}, "needs a recording"},
                {{"a.wav"}, "takes no sound"},
                {{"--raw", "mp3", "a"}, "no format of raw samples"},
                {{"--srt", "--vtt", "--raw", "f32le:16000"}, "standard input is no file"},
                {{"--srt", "--vtt", "-o", "a.srt", "a.wav"}, "for several formats"},
                {{LAPILLI_TEST_DATA}, "is a folder: its recordings"},
                {{"--raw", "f32le:16000", "-o", "out/", LAPILLI_TEST_DATA}, "no ending says"},
                {{"--suffix", "a/b", "a.wav"}, "no / in it"},
                {{"--suffix", ".en", "-o", "a.srt", "a.wav"}, "a folder then"},
                {{"--resume", "a.wav"}, "--resume needs"},
                {{"--resume", "-o", "out/", "--raw", "f32le:16000"}, "all must be files"},
                {{"--offset", "1:75", "a.wav"}, "is no time"},
                {{"--duration", "0", "a.wav"}, "nothing is left"},
                {{"--vad", "--raw", "f32le:16000"}, "--no-vad"},
                {{"--max-line-width", "40", "a.wav"}, "is of subtitles"},
                {{"--max-line-count", "2", "--srt", "--words", "a.wav"}, "needs that and --words"},
                {{"--max-line-count", "2", "--max-line-width", "40", "--srt", "a.wav"}, "needs that and --words"},
                {{"--srt", "a.wav", "b.wav"}, "-o FOLDER/"},
                {{"-o", "one.txt", "a.wav", "b.wav"}, "several recordings"},
                {{"-o", "out/", "x/a.wav", "y/a.wav"}, "two recordings"},
                {{"--words", "a.wav"}, "--json, --tsv, --srt or --vtt"},
                {{"--words", "-o", "a.txt", "a.wav"}, "--json, --tsv, --srt or --vtt"},
                {{"--attention", "heard.gif", "a.wav"}, "neither .svg nor .png"},
                {{"--attention", "no/such/heard.svg", "a.wav"}, "--attention: there is no folder no/such/"},
                {{"--memory-limit", "0", "a.wav"}, "--memory-limit"},
                {{"--live", "/dev/null.wav"}, "through a pipe"},
                {{"--live", "--raw", "f32le:16000", "-", "-"}, "not alone"},
                {{"--batch", "8", "--raw", "f32le:16000"}, "is a pipe"},
                {{"--batch", "8", "--live", "--raw", "f32le:16000"}, "--live for pipes"},
                {{"--batch", "65", "a.wav"}, "--batch"},
                {{"--to", "fr", "a.wav"}, "--to"},
                {{"--beam", "99", "a.wav"}, "--beam"}};
  for (const auto& c : kCases) {
    const Outcome outcome = transcribe(c.arguments);
    EXPECT_EQ(outcome.code, 2) << c.expected;
    EXPECT_TRUE(contains(outcome.err, c.expected)) << outcome.err;
  }
}

}  // namespace
}  // namespace lapilli::test
