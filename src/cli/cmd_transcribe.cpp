// lapilli transcribe: recordings to text or subtitles.
#include <memory>

#include "cli/arguments/dtype.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/run/transcription.hpp"

namespace lapilli::cli {

namespace {

constexpr unsigned kMostPieces = 64;

constexpr const char* kTranscribeFooter =
    R"(Examples:
  lapilli transcribe --model openai/whisper-small talk.mp3
  lapilli transcribe --model ./whisper-small --srt -o talk.srt talk.flac
  lapilli transcribe --model ./whisper-small --vtt -o subtitles/ *.ogg
  lapilli transcribe --model ./whisper-small --language de --to en interview.wav
  arecord -q -t raw -f S16_LE -r 16000 | lapilli transcribe --model ./whisper-small --raw s16le:16000 --live
  lapilli transcribe --model ./whisper-small --srt -o film.srt film.mkv
  curl -s https://example.com/talk.wav | lapilli transcribe --model ./whisper-small -

Models of the families Whisper, Speech2Text and Moonshine hear; all but Whisper take a recording as a whole, up to a length of
their own. Sound of any rate and any number of channels is mixed to one channel and resampled. Films, m4a and what else is
no sound file goes through ffmpeg, where it is installed. A line is written as soon as it is certain, also of what comes
through a pipe. An interruption leaves complete lines and subtitles up to there.

)";

struct Formats {
  bool srt = false, vtt = false, json = false, tsv = false;
  [[nodiscard]] SpeechFormat format() const {
    if (srt) return SpeechFormat::srt;
    if (vtt) return SpeechFormat::vtt;
    if (json) return SpeechFormat::json;
    return tsv ? SpeechFormat::tsv : SpeechFormat::text;
  }
};

void add_formats(CLI::App& command, Formats& f) {
  auto* srt = command.add_flag("--srt", f.srt, "Subtitles as SubRip files have them");
  auto* vtt = command.add_flag("--vtt", f.vtt, "Subtitles as WebVTT");
  auto* json = command.add_flag("--json", f.json,
                                "A JSON object a line: file, begin, end, text, language if the model knows some");
  auto* tsv = command.add_flag("--tsv", f.tsv, "Start and end in milliseconds, and text, with tabs between");
  for (CLI::Option* a : {srt, vtt, json, tsv})
    for (CLI::Option* b : {srt, vtt, json, tsv})
      if (a != b) a->excludes(b);
}

void add_inputs(CLI::App& command, TranscribeArguments& a) {
  command.add_option("inputs", a.inputs, "Recordings; - is standard input")->type_name("FILE");
  command
      .add_option("--raw", a.raw,
                  "The inputs are samples without a header: TYPE:RATE or TYPE:RATE:CHANNELS, TYPE one of s16le, s32le, "
                  "f32le; without inputs, standard input is read")
      ->type_name("FORMAT");
  command.add_option("-o,--output", a.output, "Write to this file, or to files in this folder")->type_name("FILE");
  command.add_flag("--live", a.live,
                   "Of a pipe: show what is being said before it is certain, on the terminal, or as JSON with "
                   "\"settled\": false");
  command.add_flag("--force", a.force, "Write over files that are there");
}

void add_model(CLI::App& command, TranscribeArguments& a) {
  command.add_option("-m,--model", a.model.model, "Model directory, or OWNER/NAME of a fetched model")
      ->type_name("DIR");
  command.add_option("--language", a.how.language, "What is spoken (en, German...); without it, the model says")
      ->type_name("LANGUAGE");
  command.add_option("--to", "en: translate what is said to English")
      ->type_name("LANGUAGE")
      ->check(CLI::IsMember({"en"}))
      ->each([&a](const std::string&) { a.how.task = "translate"; });
  command.add_option("--beam", a.how.beams, "Hypotheses that run; 0: as the model's files say")
      ->transform(whole_number(0, kMostBeams))
      ->type_name("N");
  command
      .add_option("--max-new-tokens", a.how.new_tokens,
                  "Of a window of 30 s, or of what is heard whole: at most what the model has positions for; 0: as its "
                  "files say")
      ->transform(whole_number(0, kMostLength))
      ->type_name("N");
  command.add_flag("--fallback", a.how.fallback,
                   "What repeats itself or is unlikely is tried again at higher temperatures");
  command
      .add_option("--batch", a.how.batch,
                  "Of files: cut them where they are quiet, and hear so many pieces at a time; 0: window by window, as "
                  "the reference does")
      ->transform(whole_number(0, kMostPieces))
      ->type_name("N");
  command.add_flag(
      "--words", a.how.words,
      "When each word is said, and how sure that is: with --json, --tsv (a word a line), and --vtt (times)");
  command
      .add_option(
          "--attention", a.attention,
          "Draw where each word was heard, over the spectrogram, a picture a segment: FILE.svg, or FILE.png with "
          "simple labels, then FILE-2...")
      ->type_name("FILE");
  command.add_flag("--ids", a.model.ids, "Write token ids, timestamps among them");
  add_dtype(command, a.model.dtype);
  add_kv_dtype(command, a.model.kv_dtype);
  command.add_option("--memory-limit", a.model.memory_mib, "Device memory that may be taken, in MiB")
      ->transform(whole_number(1, kMostU32))
      ->type_name("MIB");
  command.add_option("--device", a.model.select, "Index (a whole number), part of the name or UUID of a device");
  command.add_option("--caps", a.model.caps, "Pretend that the device can do less");
  command.add_flag("--no-cache", a.no_cache, "Keep nothing that makes the next start faster");
  command.add_flag("--stats", a.stats, "Times on stderr at the end");
}

int run(TranscribeArguments& a, const Formats& formats, const Context& context) {
  a.style = {formats.format(), a.model.ids, a.live, a.how.words};
  if (a.how.words && !holds_words(a.style.format))
    return complain(exit_usage, "--words needs a format that has room for them: --json, --tsv or --vtt");
  if (a.inputs.empty() && !a.raw.empty()) a.inputs = {"-"};
  if (a.how.batch > 0 && a.live) return complain(exit_usage, "--batch is for files, and --live for pipes");
  if (a.inputs.empty()) return complain(exit_usage, "transcribe needs a recording; see lapilli transcribe --help");
  return run_transcription(a, context);
}

}  // namespace

void add_transcribe(CLI::App& app, Context& context) {
  auto a = std::make_shared<TranscribeArguments>();
  auto formats = std::make_shared<Formats>();
  CLI::App* command = app.add_subcommand("transcribe", "Write down what is said in recordings, as text or subtitles");
  add_inputs(*command, *a);
  add_formats(*command, *formats);
  add_model(*command, *a);
  command->footer(kTranscribeFooter + std::string(kExitCodeHelp));
  command->callback(
      [&context, a, formats] { context.run = [a, formats, &context] { return run(*a, *formats, context); }; });
}

}  // namespace lapilli::cli
