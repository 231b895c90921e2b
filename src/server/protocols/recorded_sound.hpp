// A recording out of the body of a request. Separates the recordings' interface, which has the library's internal
// errors, from that of lapilli.hpp, whose errors share their names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lapilli/lapilli.h"

namespace lapilli::server {

class RecordedSound {
 public:
  RecordedSound();
  RecordedSound(const RecordedSound&) = delete;
  RecordedSound& operator=(const RecordedSound&) = delete;
  ~RecordedSound();

  // Compressed silence of a few hundred MiB is weeks of sound, and decoding it holds a thread of the pool.
  static constexpr uint64_t kMostSeconds = 6 * 3600;
  struct Limits {
    uint32_t rate = 16000;        // samples a second that the model reads
    uint64_t most_seconds = 0;    // 0: kMostSeconds
    std::function<bool()> go_on;  // false ends the decoding; optional
    [[nodiscard]] uint64_t seconds() const { return most_seconds > 0 ? most_seconds : kMostSeconds; }
  };
  struct Trouble {
    int status = 0;  // of HTTP; 0: none
    std::string message;
  };
  // Decodes all of it, by its content. `bytes` outlives this object.
  Trouble open(std::string_view bytes, const Limits& limits);
  [[nodiscard]] double seconds() const;
  // The samples as a model's input; this object must outlive it.
  [[nodiscard]] lapilli_sample_source source();
  [[nodiscard]] uint32_t rate() const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace lapilli::server
