// lapilli_options together with those for sound and pictures.
#pragma once

#include "lapilli/lapilli.h"

namespace lapilli::test {

struct AllOptions : lapilli_options {
  AllOptions() : AllOptions(lapilli_default_options()) {}
  AllOptions(const lapilli_options& from) : lapilli_options(from) { point(); }
  AllOptions(const AllOptions& from) : lapilli_options(from), of_speech(from.of_speech), of_picture(from.of_picture) {
    point();
  }
  AllOptions& operator=(const AllOptions& from) {
    lapilli_options::operator=(from);
    of_speech = from.of_speech;
    of_picture = from.of_picture;
    point();
    return *this;
  }
  ~AllOptions() = default;

  lapilli_speech_options of_speech = lapilli_default_speech_options();
  lapilli_picture_options of_picture = lapilli_default_picture_options();

 private:
  void point() {
    speech = &of_speech;
    picture = &of_picture;
  }
};

}  // namespace lapilli::test
