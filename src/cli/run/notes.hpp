// Notes tell a reader of an output what is no error: it was cut, repeats itself, lost an address, was made from a text
// that the model hardly knows, or is one that the model is unsure of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

struct NotesAbout {
  uint32_t positions = 0;                   // tokens that the model can write; 0: any number
  bool attention_file = false;              // attention is written to a file
  bool keeps_lost = false;                  // the document keeps the address that the output lost
  std::optional<double> unsure_below = {};  // sureness that is told; nothing: none
};

// Each says what to do.
std::vector<std::string> notes_of(const Sequence& best, const NotesAbout& about);

// The note of a recording, whose `segments` are windows' or its only one. "": it does not repeat itself.
struct HeardHow {
  bool windows = false;   // the model goes through recordings window by window
  bool fallback = false;  // what repeats itself was tried again
};
std::string loop_note(const std::vector<Segment>& segments, const HeardHow& how);
// The note of its windows that call for another attempt, by name of the first few; "": there is none.
std::string doubt_note(const std::vector<Segment>& segments);

}  // namespace lapilli::cli
