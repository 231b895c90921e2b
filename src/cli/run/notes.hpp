// Notes on an output that are no errors: it was cut, repeats itself, lost an address, or was made from a text that the
// model hardly knows; or the model is unsure of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

struct Note {
  std::string what, advice;
};

struct NotesAbout {
  uint32_t positions = 0;                   // tokens that the model can write; 0: unlimited
  bool attention_file = false;              // attention is written to a file
  bool keeps_lost = false;                  // the document keeps an address that the output lost
  std::optional<double> unsure_below = {};  // sureness below which a note is made; nothing: none
};

// Each note comes with advice, which is the same for all notes of a kind.
std::vector<Note> notes_of(const Sequence& best, const NotesAbout& about);

// A chain's first model wrote nothing.
Note nothing_between_note();

// The note on a recording that repeats itself; "" if it does not. `segments` are the windows', or the only one.
struct TranscriptionMode {
  bool windows = false;   // the model goes through recordings window by window
  bool fallback = false;  // repetitions were tried again
};
std::string loop_note(const std::vector<Segment>& segments, const TranscriptionMode& how);
// The note on windows that call for another attempt, which names the first few; "" if there are none.
std::string doubt_note(const std::vector<Segment>& segments);

}  // namespace lapilli::cli
