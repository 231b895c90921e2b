// Subtitles of a live recording: samples from a pipe go into a running job, and segments come out. Interim results,
// which may still change, go to stderr behind a ~.
//
//   subtitles MODEL [LANGUAGE] < talk.wav
//   ffmpeg -v error -i film.mkv -f wav -ar 16000 -ac 1 - | subtitles whisper-base en > film.srt
//   arecord -q -f FLOAT_LE -r 16000 -c 1 -t raw | subtitles whisper-base
#include <cstdio>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"
#include "sound.hpp"

namespace {

// "00:01:02,345"
std::string clock_of(double seconds) {
  const auto ms = static_cast<long long>(seconds * 1000 + 0.5);
  char text[32];
  std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld,%03lld", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60,
                ms % 1000);
  return text;
}

void print_interim(const std::vector<lapilli::Segment>& segments) {
  std::fputs("~", stderr);
  for (const auto& segment : segments) std::fputs(segment.text.c_str(), stderr);
  std::fputs("\n", stderr);
}

void print(const lapilli::Event& event) {
  static int number = 0;
  using Kind = lapilli::EventKind;
  if (event.kind == Kind::interim) print_interim(event.interim);
  if (event.kind == Kind::error || (event.kind == Kind::input && event.status != lapilli::Status::ok))
    std::fprintf(stderr, "%s\n", event.message.c_str());
  if (event.kind != Kind::segment) return;
  const std::string& text = event.segment.text;
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return;
  std::printf("%d\n%s --> %s\n%s\n\n", ++number, clock_of(event.segment.begin).c_str(),
              clock_of(event.segment.end).c_str(), text.c_str() + first);
  std::fflush(stdout);  // the reader wants it now
}

// Feeds the sound to a job until it ends.
void run(lapilli::Job& job, Sound& sound) {
  std::vector<float> block(sound.rate() / 10);  // a tenth of a second
  for (bool over = false; !over;) {
    over = job.wait().value();  // returns when the job needs more samples
    while (auto event = job.next_event().value()) print(*event);
    if (over) return;
    const size_t count = sound.read(block);
    (count > 0 ? job.append_samples(0, block.data(), count) : job.end_samples(0)).value();
  }
}

int subtitle(const char* name, const char* language) {
  const auto model = lapilli::Model::load(name).value();
  const auto info = model.info().value();
  Sound sound(stdin, info.sample_rate);
  if (sound.error()) return std::fprintf(stderr, "%s\n", sound.error()), 1;
  lapilli::Options options;
  if (language) options.source_language = language;
  // Sound from a pipe may be slow: an interim result every 2 seconds of a window's 30. Models without windows give
  // none.
  if (std::fseek(stdin, 0, SEEK_CUR) != 0) options.speech.interim_samples = info.window_samples / 15;
  auto job = model.start_inputs({lapilli::sample_stream(sound.rate())}, options).value();
  run(job, sound);
  return job.take().value()[0].ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: subtitles MODEL [LANGUAGE] < SOUND\n"), 2;
  try {
    return subtitle(argv[1], argc > 2 ? argv[2] : nullptr);
  } catch (const lapilli::Error& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
}
