// A translation whose words are told as they are made, for the page: behind them the places of its sentences, and then
// the words that belong together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/work/desk.hpp"

namespace lapilli::server {

struct LiveRequest {
  std::string text;           // UTF-8; each of its lines is translated, as the program takes them
  std::string from, to;       // any usual codes; `from` "" or "auto": detected
  uint32_t alternatives = 0;  // of the whole text, beside its translation
  bool links = false;         // of words
};

// Places are counted in units of UTF-16, as pages count, within the whole texts.
struct LiveSpan {
  size_t source_begin = 0, source_end = 0, target_begin = 0, target_end = 0;
  float weight = 0;  // of a link between words
};

struct LiveWhole {
  std::string text;
  std::vector<std::string> alternatives;
  std::vector<LiveSpan> sentences;
};

// Hears of a translation. No two calls overlap, the last one is on_end or on_error, and text comes before the whole.
class LiveListener {
 public:
  virtual ~LiveListener() = default;
  // The languages, short codes; `same`: there is nothing to translate.
  struct Languages {
    std::string from, to, between;  // between: that of two models, "" if one does it
    int confidence = 100;
    bool same = false;
  };
  virtual void on_languages(const Languages& languages) = 0;
  // New text of a line; on the thread that pumps the device.
  virtual void on_text(size_t line, const std::string& text) = 0;
  virtual void on_whole(const LiveWhole& whole) = 0;
  // Links of a sentence; several calls.
  virtual void on_links(const std::vector<LiveSpan>& links) = 0;
  virtual void on_end() = 0;
  virtual void on_error(int status, const std::string& message) = 0;
};

// Begins it and returns. It is cancelled when the client of `exchange` leaves.
void translate_live(Desk& desk, const std::shared_ptr<Exchange>& exchange, LiveRequest request,
                    std::shared_ptr<LiveListener> listener);

// The place in UTF-16 of each byte of a text, and of its end.
class Utf16Places {
 public:
  explicit Utf16Places(std::string_view text);
  // Bytes beyond the end are at the end.
  [[nodiscard]] size_t operator[](size_t byte) const {
    return places_[byte < places_.size() ? byte : places_.size() - 1];
  }

 private:
  std::vector<uint32_t> places_;
};

}  // namespace lapilli::server
