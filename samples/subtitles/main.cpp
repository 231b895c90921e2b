// Subtitles of what comes through a pipe, as it is said: samples go into a job that runs, segments come out, and on
// stderr, behind a ~, what is being said before it is settled.
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

void print_draft(const std::vector<lapilli::Segment>& draft) {
  std::fputs("~", stderr);
  for (const auto& segment : draft) std::fputs(segment.text.c_str(), stderr);
  std::fputs("\n", stderr);
}

void print(const lapilli::Event& event) {
  static int number = 0;
  if (event.kind == LAPILLI_EVENT_INTERIM) print_draft(event.draft);
  if (event.kind == LAPILLI_EVENT_ERROR || (event.kind == LAPILLI_EVENT_INPUT && event.status != LAPILLI_OK))
    std::fprintf(stderr, "%s\n", event.message.c_str());
  if (event.kind != LAPILLI_EVENT_SEGMENT) return;
  const std::string& text = event.segment.text;
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return;
  std::printf("%d\n%s --> %s\n%s\n\n", ++number, clock_of(event.segment.begin).c_str(),
              clock_of(event.segment.end).c_str(), text.c_str() + first);
  std::fflush(stdout);  // who reads wants it now
}

int failed(const lapilli::Error& error) { return std::fprintf(stderr, "%s\n", error.what()), 1; }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: subtitles MODEL [LANGUAGE] < SOUND\n"), 2;
  auto model = lapilli::Model::load(argv[1]);
  if (!model) return failed(model.error());
  Sound sound(stdin, model->info().sample_rate);
  if (sound.error()) return std::fprintf(stderr, "%s\n", sound.error()), 1;
  lapilli::Options options;
  if (argc > 2) options.source_language = argv[2];
  // A pipe's sound may be slow: drafts every 2 of a window's 30 seconds, none of models that have no windows.
  if (std::fseek(stdin, 0, SEEK_CUR) != 0) options.interim_samples = model->info().window_samples / 15;
  auto job = model->start_inputs({lapilli::sample_stream(sound.rate())}, options);
  if (!job) return failed(job.error());

  std::vector<float> block(sound.rate() / 10);  // a tenth of a second
  while (!job->wait()) {                        // it returns where it has heard all that there is
    while (auto event = job->next_event()) print(*event);
    const size_t count = sound.read(block);
    if (auto error = count > 0 ? job->append_samples(0, block.data(), count) : job->end_samples(0))
      return failed(*error);
  }
  while (auto event = job->next_event()) print(*event);
  auto results = job->take();
  return results && (*results)[0].ok() ? 0 : 1;
}
