// lapilli transcribe: recordings to text or subtitles.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/path.hpp"
#include "cli/arguments/device_choice.hpp"
#include "cli/arguments/dtype.hpp"
#include "cli/arguments/seconds.hpp"
#include "cli/commands.hpp"
#include "cli/files/file_list.hpp"
#include "cli/files/folder_files.hpp"
#include "cli/files/output_names.hpp"
#include "cli/files/target_file.hpp"
#include "cli/output.hpp"
#include "cli/run/transcription.hpp"

namespace lapilli::cli {

namespace {

constexpr unsigned kMostPieces = 64;

constexpr const char* kTranscribeFooter =
    R"(Examples:
  lapilli transcribe --model openai/whisper-small talk.mp3
  lapilli transcribe --model ./whisper-small -o talk.srt talk.flac
  lapilli transcribe --model ./whisper-small --vtt --json -o transcripts/ talks/
  lapilli transcribe --model ./whisper-small --srt --words --max-line-width 32 film.wav
  lapilli transcribe --model ./whisper-small --offset 1:02:00 --duration 90 talk.mp3
  lapilli transcribe --model ./whisper-small --language de --to en interview.wav
  arecord -q -t raw -f S16_LE -r 16000 |
    lapilli transcribe --model ./whisper-small --raw s16le:16000 --live
  lapilli transcribe --model ./whisper-small --srt -o film.srt film.mkv
  curl -s https://example.com/talk.wav | lapilli transcribe --model ./whisper-small -

Models of the families Whisper, Speech2Text and Moonshine transcribe; all but Whisper take a recording as a whole, up to a length of
their own. Sound of any rate and any number of channels is mixed to one channel and resampled. Films, m4a and other
files go through ffmpeg, if it is installed. Each line is written as soon as it is final, also from a pipe. An
interruption leaves complete lines and subtitles.

)";

struct Formats {
  bool txt = false, srt = false, vtt = false, json = false, tsv = false;
};

// Several typed formats add up; one in the settings' file yields to typed ones, as if they excluded it.
void add_formats(CLI::App& command, Formats& f) {
  std::vector<CLI::Option*> all{
      command.add_flag("--txt", f.txt, "The text, a segment a line; the default if no format is given"),
      command.add_flag("--srt", f.srt, "Subtitles as SubRip files have them"),
      command.add_flag("--vtt", f.vtt, "Subtitles as WebVTT"),
      command.add_flag("--json", f.json,
                       "A JSON object a line: file, begin, end, text, language if the model knows some; in a file "
                       "that ends in .json one object of all"),
      command.add_flag("--tsv", f.tsv, "Start and end in milliseconds, and text, with tabs between")};
  const auto each_pair = [all](const auto& act) {
    for (CLI::Option* a : all)
      for (CLI::Option* b : all)
        if (a != b) act(a, b);
  };
  each_pair([](CLI::Option* a, CLI::Option* b) { a->excludes(b); });
  command.preparse_callback(
      [each_pair](size_t) { each_pair([](CLI::Option* a, CLI::Option* b) { a->remove_excludes(b); }); });
}

// The requested formats; otherwise the one that the output's ending names.
std::vector<SpeechFormat> formats_of(const Formats& f, const std::string& output) {
  const bool folder = names_folder(output) || directory_exists(output);
  const SpeechFormat named = folder ? SpeechFormat::text : format_of_target(output).value_or(SpeechFormat::text);
  std::vector<SpeechFormat> all;
  if (f.txt) all.push_back(SpeechFormat::text);
  if (f.srt) all.push_back(SpeechFormat::srt);
  if (f.vtt) all.push_back(SpeechFormat::vtt);
  if (f.json) all.push_back(named == SpeechFormat::document ? SpeechFormat::document : SpeechFormat::json);
  if (f.tsv) all.push_back(SpeechFormat::tsv);
  if (all.empty()) all.push_back(named);
  return all;
}

CLI::Validator time_of_recording() {
  return {[](std::string& text) -> std::string {
            if (const auto seconds = seconds_in(text)) {
              text = std::to_string(*seconds);
              return "";
            }
            return "\"" + text + "\" is no time: seconds (90, 90.5), or [hh:]mm:ss (1:30)";
          },
          ""};
}

void add_excerpt(CLI::App& command, Excerpt& excerpt) {
  command
      .add_option("--offset", excerpt.offset,
                  "Begin this far into each recording: seconds, or [hh:]mm:ss; times stay those of the recording")
      ->type_name("TIME")
      ->transform(time_of_recording());
  command.add_option("--duration", excerpt.duration, "Transcribe this much of each recording")
      ->type_name("TIME")
      ->transform(time_of_recording());
}

void add_subtitles(CLI::App& command, SpeechStyle& style) {
  constexpr uint64_t kWidest = 1000, kMostLines = 100;
  command
      .add_option("--max-line-width", style.line_width,
                  "Subtitles: characters a line at most; with --words a subtitle ends there too")
      ->type_name("N")
      ->transform(whole_number(1, kWidest));
  command
      .add_option("--max-line-count", style.line_count,
                  "Subtitles by --words and --max-line-width: lines a subtitle at most, without it one")
      ->type_name("N")
      ->transform(whole_number(1, kMostLines));
}

void add_inputs(CLI::App& command, TranscribeArguments& a) {
  command
      .add_option("inputs", a.files.inputs,
                  "Recordings; - is standard input. With --suffix, or a folder behind -o, folders too")
      ->type_name("FILE");
  command
      .add_option("--raw", a.raw,
                  "The inputs are samples without a header: TYPE:RATE or TYPE:RATE:CHANNELS, TYPE one of s16le, s32le, "
                  "f32le; without inputs, standard input is read")
      ->type_name("FORMAT");
  command
      .add_option("-o,--output", a.files.output,
                  "Write to this file, whose ending names the format (.txt, .srt, .vtt, .json, .jsonl, .tsv), or to "
                  "files in this folder")
      ->type_name("FILE");
  command
      .add_option("--suffix", a.files.suffix,
                  "Every recording to files of its own, beside it or in the folder of -o: with .en and --srt, talk.mp3 "
                  "to talk.en.srt")
      ->type_name("TEXT")
      ->check(not_empty());
  add_excerpt(command, a.excerpt);
  command.add_flag("--live", a.live,
                   "Pipes: show interim results before the text is final, on the terminal, or as JSON with "
                   "\"final\": false");
  command.add_flag("--resume", a.resume,
                   "Leave out recordings that an earlier identical run finished, and do the others");
  command.add_flag("--force", a.force, "Overwrite existing files; with --resume: begin again what cannot continue");
  command.add_option("--files-from", a.list, kAllFilesFromHelp)->type_name("FILE")->check(not_empty());
  add_shard_arguments(command, a.shard);
}

void add_model(CLI::App& command, TranscribeArguments& a) {
  command.add_option("-m,--model", a.model.model, "Model directory, or OWNER/NAME of a fetched model")
      ->type_name("DIR");
  command.add_option("--language", a.how.language, "Spoken language (en, German...); without it, the model detects it")
      ->type_name("LANGUAGE");
  command.add_option("--to", "en: translate to English")
      ->type_name("LANGUAGE")
      ->check(CLI::IsMember({"en"}))
      ->each([&a](const std::string&) { a.how.task = "translate"; });
  command
      .add_option("--prompt", a.how.prompt,
                  "Text that each window continues, such as names in their spelling: its last 223 tokens")
      ->type_name("TEXT");
  command.add_option("--beam", a.how.beams, "Hypotheses that run; 0: as the model's files say")
      ->transform(whole_number(0, kMostBeams))
      ->type_name("N");
  command
      .add_option(
          "--max-new-tokens", a.how.new_tokens,
          "Tokens for a window of 30 s, or for a recording taken whole, at most the model's positions; 0: as its "
          "files say")
      ->transform(whole_number(0, kMostLength))
      ->type_name("N");
  command.add_flag("--fallback", a.how.fallback,
                   "Try windows whose text repeats itself or is unlikely again at higher temperatures");
  command.add_flag("--vad,!--no-vad", a.vad,
                   "Files: leave out sound without speech (silence, hum, chords), of which models make words");
  command
      .add_option(
          "--batch", a.how.batch,
          "Files: cut them where they are quiet, and transcribe this many chunks at a time; 0: window by window, "
          "as the reference does")
      ->transform(whole_number(0, kMostPieces))
      ->type_name("N");
  command.add_flag(
      "--words", a.how.words,
      "Times of each word, and its probability: with --json, --tsv (a word a line), --vtt (times), and --srt (a "
      "subtitle a word, or as many as --max-line-width has room for)");
  command
      .add_option(
          "--attention", a.attention,
          "Draw the attention of each word over the spectrogram, a picture a segment: FILE.svg, or FILE.png with "
          "simple labels, then FILE-2...")
      ->type_name("FILE");
  command.add_flag("--ids", a.model.ids, "Write token ids, timestamps among them");
  add_dtype(command, a.model.dtype);
  add_kv_dtype(command, a.model.kv_dtype);
  command.add_option("--memory-limit", a.model.memory_mib, "Device memory that may be taken, in MiB")
      ->transform(whole_number(1, kMostU32))
      ->type_name("MIB");
  add_device_choice(command, a.model.select, a.model.require_gpu);
  command.add_option("--caps", a.model.caps, "Pretend that the device can do less");
  command.add_flag("--no-cache", a.no_cache, "Keep nothing that makes the next start faster");
  command.add_flag("--stats", a.stats, "Times on stderr at the end");
}

std::string contradiction_of_subtitles(const TranscribeArguments& a) {
  const auto& formats = a.files.formats;
  const auto any = [&](const auto& is) { return std::any_of(formats.begin(), formats.end(), is); };
  if (a.how.words && !any(holds_words))
    return "--words needs a format that has room for them: --json, --tsv, --srt or --vtt";
  if (a.style.line_width > 0 && !any(is_subtitles)) return "--max-line-width is of subtitles: --srt or --vtt";
  if (a.style.line_count > 0 && (a.style.line_width == 0 || !a.how.words))
    return "--max-line-count counts lines of --max-line-width, and cuts where a word begins: it needs that and --words";
  return "";
}

std::string contradiction(const TranscribeArguments& a) {
  if (std::string wrong = contradiction_of_subtitles(a); !wrong.empty()) return wrong;
  if (std::string wrong = wrong_suffix(a.files.suffix, a.files.output); !wrong.empty()) return wrong;
  const ShardPlaces places{a.files.output, a.files.suffix, a.resume, false};
  if (std::string wrong = contradiction_of_shard(a.shard, places); !wrong.empty()) return wrong;
  if (a.resume && !a.files.to_files()) return "--resume needs -o or --suffix";
  if (a.resume && !a.attention.empty()) return "--resume does not go with --attention";
  if (a.excerpt.duration && *a.excerpt.duration <= 0) return "--duration: nothing is left to transcribe";
  if (a.how.batch > 0 && a.live) return "--batch is for files, and --live for pipes";
  return a.files.inputs.empty() ? "transcribe needs a recording; see lapilli transcribe --help" : "";
}

int run(TranscribeArguments& a, const Formats& formats, const Context& context) {
  if (a.shard.wanted() && !a.files.output.empty() && !names_folder(a.files.output)) a.files.output += '/';
  if (!a.list.empty())
    if (const int code = read_file_list(a.list, a.files.inputs)) return code;
  settle_places(a.files.inputs, a.files.output, a.files.suffix);
  a.files.formats = formats_of(formats, a.files.output);
  a.files.raw = !a.raw.empty();
  a.style.ids = a.model.ids;
  a.style.live = a.live;
  a.style.words = a.how.words;
  a.how.skip_silence = a.vad;
  if (a.files.inputs.empty() && a.files.raw) a.files.inputs = {"-"};
  const std::string wrong = contradiction(a);
  return wrong.empty() ? run_transcription(a, context) : complain(exit_usage, wrong);
}

}  // namespace

void add_transcribe(CLI::App& app, Context& context) {
  auto a = std::make_shared<TranscribeArguments>();
  auto formats = std::make_shared<Formats>();
  CLI::App* command = app.add_subcommand("transcribe", "Transcribe recordings to text or subtitles");
  add_inputs(*command, *a);
  add_formats(*command, *formats);
  add_subtitles(*command, a->style);
  add_model(*command, *a);
  command->footer(kTranscribeFooter + std::string(kExitCodeHelp));
  command->callback(
      [&context, a, formats] { context.run = [a, formats, &context] { return run(*a, *formats, context); }; });
}

}  // namespace lapilli::cli
