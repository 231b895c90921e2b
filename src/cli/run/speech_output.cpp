#include "cli/run/speech_output.hpp"

#include "cli/exit_codes.hpp"

namespace lapilli::cli {

int SpeechOutput::begin() {
  for (const Part& part : parts_)
    if (const int code = part.sink->write(part.lines.head())) return code;
  return exit_ok;
}

int SpeechOutput::write(const SpokenLine& line, double length) {
  for (Part& part : parts_)
    if (const int code = part.sink->write(part.lines.line(line, length))) return code;
  return exit_ok;
}

int SpeechOutput::write_interim(const SpokenLine& line) {
  for (Part& part : parts_) {
    if (part.style.format != SpeechFormat::json) continue;
    if (const int code = part.sink->write(part.lines.line(line))) return code;
  }
  return exit_ok;
}

int SpeechOutput::end() {
  for (const Part& part : parts_)
    if (const int code = part.sink->write(part.lines.tail())) return code;
  return exit_ok;
}

}  // namespace lapilli::cli
